//! The rows that a replicate takes, block by block, as bytes that name rows of the block or sums of some of them.
//!
//! A block and what a byte can name stay in a core's first cache while many replicates add their choices, so a
//! million rows take no longer each than a thousand. Up to [`WHOLE`] rows are drawn one by one among all. Of more, the
//! number of draws in each block comes first, by splitting all draws in two again and again, exactly and without a
//! logarithm; and then the rows within a block, a byte each.

use crate::matrix::{BLOCK, Row};
use crate::random::{Purpose, Stream};

/// The greatest number of rows that are drawn among all at once.
const WHOLE: usize = 1 << 16;

/// The choices of a replicate.
pub(crate) trait Picks: Sized {
    /// The number of rows in a block.
    const ROWS: usize;

    /// The choices of replicate number `index` of `seed` among `n_rows` rows.
    fn new(seed: u64, index: u64, n_rows: usize) -> Self;

    /// Adds the choices in block number `block`, which has `n_rows` rows, to `picks`. Blocks are visited in order.
    fn take(&mut self, block: usize, n_rows: usize, picks: &mut Vec<u8>);

    /// Fills in what each byte names, given the rows of the block, unless it names a row.
    fn name(rows: &[Row], named: &mut [Row; BLOCK]);

    /// What each byte names.
    fn named<'r>(rows: &'r [Row], named: &'r [Row; BLOCK]) -> &'r [Row; BLOCK];
}

/// As many rows as there are, drawn with replacement.
pub(crate) struct Draws {
    stream: Stream,
    /// For each block, the number of rows drawn.
    counts: Vec<u32>,
    /// The rows of each block, if they were drawn among all.
    rows: Vec<Vec<u8>>,
}

impl Picks for Draws {
    const ROWS: usize = BLOCK;

    #[inline(always)]
    fn new(seed: u64, index: u64, n_rows: usize) -> Self {
        let mut stream = Stream::new(seed, Purpose::Bootstrap, index);
        let n_blocks = n_rows.div_ceil(BLOCK);
        let (mut counts, mut rows) = (Vec::new(), Vec::new());
        if n_rows > WHOLE {
            counts.resize(n_blocks, 0);
            split(&mut stream, n_rows as u32, n_rows as u32, &mut counts);
        } else {
            // More than a block's mean by five deviations, so that few grow.
            rows.resize_with(n_blocks, || Vec::with_capacity(BLOCK + 5 * BLOCK.isqrt()));
            stream.draws(n_rows as u32, |row| rows[row as usize / BLOCK].push(row as u8));
        }
        Self { stream, counts, rows }
    }

    #[inline(always)]
    fn take(&mut self, block: usize, n_rows: usize, picks: &mut Vec<u8>) {
        match self.rows.get(block) {
            Some(rows) => picks.extend_from_slice(rows),
            None => self.stream.bytes(n_rows, self.counts[block] as usize, picks),
        }
    }

    #[inline(always)]
    fn name(_: &[Row], _: &mut [Row; BLOCK]) {}

    #[inline(always)]
    fn named<'r>(rows: &'r [Row], named: &'r [Row; BLOCK]) -> &'r [Row; BLOCK] {
        rows.first_chunk().unwrap_or(named)
    }
}

/// Deals `n` draws among `n_rows` rows to blocks of [`BLOCK`] rows, of which the last may have fewer.
#[inline(always)]
fn split(stream: &mut Stream, n: u32, n_rows: u32, counts: &mut [u32]) {
    let mut open = vec![(n, n_rows, counts)];
    while let Some((n, n_rows, counts)) = open.pop() {
        match counts {
            [] => {}
            [count] => *count = n,
            _ => {
                let half = counts.len().next_power_of_two() / 2;
                let first = (half * BLOCK) as u32;
                let n_first = stream.binomial(n, first, n_rows);
                let (a, b) = counts.split_at_mut(half);
                open.extend([(n - n_first, n_rows - first, b), (n_first, first, a)]);
            }
        }
    }
}

/// Each row with probability one half.
pub(crate) struct Exchange(Stream);

