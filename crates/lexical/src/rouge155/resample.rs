//! The averages and confidence intervals that ROUGE-1.5.5 prints.
//!
//! The program draws as many segments as there are, with replacement, a thousand times. Resample k uses Perl's
//! generator with the seed k, so all measures share the same resamples. The average that it prints is the mean of the
//! resamples' means, which differs from the mean of the segments in about the fourth decimal. Since version 5.20, Perl
//! has its own generator (`drand48` of FreeBSD), so the digits are the same on every machine; older versions used that
//! of the C library.

use capeval_metric::Table;
use rayon::prelude::*;

use super::round::to_five_decimals;
use super::tally::f_measure;

/// A mean with its confidence interval, to five decimals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean of the resamples' means.
    pub mean: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// The order of `n` evaluations that are numbered from 0, sorted by their numbers as strings.
pub fn by_name(n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_cached_key(usize::to_string);
    order
}

/// Perl's `rand` after `srand(seed)`.
struct PerlRandom(u64);

impl PerlRandom {
    fn new(seed: u32) -> Self {
        Self(u64::from(seed) << 16 | 0x330e)
    }

    /// `int(rand(n))`.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5_deec_e66d).wrapping_add(0xb) & ((1 << 48) - 1);
        // Processors convert signed numbers to floating point faster, and 48 bits fit.
        (self.0.cast_signed() as f64 / (1_u64 << 48) as f64 * n as f64) as u32 as usize
    }
}

/// R, P and F from the counts of references and candidates, and the hits.
pub(super) fn ratios([references, candidates, hits]: [f64; 3], alpha: f64) -> [f64; 3] {
    let share = |count: f64| if count > 0.0 { hits / count } else { 0.0 };
    let (r, p) = (share(references), share(candidates));
    [r, p, f_measure(r, p, alpha)]
}

/// The intervals of all columns of `table`, except the first, which counts segments.
///
/// Means are those over segments, or, with `alpha`, the ratios of each group of three columns.
pub(super) fn intervals(
    table: &Table,
    order: &[usize],
    samples: usize,
    confidence: f64,
    alpha: Option<f64>,
) -> Vec<Interval> {
    let width = table.columns().len() - 1;
    let n = order.len();
    let drawn: Vec<&[f64]> = table.rows().map(|row| &row[1..]).collect();
    let rows = Blocks::new(order.iter().map(|row| drawn[*row]), width);
    let means: Vec<Vec<f64>> = (0..samples as u32)
        .into_par_iter()
        .map_init(Vec::new, |draws, seed| {
            let mut random = PerlRandom::new(seed);
            draws.clear();
            draws.extend((0..n).map(|_| random.below(n)));
            let mut sums = rows.sums(draws);
            match alpha {
                None if n > 0 => sums.iter_mut().for_each(|sum| *sum /= n as f64),
                None => {}
                Some(alpha) => {
                    for three in sums.as_chunks_mut().0 {
                        *three = ratios(*three, alpha);
                    }
                }
            }
            sums
        })
        .collect();
    (0..width)
        .map(|column| {
            let mut values: Vec<f64> = means.iter().map(|means| means[column]).collect();
            values.sort_unstable_by(f64::total_cmp);
            interval(&values, confidence)
        })
        .collect()
}

/// The number of columns that are summed together.
const BLOCK: usize = 8;

/// A table in blocks of columns, so that many additions are independent of each other.
struct Blocks {
    blocks: Vec<Vec<[f64; BLOCK]>>,
    width: usize,
}

impl Blocks {
    fn new<'r>(rows: impl Iterator<Item = &'r [f64]>, width: usize) -> Self {
        let mut blocks = vec![Vec::with_capacity(rows.size_hint().0); width.div_ceil(BLOCK)];
        for row in rows {
            for (block, values) in blocks.iter_mut().zip(row.chunks(BLOCK)) {
                let mut padded = [0.0; BLOCK];
                padded[..values.len()].copy_from_slice(values);
                block.push(padded);
            }
        }
        Self { blocks, width }
    }

    /// The sums of all columns over the rows `draws`, added in this order, as in the program.
    fn sums(&self, draws: &[usize]) -> Vec<f64> {
        let mut sums = Vec::with_capacity(self.blocks.len() * BLOCK);
        for rows in &self.blocks {
            let mut sum = [0.0; BLOCK];
            for draw in draws {
                let row = &rows[*draw];
                for k in 0..BLOCK {
                    sum[k] += row[k];
                }
            }
            sums.extend_from_slice(&sum);
        }
        sums.truncate(self.width);
        sums
    }
}

/// The mean and the bounds of the sorted `values`.
fn interval(values: &[f64], confidence: f64) -> Interval {
    let n = values.len() as f64;
    let sum = values.iter().fold(0.0, |sum, value| sum + value);
    let outside = n * ((100.0 - confidence) / 2.0) / 100.0;
    let upper = n - outside - 1.0;
    // The program uses the fraction of the upper bound for the lower one, too.
    let fraction = upper - upper.trunc();
    let at = |position: f64| values.get(position as usize).copied().unwrap_or(0.0);
    let between = |position: f64| {
        let (value, next) = (at(position.trunc()), at(position.trunc() + 1.0));
        to_five_decimals(value + (next - value) * fraction)
    };
    Interval {
        mean: if values.is_empty() { 0.0 } else { to_five_decimals(sum / n) },
        low: between(outside.max(0.0)),
        high: between(upper.max(0.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `perl -e 'for $s (0, 1, 999) { srand($s); print join(" ", map { int(rand(1000)) } 1..5), "\n" }'`, Perl 5.36.
    #[test]
    fn draws_equal_those_of_perl() {
        let draws = |seed| {
            let mut random = PerlRandom::new(seed);
            [(); 5].map(|()| random.below(1_000))
        };
        assert_eq!(draws(0), [170, 749, 96, 870, 577]);
        assert_eq!(draws(1), [41, 454, 834, 335, 565]);
        assert_eq!(draws(999), [102, 635, 803, 925, 775]);
    }

    #[test]
    fn names_sort_as_strings() {
        assert_eq!(by_name(12), [0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
}
