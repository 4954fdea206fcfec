//! What an evaluation found, as plain data.

use capeval_corpus::{Ids, Policy, SegmentId};
use capeval_metric::{Direction, Number, Signature};
use capeval_stats::{Interval, Resampling};

use crate::{Explained, Gallery, Labels};

/// What an evaluation found.
///
/// Scores lie in the order of [`measures`](Self::measures), signatures in that of
/// [`metrics`](Self::metrics).
#[derive(Clone, Debug)]
pub struct Report {
    /// The metrics, in the order asked for.
    pub metrics: Vec<MetricEntry>,
    /// The numbers that the metrics yield, metric by metric.
    pub measures: Vec<Measure>,
    /// The systems, in the order given.
    pub systems: Vec<SystemReport>,
    /// How the systems' [`intervals`](SystemReport::intervals) came about, if they were asked for.
    pub resampling: Option<Resampling>,
    /// Whether all systems were scored on the same images; if not, their scores do not compare.
    pub same_images: bool,
    /// What a reader of the scores should know.
    pub notices: Vec<Notice>,
    /// Where the numbers come from.
    pub provenance: Provenance,
    /// How the scores of single images came to be, if that was asked for.
    pub explained: Vec<Explained>,
    /// Every image with its texts and evidence, if a page shall show them.
    pub gallery: Option<Gallery>,
}

/// A metric of a [`Report`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricEntry {
    /// Its name, unique within the report: `cider-d`, or `cider-d:sigma=4` beside a plain `cider-d`.
    pub key: String,
    /// How many measures it yields.
    pub n_measures: usize,
}

/// One of the numbers that a metric yields.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The key in files and programs, unique within the report.
    pub key: String,
    /// What tables show.
    pub label: String,
    /// Which way is better.
    pub direction: Direction,
    /// What kind of number it is.
    pub number: Number,
    /// The lowest possible value.
    pub min: f64,
    /// The highest possible value; may be infinite.
    pub max: f64,
}

/// What one system scores.
#[derive(Clone, Debug)]
pub struct SystemReport {
    /// The system's name, unique within the report.
    pub name: String,
    /// Where its captions come from: a path, or `-` for standard input.
    pub source: String,
    /// How many images were scored.
    pub n_images: usize,
    /// How many references these images have.
    pub n_references: usize,
    /// One score per measure.
    pub scores: Vec<f64>,
    /// One confidence interval per measure, if they were asked for: the percentile interval of bootstrap
    /// resamples of the images. Its ends are NaN where a score is no number.
    pub intervals: Option<Vec<Interval>>,
    /// One signature per metric.
    pub signatures: Vec<Signature>,
    /// The scores of every image, if they were asked for.
    pub segments: Option<Segments>,
}

/// The scores of every image of one system.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    /// The images.
    pub ids: Vec<SegmentId>,
    /// Image after image, one value per measure.
    pub values: Vec<f64>,
}

/// Something that a reader of the scores should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// A short stable code, such as `missing:skip`.
    pub code: String,
    /// The sentence, lower-case and without a full stop.
    pub message: String,
    /// The system it is about, if it is about one alone.
    pub system: Option<String>,
    /// The first ids it is about.
    pub ids: Vec<SegmentId>,
    /// How many things it is about, if it counts any.
    pub count: Option<usize>,
}

/// Where the numbers come from.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The version of capeval.
    pub version: String,
    /// The files of references.
    pub references: Vec<String>,
    /// How many images the references describe.
    pub n_images: usize,
    /// How many references there are.
    pub n_references: usize,
    /// What was to be done where candidates and references do not meet; `None` where they need not meet.
    pub policy: Option<Policy>,
    /// How ids were compared, if they were.
    pub ids: Option<Ids>,
}

/// Whose number the measure number `measure` is, as an index into `metrics`.
pub(crate) fn metric_of(metrics: &[MetricEntry], measure: usize) -> Option<usize> {
    let ends = metrics.iter().scan(0, |end, metric| {
        *end += metric.n_measures;
        Some(*end)
    });
    ends.enumerate().find(|(_, end)| measure < *end).map(|(metric, _)| metric)
}

impl Measure {
    /// The label without what it says in brackets.
    #[must_use]
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
    #[must_use]
    pub fn digits(&self, digits: usize) -> usize {
        match self.number {
            Number::Real => digits,
            Number::Count => 0,
        }
    }
}

impl Notice {
    /// Whether a reader of this system's scores should know it: it is about the system, or about all.
    #[must_use]
    pub fn concerns(&self, system: &str) -> bool {
        self.system.as_deref().is_none_or(|name| name == system)
    }
}

impl SystemReport {
    /// The interval of the measure number `k`, if intervals were asked for.
    #[must_use]
    pub fn interval(&self, k: usize) -> Option<&Interval> {
        self.intervals.as_ref()?.get(k)
    }
}

impl Report {
    /// The measure of that key, as an index into [`SystemReport::scores`].
    #[must_use]
    pub fn measure(&self, key: &str) -> Option<usize> {
        self.measures.iter().position(|measure| measure.key == key)
    }

    /// The metric that the measure number `measure` belongs to, as an index into [`metrics`](Self::metrics).
    #[must_use]
    pub fn metric_of(&self, measure: usize) -> Option<usize> {
        metric_of(&self.metrics, measure)
    }

    /// The score of `system` (by index) for the measure `key`.
    ///
    /// `None` when there is no such system or measure.
    #[must_use]
    pub fn score(&self, system: usize, key: &str) -> Option<f64> {
        self.systems.get(system)?.scores.get(self.measure(key)?).copied()
    }

    /// For each metric, the part of the signatures that all systems share.
    ///
    /// Systems whose whole signature this is may be compared with each other.
    #[must_use]
    pub fn shared_signatures(&self) -> Vec<Signature> {
        let Some((first, others)) = self.systems.split_first() else { return Vec::new() };
        first
            .signatures
            .iter()
            .enumerate()
            .map(|(m, signature)| {
                let held_by_all = |(name, value): &(&str, &str)| {
                    let same =
                        |s: &SystemReport| s.signatures.get(m).and_then(|s| s.get(name)) == Some(value);
                    others.iter().all(same)
                };
                signature
                    .settings()
                    .filter(held_by_all)
                    .fold(Signature::new(signature.metric()), |shared, (name, value)| {
                        shared.with(name, value)
                    })
            })
            .collect()
    }
}
