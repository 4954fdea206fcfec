//! How well metrics agree with people, as plain data.

use capeval_corpus::SegmentId;
use capeval_metric::Signature;
use capeval_stats::Interval;
use capeval_stats::correlation::Williams;
use serde::{Serialize, Serializer};

use crate::Head;

mod render;

pub(crate) use render::{latex, markdown, table};

/// How well metrics agree with human ratings.
#[derive(Clone, Debug)]
pub struct Correlation {
    /// What all results have.
    pub head: Head,
    /// What people said.
    pub human: Human,
    /// One signature per metric.
    pub signatures: Vec<Signature>,
    /// How each measure agrees, in the order of [`Head::measures`].
    pub agreements: Vec<Agreement>,
    /// How the measures agree with people about whole systems, in the same order, if there are at least two.
    pub systems: Option<Vec<SystemAgreement>>,
    /// Williams' test of each pair of measures.
    pub differences: Vec<Difference>,
    /// Every point behind the coefficients.
    pub points: Points,
}

impl Correlation {
    /// The signature of the metric that the measure number `measure` belongs to; `None` for scores from a file.
    pub fn signature_of(&self, measure: usize) -> Option<&Signature> {
        self.signatures.get(self.head.metric_of(measure)?)
    }
}

/// What people said.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Human {
    /// Where the ratings come from.
    #[serde(rename = "file")]
    pub source: String,
    /// How many images there are.
    #[serde(rename = "images")]
    pub n_images: usize,
    /// How many captions or the like were rated.
    #[serde(rename = "items")]
    pub n_items: usize,
    /// How many ratings there are.
    #[serde(rename = "ratings")]
    pub n_ratings: usize,
    /// How many points the coefficients are computed from: ratings, or items.
    #[serde(rename = "points")]
    pub n_points: usize,
    /// What a point is.
    #[serde(serialize_with = "name")]
    pub unit: Unit,
    /// The lowest and the highest rating.
    #[serde(serialize_with = "ends")]
    pub scale: Interval,
    /// Krippendorff's α for ordered ratings; `None` where no item has two ratings or nothing varies.
    pub krippendorff_alpha: Option<f64>,
    /// Fleiss' κ; `None` where items have different numbers of ratings.
    pub fleiss_kappa: Option<f64>,
}

fn name<S: Serializer>(unit: &Unit, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(unit.name())
}

fn ends<S: Serializer>(interval: &Interval, serializer: S) -> Result<S::Ok, S::Error> {
    [interval.low, interval.high].serialize(serializer)
}

capeval_choice::named! {
    /// What a point is.
    #[derive(Default)]
    pub enum Unit ("unit") {
        /// Each rating by each rater, as in the caption literature.
        #[default]
        Rating = "rating", "each rating by each rater, as in the caption literature";
        /// Each item, with the mean of its ratings.
        Item = "item", "each item, with the mean of its ratings";
    }
}

/// A coefficient, with its interval if intervals were asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficient {
    /// The coefficient; `None` where a side does not vary.
    pub value: Option<f64>,
    /// Its percentile interval over bootstrap resamples of the images.
    pub interval: Option<Interval>,
}

/// How one measure agrees with people. Coefficients keep the sign of the measure: an error rate that is good has
/// negative ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// Pearson's r.
    pub pearson: Coefficient,
    /// Spearman's ρ.
    pub spearman: Coefficient,
    /// Kendall's τ-b.
    pub tau_b: Coefficient,
    /// Kendall's τ-c.
    pub tau_c: Coefficient,
    /// How often the measure prefers the item of an image that people prefer; equal scores count half. `None` where
    /// people prefer none of any image.
    pub accuracy: Coefficient,
    /// How many pairs of items of one image people tell apart.
    pub n_pairs: usize,
}

impl Agreement {
    /// The coefficients with their keys.
    pub fn coefficients(&self) -> [(&'static str, Coefficient); 5] {
        [
            ("pearson", self.pearson),
            ("spearman", self.spearman),
            ("tau_b", self.tau_b),
            ("tau_c", self.tau_c),
            ("accuracy", self.accuracy),
        ]
    }
}

/// How one measure agrees with people about systems: corpus scores against mean ratings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SystemAgreement {
    /// How many systems there are.
    #[serde(rename = "systems")]
    pub n_systems: usize,
    /// Pearson's r; like all coefficients `None` for fewer than three systems, and where a side does not vary.
    pub pearson: Option<f64>,
    /// Spearman's ρ.
    pub spearman: Option<f64>,
    /// Kendall's τ-b.
    pub tau_b: Option<f64>,
    /// The share of pairs of systems that the measure orders as people do; equal scores count half.
    pub accuracy: Option<f64>,
}

/// Whether one measure agrees better than another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// A measure, as an index.
    pub a: usize,
    /// Another one.
    pub b: usize,
    /// Pearson's r of the first with the mean ratings of items, turned so that higher is better.
    pub r_a: f64,
    /// The same of the second.
    pub r_b: f64,
    /// Pearson's r between the two.
    pub r_ab: f64,
    /// Williams' test of r_a against r_b.
    pub test: Williams,
}

/// Every point behind the coefficients, for plots.
#[derive(Clone, Debug, Default)]
pub struct Points {
    /// The image of each point.
    pub images: Vec<SegmentId>,
    /// The caption of each point, where the ratings tell it.
    pub captions: Vec<Option<String>>,
    /// The system that wrote it, where the ratings tell it.
    pub systems: Vec<Option<String>>,
    /// The rating of each point: one rater's, or the mean of its item.
    pub ratings: Vec<f64>,
    /// All ratings of the item that each point belongs to, ascending.
    pub item_ratings: Vec<Vec<f64>>,
    /// Measure after measure, the score of each point.
    pub scores: Vec<Vec<f64>>,
}
