//! Dry runs: a sample file is checked and scored as a submission would be. Its hosts see the report and the scores; it
//! counts against no quota and stands on no board. A phase keeps the last one.

mod handlers;
mod records;

pub(super) use handlers::routes;
pub use records::TryFile;
