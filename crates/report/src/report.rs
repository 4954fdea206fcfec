//! What an evaluation found, as plain data.

use capeval_corpus::{Ids, Policy, SegmentId};
use capeval_metric::Signature;
use capeval_stats::Interval;

use crate::{Explained, Gallery, Head};

/// What an evaluation found.
///
/// Scores are in the order of [`Head::measures`], signatures in that of [`Head::metrics`].
#[derive(Clone, Debug)]
pub struct Report {
    /// What all results have.
    pub head: Head,
    /// The systems, in the order given.
    pub systems: Vec<SystemReport>,
    /// Whether all systems were scored on the same images; if not, their scores do not compare.
    pub same_images: bool,
    /// Where the numbers come from.
    pub provenance: Provenance,
    /// How the scores of single images came to be, if that was asked for.
    pub explained: Vec<Explained>,
    /// Every image with its texts and evidence, if a page shall show them.
    pub gallery: Option<Gallery>,
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

/// Where the numbers come from.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The files of references.
    pub files: Vec<String>,
    /// How many images the references describe.
    pub n_images: usize,
    /// How many references there are.
    pub n_references: usize,
    /// What was to be done where candidates and references do not meet; `None` where they need not meet.
    pub policy: Option<Policy>,
    /// How ids were compared, if they were.
    pub ids: Option<Ids>,
}

impl SystemReport {
    /// The interval of the measure number `k`, if intervals were asked for.
    pub fn interval(&self, k: usize) -> Option<&Interval> {
        self.intervals.as_ref()?.get(k)
    }
}

impl Report {
    /// The measure of that key, as an index into [`SystemReport::scores`].
    pub fn measure(&self, key: &str) -> Option<usize> {
        self.head.measures.iter().position(|measure| measure.key == key)
    }

    /// The score of `system` (by index) for the measure `key`.
    ///
    /// `None` when there is no such system or measure.
    pub fn score(&self, system: usize, key: &str) -> Option<f64> {
        self.systems.get(system)?.scores.get(self.measure(key)?).copied()
    }

    /// For each metric, the part of the signatures that all systems share.
    ///
    /// Systems whose whole signature this is may be compared with each other.
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
