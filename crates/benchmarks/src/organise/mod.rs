//! Creating and changing benchmarks on pages and by programs. All of it ends in [`super::apply`], which has the rules.

mod form;
mod handlers;
mod metrics;
mod receive;

#[cfg(fuzzing)]
pub use form::of_fields;
pub(super) use handlers::routes;
