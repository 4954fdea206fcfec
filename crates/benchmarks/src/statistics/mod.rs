//! Numbers for hosts by day: visits, people and teams that joined, submissions, and what failed and why. Visits are
//! counted without cookies and addresses, so one person may be several of them.

mod handlers;
mod records;
mod tally;

pub(super) use handlers::routes;
pub use tally::{refused, visited};
