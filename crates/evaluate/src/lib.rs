//! The registry of metrics and suites, and the driver that runs them.
//!
//! The driver reads each text once per distinct [`Reading`](capeval_metric::Reading), shares the words and n-grams of
//! the references between all metrics and systems, and distributes segments to threads. It prints nothing and opens no
//! files.

pub mod batch;
pub mod diversity;
mod explain;
mod pairs;
pub mod prepared;
mod progress;
mod read_once;
mod references;
pub mod registry;
mod run;
mod sequence;
mod session;
mod stored_references;
mod subset;
mod system;

pub use batch::{BatchScorer, BatchScores};
pub use pairs::measure_pairs;
pub use prepared::PreparedReferences;
pub use progress::{Progress, Stage};
pub use read_once::ReadSystems;
pub use references::ReferenceSet;
pub use run::{MetricScores, SystemScores, evaluate, evaluate_and_forget, evaluate_and_keep, evaluate_texts};
pub use session::Sessions;
pub use system::System;
