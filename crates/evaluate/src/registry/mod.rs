//! All metrics by name. Each family lists its own metrics; the file of a metric defines its name, its settings and how
//! it is built.

mod spider;
mod suites;

use capeval_choice::{Remedy, Task, UnknownName};
pub use capeval_lexical::CORPUS_KINDS;
use capeval_metric::{AnyCorpusMetric, AnyMetric, Part};
pub use capeval_metric::{CorpusKind, CorpusNeed, MetricKind, Need, Refusal, Resources, Setting};

pub use self::suites::{SUITES, Suite};

/// The metrics, in the order of lists and of the suite of all metrics.
pub fn kinds() -> impl Iterator<Item = &'static MetricKind> + Clone {
    const SPIDER: &[&MetricKind] = &[&spider::KIND];
    let families = [capeval_lexical::KINDS, capeval_meteor::KINDS, capeval_spice::KINDS, SPIDER];
    families.into_iter().flatten().copied()
}

/// The kind of a metric with settings, such as `cider-d:sigma=4`; `None` if it does not exist. Papers and programs
/// write names in other ways, such as `ROUGE_L`, so case does not matter, and `_` is `-`.
pub fn kind(spec: &str) -> Option<&'static MetricKind> {
    let name = name(spec);
    let plain = plain(name);
    kinds().find(|kind| kind.name == name || kind.name == plain && plain != AMBIGUOUS)
}

/// The kind of metric whose scores a metric that is computed outside of the engine multiplies: SPIDEr for `spider-fl`.
pub fn base(spec: &str) -> Option<&'static MetricKind> {
    (plain(name(spec)) == spider::SPIDER_FL).then_some(&spider::KIND)
}

/// Written with capitals, this is the metric that COCO's evaluation calls `CIDEr`, and that is CIDEr-D.
const AMBIGUOUS: &str = "cider";

fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// The kind of a metric of all captions of a system, such as `self-cider:n=3`; `None` if it does not exist.
pub fn corpus_kind(spec: &str) -> Option<&'static CorpusKind> {
    let plain = plain(name(spec));
    CORPUS_KINDS.iter().copied().find(|kind| kind.name == plain)
}

fn name(spec: &str) -> &str {
    spec.split(':').next().unwrap_or_default()
}

/// Builds a metric from what a user typed: `bleu`, or `cider-d:sigma=4:idf=uniform`.
///
/// `common` contains settings for all metrics that have them, such as a tokenizer; settings of the metric itself take
/// precedence. Metrics that can use a table of document frequencies or an n-gram model use the one in `resources`,
/// unless their settings exclude it.
pub fn build(spec: &str, common: &[(&str, &str)], resources: &Resources) -> Result<AnyMetric, Refusal> {
    let kind = kind(spec).ok_or_else(|| refusal(spec, kinds().map(|kind| kind.name).collect()))?;
    kind.build(spec, common, resources)
}

/// Builds a metric of all captions of a system: `div`, or `self-cider:tok=none`.
pub fn build_corpus(spec: &str, common: &[(&str, &str)]) -> Result<AnyCorpusMetric, Refusal> {
    let names = || CORPUS_KINDS.iter().map(|kind| kind.name).collect();
    let kind = corpus_kind(spec).ok_or_else(|| unknown(spec, names()))?;
    kind.build(spec, common)
}

/// The error for a name that the field uses, but that is not the name of a metric here.
fn other_name(spec: &str) -> Option<Refusal> {
    let given = name(spec);
    let plain = plain(given);
    if plain == AMBIGUOUS {
        let remedy =
            "give cider-d for the CIDEr of COCO's evaluation, or cider for that of the paper's own program";
        return Some(
            Refusal::new(format!("two metrics are called '{given}'")).with_remedy(Remedy::say(remedy)),
        );
    }
    // A metric that is written without its hyphens is meant itself.
    if kinds().any(|kind| bare(kind.name) == bare(&plain)) {
        return None;
    }
    let has = |parts: &[Part]| parts.iter().any(|part| part.key == plain || is_meant(&plain, &part.label));
    let of_systems = |kind: &&&CorpusKind| {
        kind.name == plain || build_corpus(kind.name, &[]).is_ok_and(|metric| has(&metric.parts()))
    };
    if let Some(kind) = CORPUS_KINDS.iter().find(of_systems) {
        let message = format!("{given} measures diversity ({}), not quality", kind.name);
        return Some(Refusal::new(message).with_remedy(Remedy::run(Task::MeasureDiversity)));
    }
    let is_of = |kind: &&MetricKind| kind.about().is_ok_and(|about| has(&about.parts));
    let names: Vec<&str> = kinds().filter(is_of).map(|kind| kind.name).collect();
    let (last, others) = names.split_last()?;
    let (metrics, all) = match others {
        [] => ("metric", (*last).to_owned()),
        others => ("metrics", format!("{} and {last}", others.join(", "))),
    };
    let remedy = Remedy::say(format!("give {}", names.join(" or ")));
    Some(Refusal::new(format!("{given} is one of the scores of the {metrics} {all}")).with_remedy(remedy))
}

fn bare(name: &str) -> String {
    plain(name).replace('-', "")
}

/// Returns true if a name means the score that tables show as `label`, such as `ROUGE-1 F (1.5.5)`: by `rouge1`, by
/// `rouge-n`, or by `rouge`, which leaves the number open.
fn is_meant(plain: &str, label: &str) -> bool {
    let shown = bare(label.split(' ').next().unwrap_or_default());
    let given = plain.strip_suffix("-n").map_or_else(|| bare(plain), |name| format!("{}1", bare(name)));
    let open = shown.strip_prefix(&given).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    !given.is_empty() && (shown == given || open)
}

/// The error that no metric has the name in `spec`, or that another one is meant by it; `choices` are the names of
/// metrics.
pub fn refusal(spec: &str, choices: Vec<&'static str>) -> Refusal {
    other_name(spec).unwrap_or_else(|| unknown(spec, choices))
}

fn unknown(spec: &str, choices: Vec<&'static str>) -> Refusal {
    let given = name(spec).to_owned();
    let remedy = UnknownName { what: "metric", given, choices }.remedy();
    Refusal::new(format!("no metric is called '{}'", name(spec))).with_remedy(remedy)
}
