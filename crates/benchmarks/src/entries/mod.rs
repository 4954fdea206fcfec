//! The page of an entry of a board, with everything that the board's visitors may know about it, and of two entries
//! side by side.

mod compare;
mod contrasts;
mod handlers;
mod pairs;
mod records;

use capeval_site::web::Route;

pub use contrasts::ContrastPair;
pub use pairs::ComparePair;
pub use records::{Beside, RankedScore, SeenEntry, beside};

/// The routes of entries.
pub(super) fn routes() -> Vec<Route> {
    [handlers::routes(), compare::routes()].concat()
}
