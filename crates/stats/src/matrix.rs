//! Columns of several tables, laid out for summing many selections of rows at once.

use crate::table::Table;

/// The columns that are summed together.
const WIDTH: usize = 4;

/// The number of rows that a byte can name. That many rows of a panel stay in a core's first cache.
pub(crate) const BLOCK: usize = 256;

/// A row of a panel.
pub(crate) type Row = [f64; WIDTH];

/// Columns over the same rows, such as the statistics of several metrics and systems on the same images.
#[derive(Clone, Debug)]
pub struct Matrix {
    n_rows: usize,
    n_columns: usize,
    /// Groups of columns, row after row, up to a multiple of [`BLOCK`] rows; what is missing is 0.
    panels: Vec<Vec<Row>>,
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
        let tables: Vec<&Table> = tables.into_iter().collect();
        let mut matrix = Self::zeros(order.len(), tables.iter().map(|table| table.columns().len()).sum());
        let mut first = 0;
        for table in tables {
            for (at, row) in order.iter().enumerate() {
                for (column, value) in (first..).zip(table.row(*row as usize)) {
                    matrix.panels[column / WIDTH][at][column % WIDTH] = *value;
                }
            }
            first += table.columns().len();
        }
        matrix
    }

    /// A matrix of columns.
    ///
    /// # Panics
    /// When a column is longer than the first by more than a block.
    pub fn from_columns(columns: &[Vec<f64>]) -> Self {
        let mut matrix = Self::zeros(columns.first().map_or(0, Vec::len), columns.len());
        for (column, values) in columns.iter().enumerate() {
            for (at, value) in values.iter().enumerate() {
                matrix.panels[column / WIDTH][at][column % WIDTH] = *value;
            }
        }
        matrix
    }

    fn zeros(n_rows: usize, n_columns: usize) -> Self {
        let panel = vec![[0.0; WIDTH]; n_rows.next_multiple_of(BLOCK)];
        Self { n_rows, n_columns, panels: vec![panel; n_columns.div_ceil(WIDTH)] }
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The groups of columns, row after row.
    pub(crate) fn panels(&self) -> &[Vec<Row>] {
        &self.panels
    }
}

/// The picks of several replicates in one block, and the sums of each.
pub(crate) struct PickedRows<'p> {
    pub picks: &'p [u8],
    /// The end of the picks of each replicate.
    pub ends: &'p [usize],
    /// For each replicate, the sums of all panels.
    pub sums: &'p mut [Row],
    pub n_panels: usize,
}

/// The panels that are summed together where registers hold their sums.
pub(crate) const TOGETHER: usize = 3;

impl PickedRows<'_> {
    /// Adds the rows that each replicate picks in the panels from number `first` on, of which `named` are the rows: the
    /// loop in which resampling spends its time.
    pub fn add(&mut self, first: usize, named: &[[Row; BLOCK]]) {
        processor::best(self, first, named);
    }

    /// As [`add`](Self::add), `N` panels at a time.
    #[inline(always)]
    fn add_some<const N: usize>(&mut self, first: usize, named: &[[Row; BLOCK]]) {
        let (together, rest) = named.as_chunks::<N>();
        for (k, named) in together.iter().enumerate() {
            self.add_panels(first + k * N, named);
        }
        for (k, named) in rest.iter().enumerate() {
            self.add_panels(first + together.len() * N + k, std::array::from_ref(named));
        }
    }

    /// Four sums, one for every fourth pick, do not wait for each other. A row that is not picked adds nothing, even if
    /// it is infinite.
    #[inline(always)]
    fn add_panels<const N: usize>(&mut self, first: usize, named: &[[Row; BLOCK]; N]) {
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
                        parts[k] = plus(parts[k], rows[pick]);
                    }
                }
            }
            for (k, pick) in rest.iter().enumerate() {
                for (parts, rows) in parts.iter_mut().zip(named) {
                    parts[k] = plus(parts[k], rows[usize::from(*pick)]);
                }
            }
            for (sum, [a, b, c, d]) in sums.iter_mut().zip(parts) {
                *sum = plus(plus(a, b), plus(c, d));
            }
            start = *end;
        }
    }
}

/// Compiles the sums for processors with AVX2, too. No operation is fused, so the digits are the same.
mod processor {
    #![expect(unsafe_code, reason = "the sums may use AVX2 where it was detected")]

    use super::{BLOCK, PickedRows, Row, TOGETHER};

    pub(super) fn best(picked: &mut PickedRows<'_>, first: usize, named: &[[Row; BLOCK]]) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { with_avx2(picked, first, named) };
        }
        picked.add_some::<1>(first, named);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn with_avx2(picked: &mut PickedRows<'_>, first: usize, named: &[[Row; BLOCK]]) {
        picked.add_some::<TOGETHER>(first, named);
    }
}

#[inline(always)]
pub(crate) fn plus([a, b, c, d]: Row, [p, q, r, s]: Row) -> Row {
    [a + p, b + q, c + r, d + s]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_and_panels_change_no_digit() {
        let value = |k: usize| ((k * k + 7 * k) as f64).sin();
        let named: Vec<[Row; BLOCK]> = (0..5)
            .map(|p| std::array::from_fn(|r| std::array::from_fn(|c| value(1000 * p + 4 * r + c))))
            .collect();
        let picks: Vec<u8> = (0..700_u32).map(|k| (k * k % 251) as u8).collect();
        let ends = [0, 1, 6, 300, 699, 700];
        let run = |add: fn(&mut PickedRows<'_>, &[[Row; BLOCK]])| {
            let mut sums: Vec<Row> = (0..30).map(|k| [value(k); 4]).collect();
            add(&mut PickedRows { picks: &picks, ends: &ends, sums: &mut sums, n_panels: 5 }, &named);
            sums
        };
        let one = run(|picked, named| picked.add_some::<1>(0, named));
        assert_eq!(one, run(|picked, named| picked.add_some::<TOGETHER>(0, named)));
        assert_eq!(one, run(|picked, named| picked.add(0, named)));
        assert_eq!(one[..5], (0..5).map(|k| [value(k); 4]).collect::<Vec<_>>(), "no picks add nothing");
        assert_ne!(one[5], [value(5); 4]);
    }
}
