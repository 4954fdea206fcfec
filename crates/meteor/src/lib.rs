//! METEOR 1.5: matchers, alignment, score, and the resources they need.
//!
//! METEOR (Denkowski and Lavie 2014) aligns the words of a hypothesis with those of a reference by equality,
//! stem, WordNet synonymy and a paraphrase table. It rewards matched words, especially content words, in few
//! contiguous chunks. This crate computes exactly the same numbers as the program `meteor-1.5.jar`, including
//! its peculiarities, which are listed at [`Meteor`].
//!
//! The crate does no I/O: [`Resources`] are bytes that the caller has mapped or read, and [`Compiler`]
//! converts the published program to such bytes.

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

pub use align::AlignedPhrase;
pub use language::Language;
pub use meteor::{Alignment, Meteor, Segment, Workspace};
pub use metric::{Caches, MeteorMetric, Scratch};
pub use options::{MAX_MATCHERS, Matcher, Options, Parameters, Task, TextForm, Unit};
pub use resources::{Compiler, Progress, Resources, Summary};
pub use stats::{MatcherStats, Score, Stats, score};

/// The metrics of this family.
pub const KINDS: &[&capeval_metric::MetricKind] = &[&metric::KIND];
