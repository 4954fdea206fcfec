//! What do numbers mean together? Exact sums, tables of statistics, resampling and intervals.
//!
//! This crate knows no text, no metric by name and no clock.

pub mod exact;
pub mod interval;
pub mod matrix;
pub mod random;
pub mod resample;
pub mod table;

pub use exact::ExactSum;
pub use interval::Interval;
pub use matrix::Matrix;
pub use resample::Resampling;
pub use table::{Column, Kind, Table};
