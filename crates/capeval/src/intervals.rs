//! Confidence intervals of scores, from resampled statistics of images.

use capeval_evaluate::{MetricScores, Progress, Stage, SystemScores};
use capeval_stats::{Interval, Matrix, Resampling, resample};

use crate::aligned::AlignedReferences;
use crate::restrict::normal;

/// The interval of a measure without one.
pub(crate) const NO_INTERVAL: Interval = Interval { low: f64::NAN, high: f64::NAN };

/// One interval per system and measure; both bounds are NaN if a measure has none.
pub(crate) fn of(
    systems: &[SystemScores],
    references: &AlignedReferences,
    resampling: Resampling,
    progress: &dyn Progress,
) -> Vec<Vec<Interval>> {
    let mut intervals: Vec<Vec<Interval>> = vec![Vec::new(); systems.len()];
    for (first, system) in systems.iter().enumerate() {
        if intervals[first].is_empty() {
            // Systems that describe the same images share the draws.
            let alike: Vec<usize> =
                (first..systems.len()).filter(|k| systems[*k].images == system.images).collect();
            let together: Vec<&SystemScores> = alike.iter().map(|k| &systems[*k]).collect();
            let stack = Stack::new(&together, references);
            let values = stack.bootstrap(resampling, progress);
            for (at, k) in alike.iter().enumerate() {
                let columns = stack.values_of(at);
                intervals[*k] = columns
                    .zip(stack.has_interval(at))
                    .map(|(column, has_one)| {
                        if !has_one {
                            return NO_INTERVAL;
                        }
                        let column = values.iter().skip(column).step_by(stack.n_values).copied();
                        Interval::percentile(column.collect(), resampling.level)
                    })
                    .collect();
            }
        }
    }
    intervals
}

/// The statistics of systems that describe the same images, joined column-wise.
///
/// Images are in the order of their ids, so that no digit depends on the order of files.
pub(crate) struct Stack<'s> {
    metrics: Vec<&'s MetricScores>,
    n_systems: usize,
    pub matrix: Matrix,
    /// The number of values of all systems by all metrics.
    pub n_values: usize,
}

impl<'s> Stack<'s> {
    /// The statistics of `systems`, all of the same images.
    pub fn new(systems: &[&'s SystemScores], references: &AlignedReferences) -> Self {
        let order = systems.first().map_or_else(Vec::new, |first| by_id(&first.images, references));
        let metrics: Vec<&MetricScores> = systems.iter().flat_map(|system| &system.metrics).collect();
        let matrix = Matrix::new(metrics.iter().map(|metric| &metric.table), &order);
        let n_values = metrics.iter().map(|metric| metric.corpus.len()).sum();
        Self { metrics, n_systems: systems.len(), matrix, n_values }
    }

    /// The range of the values of system number `at`.
    pub fn values_of(&self, at: usize) -> std::ops::Range<usize> {
        let each = self.n_values / self.n_systems.max(1);
        at * each..(at + 1) * each
    }

    /// For each measure of system number `at`, whether it has an interval.
    pub fn has_interval(&self, at: usize) -> impl Iterator<Item = bool> {
        let n_metrics = self.metrics.len() / self.n_systems.max(1);
        let mine = self.metrics.iter().skip(at * n_metrics).take(n_metrics);
        mine.flat_map(|m| m.metric.parts().iter().map(|part| part.has_interval))
    }

    /// The values of every resample: system after system, measure after measure. `progress` is notified of each
    /// resample.
    pub fn bootstrap(&self, resampling: Resampling, progress: &dyn Progress) -> Vec<f64> {
        progress.begin(Stage::Resampling, resampling.resamples);
        let heard = |n| progress.advance(n);
        resample::bootstrap(&self.matrix, resampling, self.n_values, heard, |sums, values| {
            score_sums(self.metrics.iter().copied(), sums, values);
        })
    }
}

/// Turns the sums of all columns into scores, metric after metric.
pub(crate) fn score_sums<'m>(
    metrics: impl IntoIterator<Item = &'m MetricScores>,
    mut sums: &[f64],
    mut values: &mut [f64],
) {
    for metric in metrics {
        let (row, other_sums) = sums.split_at(metric.table.columns().len());
        let (scores, other_values) = values.split_at_mut(metric.corpus.len());
        metric.metric.score(row, scores);
        (sums, values) = (other_sums, other_values);
    }
}

/// The indices of `images`, which are in the order of the references, sorted by id. If the number 1 and the text "1"
/// are the same id, they have the same rank.
fn by_id(images: &[u32], references: &AlignedReferences) -> Vec<u32> {
    let mut order: Vec<u32> = (0..images.len() as u32).collect();
    order.sort_by_cached_key(|at| {
        let id = images.get(*at as usize).and_then(|image| references.id(*image));
        id.map(|id| normal(id, references.ids()))
    });
    order
}
