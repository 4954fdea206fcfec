//! The renderers, one file per format.

pub(crate) mod csv;
pub(crate) mod json;
mod jsonl;
pub(crate) mod latex;
pub(crate) mod markdown;
pub(crate) mod table;

pub use csv::csv;
pub use json::json;
pub use jsonl::jsonl;
pub use latex::latex;
pub use markdown::markdown;
pub use table::table;
