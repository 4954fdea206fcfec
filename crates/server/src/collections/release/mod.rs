//! Releases of a collection: what is in one, its files, downloads, and its hidden split as a benchmark.

pub mod archive;
pub mod build;
pub mod card;
pub mod content;
mod download;
pub mod files;
pub mod make;
mod pages;
pub mod publish;
pub mod split;

use crate::web::Route;

/// The routes of releases.
pub fn routes() -> Vec<Route> {
    pages::routes()
}
