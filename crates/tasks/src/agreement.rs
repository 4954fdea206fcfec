//! Correlates metrics with ratings, and draws the figures.

use std::path::{Path, PathBuf};

use capeval::corpus::ratings::{RatingOptions, read_ratings};
use capeval::corpus::{ReadOptions, Surplus};
use capeval::metric::Direction;
use capeval::report::Coefficient;
use capeval::{CorrelateOptions, CorrelateRequest, OwnReference};
use capeval_files as files;
use capeval_pages as pages;
use serde::{Deserialize, Serialize};

use crate::metrics::Metrics;
use crate::scoring::resampling;

/// Correlates metrics with ratings.
#[derive(Serialize, Deserialize)]
pub struct Correlate {
    /// The ratings, as a release has them.
    pub ratings: PathBuf,
    /// The captions that are references, in COCO's form.
    pub references: PathBuf,
    /// Metrics and data.
    pub metrics: Metrics,
}

/// The agreement of metrics with people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The number of pictures.
    pub images: usize,
    /// The number of rated captions.
    pub captions: usize,
    /// The number of ratings.
    pub ratings: usize,
    /// The number of ratings of each grade, from 1 to 4.
    pub grades: [usize; 4],
    /// Krippendorff's α, if it is defined.
    pub alpha: Option<f64>,
    /// The measures, in order.
    pub measures: Vec<MeasureAgreement>,
    /// The systems in the order of their colours, besides people.
    pub systems: Vec<String>,
    /// The distributions of grades and of the scores of each measure.
    pub figures: Vec<DrawnFigure>,
    /// For each measure, its scores for each grade.
    pub by_grade: Vec<DrawnFigure>,
    /// A signature for each metric.
    pub signatures: Vec<String>,
}

/// A coefficient with its interval.
pub type Estimate = Option<(f64, Option<(f64, f64)>)>;

/// The agreement of a measure with people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureAgreement {
    /// The label.
    pub label: String,
    /// True if lower scores are better, so that agreement is below zero.
    #[serde(default)]
    pub lower_is_better: bool,
    /// Pearson's r.
    pub pearson: Estimate,
    /// Spearman's ρ.
    pub spearman: Estimate,
    /// Kendall's τ-b.
    pub tau_b: Estimate,
    /// Kendall's τ-c.
    pub tau_c: Estimate,
    /// The share of pairs in which it prefers the caption of a picture that people prefer.
    pub accuracy: Estimate,
}

/// Values that an axis leaves out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beyond {
    /// The number of values.
    pub n: usize,
    /// The end of the axis.
    pub from: String,
    /// The largest value.
    pub to: String,
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawnFigure {
    /// The caption.
    pub title: String,
    /// The description for screen readers.
    pub words: String,
    /// The values that its axis leaves out.
    #[serde(default)]
    pub beyond: Option<Beyond>,
    /// The drawing.
    pub svg: String,
}

impl Correlate {
    pub(crate) fn perform(self) -> anyhow::Result<Agreement> {
        let read =
            |path: &Path| -> anyhow::Result<files::Bytes> { Ok(files::open(&path.display().to_string())?) };
        let ratings = read_ratings(&read(&self.ratings)?, "ratings", &RatingOptions::default())?;
        let references =
            files::captions_in("captions", &read(&self.references)?, &ReadOptions::references())?;
        let found = capeval::correlate(CorrelateRequest {
            references: Some(references),
            options: CorrelateOptions {
                metrics: self.metrics.options(),
                own_reference: OwnReference::HoldOut,
                surplus: Surplus::Ignore,
                intervals: Some(resampling()),
                ..CorrelateOptions::default()
            },
            resources: self.metrics.resources()?,
            ..CorrelateRequest::new(ratings)
        })?;
        let mut grades = [0; 4];
        for rating in &found.points.ratings {
            if let Some(n) = grades.get_mut((*rating as usize).saturating_sub(1)) {
                *n += 1;
            }
        }
        let measures =
            found.head.measures.iter().zip(&found.agreements).map(|(measure, agreement)| MeasureAgreement {
                label: measure.label.clone(),
                lower_is_better: matches!(measure.direction, Direction::LowerIsBetter),
                pearson: estimate(agreement.pearson),
                spearman: estimate(agreement.spearman),
                tau_b: estimate(agreement.tau_b),
                tau_c: estimate(agreement.tau_c),
                accuracy: estimate(agreement.accuracy),
            });
        let rated = pages::rated(&found);
        let drawn = |figure: pages::Figure| {
            let beyond = figure.notes.into_iter().find_map(|note| match note {
                pages::Note::Beyond { n, from, to, .. } => Some(Beyond { n, from, to }),
                pages::Note::Text(_) => None,
            });
            DrawnFigure { title: figure.title, words: figure.words, beyond, svg: figure.svg }
        };
        Ok(Agreement {
            images: found.human.n_images,
            captions: found.human.n_items,
            ratings: found.human.n_ratings,
            grades,
            alpha: found.human.krippendorff_alpha,
            measures: measures.collect(),
            systems: rated.systems,
            figures: rated.figures.into_iter().map(drawn).collect(),
            by_grade: pages::by_rating(&found).into_iter().map(drawn).collect(),
            signatures: found.signatures.iter().map(ToString::to_string).collect(),
        })
    }
}

fn estimate(coefficient: Coefficient) -> Estimate {
    let value = coefficient.value.filter(|value| value.is_finite())?;
    let interval = coefficient.interval.map(|interval| (interval.low, interval.high));
    Some((value, interval.filter(|(low, high)| low.is_finite() && high.is_finite())))
}
