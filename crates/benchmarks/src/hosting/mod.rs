//! Actions of hosts in their phases: limits, grants, stopping submissions, removing entries from the board, rescoring.

mod actions;
mod handlers;

pub use actions::{ENTRIES, SUBMISSIONS};
pub(super) use handlers::routes;
