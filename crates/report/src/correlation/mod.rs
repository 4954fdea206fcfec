//! Agreement of metrics with human ratings, as plain data.

use capeval_corpus::SegmentId;
use capeval_metric::Signature;
use capeval_stats::Interval;
use capeval_stats::correlation::Williams;
use serde::{Deserialize, Serialize};

use crate::json_float;
use crate::signatures_as_lines;
use crate::{ByGroup, Head, Kind};

mod json;
mod study;
mod tables;

/// Agreement of metrics with ratings.
pub const KIND: Kind = Kind::of::<Correlation>("correlation");

/// The agreement of metrics with human ratings.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Correlation {
    /// The fields that all results share.
    pub head: Head,
    /// The ratings.
    pub human: Human,
    /// One signature per metric.
    #[serde(with = "signatures_as_lines")]
    pub signatures: Vec<Signature>,
    /// The agreement of each measure, in the order of [`Head::measures`].
    pub agreements: Vec<Agreement>,
    /// The agreement at system level, in the same order; `None` with fewer than two systems.
    pub systems: Option<Vec<SystemAgreement>>,
    /// Williams' test of each pair of measures.
    pub differences: Vec<Difference>,
    /// The points that the coefficients are computed from; none in a group.
    pub points: Points,
    /// The agreement in groups of images, if any were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<ByGroup<Correlation>>,
}

impl Correlation {
    /// The signature of the metric that measure number `measure` belongs to; `None` for scores from a file.
    pub fn signature_of(&self, measure: usize) -> Option<&Signature> {
        self.signatures.get(self.head.metric_of(measure)?)
    }
}

/// A description of the human ratings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Human {
    /// The source of the ratings, such as a path.
    #[serde(rename = "file")]
    pub source: String,
    /// The number of images.
    #[serde(rename = "images")]
    pub n_images: usize,
    /// The number of rated items, such as captions.
    #[serde(rename = "items")]
    pub n_items: usize,
    /// The number of ratings.
    #[serde(rename = "ratings")]
    pub n_ratings: usize,
    /// The number of points that the coefficients are computed from: ratings or items.
    #[serde(rename = "points")]
    pub n_points: usize,
    /// The unit of a point: a rating or an item.
    pub unit: Unit,
    /// The lowest and the highest rating.
    #[serde(with = "json_float")]
    pub scale: Interval,
    /// Krippendorff's α for ordinal ratings; `None` if no item has two ratings, or if all ratings are equal.
    pub krippendorff_alpha: Option<f64>,
    /// Fleiss' κ; `None` if items have different numbers of ratings.
    pub fleiss_kappa: Option<f64>,
}

capeval_choice::named! {
    /// The unit of a point: a rating or an item.
    #[derive(Default)]
    pub enum Unit ("unit") {
        #[default]
        Rating = "rating", "each rating by each rater, as in the caption literature";
        Item = "item", "each item, with the mean of its ratings";
    }
}

/// A coefficient and its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coefficient {
    /// The coefficient; `None` if it is undefined, for example because all scores or all ratings are equal.
    #[serde(with = "json_float")]
    pub value: Option<f64>,
    /// Its percentile interval over bootstrap resamples of the images; `None` unless intervals were requested.
    #[serde(with = "json_float")]
    pub interval: Option<Interval>,
}

/// The agreement of one measure with human ratings. Coefficients are not adjusted for direction: those of a good error
/// rate are negative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Pearson's r.
    pub pearson: Coefficient,
    /// Spearman's ρ.
    pub spearman: Coefficient,
    /// Kendall's τ-b.
    pub tau_b: Coefficient,
    /// Kendall's τ-c.
    pub tau_c: Coefficient,
    /// The share of pairs of items of one image that the measure orders as people do; equal scores count half. `None`
    /// if people rate no such pair differently.
    pub accuracy: Coefficient,
    /// The number of pairs of items of one image that people rate differently.
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

/// The agreement of one measure with people at system level: corpus scores against mean ratings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SystemAgreement {
    /// The number of systems.
    #[serde(rename = "systems")]
    pub n_systems: usize,
    /// Pearson's r; like every coefficient, `None` for fewer than three systems, or if all scores or ratings are equal.
    pub pearson: Option<f64>,
    /// Spearman's ρ.
    pub spearman: Option<f64>,
    /// Kendall's τ-b.
    pub tau_b: Option<f64>,
    /// The share of pairs of systems that the measure orders as people do; equal scores count half.
    pub accuracy: Option<f64>,
}

/// The difference of two measures in their agreement with people.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The index of a measure.
    pub a: usize,
    /// The index of another measure.
    pub b: usize,
    /// Pearson's r of measure `a` with the mean ratings of items; its sign is changed if lower scores are better.
    #[serde(with = "json_float")]
    pub r_a: f64,
    /// As `r_a`, for measure `b`.
    #[serde(with = "json_float")]
    pub r_b: f64,
    /// Pearson's r between the two measures.
    #[serde(with = "json_float")]
    pub r_ab: f64,
    /// Williams' test of `r_a` against `r_b`.
    pub test: Williams,
}

/// The points that the coefficients are computed from, for plots.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Points {
    /// The image of each point.
    pub images: Vec<SegmentId>,
    /// The caption of each point, if the ratings name it.
    pub captions: Vec<Option<String>>,
    /// The system that wrote it, if the ratings name it.
    pub systems: Vec<Option<String>>,
    /// Marks points whose caption is itself a reference of its image.
    pub are_references: Vec<bool>,
    /// The rating of each point: one rater's, or the mean of its item.
    #[serde(with = "json_float")]
    pub ratings: Vec<f64>,
    /// All ratings of the item that each point belongs to, ascending.
    #[serde(with = "json_float")]
    pub item_ratings: Vec<Vec<f64>>,
    /// For each measure, the score of each point.
    #[serde(with = "json_float")]
    pub scores: Vec<Vec<f64>>,
}
