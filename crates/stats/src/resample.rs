//! Resampling: how much the numbers vary when other rows are drawn.
//!
//! Replicate k is a function of the seed and of k, so any thread or machine can compute it. All columns of a
//! [`Matrix`] share the same draws: systems and metrics in one matrix are compared on the same resamples.
//!
//! The generator is our own xoshiro256++, so no update of a library changes a digit. Images are drawn in the order of
//! their ids, so the order of files changes none either. Many resamples share one pass over the rows, block by block;
//! `picks.rs` says how they choose.

use std::ops::Range;

use capeval_choice::{Argument, Refusal, Remedy};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::matrix::{Matrix, Row};
use crate::picks::draw;
use crate::sums;

/// The number of resamples, their seed, and the level of the intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Resampling {
    /// The number of resamples, at least 1.
    pub resamples: usize,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The share of resamples inside an interval, between 0 and 1.
    pub level: f64,
}

impl Default for Resampling {
    /// 10,000 resamples from the seed 12345, sacreBLEU's; intervals of 95 %.
    fn default() -> Self {
        Self { resamples: 10_000, seed: 12_345, level: 0.95 }
    }
}

impl Resampling {
    /// The largest number of resamples.
    pub const MAX_RESAMPLES: usize = 10_000_000;

    /// The largest number of values over all resamples: 1 GiB.
    pub const MAX_VALUES: usize = 1 << 27;

    /// Checks that resamples of `n_values` numbers each fit into memory.
    ///
    /// # Errors
    /// When they exceed [`MAX_VALUES`](Self::MAX_VALUES).
    pub fn check_values(&self, n_values: usize) -> Result<(), Refusal> {
        if self.resamples.saturating_mul(n_values) <= Self::MAX_VALUES {
            return Ok(());
        }
        let fewer = Remedy::say("take fewer systems, pairs or metrics at a time");
        let remedy = match Self::MAX_VALUES / n_values {
            0 => fewer,
            most => Remedy::set(Argument::Resamples, most.to_string()).or(fewer),
        };
        let message =
            format!("{} resamples of {n_values} numbers each are more than can be held", self.resamples);
        Err(Refusal::new(message).with_remedy(remedy))
    }

    /// Checks that the settings are in range.
    ///
    /// # Errors
    /// When the level is not between 0 and 1, or the number of resamples is 0 or above
    /// [`MAX_RESAMPLES`](Self::MAX_RESAMPLES).
    pub fn check(&self) -> Result<(), Refusal> {
        if !(self.level > 0.0 && self.level < 1.0) {
            return Err(Refusal::new(format!("{} is not a confidence level", self.level))
                .with_remedy("give a number between 0 and 1 such as 0.95"));
        }
        if !(1..=Self::MAX_RESAMPLES).contains(&self.resamples) {
            return Err(Refusal::new(format!("{} resamples cannot be drawn", self.resamples))
                .with_remedy(format!("give a number from 1 to {}", Self::MAX_RESAMPLES)));
        }
        Ok(())
    }
}

/// Draws as many rows as there are, with replacement, for each replicate, and lets `score` turn the sums of the columns
/// into `n_values` values. `progress` is called before every few replicates with their number, and may cancel the work
/// by unwinding.
///
/// The result holds the values of each resample in turn.
pub fn bootstrap(
    matrix: &Matrix,
    resampling: Resampling,
    n_values: usize,
    progress: impl Fn(usize) + Sync,
    score: impl Fn(&[f64], &mut [f64]) + Sync,
) -> Vec<f64> {
    replicate(sums::of_draws, matrix, resampling, n_values, progress, score)
}

/// Takes each row with probability one half for each replicate, and lets `score` turn the sums of the columns into
/// `n_values` values. `progress` is as for [`bootstrap`].
///
/// A row that is taken means that two systems exchange their captions of that image.
pub fn exchange(
    matrix: &Matrix,
    resampling: Resampling,
    n_values: usize,
    progress: impl Fn(usize) + Sync,
    score: impl Fn(&[f64], &mut [f64]) + Sync,
) -> Vec<f64> {
    replicate(sums::of_exchanges, matrix, resampling, n_values, progress, score)
}

/// The number of times that a resample draws a row.
pub trait Weight: Copy + Default + Send {
    /// The weight of a row that is drawn `count` times.
    fn new(count: u32) -> Self;
}

impl Weight for f64 {
    fn new(count: u32) -> Self {
        Self::from(count)
    }
}

impl Weight for u32 {
    fn new(count: u32) -> Self {
        count
    }
}

