//! What every result begins with.

use capeval_choice::Dialect;
use capeval_metric::{Direction, Number};
use capeval_stats::Resampling;
use serde::{Serialize, Serializer};

use crate::{Labels, Notice};

/// What every result begins with: the numbers that there are, and what to know of them.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The version of capeval.
    pub version: String,
    /// The metrics, in the order asked for; none for scores that were read from a file.
    pub metrics: Vec<MetricEntry>,
    /// The numbers that the metrics yield, metric by metric.
    pub measures: Vec<Measure>,
    /// How intervals came about, if they were asked for.
    pub resampling: Option<Resampling>,
    /// What a reader should know.
    pub notices: Vec<Notice>,
}

/// A metric of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricEntry {
    /// Its name, unique within the result: `cider-d`, or `cider-d:sigma=4` beside a plain `cider-d`.
    pub key: String,
    /// How many measures it yields.
    pub n_measures: usize,
}

/// One of the numbers that a metric yields.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// The key in files and programs, unique within the result.
    pub key: String,
    /// What tables show.
    pub label: String,
    /// Which way is better.
    #[serde(rename = "better", serialize_with = "way")]
    pub direction: Direction,
    /// What kind of number it is.
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
    /// The metric that the measure number `measure` belongs to, as an index.
    pub fn metric_of(&self, measure: usize) -> Option<usize> {
        let ends = self.metrics.iter().scan(0, |end, metric| {
            *end += metric.n_measures;
            Some(*end)
        });
        ends.enumerate().find(|(_, end)| measure < *end).map(|(metric, _)| metric)
    }

    /// The notices in the words of a front end.
    pub fn notes(&self, dialect: &dyn Dialect) -> Vec<String> {
        self.notices.iter().map(|notice| notice.in_words(dialect)).collect()
    }

    /// The keys of the measures.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.measures.iter().map(|measure| measure.key.as_str())
    }
}

impl Measure {
    /// The label without what it says in brackets.
    pub fn short_label(&self) -> &str {
        self.label.split_once(" (COCO").map_or(&self.label, |(short, _)| short)
    }

    /// How tables call it.
    pub(crate) fn named(&self, labels: Labels) -> &str {
        match labels {
            Labels::Full => &self.label,
            Labels::Short => self.short_label(),
        }
    }

    /// How many digits after the point people are shown where they asked for `digits`: none of a count.
    pub fn digits(&self, digits: usize) -> usize {
        match self.number {
            Number::Real => digits,
            Number::Count => 0,
        }
    }
}
