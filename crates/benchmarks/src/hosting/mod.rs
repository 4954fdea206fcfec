//! Actions of hosts in their phases: limits, grants, stopping submissions, taking entries off the board, scoring again.

mod actions;
mod handlers;

pub use actions::{ENTRIES, SUBMISSIONS};
pub(super) use handlers::routes;
