//! Ratings: people grade the captions of others without knowing whose they are, and grades decide what is accepted.

pub mod gold;
pub mod gold_captions;
mod gold_pages;
pub mod pages;
pub mod queue;
pub mod rate;
mod set_aside;

use capeval_site::web::Route;

/// The routes of ratings.
pub fn routes() -> Vec<Route> {
    [pages::routes(), gold_pages::routes()].concat()
}
