//! What do numbers mean together? Exact sums and tables of statistics.
//!
//! This crate knows no text, no metric by name and no clock.

pub mod exact;
pub mod table;

pub use exact::ExactSum;
pub use table::{Column, Kind, Table};
