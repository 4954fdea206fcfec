//! The fields that all results share.

use capeval_choice::Dialect;
use capeval_metric::{Direction, Number};
use capeval_stats::Resampling;
use serde::{Serialize, Serializer};

use crate::{Labels, Notice};

/// The fields that all results share: which numbers they hold, and how these were computed.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The version of capeval.
    pub version: String,
    /// The metrics, in the requested order; empty for scores from a file.
    pub metrics: Vec<MetricEntry>,
    /// The measures, metric by metric.
    pub measures: Vec<Measure>,
    /// How intervals were computed; `None` if there are none.
    pub resampling: Option<Resampling>,
    /// Notices about the data and the settings.
    pub notices: Vec<Notice>,
}

/// A metric of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricEntry {
    /// Its name, unique within the result: `cider-d`, or `cider-d:sigma=4` beside a plain `cider-d`.
    pub key: String,
    /// The number of its measures.
    pub n_measures: usize,
}

/// One of the numbers that a metric yields.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// The key in files and programs, unique within the result: `bleu-4`.
    pub key: String,
    /// The label in tables: `BLEU-4`.
    pub label: String,
    /// Whether higher or lower is better.
    #[serde(rename = "better", serialize_with = "way")]
    pub direction: Direction,
    /// Whether it is a real number or a count.
    #[serde(serialize_with = "kind")]
    pub number: Number,
    /// The lowest possible value.
    pub min: f64,
    /// The highest possible value; may be infinite.
    pub max: f64,
}

fn way<S: Serializer>(direction: &Direction, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match direction {
        Direction::HigherIsBetter => "higher",
        Direction::LowerIsBetter => "lower",
    })
}

fn kind<S: Serializer>(number: &Number, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(number.name())
}

impl Head {
    /// The index of the metric that measure number `measure` belongs to.
    pub fn metric_of(&self, measure: usize) -> Option<usize> {
        let ends = self.metrics.iter().scan(0, |end, metric| {
            *end += metric.n_measures;
            Some(*end)
        });
        ends.enumerate().find(|(_, end)| measure < *end).map(|(metric, _)| metric)
    }

    /// The notices, with remedies as the front end words them.
    pub fn notes(&self, dialect: &dyn Dialect) -> Vec<String> {
        self.notices.iter().map(|notice| notice.in_words(dialect)).collect()
    }

    /// The keys of the measures.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.measures.iter().map(|measure| measure.key.as_str())
    }
}

impl Measure {
    /// The label without the text in brackets.
    pub fn short_label(&self) -> &str {
        self.label.split_once(" (COCO").map_or(&self.label, |(short, _)| short)
    }

    /// The label in the form that `labels` requests.
    pub(crate) fn named(&self, labels: Labels) -> &str {
        match labels {
            Labels::Full => &self.label,
            Labels::Short => self.short_label(),
        }
    }

    /// The number of digits after the decimal point if `digits` are requested: 0 for a count.
    pub fn digits(&self, digits: usize) -> usize {
        match self.number {
            Number::Real => digits,
            Number::Count => 0,
        }
    }
}
