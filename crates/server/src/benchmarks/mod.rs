//! Benchmarks: phases with hidden references, submissions within quotas, scores, boards.

pub mod about;
pub mod agreement;
pub mod announcements;
pub mod apply;
pub mod board;
pub mod dry_run;
pub mod entries;
pub mod expected;
mod host;
mod hosting;
pub mod images;
pub mod judging;
pub mod notifications;
mod organise;
mod own_data;
mod pages;
mod pictures;
pub mod plan;
pub mod quota;
pub mod records;
pub mod rescore;
pub mod scoring;
pub mod submissions;
pub mod submit;
pub mod teams;
pub mod upload;
pub mod validation;
mod webhooks;

use crate::web::Route;

pub use own_data::OwnData;
pub use pages::as_html;

/// The routes of benchmarks.
pub fn routes() -> Vec<Route> {
    let mut routes = pages::routes();
    routes.extend(board::routes());
    routes.extend(entries::routes());
    routes.extend(submit::routes());
    routes.extend(submissions::routes());
    routes.extend(images::routes());
    routes.extend(teams::routes());
    routes.extend(announcements::routes());
    routes.extend(host::routes());
    routes.extend(organise::routes());
    routes.extend(hosting::routes());
    routes.extend(judging::routes());
    routes.extend(webhooks::routes());
    routes
}
