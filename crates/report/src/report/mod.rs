//! The result of an evaluation, as plain data.

use capeval_corpus::{Ids, Policy, SegmentId};
use capeval_metric::{Direction, Signature};
use capeval_stats::Interval;

use crate::profile::Profile;
use crate::{ExplainedCaption, Gallery, Head};

mod group_scores;
pub(crate) mod json;
mod ranking;
pub(crate) mod saved;
mod study;
mod tables;

pub use group_scores::{GroupDifference, GroupFrequencies, GroupRow, GroupScores};
pub use ranking::{Place, RankColumn, RankRule, RankScore, RankTies, Ranking};
pub use study::KIND;

/// The result of an evaluation.
///
/// Scores are in the order of [`Head::measures`], signatures in that of [`Head::metrics`].
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The fields that all results share.
    pub head: Head,
    /// The systems, in the order given unless they are sorted.
    pub systems: Vec<SystemReport>,
    /// True if all systems were scored on the same images; if not, their scores are not comparable.
    pub same_images: bool,
    /// The index of the measure that systems are sorted by; `None` if they are in the order given.
    pub sorted_by: Option<usize>,
    /// The references and policies behind the scores.
    pub provenance: Provenance,
    /// The scores of groups of images, by each property that was requested.
    pub groups: Vec<GroupScores>,
    /// The ranks of the systems over several measures, if they are ranked.
    pub ranking: Option<Ranking>,
    /// Explanations of single scores; empty unless requested.
    pub explained: Vec<ExplainedCaption>,
    /// All images with their texts and evidence, for pages; `None` unless requested.
    pub gallery: Option<Gallery>,
    /// For each system, what its captions look like, for the page of a report on diversity; empty unless requested.
    pub profiles: Vec<Profile>,
}

/// The scores of one system.
#[derive(Clone, Debug, Default)]
pub struct SystemReport {
    /// The system's name, unique within the report.
    pub name: String,
    /// The source of its captions: a path, or `-` for standard input.
    pub source: String,
    /// The number of images that were scored.
    pub n_images: usize,
    /// The number of references of these images.
    pub n_references: usize,
    /// The lengths that BLEU compares; `None` if no metric compares lengths.
    pub lengths: Option<Lengths>,
    /// One score per measure.
    pub scores: Vec<f64>,
    /// One confidence interval per measure, if requested: percentiles over bootstrap resamples of the images. Both
    /// bounds are NaN if the score is NaN.
    pub intervals: Option<Vec<Interval>>,
    /// The runs that the scores are means of; `None` if there is one.
    pub runs: Option<Runs>,
    /// One signature per metric.
    pub signatures: Vec<Signature>,
    /// The hash of the references of these images: of their ids and texts, whatever their order. `None` without
    /// references, or if they were not at hand.
    pub reference_hash: Option<String>,
    /// The scores of every image, if requested.
    pub segments: Option<Segments>,
}

/// Several runs of one system, such as those of several seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    /// The number of runs.
    pub n: usize,
    /// For each measure, the standard deviation of the scores of the runs, with n − 1.
    pub deviations: Vec<f64>,
}

/// The lengths of all captions of a system together, in words of a metric's tokenizer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// The length of the candidates.
    pub candidates: f64,
    /// The length of the references that the candidates are compared with.
    pub references: f64,
}

impl Lengths {
    /// The length of the candidates over that of the references.
    pub fn ratio(&self) -> f64 {
        self.candidates / self.references
    }
}

/// The scores of every image of one system.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    /// The images.
    pub ids: Vec<SegmentId>,
    /// The scores, image by image, with one value per measure.
    pub values: Vec<f64>,
}

/// The references and policies behind the scores of a report.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    /// The reference files.
    pub files: Vec<String>,
    /// The number of images that the references describe.
    pub n_images: usize,
    /// The number of references.
    pub n_references: usize,
    /// The policy for mismatches of candidates and references; `None` if candidates need no references.
    pub policy: Option<Policy>,
    /// The way in which ids were compared; `None` if they were not.
    pub ids: Option<Ids>,
}

impl SystemReport {
    /// The standard deviation of measure number `k` over the runs; `None` unless there are several.
    pub fn deviation(&self, k: usize) -> Option<f64> {
        self.runs.as_ref()?.deviations.get(k).copied()
    }

    /// The interval of measure number `k`; `None` unless intervals were requested.
    pub fn interval(&self, k: usize) -> Option<&Interval> {
        self.intervals.as_ref()?.get(k)
    }
}

impl Report {
    /// What has a score: an image, or a video in the scores of dense captions, whose signatures say so.
    pub fn unit(&self) -> &str {
        let signature = self.systems.first().and_then(|system| system.signatures.first());
        let of_form = signature.filter(|signature| signature.get("form").is_some());
        of_form.and_then(|signature| signature.get("unit")).unwrap_or("image")
    }

    /// The same as the head of a column with their number.
    pub(crate) fn units(&self) -> String {
        let mut letters = self.unit().chars();
        letters
            .next()
            .map_or_else(String::new, |first| format!("{}{}s", first.to_uppercase(), letters.as_str()))
    }

    /// The index of the measure with this key in [`SystemReport::scores`].
    pub fn measure(&self, key: &str) -> Option<usize> {
        self.head.measures.iter().position(|measure| measure.key == key)
    }

