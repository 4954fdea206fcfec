//! The files of a phase for participants: a starting kit, an example submission, public data.

mod handlers;
pub mod records;

pub(super) use handlers::routes;
pub use records::PhaseFile;
