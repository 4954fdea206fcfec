//! METEOR 1.5: matchers, alignment, score and the resources they need.
//!
//! METEOR (Denkowski and Lavie 2014) aligns the words of a hypothesis with those of a reference, by equality,
//! stem, WordNet synonymy and a table of paraphrases, and rewards matched words, content words above
//! all, in few contiguous chunks. This crate gives the numbers of the program `meteor-1.5.jar`, digit for
//! digit, its peculiarities included; they are listed at [`Meteor`].
//!
//! It does no I/O: [`Resources`] are bytes that the caller has mapped or read, and [`Compiler`] turns the
//! published program into such bytes.

mod align;
mod bound;
mod error;
mod explain;
mod java;
mod language;
mod meteor;
mod metric;
mod normalize;
mod options;
mod resources;
mod sentence;
mod stats;
mod vocabulary;

pub use error::Error;
pub use explain::{AlignedPhrase, Alignment};
pub use language::Language;
pub use meteor::{Meteor, Segment, Workspace};
pub use metric::{Caches, KIND, MeteorMetric, Scratch};
pub use options::{MAX_MATCHERS, Matcher, Options, Parameters, Task, TextForm, Unit};
pub use resources::{Compiler, Progress, Recognized, Resources, Summary};
pub use stats::{MatcherStats, Score, Stats, score};
