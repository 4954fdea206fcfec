//! Ratings: people grade the captions of others without knowing whose they are, and grades decide what is accepted.

pub mod give;
pub mod gold;
pub mod known;
pub mod next;
pub mod pages;

use crate::web::Route;

/// The routes of ratings.
pub fn routes() -> Vec<Route> {
    let mut routes = pages::routes();
    routes.extend(known::routes());
    routes
}
