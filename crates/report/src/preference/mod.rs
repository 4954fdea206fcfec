//! Agreement of metrics with human preferences, as plain data.

use capeval_choice::Refusal;
use capeval_corpus::SegmentId;
use capeval_metric::Signature;
use serde::{Deserialize, Serialize};

use crate::json_float;
use crate::signatures_as_lines;
use crate::{ByGroup, Coefficient, Head, Kind};

mod json;
mod study;
mod tables;

/// Agreement of metrics with preferences.
pub const KIND: Kind = Kind::of::<Preference>("preference");

/// The share of pairs in which each measure prefers the caption that people prefer, after the protocol of PASCAL-50S.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Preference {
    /// The fields that all results share.
    pub head: Head,
    /// The votes.
    pub voters: Voters,
    /// The draws of references and the rules for ties.
    pub protocol: Protocol,
    /// The categories of pairs, sorted by name; a single one without a name if the file has no categories.
    pub categories: Vec<Category>,
    /// One signature per metric; empty for scores that were read from a file.
    #[serde(with = "signatures_as_lines")]
    pub signatures: Vec<Signature>,
    /// The accuracy of each measure, in the order of [`Head::measures`].
    pub accuracies: Vec<Accuracy>,
    /// The pairs that the accuracies are computed from.
    pub pairs: Vec<ChosenPair>,
    /// The accuracies in groups of images, without pairs, if any were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<ByGroup<Preference>>,
}

impl Preference {
    /// Returns true if scores were computed against drawn references, and not read from a file.
    pub fn is_drawn(&self) -> bool {
        self.signatures.iter().any(|signature| !signature.is_given())
    }

    /// The signature of the metric that measure number `measure` belongs to.
    pub fn signature_of(&self, measure: usize) -> Option<&Signature> {
        self.signatures.get(self.head.metric_of(measure)?)
    }

    /// Returns true if pairs have categories.
    pub(crate) fn is_categorised(&self) -> bool {
        self.categories.iter().any(|category| !category.name.is_empty())
    }
}

/// A description of the votes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Voters {
    /// The source of the votes, such as a path.
    #[serde(rename = "file")]
    pub source: String,
    /// The number of images.
    #[serde(rename = "images")]
    pub n_images: usize,
    /// The number of pairs.
    #[serde(rename = "pairs")]
    pub n_pairs: usize,
    /// The number of pairs whose captions have equal votes.
    #[serde(rename = "tied")]
    pub n_tied: usize,
    /// The number of votes; half a vote for each caption where a person preferred neither.
    #[serde(rename = "votes")]
    #[serde(with = "json_float")]
    pub n_votes: f64,
    /// The share of votes that go to the preferred caption, as a mean over pairs, 0.5 to 1.
    #[serde(with = "json_float")]
    pub majority: f64,
}

/// The number of drawn references, the number of draws, and the rules for ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protocol {
    /// The number of references to draw from those of a pair; `None` for all. Like the number of draws and the seed, it
    /// has no effect if scores are given.
    pub references: Option<usize>,
    /// The number of draws, from 1 to [`MAX_DRAWS`](Self::MAX_DRAWS).
    pub draws: usize,
    /// The seed of the draws.
    pub seed: u64,
    /// The rule for pairs whose captions people prefer equally.
    pub human_ties: HumanTies,
    /// The rule for pairs whose captions a measure scores equally.
    pub metric_ties: MetricTies,
}

impl Default for Protocol {
    /// Five references, five draws, and ties that count half: as in captioning papers since CLIPScore, whose program
    /// breaks ties at random.
    fn default() -> Self {
        Self {
            references: Some(5),
            draws: 5,
            seed: 12_345,
            human_ties: HumanTies::default(),
            metric_ties: MetricTies::default(),
        }
    }
}

impl Protocol {
    /// The largest number of draws.
    pub const MAX_DRAWS: usize = 10_000;

    /// Checks the numbers of references and draws.
    pub fn check(&self) -> Result<(), Refusal> {
        if self.references == Some(0) {
            return Err(Refusal::new("0 references cannot be drawn for a pair")
                .with_remedy("give a number from 1, or leave it out"));
        }
        if self.draws == 0 || self.draws > Self::MAX_DRAWS {
            return Err(Refusal::new(format!("references cannot be drawn {} times", self.draws))
                .with_remedy(format!("give a number from 1 to {}", Self::MAX_DRAWS)));
        }
        Ok(())
    }
}

capeval_choice::named! {
    /// The rule for a pair whose captions have equal votes.
    #[derive(Default)]
    pub enum HumanTies ("rule for human ties") {
        Skip = "skip", "leave the pair out";
        #[default]
        Half = "half", "count the pair as half right, the expected value of a random choice";
    }
}

capeval_choice::named! {
    /// The rule for a pair whose captions a measure scores equally.
    #[derive(Default)]
    pub enum MetricTies ("rule for metric ties") {
        #[default]
        Half = "half", "count the pair as half right, the expected value of a random choice";
        Wrong = "wrong", "count the pair as wrong";
        First = "first", "count the first caption as preferred, as some programs do";
    }
}

/// A category of pairs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// Its name, such as HC; empty if the file has no categories.
    pub name: String,
    /// The number of its pairs.
    pub n_pairs: usize,
    /// The number of pairs that count: all, or only those without a human tie.
    pub n_counted: usize,
}

/// The share of pairs in which one measure prefers the caption that people prefer, 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Per category, in the order of [`Preference::categories`]; without a value if no pair counts.
    pub by_category: Vec<Coefficient>,
    /// The mean over the categories with an accuracy, as in papers.
    pub mean: Coefficient,
    /// Over all pairs, regardless of category.
    pub all: Coefficient,
    /// The mean over categories of each draw.
    #[serde(with = "json_float")]
    pub by_draw: Vec<Option<f64>>,
    /// The share of ties of the measure among all counted pairs and draws, 0 to 1.
    #[serde(with = "json_float")]
    pub tied: f64,
}

/// A pair with its scores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChosenPair {
    /// The image.
    pub image: SegmentId,
    /// The index of the category.
    pub category: usize,
    /// The captions.
    pub captions: [String; 2],
    /// The number of votes for each caption.
    #[serde(with = "json_float")]
    pub votes: [f64; 2],
    /// For each measure, the scores of both captions, as means over the draws.
    #[serde(with = "json_float")]
    pub scores: Vec<[f64; 2]>,
    /// For each measure, how often it was right over the draws, 0 to 1; `None` if the pair does not count.
    #[serde(with = "json_float")]
    pub right: Vec<Option<f64>>,
}
