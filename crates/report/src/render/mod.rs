//! The renderers, one file per format.

mod csv;
mod json;
mod jsonl;
mod latex;
mod markdown;
pub(crate) mod table;

pub use csv::csv;
pub use json::json;
pub use jsonl::jsonl;
pub use latex::latex;
pub use markdown::markdown;
pub use table::table;