/// Draws `n_rows` rows with replacement for each replicate, and lets `score` turn the number of times that each row was
/// drawn into `n_values` values. `score` handles `N` resamples at a time, with adjacent weights, or fewer at the
/// end, where it is asked for fewer values. `progress` is as for [`bootstrap`].
///
/// The result holds the values of each resample in turn.
pub fn draws<const N: usize, W: Weight>(
    n_rows: usize,
    resampling: Resampling,
    n_values: usize,
    progress: impl Fn(usize) + Sync,
    score: impl Fn(&[[W; N]], &mut [f64]) + Sync,
) -> Vec<f64> {
    let Resampling { resamples, seed, .. } = resampling;
    let mut values = vec![0.0; resamples * n_values];
    let buffers = || (vec![0; n_rows], vec![[W::default(); N]; n_rows]);
    let groups = values.par_chunks_mut((n_values * N).max(1)).enumerate();
    // Cancelling takes effect part by part.
    let part = resamples / N / (PARTS * rayon::current_num_threads());
    groups.with_min_len(part.max(1)).for_each_init(buffers, |(counts, weights), (group, values)| {
        let n_here = values.len() / n_values.max(1);
        progress(n_here);
        for lane in 0..n_here {
            draw(seed, (group * N + lane) as u64, counts);
            weights.iter_mut().zip(&*counts).for_each(|(w, count)| w[lane] = W::new(*count));
        }
        score(weights, values);
    });
    values
}

/// The number of parts per thread into which replicates are divided; there may be up to twice as many.
const PARTS: usize = 64;

/// The largest number of replicates that share a pass over the rows.
const GROUP: usize = 256;

