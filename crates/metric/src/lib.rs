//! The contract that every metric fulfils.
//!
//! A metric works in three steps, and the middle one cannot fail:
//!
//! 1. [`fit`](Metric::fit) computes a model from all references: document frequencies for CIDEr, nothing for most
//!    metrics.
//! 2. [`measure`](Metric::measure) turns one segment (a candidate with its references) into *statistics*: a row of
//!    named, additive numbers.
//! 3. [`score`](Metric::score) turns a row into scores. The row of one segment gives the segment's scores, and the sum
//!    of all rows gives the corpus scores.
//!
//! Since corpus scores are functions of sums, shards, merges, confidence intervals and significance tests need only
//! rows and never read text again.
//!
//! Metrics that are not sums over segments, such as the size of a vocabulary, fulfil the smaller
//! [`CorpusMetric`] instead.
//!
//! The author of a metric implements the typed [`Metric`] and describes it by a [`MetricKind`] in the same file; the
//! engine stores [`AnyMetric`]s.

mod any;
mod average;
mod card;
mod corpus_metric;
mod derived;
mod explanation;
mod kind;
mod memo;
mod metric;
mod part;
mod product;
mod resources;
mod runs;
mod segment;
pub mod setting;
mod signature;

pub use crate::metric::{About, Excess, Input, Learns, Mean, Metric, Reading, Statistics};
pub use any::{AnyMetric, FittedMetric, Worker};
pub use capeval_choice::{Notice, Refusal};
pub use capeval_stats::{Column, ColumnKind, Table};
pub use card::{CardNeeds, Family, MetricCard};
pub use corpus_metric::{AnyCorpusMetric, CaptionSets, CorpusMetric, CorpusScores};
pub use explanation::{Explanation, Fact, Match, Rule, Statement, Step};
pub use kind::{CorpusKind, CorpusNeed, MetricKind, Need};
pub use memo::{Figures, Memo};
pub use part::{Direction, Number, Part};
pub use resources::{Absences, Resources};
pub use segment::{Candidates, References, Segment};
pub use setting::{Setting, Settings};
pub use signature::Signature;
