//! Questions about a benchmark in public, with answers by its hosts and by others; hosts pin and hide them.

mod handlers;
mod mailing;
mod own;
pub mod records;

use capeval_site::web::Route;

pub(super) use own::{forget, of_person};

/// The routes of questions.
pub(super) fn routes() -> Vec<Route> {
    handlers::routes()
}
