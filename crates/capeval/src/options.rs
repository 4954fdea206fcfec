//! Everything that a person can set about a task: what arguments, Python's keywords and requests in JSON fill.

use std::collections::BTreeMap;

use capeval_choice::named;
use capeval_corpus::{Duplicate, Empty, Ids, Missing, Policy, SegmentId, Surplus};
use capeval_fluency::Base;
use capeval_report::{HumanTies, MetricTies, Protocol, Unit};
use capeval_stats::Resampling;
use capeval_stats::correction::Correction;
use serde::{Deserialize, Serialize};

/// Which metrics, and the settings of those that know them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricOptions {
    /// Metrics, with settings such as `cider-d:sigma=4`, or suites. Those of the suite `coco` if neither they nor a
    /// suite are given.
    pub names: Vec<String>,
    /// A suite, whose metrics come first.
    pub suite: Option<String>,
    /// The tokenizer; a notice names the metrics that it does not reach.
    pub tokenizer: Option<String>,
    /// Where CIDEr's document frequencies come from: `corpus`, `uniform` or `table`.
    pub idf: Option<String>,
    /// Settings for every metric that knows them, by name.
    pub settings: BTreeMap<String, String>,
}

impl MetricOptions {
    /// Metrics or suites by their names.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// The suite that comes first.
    pub fn suite(&self) -> Option<&str> {
        match (self.suite.as_deref(), self.names.is_empty()) {
            (Some(suite), _) => Some(suite),
            (None, true) => Some("coco"),
            (None, false) => None,
        }
    }

    /// The settings of all metrics that know them.
    pub(crate) fn common(&self) -> Vec<(&str, &str)> {
        let named = [("tok", &self.tokenizer), ("idf", &self.idf)];
        let named = named.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?)));
        named.chain(self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))).collect()
    }
}

/// What to score, and what to tell of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScoreOptions {
    /// The metrics.
    pub metrics: MetricOptions,
    /// Images without a candidate.
    pub missing: Missing,
    /// Candidates without a reference.
    pub surplus: Surplus,
    /// Several candidates for one image.
    pub duplicate: Duplicate,
    /// Candidates without a word.
    pub empty: Empty,
    /// Whether the id 1 and the id "1" are the same.
    pub ids: Ids,
    /// Scores these images only, document frequencies included; `None` for all.
    pub images: Option<Vec<SegmentId>>,
    /// Whether the report holds the scores of every image.
    pub segments: bool,
    /// The images whose scores the report explains, for every system that describes them.
    pub explain: Vec<SegmentId>,
    /// Whether the report holds what a page shows of every image: its texts, how its scores came about, and the scores
    /// of every image.
    pub gallery: bool,
    /// Adds a confidence interval to every score, from resamples of the images.
    pub intervals: Option<Resampling>,
}

impl ScoreOptions {
    /// What to do where candidates and references do not match.
    pub fn policy(&self) -> Policy {
        let Self { missing, surplus, duplicate, empty, .. } = *self;
        Policy { missing, surplus, duplicate, empty }
    }
}

/// How systems are compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareOptions {
    /// How they are scored; its intervals are always those of the comparison.
    pub score: ScoreOptions,
    /// How resamples and exchanges are drawn; 1 less the level is the p-value below which systems differ.
    pub resampling: Resampling,
    /// How p-values are corrected for their number.
    pub correction: Correction,
    /// Compares every system with every other, and not only with the first.
    pub all_pairs: bool,
}

named! {
    /// What to do with a judged caption that is itself a reference of its image.
    #[derive(Default)]
    pub enum OwnReference ("choice for a caption that is its own reference") {
        #[default]
        Keep = "keep", "score it against all references, itself included; a notice says how many there are";
        Remove = "remove", "remove it from the references of its image, for every caption of that image";
        Skip = "skip", "leave it out, with its ratings or its pair";
    }
}

/// How metrics are correlated with ratings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CorrelateOptions {
    /// The metrics; not used where scores are given.
    pub metrics: MetricOptions,
    /// The keys of given scores that are error rates; metrics of that name are known.
    pub lower_is_better: Vec<String>,
    /// What a point is.
    pub unit: Unit,
    /// Rated captions that are references of their image.
    pub own_reference: OwnReference,
    /// Ratings of images without references.
    pub surplus: Surplus,
    /// Whether the id 1 and the id "1" are the same.
    pub ids: Ids,
    /// Adds an interval to every coefficient, from resamples of the images.
    pub intervals: Option<Resampling>,
}

