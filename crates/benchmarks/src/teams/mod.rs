//! Teams: people create them, join them by links, merge them, and enter them into phases, in which each person belongs
//! to one team only.

mod asking;
mod handlers;
mod merging;
mod names;
mod records;
pub mod requests;

use capeval_site::web::Route;

pub use records::create;
pub(super) use records::{enter, in_phase, names_of_own, of_person, take_name};

/// The routes of teams.
pub(super) fn routes() -> Vec<Route> {
    [handlers::routes(), asking::routes()].concat()
}
