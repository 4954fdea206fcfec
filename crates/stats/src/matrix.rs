//! Columns of several tables, laid out for summing many selections of rows at once.

use crate::table::Table;

/// Columns and selections processed at a time: a square of this many sums stays in registers.
pub const LANES: usize = 4;

/// Rows that are added before the next columns are processed, so that the data stay in the L1 cache.
const BLOCK: usize = 256;

/// Columns over the same rows, such as the statistics of several metrics and systems on the same images.
#[derive(Clone, Debug)]
pub struct Matrix {
    n_rows: usize,
    n_columns: usize,
    /// Groups of [`LANES`] columns, row after row; the last one may have columns of zeros.
    panels: Vec<Panel>,
}

#[derive(Clone, Debug)]
struct Panel {
    rows: Vec<[f64; LANES]>,
    /// True if all numbers are finite, so that a row that was not drawn can be added with weight 0.
    is_finite: bool,
}

impl Matrix {
    /// The columns of `tables` side by side, with rows in the given order.
    ///
    /// Resampling draws rows by position, so an order that does not depend on files, such as that of ids, makes the
    /// digits independent of them.
    ///
    /// # Panics
    /// When `order` names a row that a table lacks.
    pub fn new<'t>(tables: impl IntoIterator<Item = &'t Table>, order: &[u32]) -> Self {
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for table in tables {
            let first = columns.len();
            columns.extend(table.columns().iter().map(|_| Vec::with_capacity(order.len())));
            for row in order {
                for (column, value) in columns[first..].iter_mut().zip(table.row(*row as usize)) {
                    column.push(*value);
                }
            }
        }
        Self::from_columns(&columns)
    }

    /// A matrix of columns.
    ///
    /// # Panics
    /// When a column is shorter than the first.
    pub fn from_columns(columns: &[Vec<f64>]) -> Self {
        let n_rows = columns.first().map_or(0, Vec::len);
        let panels = columns.chunks(LANES).map(|columns| {
            let mut rows = vec![[0.0; LANES]; n_rows];
            for (lane, column) in columns.iter().enumerate() {
                rows.iter_mut().zip(&column[..n_rows]).for_each(|(row, value)| row[lane] = *value);
            }
            let is_finite = rows.iter().flatten().all(|value| value.is_finite());
            Panel { rows, is_finite }
        });
        Self { n_rows, n_columns: columns.len(), panels: panels.collect() }
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The sums of all columns under each of [`LANES`] choices: `weights` says how often each choice
    /// takes each row. `sums` holds the columns of the first choice, then those of the next.
    ///
    /// Rows are added in order, so the digits depend on nothing else.
    pub(crate) fn sums(&self, weights: &[[f64; LANES]], scratch: &mut Scratch, sums: &mut [f64]) {
        let Scratch { squares } = scratch;
        squares.clear();
        squares.resize(self.panels.len(), [[0.0; LANES]; LANES]);
        for (block, weights) in weights.chunks(BLOCK).enumerate() {
            for (panel, square) in self.panels.iter().zip(&mut *squares) {
                let rows = &panel.rows[block * BLOCK..][..weights.len()];
                if panel.is_finite {
                    add(rows, weights, square);
                } else {
                    add_drawn(rows, weights, square);
                }
            }
        }
        for (choice, sums) in sums.chunks_exact_mut(self.n_columns.max(1)).enumerate() {
            let columns = squares.iter().flat_map(|square| square[choice]);
            sums.iter_mut().zip(columns).for_each(|(sum, column)| *sum = column);
        }
    }
}

/// Buffers of [`Matrix::sums`].
#[derive(Default)]
pub(crate) struct Scratch {
    squares: Vec<[[f64; LANES]; LANES]>,
}

/// Adds weighted rows: the loop in which resampling spends its time.
fn add(rows: &[[f64; LANES]], weights: &[[f64; LANES]], square: &mut [[f64; LANES]; LANES]) {
    let [mut a, mut b, mut c, mut d] = *square;
    for (row, [wa, wb, wc, wd]) in rows.iter().zip(weights) {
        a = plus(a, *wa, *row);
        b = plus(b, *wb, *row);
        c = plus(c, *wc, *row);
        d = plus(d, *wd, *row);
    }
    *square = [a, b, c, d];
}

#[inline(always)]
fn plus([a, b, c, d]: [f64; LANES], weight: f64, [p, q, r, s]: [f64; LANES]) -> [f64; LANES] {
    [a + weight * p, b + weight * q, c + weight * r, d + weight * s]
}

/// As [`add`], but skips rows of weight 0, since 0 times infinity is NaN.
fn add_drawn(rows: &[[f64; LANES]], weights: &[[f64; LANES]], square: &mut [[f64; LANES]; LANES]) {
    for (row, weights) in rows.iter().zip(weights) {
        for (sums, weight) in square.iter_mut().zip(weights).filter(|(_, weight)| **weight != 0.0) {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += *weight * *value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weighted_sums_equal_those_of_a_plain_loop() {
        let columns: Vec<Vec<f64>> =
            (0..7).map(|c| (0..1000).map(|r| f64::from(r * 7 + c).sin()).collect()).collect();
        let weights: Vec<[f64; LANES]> = (0..1000).map(|r| [1.0, f64::from(r % 3), 0.0, 2.0]).collect();
        let mut sums = vec![0.0; 4 * 7];
        Matrix::from_columns(&columns).sums(&weights, &mut Scratch::default(), &mut sums);
        for choice in 0..4 {
            for (c, column) in columns.iter().enumerate() {
                let plain = column.iter().zip(&weights).fold(0.0, |sum, (x, w)| sum + w[choice] * x);
                assert_eq!(sums[choice * 7 + c].to_bits(), plain.to_bits());
            }
        }
    }

    #[test]
    fn an_infinity_that_is_not_drawn_adds_nothing() {
        let matrix = Matrix::from_columns(&[vec![1.0, f64::INFINITY]]);
        let mut sums = vec![0.0; 4];
        matrix.sums(&[[2.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0]], &mut Scratch::default(), &mut sums);
        assert_eq!(sums[..2], [2.0, f64::INFINITY]);
    }
}
