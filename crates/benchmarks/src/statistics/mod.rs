//! Statistics for hosts by day: visits, people and teams that joined, submissions, and failures with their reasons.
//! Visits are counted without cookies or addresses, so one person may count several times.

mod handlers;
mod records;
mod tally;

pub(super) use handlers::routes;
pub use tally::{refused, visited};
