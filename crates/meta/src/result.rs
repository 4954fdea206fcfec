//! Metrics on benchmarks, as plain data.

use capeval::metric::Signature;
use capeval::report::{
    ChosenPair, Head, Measure, MetricEntry, Notice, Points, fixed, json_float, signatures_as_lines,
};
use capeval::stats::Interval;
use capeval::stats::correlation::Williams;
use serde::{Deserialize, Serialize};

use crate::coefficient::Coefficient;
use crate::registry::Benchmark;
use crate::resamples::Contrast;
use crate::verdict::{Comparison, Verdict};

/// Metrics on benchmarks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MetaReport {
    /// The fields that all results share.
    pub head: Head,
    /// The results on each benchmark.
    pub outcomes: Vec<Outcome>,
    /// Show every pair of metrics in tables.
    pub has_differences: bool,
}

/// The results on a benchmark.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// The benchmark.
    #[serde(with = "crate::registry::by_name")]
    pub benchmark: &'static Benchmark,
    /// The name of the form in which its files were found.
    pub reading: Option<String>,
    /// The files that were read.
    pub files: Vec<String>,
    /// True if the files may hold a part of the benchmark.
    pub is_subset: bool,
    /// The ratings of people, in words.
    pub people: String,
    /// The number of points or pairs.
    pub n_points: usize,
    /// The number of images.
    pub n_images: usize,
    /// The metrics.
    pub metrics: Vec<MetricEntry>,
    /// One signature per metric.
    #[serde(with = "signatures_as_lines")]
    pub signatures: Vec<Signature>,
    /// The measured values, measure by measure.
    pub measured: Vec<MeasureResult>,
    /// The tests of all pairs of measures.
    pub contrasts: Vec<PairTests>,
    /// Notices about the data.
    pub notices: Vec<Notice>,
    /// The rated captions, of ratings.
    pub points: Option<Points>,
    /// The pairs, of pairs.
    pub pairs: Option<Vec<ChosenPair>>,
}

/// The measured values of one measure on one benchmark.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MeasureResult {
    /// The measure.
    pub measure: Measure,
    /// Its coefficients, the customary one first.
    pub values: Vec<Value>,
    /// The letters that it shares with measures from which it does not differ significantly.
    pub letters: String,
}

/// A coefficient with what was published of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// The coefficient.
    pub coefficient: Coefficient,
    /// The category of pairs, unless it is over all.
    pub category: Option<String>,
    /// The value; `None` if it is undefined.
    #[serde(with = "json_float")]
    pub value: Option<f64>,
    /// Its interval.
    #[serde(with = "json_float")]
    pub interval: Option<Interval>,
    /// The published values.
    pub published: Vec<Comparison>,
}

/// The tests of a pair of measures.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PairTests {
    /// The bootstrap of the customary coefficient.
    pub contrast: Contrast,
    /// Williams' test of Pearson's r with the mean rating of each caption, where it applies.
    pub williams: Option<Williams>,
}

impl Outcome {
    pub(crate) fn new(
        benchmark: &'static Benchmark,
        measured: Vec<MeasureResult>,
        metrics: Vec<MetricEntry>,
    ) -> Self {
        Self {
            benchmark,
            reading: None,
            files: Vec::new(),
            is_subset: false,
            people: String::new(),
            n_points: 0,
            n_images: 0,
            metrics,
            signatures: Vec::new(),
            measured,
            contrasts: Vec::new(),
            notices: Vec::new(),
            points: None,
            pairs: None,
        }
    }

    /// The measures with their numbers.
    pub(crate) fn by_measure(&self) -> impl Iterator<Item = (usize, &MeasureResult)> {
        self.measured.iter().enumerate()
    }

    /// The signature of the metric that measure number `measure` belongs to.
    pub(crate) fn signature_of(&self, measure: usize) -> Option<&Signature> {
        self.signatures.get(MetricEntry::of_measure(&self.metrics, measure)?)
    }

    /// The measured values of a measure.
    pub fn measured(&self, key: &str) -> Option<&MeasureResult> {
        self.measured.iter().find(|measured| measured.measure.key == key)
    }
}

impl MeasureResult {
    /// The customary coefficient.
    pub fn customary(&self) -> Option<&Value> {
        self.values.first()
    }
}

impl MetaReport {
    /// Tables show coefficients times 100, as papers do.
    pub(crate) fn new(head: Head, outcomes: Vec<Outcome>, has_differences: bool) -> Self {
        Self { head: Head { in_percent: true, ..head }, outcomes, has_differences }
    }

    /// All published values with what was measured: outcome, measured, value and comparison.
    pub(crate) fn comparisons(
        &self,
    ) -> impl Iterator<Item = (&Outcome, &MeasureResult, &Value, &Comparison)> {
        self.outcomes.iter().flat_map(|outcome| {
            outcome.measured.iter().flat_map(move |measured| {
                measured.values.iter().flat_map(move |value| {
                    value.published.iter().map(move |comparison| (outcome, measured, value, comparison))
                })
            })
        })
    }

    /// The published values that are not met, in words.
    pub fn unmet(&self) -> Vec<String> {
        let unmet = self.comparisons().filter(|(_, _, _, comparison)| !comparison.verdict.is_met());
        unmet
            .map(|(outcome, measured, value, comparison)| {
                let scale = f64::from(comparison.scale);
                let found = value.value.map_or_else(
                    || "nothing".to_owned(),
                    |value| {
                        let digits = comparison.printed.split_once('.').map_or(0, |(_, digits)| digits.len());
                        fixed(scale * value, digits)
                    },
                );
                let of = value.category.as_ref().map_or_else(String::new, |category| format!(" {category}"));
                format!(
                    "{} of {}{of} on {} is {found}, and {} in {}",
                    value.coefficient.name(),
                    measured.measure.key,
                    outcome.benchmark.name,
                    comparison.printed,
                    comparison.source
                )
            })
            .collect()
    }

    /// Known differences that occur, with their reasons.
    pub(crate) fn known(&self) -> Vec<String> {
        let known =
            self.comparisons().filter_map(|(outcome, measured, _, comparison)| match &comparison.verdict {
                Verdict::Known(by, why) => Some(format!(
                    "† {} on {} differs from {} by {by}: {why}",
                    measured.measure.key, outcome.benchmark.name, comparison.source
                )),
                _ => None,
            });
        known.collect()
    }
}
