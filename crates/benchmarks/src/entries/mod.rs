//! The page of an entry: what stands on a board, with all that its visitors may know of it; and two side by side.

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
