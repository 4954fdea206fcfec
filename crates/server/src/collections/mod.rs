//! Collections: people upload pictures, several others describe each, and others rate the captions.
//!
//! `rules` decides without a database; `slots` keeps the counters of pictures, on which all else relies.

pub mod agreement;
mod api;
pub(crate) mod captioning;
mod contributions;
mod contributors;
mod guide;
mod host_pages;
pub mod import;
mod media;
mod moderation;
mod pages;
mod passes;
pub mod processing;
pub mod ratings;
pub mod records;
pub mod release;
mod report_pages;
mod reports;
pub mod rules;
pub mod settings;
mod similarity;
pub mod slots;
mod upload;

use crate::web::Route;

pub use contributions::own_data::OwnData;
pub use moderation::decisions::Refusal;

/// The routes of collections.
pub fn routes() -> Vec<Route> {
    let mut routes = pages::routes();
    routes.extend(guide::routes());
    routes.extend(host_pages::routes());
    routes.extend(upload::routes());
    routes.extend(media::routes());
    routes.extend(captioning::routes());
    routes.extend(report_pages::routes());
    routes.extend(moderation::routes());
    routes.extend(contributions::routes());
    routes.extend(ratings::routes());
    routes.extend(release::routes());
    routes.extend(import::routes());
    routes.extend(agreement::pages::routes());
    routes.extend(api::routes());
    routes
}
