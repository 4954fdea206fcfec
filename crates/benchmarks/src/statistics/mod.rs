//! Numbers for hosts by day: visits, people and teams that joined, submissions, and what failed and why. Visits are
//! counted without cookies and addresses, so one person may be several of them.

mod handlers;
mod records;
mod tally;

use capeval_site::web::Route;

pub use tally::{refused, visited};

/// The routes of statistics.
pub(super) fn routes() -> Vec<Route> {
    handlers::routes()
}
