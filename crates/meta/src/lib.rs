//! Benchmarks of metrics by name: what is known of them, and metrics run on them.
//!
//! A benchmark is a set of captions that people rated or compared, with the published agreement of metrics. What is
//! known of each ([`benchmarks`]) is data, a file in `benchmarks`: which files hold it and how they are read, which
//! coefficient is customary, and the values that papers print. [`run`] finds the files in a folder, computes metrics
//! and given scores, and compares coefficients with each other and with what was published.

mod coefficient;
mod error;
mod export;
mod find;
mod read;
mod registry;
mod render;
mod resamples;
mod result;
mod run;
mod study;
mod verdict;

pub use coefficient::Coefficient;
pub use error::{ARGUMENTS, Error};
pub use registry::{
    Benchmark, Columns, ExpectedCounts, File, Form, KnownMismatch, LeaveOut, Pairs, PublishedValues,
    ReaderTest, Reading, Role, Source, Task, benchmark, benchmarks, label, names, to_json,
};
pub use resamples::Contrast;
pub use result::{MeasureResult, MetaReport, Outcome, PairTests, Value};
pub use run::{BenchmarkScores, MetaOptions, MetaRequest, run, unmet};
pub use study::KIND;
pub use verdict::{Comparison, Verdict};
