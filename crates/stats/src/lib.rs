//! Statistics of numbers: exact sums, tables of statistics, resampling, tests, correlation, agreement.
//!
//! This crate knows nothing of text, of metrics by name or of clocks.

pub mod agreement;
mod beta;
pub mod clustered;
pub mod correction;
pub mod correlation;
pub mod distribution;
pub mod exact;
pub mod interval;
mod jackknife;
pub mod matrix;
pub mod paired;
mod picks;
pub mod random;
pub mod resample;
mod sums;
pub mod table;
pub mod totals;

pub use exact::ExactSum;
pub use interval::Interval;
pub use jackknife::JackknifeEstimate;
pub use matrix::Matrix;
pub use resample::Resampling;
pub use table::{Column, ColumnKind, Table};
pub use totals::{Total, Totals};