/// Sums the rows that each replicate takes, and scores the sums.
fn replicate(
    sums: fn(&Matrix, u64, Range<u64>) -> Vec<Row>,
    matrix: &Matrix,
    Resampling { resamples, seed, .. }: Resampling,
    n_values: usize,
    progress: impl Fn(usize) + Sync,
    score: impl Fn(&[f64], &mut [f64]) + Sync,
) -> Vec<f64> {
    let mut values = vec![0.0; resamples * n_values];
    let parts = 4 * rayon::current_num_threads();
    let group = (resamples / parts).clamp(1, GROUP);
    let groups = values.par_chunks_mut((n_values * group).max(1)).enumerate();
    // Cancelling takes effect part by part.
    groups.with_min_len((resamples / group / parts).max(1)).for_each(|(k, values)| {
        let n_here = values.len() / n_values.max(1);
        progress(n_here);
        let first = k * group;
        let sums = sums(matrix, seed, first as u64..(first + n_here) as u64);
        let n_panels = matrix.panels().len();
        let mut columns = Vec::with_capacity(matrix.n_columns());
        for (at, values) in values.chunks_exact_mut(n_values.max(1)).enumerate() {
            columns.clear();
            columns.extend(matrix.columns(&sums[at * n_panels..(at + 1) * n_panels]));
            score(&columns, values);
        }
    });
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet(_: usize) {}

    fn plan(resamples: usize, seed: u64) -> Resampling {
        Resampling { resamples, seed, ..Resampling::default() }
    }

    fn mean(sums: &[f64], values: &mut [f64]) {
        values[0] = sums[1] / sums[0];
    }

    fn matrix(n: usize) -> Matrix {
        Matrix::from_columns(&[vec![1.0; n], (0..n).map(|k| (k as f64).sqrt()).collect()])
    }

    #[test]
    fn a_replicate_is_a_function_of_seed_and_index() {
        let matrix = matrix(100);
        let few = bootstrap(&matrix, plan(5, 7), 1, quiet, mean);
        let many = bootstrap(&matrix, plan(50, 7), 1, quiet, mean);
        assert_eq!(few, many[..5]);
        assert_ne!(few, bootstrap(&matrix, plan(5, 8), 1, quiet, mean));
    }

    #[test]
    fn threads_change_no_digit() {
        let matrix = matrix(1_000);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let resampling = plan(103, 1);
                (
                    bootstrap(&matrix, resampling, 1, quiet, mean),
                    exchange(&matrix, resampling, 1, quiet, mean),
                )
            })
        };
        for threads in [2, 3, 5, 16] {
            assert_eq!(run(1), run(threads));
        }
    }

    /// Sums of integers are exact, so they equal those of the counts to the digit, in large sets and in others.
    #[test]
    fn sums_are_those_of_the_rows_that_are_drawn() {
        for n in [1, 300, 70_001] {
            let numbers: Vec<Vec<f64>> =
                (1..=6).map(|c| (0..n).map(|k| f64::from(k * c % 97)).collect()).collect();
            let keep = |sums: &[f64], values: &mut [f64]| values.copy_from_slice(sums);
            let found = bootstrap(&Matrix::from_columns(&numbers), plan(5, 7), 6, quiet, keep);
            let mut counts = vec![0; n as usize];
            for (index, found) in (0..).zip(found.chunks(6)) {
                draw(7, index, &mut counts);
                for (column, found) in numbers.iter().zip(found) {
                    let sum: f64 = column.iter().zip(&counts).map(|(x, n)| x * f64::from(*n)).sum();
                    assert_eq!(*found, sum, "{n} rows");
                }
            }
        }
    }

    /// Three rows of powers of two, whose sum says which of them were taken.
    #[test]
    fn every_choice_of_rows_is_exchanged_as_often() {
        let matrix = Matrix::from_columns(&[vec![1.0, 2.0, 4.0]]);
        let sums = exchange(&matrix, plan(8_000, 5), 1, quiet, |sums, values| values[0] = sums[0]);
        for choice in 0..8 {
            let n = sums.iter().filter(|sum| **sum == f64::from(choice)).count();
            assert!((850..1150).contains(&n), "{choice}: {n}");
        }
    }

    #[test]
    fn an_infinity_that_is_not_drawn_adds_nothing() {
        let matrix = Matrix::from_columns(&[vec![1.0, f64::INFINITY]]);
        let sums = bootstrap(&matrix, plan(100, 1), 1, quiet, |sums, values| values[0] = sums[0]);
        assert!(sums.contains(&2.0) && sums.iter().all(|sum| !sum.is_nan()));
    }

    /// The mean of n numbers of variance v has the standard error sqrt(v / n); the bootstrap must find it.
    #[test]
    fn resampled_means_scatter_as_theory_says() {
        let n = 400;
        let values: Vec<f64> = (0..n).map(|k| (k as f64).sqrt()).collect();
        let centre = values.iter().sum::<f64>() / n as f64;
        let variance = values.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / n as f64;
        let means = bootstrap(&matrix(n), plan(20_000, 3), 1, quiet, mean);
        let middle = means.iter().sum::<f64>() / 2e4;
        let scatter = (means.iter().map(|x| (x - middle).powi(2)).sum::<f64>() / 2e4).sqrt();
        let theory = (variance / n as f64).sqrt();
        assert!((middle - centre).abs() < 4.0 * theory / 2e4_f64.sqrt(), "{middle} is not {centre}");
        assert!((scatter / theory - 1.0).abs() < 0.02, "{scatter} is not {theory}");
    }

    #[test]
    fn half_of_the_rows_are_exchanged() {
        let taken = |sums: &[f64], values: &mut [f64]| values[0] = sums[0];
        let counts = exchange(&matrix(1_000), plan(2_000, 5), 1, quiet, taken);
        let mean = counts.iter().sum::<f64>() / 2e3;
        // The mean of 2,000 binomial numbers has a standard error of sqrt(250 / 2,000) = 0.35.
        assert!((mean - 500.0).abs() < 1.5, "{mean}");
        assert!(counts.iter().all(|count| (400.0..600.0).contains(count)));
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        for level in [0.0, 1.0, 95.0, -0.5, f64::NAN] {
            assert!(Resampling { level, ..Resampling::default() }.check().is_err());
        }
        assert!(plan(0, 1).check().unwrap_err().to_string().contains("0 resamples"));
        assert_eq!(Resampling::default().check(), Ok(()));
    }

    #[test]
    fn the_progress_callback_can_cancel_the_work() {
        use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
        use std::sync::atomic::{AtomicUsize, Ordering};

        let (begun, scored) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let progress = |n: usize| {
            if begun.fetch_add(n, Ordering::Relaxed) >= 100 {
                resume_unwind(Box::new("stopped"));
            }
        };
        let score = |_: &[f64], _: &mut [f64]| {
            scored.fetch_add(1, Ordering::Relaxed);
        };
        let run = || bootstrap(&matrix(10), plan(100_000, 1), 1, progress, score);
        let ended = catch_unwind(AssertUnwindSafe(run));
        assert_eq!(ended.unwrap_err().downcast_ref(), Some(&"stopped"));
        // Each thread may have begun a group.
        let most = 100 + GROUP * rayon::current_num_threads();
        assert!(scored.load(Ordering::Relaxed) <= most, "{scored:?}");
    }

    #[test]
    fn more_resamples_than_memory_should_hold_are_refused() {
        assert_eq!(plan(10_000, 1).check_values(1000), Ok(()));
        assert_eq!(plan(Resampling::MAX_RESAMPLES, 1).check_values(13), Ok(()));
        let refused = plan(Resampling::MAX_RESAMPLES, 1).check_values(14).unwrap_err();
        let remedy = refused.remedy().map(ToString::to_string);
        assert!(remedy.is_some_and(|remedy| remedy.contains("9586980")), "{refused}");
        assert!(plan(2, 1).check_values(usize::MAX).is_err());
    }

    #[test]
    fn no_rows_and_no_resamples_do_not_panic() {
        assert_eq!(bootstrap(&matrix(0), plan(3, 1), 1, quiet, |_, v| v[0] = 1.0), [1.0; 3]);
        assert!(bootstrap(&matrix(3), plan(0, 1), 1, quiet, mean).is_empty());
    }
}
