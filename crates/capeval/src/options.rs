//! The options of all tasks, which arguments, Python's keywords and JSON fill in.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use capeval_choice::{Choice, UnknownName, named};
use capeval_corpus::{Empty, Ids, Missing, Policy, SegmentId, Surplus};
use capeval_lexical::cider::IdfSource;
use capeval_lexical::fluency::Base;
use capeval_report::{GroupFrequencies, HumanTies, MetricTies, Protocol, Unit};
use capeval_stats::Resampling;
use capeval_stats::correction::Correction;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::kit::Kit;
use crate::not_captions::{Cleaning, NonCaption};

use crate::several::Several;

/// The choice of metrics, and their settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetricOptions {
    /// Metrics, with settings such as `cider-d:sigma=4`, or suites. If neither these nor a suite are given, the suite
    /// is `coco`.
    pub names: Vec<String>,
    /// A suite, whose metrics come first.
    pub suite: Option<String>,
    /// The tokenizer; a notice names the metrics that ignore it.
    pub tokenizer: Option<String>,
    /// The source of CIDEr's document frequencies.
    pub idf: Option<IdfSource>,
    /// Settings for all metrics that have them, by name.
    pub settings: BTreeMap<String, String>,
}

impl MetricOptions {
    /// Selects metrics or suites by name.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Returns true if any metric is chosen, so that the default ones do not apply.
    pub fn are_chosen(&self) -> bool {
        self.suite.is_some() || !self.names.is_empty()
    }

    /// The suite that comes first.
    pub fn suite(&self) -> Option<&str> {
        match (self.suite.as_deref(), self.names.is_empty()) {
            (Some(suite), _) => Some(suite),
            (None, true) => Some("coco"),
            (None, false) => None,
        }
    }

    /// The settings for all metrics that have them.
    pub fn common(&self) -> Vec<(&str, &str)> {
        let named = [("tok", self.tokenizer.as_deref()), ("idf", self.idf.map(IdfSource::name))];
        let named = named.into_iter().filter_map(|(name, value)| Some((name, value?)));
        named.chain(self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()))).collect()
    }
}

named! {
    /// The choice to look at how well captions fit their own references.
    #[derive(Default)]
    pub enum PairingCheck ("choice for pairs") {
        #[default]
        Check = "check", "say if captions fit their own references no better than those of other images";
        Off = "off", "do not look";
    }
}

/// Options for scoring.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScoreOptions {
    /// The metrics; none if scores are given without captions.
    pub metrics: MetricOptions,
    /// The keys of given scores that are error rates; those of known metrics need not be listed.
    pub lower_is_better: Vec<String>,
    /// Images without a candidate.
    pub missing: Missing,
    /// Candidates for images without references.
    pub surplus: Surplus,
    /// Several candidates for one image.
    pub several: Several,
    /// The names of the systems that are runs of one, which is one row with their mean.
    pub runs: BTreeMap<String, Vec<String>>,
    /// Candidates without any words.
    pub empty: Empty,
    /// The kinds of texts that are no captions and are scored all the same.
    #[serde(deserialize_with = "one_or_more")]
    pub accept: Vec<NonCaption>,
    /// The kinds of text to remove from captions and references before they are scored.
    #[serde(deserialize_with = "one_or_more")]
    pub clean: Vec<Cleaning>,
    /// The rule for comparing ids, such as 1 and "1".
    pub ids: Ids,
    /// The look at how well captions fit their own references.
    pub pairing: PairingCheck,
    /// The images to score, also for document frequencies; `None` for all images.
    pub images: Option<Vec<SegmentId>>,
    /// The references that were left out when they were read, for the signature.
    pub ref_drop: Vec<String>,
    /// The candidates that were, likewise.
    pub drop: Vec<String>,
    /// The kit whose options these are, for the signature; it sets none itself.
    pub kit: Option<Kit>,
    /// True if the report contains the scores of every image.
    pub segments: bool,
    /// Numbers made of measures, as in `sm = mean(bleu-4, meteor)`.
    pub derive: Vec<String>,
    /// The images that metrics learn from for the scores of a group.
    pub group_df: GroupFrequencies,
    /// The images whose scores the report explains, for each system that describes them.
    pub explain: Vec<SegmentId>,
    /// True if the report contains the data that a page shows for every image: texts, scores, and explanations of the
    /// scores.
    pub gallery: bool,
    /// Confidence intervals for all scores, from resamples of the images; `None` for no intervals.
    pub intervals: Option<Resampling>,
    /// True if the last row shows people's scores: each reference of an image is held out in turn, and scored against
    /// the others.
    pub human: bool,
}

/// Reads a list of names, or a single name.
fn one_or_more<'de, D: Deserializer<'de>, T: Choice>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct Names<T>(PhantomData<T>);

    impl<'de, T: Choice> Visitor<'de> for Names<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a name, or a list of names")
        }

        fn visit_str<E: serde::de::Error>(self, names: &str) -> Result<Self::Value, E> {
            names.split(',').map(|name| read(name.trim())).collect()
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(name) = names.next_element::<String>()? {
                all.push(read(&name)?);
            }
            Ok(all)
        }
    }

    fn read<T: Choice, E: serde::de::Error>(name: &str) -> Result<T, E> {
        name.parse().map_err(|error: UnknownName| E::custom(format_args!("{error}; {}", error.remedy())))
    }

    deserializer.deserialize_any(Names(PhantomData))
}

