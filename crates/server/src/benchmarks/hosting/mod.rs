//! What hosts do with their phases: limits, grants, stopping submissions, taking entries off the board, scoring again.

mod actions;
mod api;
mod pages;

use crate::web::Route;

/// The routes of hosts.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = pages::routes();
    routes.extend(api::routes());
    routes
}
