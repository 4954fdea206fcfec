//! Every metric by name. Each family lists its own; what a metric is called, what may be set and how it is built is in
//! the metric's file.

mod suites;

use capeval_choice::UnknownName;
pub use capeval_lexical::CORPUS_KINDS;
use capeval_metric::{AnyCorpusMetric, AnyMetric};
pub use capeval_metric::{CorpusKind, CorpusNeed, MetricKind, Need, Refusal, Resources, Setting};

pub use self::suites::{SUITES, Suite};

/// The metrics, in the order in which they are listed and in which the suite of all holds them.
pub fn kinds() -> impl Iterator<Item = &'static MetricKind> + Clone {
    let families = [capeval_lexical::KINDS, capeval_fluency::KINDS, capeval_meteor::KINDS];
    families.into_iter().flatten().copied()
}

/// The kind that a metric with settings, such as `cider-d:sigma=4`, is of.
pub fn kind(spec: &str) -> Option<&'static MetricKind> {
    kinds().find(|kind| kind.name == name(spec))
}

/// The kind of a metric of all captions of a system, such as `self-cider:n=3`.
pub fn corpus_kind(spec: &str) -> Option<&'static CorpusKind> {
    CORPUS_KINDS.iter().copied().find(|kind| kind.name == name(spec))
}

fn name(spec: &str) -> &str {
    spec.split(':').next().unwrap_or_default()
}

/// Builds a metric from what a user typed: `bleu`, or `cider-d:sigma=4:idf=uniform`.
///
/// `common` holds settings for every metric that knows them, such as a tokenizer; what is said of the
/// metric itself goes first. A table of document frequencies or an n-gram model among the `resources` is used by
/// the metrics that know one, unless their settings say otherwise.
///
/// # Errors
/// When there is no such metric or setting, the setting does not take its value, or data are missing.
pub fn build(spec: &str, common: &[(&str, &str)], resources: &Resources) -> Result<AnyMetric, Refusal> {
    let kind = kind(spec).ok_or_else(|| unknown(spec, kinds().map(|kind| kind.name).collect()))?;
    kind.build(spec, common, resources)
}

/// Builds a metric of all captions of a system: `div`, or `self-cider:tok=none`.
///
/// # Errors
/// As [`build`].
pub fn build_corpus(spec: &str, common: &[(&str, &str)]) -> Result<AnyCorpusMetric, Refusal> {
    let names = || CORPUS_KINDS.iter().map(|kind| kind.name).collect();
    let kind = corpus_kind(spec).ok_or_else(|| unknown(spec, names()))?;
    kind.build(spec, common)
}

/// That no metric has the name in `spec`; `choices` do.
pub fn unknown(spec: &str, choices: Vec<&'static str>) -> Refusal {
    let given = name(spec).to_owned();
    let remedy = UnknownName { what: "metric", given, choices }.remedy();
    Refusal::new(format!("no metric is called '{}'", name(spec))).with_remedy(remedy)
}
