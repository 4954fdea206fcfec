//! Teams: made by people, joined by links, merged, and entered into phases, where each person is in one team only.

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
