//! The page of an entry: what stands on a board, with all that its visitors may know of it.

mod handlers;
mod records;

use crate::web::Route;

pub use records::SeenEntry;

/// The routes of entries.
pub(super) fn routes() -> Vec<Route> {
    handlers::routes()
}