impl ScoreOptions {
    /// The policies for mismatches between candidates and references.
    pub fn policy(&self) -> Policy {
        let Self { missing, surplus, empty, .. } = *self;
        Policy { missing, surplus, duplicate: self.several.duplicate(), empty }
    }
}

/// Options for comparing systems.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareOptions {
    /// Options for scoring; its intervals are always those of the comparison.
    pub score: ScoreOptions,
    /// Options for resamples and exchanges; systems differ if the p-value is below 1 minus the level.
    pub resampling: Resampling,
    /// The correction of p-values for the number of tests.
    pub correction: Correction,
    /// True to compare every system with every other, not only with the first.
    pub all_pairs: bool,
}

named! {
    /// The policy for judged captions that are also references of their images.
    #[derive(Default)]
    pub enum OwnReference ("choice for a caption that is its own reference") {
        #[default]
        Keep = "keep", "score it against all references, itself included, with a notice";
        Remove = "remove", "remove it from the references of its image";
        RemoveSameWords = "remove-same-words", "as remove, also references that differ only in case, punctuation and spaces";
        HoldOut = "hold-out", "compare it with the other references, one caption at a time";
        Skip = "skip", "leave it out, with its ratings or its pair";
    }
}

/// Options for correlating metrics with ratings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CorrelateOptions {
    /// The metrics; if scores are given, they are computed only if some are chosen or references are given.
    pub metrics: MetricOptions,
    /// The keys of given scores that are error rates; those of known metrics need not be listed.
    pub lower_is_better: Vec<String>,
    /// The points to correlate.
    pub unit: Unit,
    /// Rated captions that are also references of their images.
    pub own_reference: OwnReference,
    /// Ratings of images without references.
    pub surplus: Surplus,
    /// The rule for comparing ids, such as 1 and "1".
    pub ids: Ids,
    /// The look at how well captions fit their own references.
    pub pairing: PairingCheck,
    /// Confidence intervals for all coefficients, from resamples of the images; `None` for no intervals.
    pub intervals: Option<Resampling>,
    /// The images that metrics learn from for the results of a group.
    pub group_df: GroupFrequencies,
}

/// Options for comparing preferences of metrics with those of people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PreferOptions {
    /// The metrics; if scores are given, they are computed only if some are chosen or references are given.
    pub metrics: MetricOptions,
    /// The keys of given scores that are error rates; those of known metrics need not be listed.
    pub lower_is_better: Vec<String>,
    /// The number of references to draw for each pair; `None` for all.
    pub references_per_pair: Option<usize>,
    /// The number of draws.
    pub draws: usize,
    /// The seed of the draws.
    pub draw_seed: u64,
    /// The rule for pairs in which people prefer neither caption.
    pub human_ties: HumanTies,
    /// The rule for pairs whose captions have equal scores.
    pub metric_ties: MetricTies,
    /// Captions of pairs that are also references of their images.
    pub own_reference: OwnReference,
    /// Pairs without references.
    pub surplus: Surplus,
    /// The rule for comparing ids, such as 1 and "1".
    pub ids: Ids,
    /// Confidence intervals for all accuracies, from resamples of the images; `None` for no intervals.
    pub intervals: Option<Resampling>,
    /// The images that metrics learn from for the results of a group.
    pub group_df: GroupFrequencies,
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
            group_df: GroupFrequencies::default(),
        }
    }
}

impl PreferOptions {
    /// The number of references and draws, and the rules for ties.
    pub fn protocol(&self) -> Protocol {
        let Self { references_per_pair: references, draws, draw_seed: seed, human_ties, metric_ties, .. } =
            *self;
        Protocol { references, draws, seed, human_ties, metric_ties }
    }
}

/// Options for measuring the diversity of captions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DiversityOptions {
    /// Corpus metrics with settings, such as `self-cider:n=3`; if empty, all that the given captions allow.
    pub metrics: Vec<String>,
    /// The tokenizer of all metrics that do not set another.
    pub tokenizer: Option<String>,
    /// The rule for comparing ids, such as 1 and "1".
    pub ids: Ids,
    /// True to profile lengths, words, n-grams and repeated captions, for a page.
    pub profiles: bool,
    /// The images that metrics learn from for the results of a group.
    pub group_df: GroupFrequencies,
}

/// The metrics that references are prepared for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PrepareOptions {
    /// The metrics that will be asked for; others work too, but take longer.
    pub metrics: MetricOptions,
    /// The rule for comparing ids, such as 1 and "1".
    pub ids: Ids,
    /// The kinds of text to remove from the references.
    #[serde(deserialize_with = "one_or_more")]
    pub clean: Vec<Cleaning>,
}

/// How perplexities are computed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PerplexityOptions {
    /// The tokenizer of captions, which must be that of the model; `ptb` if none is given. Probabilities need none.
    pub tokenizer: Option<String>,
    /// The base of given logarithms.
    pub log: Base,
    /// True if the report contains the perplexity of every segment.
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
        assert!(
            field.contains("unknown field `mising`, expected one of `metrics`, `lower_is_better`, `missing`"),
            "{field}"
        );
        assert!(error::<PreferOptions>(r#"{"draws": "5"}"#).contains("expected usize"));
    }
}
