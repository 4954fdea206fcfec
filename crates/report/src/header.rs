//! The fields that all results share.

use capeval_choice::{Code, Dialect, Refusal};
use capeval_metric::{Direction, Number};
use capeval_stats::Resampling;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::kind::{damaged, sum};
use crate::number::intervals_in_words;
use crate::{Labels, Notice, SourceReading};

/// The fields that all results share: which numbers they hold, and how these were computed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Head {
    /// The version of capeval.
    pub version: String,
    /// The metrics, in the requested order; given scores come last.
    pub metrics: Vec<MetricEntry>,
    /// The measures, metric by metric.
    pub measures: Vec<Measure>,
    /// The computation of intervals; `None` if there are none.
    pub resampling: Option<Resampling>,
    /// Notices about the data and the settings. They are written to files beside the other fields.
    #[serde(skip)]
    pub notices: Vec<Notice>,
    /// How the files of captions were read, and their captions paired.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<SourceReading>,
    /// The run of a program that made the result; `None` if no program says so.
    pub run: Option<Run>,
    /// True if tables show shares times 100.
    pub in_percent: bool,
}

/// A run of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The command line.
    pub command: Vec<String>,
    /// The date and time in UTC, as in ISO 8601.
    pub date: String,
    /// The operating system and the processor.
    pub system: String,
}

/// A metric of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricEntry {
    /// Its name, unique within the result: `cider-d`, or `cider-d:sigma=4` beside a plain `cider-d`.
    pub key: String,
    /// The number of its measures.
    #[serde(rename = "measures")]
    pub n_measures: usize,
    /// True if its corpus scores are the means of the scores of images.
    #[serde(rename = "mean")]
    pub is_mean: bool,
}

impl MetricEntry {
    /// The index in `metrics` of the metric that measure number `measure` belongs to.
    pub fn of_measure(metrics: &[Self], measure: usize) -> Option<usize> {
        let ends = metrics.iter().scan(0_usize, |end, metric| {
            *end = end.saturating_add(metric.n_measures);
            Some(*end)
        });
        ends.enumerate().find(|(_, end)| measure < *end).map(|(metric, _)| metric)
    }
}

/// One of the numbers that a metric yields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The key in files and programs, unique within the result: `bleu-4`.
    pub key: String,
    /// The label in tables: `BLEU-4`.
    pub label: String,
    /// The direction of better scores: higher, lower, or neither.
    #[serde(rename = "better", serialize_with = "way", deserialize_with = "a_way")]
    pub direction: Direction,
    /// The kind of number: real, or a count.
    #[serde(serialize_with = "kind", deserialize_with = "a_kind")]
    pub number: Number,
    /// The lowest possible value.
    #[serde(deserialize_with = "least")]
    pub min: f64,
    /// The highest possible value; may be infinite.
    #[serde(deserialize_with = "greatest")]
    pub max: f64,
}

fn way<S: Serializer>(direction: &Direction, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(direction.name())
}

fn kind<S: Serializer>(number: &Number, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(number.name())
}

fn a_way<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Direction, D::Error> {
    let name = String::deserialize(deserializer)?;
    let ways = [Direction::HigherIsBetter, Direction::LowerIsBetter, Direction::Neither];
    let way = ways.into_iter().find(|way| way.name() == name);
    way.ok_or_else(|| D::Error::custom(format_args!("{name:?} is not a direction")))
}

fn a_kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
    let name = String::deserialize(deserializer)?;
    let kind = [Number::Real, Number::Count].into_iter().find(|kind| kind.name() == name);
    kind.ok_or_else(|| D::Error::custom(format_args!("{name:?} is not a kind of number")))
}

/// JSON has `null` for an infinite bound.
fn least<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NEG_INFINITY))
}

fn greatest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
}

/// Returns true if a measure is a share by its name. SPICE's recall can exceed 1 in the reference program.
fn is_share(key: &str) -> bool {
    key.ends_with("-recall") || key.ends_with("-precision")
}

impl Head {
    /// The index of the metric that measure number `measure` belongs to.
    pub fn metric_of(&self, measure: usize) -> Option<usize> {
        MetricEntry::of_measure(&self.metrics, measure)
    }

    /// Multiplies the ranges of measures that are usually printed as percentages by 100, and returns the factor of each
    /// measure: 100 for real numbers of at most 10, such as CIDEr, and for shares; otherwise 1. A notice says so.
    pub(crate) fn scale_to_percent(&mut self) -> Vec<f64> {
        self.in_percent = true;
        let factors = self.measures.iter().map(|measure| match measure.number {
            Number::Real if measure.max <= 10.0 || is_share(&measure.key) => 100.0,
            _ => 1.0,
        });
        let factors: Vec<f64> = factors.collect();
        for (measure, factor) in self.measures.iter_mut().zip(&factors) {
            measure.min *= factor;
            measure.max *= factor;
        }
        let kept = self.measures.iter().zip(&factors).filter(|(_, factor)| **factor == 1.0);
        let kept: Vec<&str> = kept.map(|(measure, _)| measure.key.as_str()).collect();
        let message = match &kept[..] {
            [] => "scores are multiplied by 100".to_owned(),
            kept => format!("scores are multiplied by 100, but not {}", kept.join(", ")),
        };
        self.notices.push(Notice::new(Code::Percent, message));
        factors
    }

    /// The meaning of intervals, for the lines below a table; `None` if there are none.
    pub fn about_intervals(&self) -> Option<String> {
        self.resampling.map(|resampling| format!("[low, high]: {}", intervals_in_words(&resampling, "image")))
    }

    /// The meaning of intervals, for the line below a drawing.
    pub fn note_of_intervals(&self, unit: &str) -> String {
        let of = |resampling: &Resampling| intervals_in_words(resampling, unit);
        self.resampling.as_ref().map_or_else(|| "Without intervals".to_owned(), of)
    }

    /// The factor by which tables multiply shares.
    pub fn factor(&self) -> f64 {
        if self.in_percent { 100.0 } else { 1.0 }
    }

    /// Has tables show shares times 100, and says so; `what` are the shares.
    pub fn show_percent(&mut self, what: &str) {
        self.in_percent = true;
        self.notices.push(Notice::new(Code::Percent, format!("{what} are multiplied by 100")));
    }

    /// Checks that measures are those of the metrics, and that intervals can be computed as is said.
    pub fn check(&self) -> Result<(), Refusal> {
        if let Some(Err(error)) = self.resampling.map(|resampling| resampling.check()) {
            return Err(damaged(error));
        }
        let n_measures = sum(self.metrics.iter().map(|metric| metric.n_measures));
        if n_measures != Some(self.measures.len()) {
            return Err(damaged("its metrics have other measures"));
        }
        Ok(())
    }

    /// The notices, with remedies as the front end words them.
    pub fn notes(&self, dialect: &dyn Dialect) -> Vec<String> {
        self.notices.iter().map(|notice| notice.in_words(dialect)).collect()
    }

    /// The keys of the measures.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
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