impl Picks for Exchange {
    const ROWS: usize = 64;

    #[inline(always)]
    fn new(seed: u64, index: u64, _: usize) -> Self {
        Self(Stream::new(seed, Purpose::Exchange, index))
    }

    #[inline(always)]
    fn take(&mut self, _: usize, n_rows: usize, picks: &mut Vec<u8>) {
        let bits = self.0.bits() & (u64::MAX >> (64 - n_rows));
        picks.extend((0..16_u8).map(|four| four << 4 | (bits >> (4 * four)) as u8 & 15));
    }

    /// The sums of the sixteen choices among each four rows.
    #[inline(always)]
    fn name(rows: &[Row], named: &mut [Row; BLOCK]) {
        for (rows, sums) in rows.chunks_exact(4).zip(named.chunks_exact_mut(16)) {
            sums[0] = Row::default();
            for choice in 1..16_usize {
                let last = choice.ilog2() as usize;
                sums[choice] = sums[choice & !(1 << last)].plus(rows[last]);
            }
        }
    }

    #[inline(always)]
    fn named<'r>(_: &'r [Row], named: &'r [Row; BLOCK]) -> &'r [Row; BLOCK] {
        named
    }
}

/// Counts how often resample number `index` of `seed` draws each row, as many times as there are rows, with
/// replacement.
pub(crate) fn draw(seed: u64, index: u64, counts: &mut [u32]) {
    counts.fill(0);
    let n_rows = counts.len();
    if n_rows <= WHOLE {
        let mut stream = Stream::new(seed, Purpose::Bootstrap, index);
        return stream.draws(n_rows as u32, |row| counts[row as usize] += 1);
    }
    let (mut drawn, mut picks) = (Draws::new(seed, index, n_rows), Vec::new());
    for (block, counts) in counts.chunks_mut(BLOCK).enumerate() {
        picks.clear();
        drawn.take(block, counts.len(), &mut picks);
        picks.iter().for_each(|pick| counts[usize::from(*pick)] += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(seed: u64, index: u64, n_rows: usize) -> Vec<u32> {
        let mut counts = vec![0; n_rows];
        draw(seed, index, &mut counts);
        counts
    }

    fn taken(n_rows: usize) -> Vec<u32> {
        let (mut drawn, mut picks) = (Draws::new(3, 4, n_rows), Vec::new());
        let mut counts = vec![0; n_rows];
        for (block, counts) in counts.chunks_mut(BLOCK).enumerate() {
            picks.clear();
            drawn.take(block, counts.len(), &mut picks);
            picks.iter().for_each(|pick| counts[usize::from(*pick)] += 1);
        }
        counts
    }

    #[test]
    fn blocks_have_the_rows_that_were_drawn_among_all() {
        for n_rows in [0, 1, 255, 256, 257, 5_000, WHOLE] {
            assert_eq!(taken(n_rows), counts(3, 4, n_rows), "{n_rows}");
        }
    }

    /// The counts of rows, and those of blocks of rows, follow the multinomial law: the squares of their deviations add
    /// up to what chi-square says, within five standard errors.
    #[test]
    fn rows_of_large_sets_are_drawn_with_equal_chances() {
        let n = WHOLE + 3 * BLOCK + 17;
        let mut sums = vec![0_u32; n];
        for index in 0..40 {
            let counts = counts(11, index, n);
            assert_eq!(counts.iter().sum::<u32>() as usize, n);
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let check = |expected: f64, found: Vec<u32>| {
            let freedom = found.len() as f64;
            let square: f64 = found.iter().map(|x| (f64::from(*x) - expected).powi(2) / expected).sum();
            assert!((square - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{square} of {freedom}");
        };
        check(40.0, sums.clone());
        let (whole, last) = sums.as_chunks::<BLOCK>();
        assert_eq!(last.len(), 17);
        check((40 * BLOCK) as f64, whole.iter().map(|block| block.iter().sum()).collect());
        let last = f64::from(last.iter().sum::<u32>());
        assert!((last - 680.0).abs() < 5.0 * 680.0_f64.sqrt(), "{last}");
    }
}
