//! The sums of the rows that replicates take: the loop in which resampling spends its time.
//!
//! Many replicates share one pass over the rows, block by block. Rows are added in the order of blocks, and within a
//! block in that of the choices, so the digits depend on nothing else.

use std::array;
use std::ops::Range;

use crate::matrix::{BLOCK, Matrix, Row};
use crate::picks::{Draws, Exchange, Picks};

/// The panels that are summed together, if registers hold their sums.
const TOGETHER: usize = 3;

/// The sums of the panels over the rows that replicates draw, those number `indices` of `seed`, one after another.
///
/// This function and the next are not generic: what is generic is compiled where it is used, maybe not optimised.
pub(crate) fn of_draws(matrix: &Matrix, seed: u64, indices: Range<u64>) -> Vec<Row> {
    processor::best::<Draws>(matrix, seed, indices)
}

/// As [`of_draws`], over the rows that they exchange.
pub(crate) fn of_exchanges(matrix: &Matrix, seed: u64, indices: Range<u64>) -> Vec<Row> {
    processor::best::<Exchange>(matrix, seed, indices)
}

/// The sums over the rows that replicates take, `N` panels at a time. What it calls is compiled for the same processor,
/// if it is inlined.
#[inline(always)]
fn sums_of<P: Picks, const N: usize>(matrix: &Matrix, seed: u64, indices: Range<u64>) -> Vec<Row> {
    let mut replicates = Vec::new();
    // An iterator that calls a closure would be compiled for any processor.
    for index in indices {
        replicates.push(P::new(seed, index, matrix.n_rows()));
    }
    let (together, single) = matrix.panels().as_chunks::<N>();
    let n_panels = matrix.panels().len();
    let mut sums = vec![Row::default(); n_panels * replicates.len()];
    let (mut picks, mut ends, mut named) = (Vec::new(), Vec::new(), vec![[Row::default(); BLOCK]; N]);
    for (block, first) in (0..matrix.n_rows()).step_by(P::ROWS).enumerate() {
        picks.clear();
        ends.clear();
        for replicate in &mut replicates {
            replicate.take(block, P::ROWS.min(matrix.n_rows() - first), &mut picks);
            ends.push(picks.len());
        }
        let mut picked = PickedRows { picks: &picks, ends: &ends, sums: &mut sums, n_panels };
        let rows = first..first + P::ROWS;
        for (k, panels) in together.iter().enumerate() {
            picked.add::<P, N>(k * N, panels.each_ref().map(|panel| &panel[rows.clone()]), &mut named);
        }
        for (k, panel) in (n_panels - single.len()..).zip(single) {
            picked.add::<P, 1>(k, [&panel[rows.clone()]], &mut named);
        }
    }
    sums
}

/// The picks of several replicates in one block, and the sums of each.
struct PickedRows<'p> {
    picks: &'p [u8],
    /// The end of the picks of each replicate.
    ends: &'p [usize],
    /// For each replicate, the sums of all panels.
    sums: &'p mut [Row],
    n_panels: usize,
}

impl PickedRows<'_> {
    /// Adds the rows that each replicate picks in the panels from number `first` on.
    ///
    /// Four sums, one for every fourth pick, do not wait for each other. A row that is not picked adds nothing, even if
    /// it is infinite.
    #[inline(always)]
    fn add<P: Picks, const N: usize>(&mut self, first: usize, rows: [&[Row]; N], named: &mut [[Row; BLOCK]]) {
        rows.iter().zip(&mut *named).for_each(|(rows, named)| P::name(rows, named));
        let named: [&[Row; BLOCK]; N] = array::from_fn(|k| P::named(rows[k], &named[k]));
        let mut start = 0;
        for (sums, end) in self.sums.chunks_exact_mut(self.n_panels).zip(self.ends) {
            let sums = &mut sums[first..first + N];
            let mut parts = [[Row::default(); 4]; N];
            parts.iter_mut().zip(&*sums).for_each(|(parts, sum)| parts[0] = *sum);
            let (fours, rest) = self.picks[start..*end].as_chunks::<4>();
            for four in fours {
                for k in 0..4 {
                    let pick = usize::from(four[k]);
                    for (parts, rows) in parts.iter_mut().zip(named) {
                        parts[k] = parts[k].plus(rows[pick]);
                    }
                }
            }
            for (k, pick) in rest.iter().enumerate() {
                for (parts, rows) in parts.iter_mut().zip(named) {
                    parts[k] = parts[k].plus(rows[usize::from(*pick)]);
                }
            }
            for (sum, [a, b, c, d]) in sums.iter_mut().zip(parts) {
                *sum = a.plus(b).plus(c.plus(d));
            }
            start = *end;
        }
    }
}

/// Compiles the sums for processors with AVX-512 or AVX2, too. No operation is fused, so the digits are the same.
mod processor {
    #![expect(unsafe_code, reason = "the sums may use AVX-512 or AVX2 where they were detected")]

    use std::ops::Range;

    use super::{Matrix, Picks, Row, TOGETHER, sums_of};

    pub(super) fn best<P: Picks>(matrix: &Matrix, seed: u64, indices: Range<u64>) -> Vec<Row> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("popcnt") {
            if std::arch::is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has what the function is compiled for.
                return unsafe { with_avx512::<P>(matrix, seed, indices) };
            }
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: as above.
                return unsafe { with_avx2::<P>(matrix, seed, indices) };
            }
        }
        sums_of::<P, 1>(matrix, seed, indices)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,popcnt")]
    fn with_avx512<P: Picks>(matrix: &Matrix, seed: u64, indices: Range<u64>) -> Vec<Row> {
        sums_of::<P, TOGETHER>(matrix, seed, indices)
    }

    /// Its registers hold the sums of one panel.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt")]
    fn with_avx2<P: Picks>(matrix: &Matrix, seed: u64, indices: Range<u64>) -> Vec<Row> {
        sums_of::<P, 1>(matrix, seed, indices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_and_panels_change_no_digit() {
        let columns: Vec<Vec<f64>> =
            (0..39).map(|c| (0..900).map(|k| ((k * k + 7 * k + c * c) as f64).sin()).collect()).collect();
        let matrix = Matrix::from_columns(&columns);
        assert_eq!(matrix.panels().len(), 5);
        fn check<P: Picks>(matrix: &Matrix) {
            let one = sums_of::<P, 1>(matrix, 7, 3..40);
            assert!(one.iter().all(|row| row.0[0] != 0.0));
            assert_eq!(one, sums_of::<P, TOGETHER>(matrix, 7, 3..40));
            assert_eq!(one, processor::best::<P>(matrix, 7, 3..40));
        }
        check::<Draws>(&matrix);
        check::<Exchange>(&matrix);
    }
}
