//! What is run? The registry of metrics, suites and the driver.
//!
//! The driver reads each text once per distinct [`Reading`](capeval_metric::Reading), shares the
//! references' words and n-grams between all metrics and systems, and spreads segments over threads. It
//! prints nothing and opens no file.

pub mod batch;
pub mod diversity;
mod explain;
pub mod prepared;
mod progress;
mod references;
pub mod registry;
mod run;
mod session;

pub use batch::{BatchScorer, BatchScores};
pub use explain::{ScoreOf, explain};
pub use prepared::Prepared;
pub use progress::{Progress, Stage};
pub use references::ReferenceSet;
pub use run::{MetricScores, System, SystemScores, evaluate};
