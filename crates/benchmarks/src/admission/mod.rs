//! Who may submit to a benchmark: those who accepted its terms, whose address its lists admit, and whom its hosts
//! approved, if it asks for that.

mod handlers;
mod hosting;
pub mod lists;
mod records;
mod requests;
mod terms;

use capeval_site::web::Route;

pub(super) use records::{forget, require_listed, require_team_size};
pub use records::{of_person, refusal, require};
pub use requests::PARTICIPANTS;
pub(super) use terms::keep;

/// The routes of admission.
pub(super) fn routes() -> Vec<Route> {
    [handlers::routes(), hosting::routes()].concat()
}