/// How preferences of metrics are compared with those of people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PreferOptions {
    /// The metrics; not used where scores are given.
    pub metrics: MetricOptions,
    /// The keys of given scores that are error rates; metrics of that name are known.
    pub lower_is_better: Vec<String>,
    /// How many references are drawn from those of a pair; `None` for all.
    pub references_per_pair: Option<usize>,
    /// How many times references are drawn.
    pub draws: usize,
    /// What the draws start from.
    pub draw_seed: u64,
    /// What counts where people prefer neither caption.
    pub human_ties: HumanTies,
    /// What counts where a metric gives both captions the same score.
    pub metric_ties: MetricTies,
    /// Captions of pairs that are references of their image.
    pub own_reference: OwnReference,
    /// Pairs without references.
    pub surplus: Surplus,
    /// Whether the id 1 and the id "1" are the same.
    pub ids: Ids,
    /// Adds an interval to every accuracy, from resamples of the images.
    pub intervals: Option<Resampling>,
}

impl Default for PreferOptions {
    fn default() -> Self {
        let Protocol { references, draws, seed, human_ties, metric_ties } = Protocol::default();
        Self {
            metrics: MetricOptions::default(),
            lower_is_better: Vec::new(),
            references_per_pair: references,
            draws,
            draw_seed: seed,
            human_ties,
            metric_ties,
            own_reference: OwnReference::default(),
            surplus: Surplus::default(),
            ids: Ids::default(),
            intervals: None,
        }
    }
}

impl PreferOptions {
    /// How references are drawn, and what ties count.
    pub fn protocol(&self) -> Protocol {
        let Self { references_per_pair: references, draws, draw_seed: seed, human_ties, metric_ties, .. } =
            *self;
        Protocol { references, draws, seed, human_ties, metric_ties }
    }
}

/// How the diversity of captions is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DiversityOptions {
    /// Corpus metrics with settings, such as `self-cider:n=3`; all that the captions allow if there are none.
    pub metrics: Vec<String>,
    /// The tokenizer of all metrics that are not given another.
    pub tokenizer: Option<String>,
    /// Whether the id 1 and the id "1" are the same.
    pub ids: Ids,
}

/// What references are prepared for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrepareOptions {
    /// The metrics that will be asked for; others work too, but take longer.
    pub metrics: MetricOptions,
    /// Whether the id 1 and the id "1" are the same.
    pub ids: Ids,
}

/// How perplexities are computed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PerplexityOptions {
    /// The tokenizer of captions, which must be that of the model; `ptb` if none is given. Probabilities need none.
    pub tokenizer: Option<String>,
    /// The base of given logarithms.
    pub log: Base,
    /// Whether the report holds the perplexity of every segment.
    pub segments: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error<T: serde::de::DeserializeOwned>(text: &str) -> String {
        serde_json::from_str::<T>(text).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn options_are_read_from_json_and_written_as_they_were() {
        let text = r#"{"metrics": {"names": ["bleu"], "settings": {"tok": "13a"}}, "missing": "skip",
            "images": [7, "a"], "intervals": {"level": 0.99}}"#;
        let options: ScoreOptions = serde_json::from_str(text).unwrap();
        assert_eq!(options.missing, Missing::Skip);
        assert_eq!(options.images, Some(vec![SegmentId::Integer(7), "a".into()]));
        assert_eq!(options.intervals.unwrap().resamples, Resampling::default().resamples);
        let again = serde_json::from_str(&serde_json::to_string(&options).unwrap()).unwrap();
        assert_eq!(options, again);
        assert_eq!(serde_json::from_str::<PreferOptions>("{}").unwrap(), PreferOptions::default());
    }

    #[test]
    fn what_is_unknown_is_refused_with_the_choices() {
        let policy = error::<ScoreOptions>(r#"{"missing": "skipp"}"#);
        assert!(policy.contains("\"skipp\"; did you mean skip?"), "{policy}");
        let field = error::<ScoreOptions>(r#"{"mising": "skip"}"#);
        assert!(field.contains("unknown field `mising`, expected one of `metrics`, `missing`"), "{field}");
        assert!(error::<PreferOptions>(r#"{"draws": "5"}"#).contains("expected usize"));
    }
}
