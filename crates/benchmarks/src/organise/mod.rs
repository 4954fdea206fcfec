//! Creates and changes benchmarks on pages and by the API. Every change goes through [`super::apply`], which has the
//! rules.

mod form;
mod handlers;
mod metrics;
mod receive;

#[cfg(fuzzing)]
pub use form::of_fields;
pub(super) use handlers::routes;
