//! Results of a submission image by image, where its phase shows them: a page as `capeval score --html` writes it, and
//! the scores as JSON Lines. They are built when someone asks, since that takes as long as scoring, and few are looked
//! at.

mod build;
mod handlers;
mod records;

use crate::web::Route;

pub use build::BuildImages;
pub use records::{State, forget, state};

/// The routes of results image by image.
pub(super) fn routes() -> Vec<Route> {
    handlers::routes()
}
