//! Scores captions with times or places: dense video captions, paragraphs, boxes and regions.
//!
//! Every program in use has a form of its own, with a name, and no two agree. [`evaluate`] reads each text once,
//! measures each pair of captions once, and sums them as each form does. The crate opens no files and prints nothing.

mod as_report;
mod assemble;
pub mod boxes;
mod catalogue;
mod checks;
mod counts;
mod event;
mod evidence;
mod form;
mod human;
mod inspection;
mod matching;
mod overlap;
mod pairs;
mod proposals;
pub mod read;
mod reading;
pub mod regions;
mod reward;
mod run;
mod scores;
mod soda;
mod stop;
mod study;
pub mod texts;
mod words;
pub mod write;

pub use as_report::measures;
pub use counts::Counts;
pub use event::{Event, EventFile};
pub use form::{Form, Program, SodaMetric};
pub use inspection::{EventInspection, InspectedFile};
pub use overlap::{ordered_overlap, overlap};
pub use reward::{Reward, reward};
pub use run::evaluate;
pub use scores::{FormScores, Measure};
pub use stop::Stop;
pub use study::{DenseOptions, DenseReport, DenseSystem, FormResult, KIND, MeasureResult, score};
pub use words::{WordMetric, WordMetrics};
