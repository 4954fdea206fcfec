//! The contract of metrics whose scores the engine does not compute itself: models, lists of objects, language models,
//! programs and functions.
//!
//! Why is there an [`Outside`] beside [`Metric`](capeval_metric::Metric)? A `Metric` is arithmetic on one caption and
//! its references: it gets a segment when the engine likes, on any thread, answers in microseconds, and **cannot fail**
//! (invariant 1 of `ARCHITECTURE.md`), so that what comes after it, from sums to tests of two systems, needs no errors.
//! An `Outside` can do what that forbids:
//!
//! - It **may fail**: a program ends, a server refuses, a picture is missing. Its errors end the run before anything is
//!   measured.
//! - It is **asked about all captions at once**, those of all systems, each pair of caption and references once: a
//!   model works in batches, a function is called a few times rather than a million times. It answers in any order,
//!   from any thread, and may take hours, during which the run shows progress and can be interrupted.
//! - It may score the **captions of a system together**, so that each score depends on the others.
//! - It may **see more than a segment**: the picture and the id of the image, the name of the system, the caption of
//!   the other one of two systems.
//! - Its scores **survive runs**, if it says what it is ([`Outside::identity`]): later runs ask only about what is new,
//!   also after an interruption.
//! - It may know only **after scoring** what its scores depend on ([`Outside::sign`]), such as the version of a model
//!   that a server names.
//!
//! Merging the two would give every word metric a way to fail, and every program a `measure` that it cannot keep.
//! Instead they meet once: [`compute`] asks, and what comes back is a [`Lookup`], a `Metric` like any other. Tables,
//! resamples, averages, explanations and reports do not know where its scores come from. Names, settings and costs are
//! no part of the difference: all metrics have a `MetricCard`, and lists read only that.

mod asking;
mod compute;
mod kept;
mod lookup;
mod picture;

use std::fmt;
use std::sync::Arc;

use capeval_choice::{Notice, Refusal};
use capeval_corpus::SegmentId;
use capeval_evaluate::registry::{self, Resources, SUITES};
use capeval_metric::{AnyMetric, Explanation, Part, Setting, Signature};
use capeval_stats::Column;

use lookup::Lookup;

pub use compute::compute_outside;
pub(crate) use compute::{CaptionBatch, compute, compute_one};
pub use kept::{KeptScores, OutsideScores, ScoreStore};
pub use picture::{Picture, PictureSource, Pictures, Sight};

/// A caption to score outside of the engine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OutsideRow<'r> {
    /// The name of the system, for a metric that distinguishes systems.
    pub system: Option<&'r str>,
    /// The id of its image, if it has one.
    pub image: Option<&'r SegmentId>,
    /// The caption.
    pub candidate: &'r str,
    /// The caption of the other system or of the other side of a pair, if the metric compares two.
    pub rival: Option<&'r str>,
    /// The captions that it is compared with; empty if the metric needs no references.
    pub references: Vec<&'r str>,
    /// The picture of its image, if the metric looks at it.
    pub picture: Option<&'r Picture>,
}

impl OutsideRow<'_> {
    /// Its name in errors.
    pub fn told(&self) -> String {
        self.image.map_or_else(|| "a row without id".to_owned(), |image| format!("image {}", image.quoted()))
    }
}

/// The identity of a metric, under which its scores are cached for later runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// All that its scores depend on beside rows: a name, a version, a hash of its code.
    pub text: String,
    /// True if it sees the ids of images.
    pub knows_images: bool,
}

/// How the score of a corpus comes from those of its captions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Summary {
    /// The mean.
    #[default]
    Mean,
    /// The median.
    Median,
}

/// The label of a metric that is computed outside of the engine.
#[derive(Clone, Debug, PartialEq)]
pub struct OutsideLabel {
    /// Its name in lists of metrics.
    pub name: String,
    /// Its measures, of which there is at least one.
    pub parts: Vec<Part>,
}

impl OutsideLabel {
    /// The label of a metric with this name and these measures.
    pub fn new(name: impl Into<String>, parts: Vec<Part>) -> Self {
        Self { name: name.into(), parts }
    }
}

