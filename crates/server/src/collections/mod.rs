//! Collections: people upload pictures, several others describe each, and others rate the captions.
//!
//! `rules` decides without a database; `slots` keeps the counters of pictures, on which all else relies.

pub mod agreement;
mod api;
pub mod apply;
pub(crate) mod captioning;
mod guide;
mod hosts;
mod media;
mod mine;
mod moderation;
mod own_data;
mod pages;
pub mod processing;
pub mod ratings;
pub mod records;
pub mod release;
mod reports;
pub mod rules;
mod similarity;
pub mod slots;
mod upload;

use crate::web::Route;

pub use own_data::OwnData;

/// The routes of collections.
pub fn routes() -> Vec<Route> {
    let mut routes = pages::routes();
    routes.extend(guide::routes());
    routes.extend(hosts::routes());
    routes.extend(upload::routes());
    routes.extend(media::routes());
    routes.extend(captioning::routes());
    routes.extend(reports::routes());
    routes.extend(moderation::routes());
    routes.extend(mine::routes());
    routes.extend(ratings::routes());
    routes.extend(release::routes());
    routes.extend(agreement::pages::routes());
    routes.extend(api::routes());
    routes
}