    /// The score of `system` (by index) for the measure `key`.
    ///
    /// `None` if there is no such system or measure.
    pub fn score(&self, system: usize, key: &str) -> Option<f64> {
        self.systems.get(system)?.scores.get(self.measure(key)?).copied()
    }

    /// The score of a group of images of a system by `key`, a measure and a group as in `cider-d@out-domain`.
    pub fn group_score(&self, system: &str, key: &str) -> Option<f64> {
        let (measure, group) = key.split_once('@')?;
        let measure = self.measure(measure)?;
        let mut rows = self.groups.iter().flat_map(|groups| &groups.rows);
        rows.find(|row| row.system == system && row.group == group)?.scores.get(measure).copied()
    }

    /// The keys of the scores of all groups, as in `cider-d@out-domain`.
    pub fn group_keys(&self) -> impl Iterator<Item = String> + '_ {
        let groups = self.groups.iter().flat_map(GroupScores::names);
        groups.flat_map(|group| self.head.keys().map(move |key| format!("{key}@{group}")))
    }

    /// Sorts the systems by the measure `key`, best first and without a score last, and returns their former indices;
    /// `None` if there is no such measure. A row without captions in the gallery, that of people, stays behind the
    /// systems, as pages expect.
    pub fn sort_by(&mut self, key: &str) -> Option<Vec<usize>> {
        let measure = self.measure(key)?;
        let direction = self.head.measures.get(measure)?.direction;
        let score = |system: &usize| {
            let score = self.systems.get(*system).and_then(|s| s.scores.get(measure)).copied();
            let score = score.unwrap_or(f64::NAN);
            if direction == Direction::LowerIsBetter { score } else { -score }
        };
        let mut order: Vec<usize> = (0..self.systems.len()).collect();
        let n_systems =
            self.gallery.as_ref().map_or(order.len(), |gallery| gallery.systems.len().min(order.len()));
        order[..n_systems].sort_by(|a, b| {
            let (a, b) = (score(a), score(b));
            a.is_nan().cmp(&b.is_nan()).then(a.total_cmp(&b))
        });
        self.arrange(&order)?;
        self.sorted_by = Some(measure);
        Some(order)
    }

    /// Puts the systems into this order of their indices; `None` if one of an explanation is not among them.
    fn arrange(&mut self, order: &[usize]) -> Option<()> {
        let n_systems =
            self.gallery.as_ref().map_or(order.len(), |gallery| gallery.systems.len().min(order.len()));
        rearrange(&mut self.systems, order);
        if let Some(gallery) = &mut self.gallery {
            let own: Vec<usize> = order.iter().copied().filter(|system| *system < n_systems).collect();
            rearrange(&mut gallery.systems, &own);
        }
        for explained in &mut self.explained {
            explained.system = order.iter().position(|system| *system == explained.system)?;
        }
        Some(())
    }

    /// Multiplies scores and intervals by 100, except those that are on another scale, and returns the factor of each
    /// measure. [Segments](SystemReport::segments) and explanations stay.
    pub fn scale_to_percent(&mut self) -> Vec<f64> {
        let factors = self.head.scale_to_percent();
        for system in &mut self.systems {
            system.scores.iter_mut().zip(&factors).for_each(|(score, factor)| *score *= factor);
            let intervals = system.intervals.iter_mut().flatten();
            intervals.zip(&factors).for_each(|(interval, factor)| *interval = interval.scaled(*factor));
            let deviations = system.runs.iter_mut().flat_map(|runs| &mut runs.deviations);
            deviations.zip(&factors).for_each(|(deviation, factor)| *deviation *= factor);
        }
        for row in self.groups.iter_mut().flat_map(|groups| &mut groups.rows) {
            row.scores.iter_mut().zip(&factors).for_each(|(score, factor)| *score *= factor);
            for differences in [&mut row.rest, &mut row.baseline] {
                differences.iter_mut().zip(&factors).for_each(|(one, factor)| one.difference *= factor);
            }
            let intervals = row.intervals.iter_mut().flatten();
            intervals.zip(&factors).for_each(|(interval, factor)| *interval = interval.scaled(*factor));
        }
        factors
    }

    /// For each metric, the settings that the signatures of all systems share.
    ///
    /// Systems are comparable if this is the whole signature of each.
    pub fn shared_signatures(&self) -> Vec<Signature> {
        let Some((first, others)) = self.systems.split_first() else { return Vec::new() };
        first
            .signatures
            .iter()
            .enumerate()
            .map(|(m, signature)| {
                let is_shared = |(name, value): &(&str, &str)| {
                    let same =
                        |s: &SystemReport| s.signatures.get(m).and_then(|s| s.get(name)) == Some(value);
                    others.iter().all(same)
                };
                signature
                    .settings()
                    .filter(is_shared)
                    .fold(Signature::new(signature.metric()), |shared, (name, value)| {
                        shared.with(name, value)
                    })
            })
            .collect()
    }
}

/// Puts the items at the indices of `order` into this order.
fn rearrange<T: Default>(items: &mut Vec<T>, order: &[usize]) {
    let taken = order.iter().filter_map(|at| items.get_mut(*at).map(std::mem::take)).collect();
    *items = taken;
}