/// A metric that is computed outside of the engine.
pub trait Outside: Send + Sync {
    /// Its name and its measures.
    fn label(&self) -> &OutsideLabel;
    /// Its name in lists of metrics.
    fn name(&self) -> &str {
        &self.label().name
    }
    /// Its measures, of which there is at least one.
    fn parts(&self) -> &[Part] {
        &self.label().parts
    }
    /// Everything that its scores depend on besides captions and references.
    fn signature(&self) -> Signature;
    /// Returns true if it compares captions with references.
    fn needs_references(&self) -> bool;
    /// Returns true if a caption's score depends on the others: then it scores all captions of a system at once.
    fn takes_all_together(&self) -> bool {
        false
    }
    /// Returns true if equal captions of two systems may have different scores.
    fn distinguishes_systems(&self) -> bool {
        false
    }
    /// Returns true if it compares two captions of an image, and not each with references.
    fn compares_pairs(&self) -> bool {
        false
    }
    /// How it uses pictures.
    fn sight(&self) -> Sight {
        Sight::None
    }
    /// The languages that it is made for, as codes such as `en`; empty for all.
    fn languages(&self) -> &[String] {
        &[]
    }
    /// Its identity, if its scores may be cached for later runs.
    fn identity(&self) -> Option<Identity> {
        None
    }
    /// The columns that it counts in each caption, if scores are computed from their sums, not averaged over captions.
    fn columns(&self) -> Option<Vec<Column>> {
        None
    }
    /// The scores of `n` captions from the sums of its [`columns`](Self::columns).
    fn combine(&self, _n: f64, _sums: &[f64], _scores: &mut [f64]) {}
    /// Scores all rows.
    fn score(&self, rows: &[OutsideRow<'_>], answers: &dyn Answers) -> Result<(), Refusal>;
    /// How its corpus scores come from its scores of captions.
    fn summary(&self) -> Summary {
        Summary::Mean
    }
    /// The metric of the engine, with settings, whose score of each segment its own one multiplies: then its measure is
    /// the product.
    fn multiplies(&self) -> Option<&str> {
        None
    }
    /// Further fields of the signature, found while scoring since the last call.
    fn sign(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
    /// Notices about the rows that it has scored.
    fn notices(&self) -> Vec<Notice> {
        Vec::new()
    }
    /// How the scores of a row came about, if it can tell.
    fn explain(&self, _row: &OutsideRow<'_>) -> Option<Explanation> {
        None
    }
}

/// Receives scores as they come, from any thread. All methods may unwind, which ends the work.
pub trait Answers: Sync {
    /// Takes the scores of row number `row`, one by each measure, or its [`columns`](Outside::columns).
    fn take(&self, row: usize, scores: &[f64]);
    /// Called while no scores come.
    fn wait(&self);
    /// Shows a person what the work has cost, or the like, beside its progress.
    fn remark(&self, _text: &str) {}
}

/// The number of values that a metric gives of each caption.
fn width(one: &dyn Outside) -> usize {
    one.columns().map_or_else(|| one.parts().len(), |columns| columns.len())
}

/// Metrics that are computed outside of the engine, for [`Resources`]: a name in a list of metrics means one of these
/// before any other.
#[derive(Clone, Default)]
pub struct OutsideMetrics(pub Vec<Arc<dyn Outside>>);

/// The settings of all metrics that are computed outside of the engine and come with capeval, by name, for
/// [`Resources`]: settings for all metrics may be theirs.
#[derive(Clone, Default)]
pub struct OutsideSettings(pub Vec<(&'static str, Vec<&'static Setting>)>);

impl fmt::Debug for OutsideMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|one| one.name())).finish()
    }
}

impl OutsideMetrics {
    /// Returns true if one of them looks at pictures.
    pub fn look(&self) -> bool {
        self.0.iter().any(|one| one.sight() != Sight::None)
    }

    /// Which of these a metric is, if it is one.
    pub(crate) fn of(&self, metric: &AnyMetric) -> Option<&Arc<dyn Outside>> {
        let own = metric.factor().unwrap_or(metric).signature();
        self.0.iter().find(|one| one.signature() == *own)
    }
}

/// Checks the name of a metric that is computed outside of the engine: it can stand in lists, signatures and files, and
/// is not that of a metric or a suite of the engine, nor what signatures call given scores.
pub fn check_outside_name(name: &str) -> Result<(), Refusal> {
    check("name", name)?;
    let what = match name {
        _ if registry::kind(name).is_some() => "a metric",
        _ if SUITES.iter().any(|suite| suite.name == name) => "a suite",
        _ if Signature::new(name).is_given() => "a word",
        _ => return Ok(()),
    };
    Err(Refusal::new(format!("name: capeval has {what} {name} of its own"))
        .with_remedy("choose another name"))
}

/// Checks the key of a measure of such a metric.
pub fn check_outside_key(key: &str) -> Result<(), Refusal> {
    check("key", key)
}

/// Checks the code of a language that such a metric is made for.
pub fn check_language(code: &str) -> Result<(), Refusal> {
    let is_code = (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase());
    match is_code {
        true => Ok(()),
        false => Err(Refusal::new(format!("language: {code:?} is not a code such as en"))
            .with_remedy("use the two or three letters of ISO 639: en, de, zh")),
    }
}

fn check(what: &str, key: &str) -> Result<(), Refusal> {
    let is_good = key.starts_with(|first: char| first.is_ascii_lowercase())
        && key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c))
        && key.len() <= 64;
    match is_good {
        true => Ok(()),
        false => Err(Refusal::new(format!("{what}: {key:?} is not a name such as length-ratio"))
            .with_remedy("use lower-case letters, digits, hyphens and underscores, a letter first")),
    }
}

/// The metric of this name without scores, to describe it; `None` if there is none. Settings in `common` are those of
/// the metric that it multiplies.
pub(crate) fn described(
    name: &str,
    common: &[(&str, &str)],
    resources: &Resources,
) -> Option<Result<AnyMetric, Refusal>> {
    let all = resources.get::<OutsideMetrics>()?;
    let outside = all.0.iter().find(|one| one.name() == name)?;
    let own = AnyMetric::new(Lookup::described(outside));
    Some(match (outside.multiplies(), outside.parts()) {
        (Some(base), [part, ..]) => registry::build(base, common, resources)
            .map(|base| AnyMetric::product(base, own, part.clone()))
            .map_err(|refusal| refusal.at(name)),
        _ => Ok(own),
    })
}

/// Refuses metrics that need pictures where none are given.
pub fn check_pictures(resources: &Resources) -> Result<(), Refusal> {
    let (all, pictures) = (resources.get::<OutsideMetrics>(), resources.get::<Pictures>());
    let mut all = all.iter().flat_map(|all| &all.0);
    all.try_for_each(|one| picture::check(one.name(), one.sight(), pictures.as_deref()))
}

/// The metrics that the engine computes itself.
pub(crate) fn inside(metrics: Vec<AnyMetric>, resources: &Resources) -> Vec<AnyMetric> {
    match resources.get::<OutsideMetrics>() {
        Some(all) => metrics.into_iter().filter(|metric| all.of(metric).is_none()).collect(),
        None => metrics,
    }
}
