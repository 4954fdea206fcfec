//! Dry runs: a sample file is checked and scored like a submission. Only hosts see the report and the scores. A dry run
//! counts against no quota and appears on no board. A phase keeps the last one.

mod handlers;
mod records;

pub(super) use handlers::routes;
pub use records::TryFile;
