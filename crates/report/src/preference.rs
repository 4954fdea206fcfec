//! How often metrics prefer the caption that people prefer, as plain data.

use capeval_corpus::SegmentId;
use capeval_metric::Signature;
use serde::Serialize;

use crate::{Coefficient, Head};

mod render;

pub(crate) use render::{latex, markdown, table};

/// How often each measure prefers the caption of a pair that people prefer: the protocol of PASCAL-50S.
#[derive(Clone, Debug)]
pub struct Preference {
    /// What all results have.
    pub head: Head,
    /// What people said.
    pub voters: Voters,
    /// How the numbers came about.
    pub protocol: Protocol,
    /// The kinds of pairs, in order of their names; a single one without a name where the file tells none.
    pub categories: Vec<Category>,
    /// The signatures of the metrics, in the same order; none for scores that were read from a file.
    pub signatures: Vec<Signature>,
    /// What each measure scores, in the order of [`Head::measures`].
    pub accuracies: Vec<Accuracy>,
    /// Every pair behind the numbers.
    pub pairs: Vec<ChosenPair>,
}

impl Preference {
    /// Whether scores were computed against references that were drawn, and not read from a file.
    pub fn is_drawn(&self) -> bool {
        !self.head.metrics.is_empty()
    }

    /// The signature of the metric behind the measure number `measure`.
    pub fn signature_of(&self, measure: usize) -> Option<&Signature> {
        self.signatures.get(self.head.metric_of(measure)?)
    }

    /// Whether pairs have categories at all.
    pub(crate) fn is_categorised(&self) -> bool {
        self.categories.iter().any(|category| !category.name.is_empty())
    }
}

/// What people said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Voters {
    /// Where the votes come from.
    #[serde(rename = "file")]
    pub source: String,
    /// How many images there are.
    #[serde(rename = "images")]
    pub n_images: usize,
    /// How many pairs there are.
    #[serde(rename = "pairs")]
    pub n_pairs: usize,
    /// Of how many of them as many people preferred the one as the other.
    #[serde(rename = "tied")]
    pub n_tied: usize,
    /// How many votes there are.
    #[serde(rename = "votes")]
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

capeval_choice::named! {
    /// What counts where as many people preferred the one caption as the other.
    #[derive(Default)]
    pub enum HumanTies ("rule for people's ties") {
        /// The pair is left out.
        Skip = "skip", "the pair is left out";
        /// The pair is half right for every measure: what breaking such ties at random, as CLIPScore does, comes to.
        #[default]
        Half = "half", "the pair is half right for every measure";
    }
}

capeval_choice::named! {
    /// What counts where a measure gives both captions the same score.
    #[derive(Default)]
    pub enum MetricTies ("rule for metrics' ties") {
        /// Half right: what breaking such ties at random comes to.
        #[default]
        Half = "half", "half right";
        /// Wrong.
        Wrong = "wrong", "wrong";
        /// The first caption counts as preferred, as in programs that ask whether the first scores less than the second.
        First = "first", "the first caption counts as preferred";
    }
}

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
