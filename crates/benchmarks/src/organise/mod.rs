//! Creating and changing benchmarks on pages and by programs. All of it ends in [`super::apply`], which has the rules.

mod form;
mod handlers;
mod metrics;
mod receive;
mod trials;

#[cfg(fuzzing)]
pub use form::of_fields;

use capeval_site::web::Route;

/// The routes of creating and changing benchmarks.
pub(super) fn routes() -> Vec<Route> {
    let mut routes = handlers::routes();
    routes.extend(trials::routes());
    routes
}
