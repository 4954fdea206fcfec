//! The upload of pictures: up to 20 files, with what their uploader declares about them.

mod pages;
pub(super) mod take;

use crate::web::Route;

/// The routes of uploads.
pub(super) fn routes() -> Vec<Route> {
    pages::routes()
}
