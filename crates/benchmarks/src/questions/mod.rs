//! Public questions about a benchmark, with answers by its hosts and by others; hosts pin and hide them.

mod handlers;
mod mailing;
mod own;
pub mod records;

pub(super) use handlers::routes;
pub(super) use own::{forget, of_person};
