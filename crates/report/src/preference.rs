//! How often metrics prefer the caption that people prefer, as plain data.

use capeval_corpus::{SegmentId, UnknownName};
use capeval_metric::Signature;
use capeval_stats::Resampling;

use crate::report::metric_of;
use crate::{Coefficient, Measure, MetricEntry, Notice};

mod programs;
mod render;

pub use programs::{csv, json, jsonl, pairs};
pub use render::{latex, markdown, table};

/// How often each measure prefers the caption of a pair that people prefer: the protocol of PASCAL-50S.
#[derive(Clone, Debug)]
pub struct Preference {
    /// The version of capeval.
    pub version: String,
    /// What people said.
    pub voters: Voters,
    /// How the numbers came about.
    pub protocol: Protocol,
    /// The kinds of pairs, in order of their names; a single one without a name where the file tells none.
    pub categories: Vec<Category>,
    /// The numbers that were held against people's choices.
    pub measures: Vec<Measure>,
    /// The metrics behind them, each with as many measures as it has; none for scores that were read from a file.
    pub metrics: Vec<MetricEntry>,
    /// The signatures of the metrics, in the same order; none for scores that were read from a file.
    pub signatures: Vec<Signature>,
    /// What each measure scores, in the order of [`measures`](Self::measures).
    pub accuracies: Vec<Accuracy>,
    /// How intervals came about, if they were asked for.
    pub resampling: Option<Resampling>,
    /// What a reader should know.
    pub notices: Vec<Notice>,
    /// Every pair behind the numbers.
    pub pairs: Vec<ChosenPair>,
}

impl Preference {
    /// Whether scores were computed against references that were drawn, and not read from a file.
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        !self.metrics.is_empty()
    }

    /// The signature of the metric behind the measure number `measure`.
    #[must_use]
    pub fn signature_of(&self, measure: usize) -> Option<&Signature> {
        self.signatures.get(metric_of(&self.metrics, measure)?)
    }

    /// Whether pairs have categories at all.
    pub(crate) fn is_categorised(&self) -> bool {
        self.categories.iter().any(|category| !category.name.is_empty())
    }
}

/// What people said.
#[derive(Clone, Debug, PartialEq)]
pub struct Voters {
    /// Where the votes come from.
    pub source: String,
    /// How many images there are.
    pub n_images: usize,
    /// How many pairs there are.
    pub n_pairs: usize,
    /// Of how many of them as many people preferred the one as the other.
    pub n_tied: usize,
    /// How many votes there are.
    pub n_votes: f64,
    /// The mean share of a pair's votes that go with the majority, 0.5 to 1.
    pub majority: f64,
}

/// How often a measure is asked, against which references, and what ties count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// How many references are drawn from those of a pair; `None` for all. As the number of draws and the seed, it is
    /// without meaning where scores are given.
    pub references: Option<usize>,
    /// How many times references are drawn, at least 1.
    pub draws: usize,
    /// What the drawing starts from.
    pub seed: u64,
    /// What counts where people prefer neither.
    pub human_ties: HumanTies,
    /// What counts where a measure prefers neither.
    pub metric_ties: MetricTies,
}

impl Default for Protocol {
    /// Five references, five draws, ties half right: as captioning papers have it since CLIPScore, whose program breaks
    /// ties at random.
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
    /// The most draws that may be asked for.
    pub const MAX_DRAWS: usize = 10_000;

    /// Whether these settings make sense.
    ///
    /// # Errors
    /// A sentence when there is no draw or no reference, or more draws than [`MAX_DRAWS`](Self::MAX_DRAWS).
    pub fn check(&self) -> Result<(), String> {
        if self.references == Some(0) {
            return Err("draw at least 1 reference per pair".to_owned());
        }
        if self.draws == 0 || self.draws > Self::MAX_DRAWS {
            return Err(format!("draw references 1 to {} times, not {}", Self::MAX_DRAWS, self.draws));
        }
        Ok(())
    }
}

/// What counts where as many people preferred the one caption as the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HumanTies {
    /// The pair is left out.
    Skip,
    /// The pair is half right for every measure: what breaking such ties at random, as CLIPScore does, comes to.
    #[default]
    Half,
}

/// What counts where a measure gives both captions the same score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetricTies {
    /// Half right: what breaking such ties at random comes to.
    #[default]
    Half,
    /// Wrong.
    Wrong,
    /// The first caption counts as preferred, as in programs that ask whether the first scores less than the second.
    First,
}

macro_rules! named {
    ($choice:ident, $what:literal, $($variant:ident => $name:literal),+) => {
        impl $choice {
            /// All choices.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in commands and files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl std::str::FromStr for $choice {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|known| known.name() == name).ok_or_else(|| UnknownName {
                    what: $what,
                    given: name.into(),
                    choices: Self::ALL.iter().map(|known| known.name()).collect(),
                })
            }
        }
    };
}

named!(HumanTies, "rule for people's ties", Skip => "skip", Half => "half");
named!(MetricTies, "rule for metrics' ties", Half => "half", Wrong => "wrong", First => "first");

/// A kind of pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Category {
    /// Its name, such as HC; empty where the file tells none.
    pub name: String,
    /// How many pairs it has.
    pub n_pairs: usize,
    /// How many of them count: all, or those of which people prefer one.
    pub n_counted: usize,
}

/// How often one measure prefers what people prefer, 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Accuracy {
    /// Per category, in the order of [`Preference::categories`]; `None` where no pair counts.
    pub by_category: Vec<Coefficient>,
    /// The mean over the categories that have one, as papers print it.
    pub mean: Coefficient,
    /// Over all pairs, whatever their category.
    pub all: Coefficient,
    /// The mean over categories in each draw alone.
    pub by_draw: Vec<Option<f64>>,
    /// The share of counted pairs and draws in which the measure prefers neither, 0 to 1.
    pub tied: f64,
}

/// A pair with its scores.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenPair {
    /// The image.
    pub image: SegmentId,
    /// The category, as an index.
    pub category: usize,
    /// The captions.
    pub captions: [String; 2],
    /// The votes for each.
    pub votes: [f64; 2],
    /// Measure after measure the scores of both captions, means over the draws.
    pub scores: Vec<[f64; 2]>,
    /// Measure after measure how often it was right, 0 to 1; `None` where the pair does not count.
    pub right: Vec<Option<f64>>,
}
