//! Columns of several tables, laid out for summing many selections of rows at once.

use rayon::prelude::*;

use crate::table::Table;

/// The columns that are summed together: what a register of AVX-512 holds.
const WIDTH: usize = 8;

/// The number of rows that a byte can name. That many rows of a panel stay in a core's first cache.
pub(crate) const BLOCK: usize = 256;

/// A row of a panel. Its alignment is that of a line of a cache, which a load takes half as long as two.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(64))]
pub(crate) struct Row(pub [f64; WIDTH]);

impl Row {
    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        let mut sum = self;
        sum.0.iter_mut().zip(other.0).for_each(|(sum, value)| *sum += value);
        sum
    }
}

/// Columns over the same rows, such as the statistics of several metrics and systems on the same images.
#[derive(Clone, Debug)]
pub struct Matrix {
    n_rows: usize,
    /// Distinct columns in groups, row after row, up to a multiple of [`BLOCK`] rows; what is missing is 0.
    panels: Vec<Vec<Row>>,
    /// For each column, its place among the distinct ones: counts of segments and of words are those of several
    /// metrics.
    places: Vec<usize>,
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
        let columns: Vec<(&Table, usize)> = tables
            .into_iter()
            .flat_map(|table| (0..table.columns().len()).map(move |column| (table, column)))
            .collect();
        Self::of(order.len(), &columns, |(table, column), at| table.row(order[at] as usize)[*column])
    }

    /// A matrix of columns.
    ///
    /// # Panics
    /// When a column is shorter than the first.
    pub fn from_columns(columns: &[Vec<f64>]) -> Self {
        Self::of(columns.first().map_or(0, Vec::len), columns, |column, at| column[at])
    }

    fn of<C: Sync>(n_rows: usize, columns: &[C], value: impl Fn(&C, usize) -> f64 + Sync) -> Self {
        let bits = |column: &C, at: usize| value(column, at).to_bits();
        let mixed = |mix: u64, bits: u64| (mix.rotate_left(5) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = |column: &C| (0..n_rows).fold(0, |mix, at| mixed(mix, bits(column, at)));
        let hashes: Vec<u64> = columns.par_iter().map(hash).collect();
        let (mut distinct, mut places) = (Vec::<(u64, &C)>::new(), Vec::with_capacity(columns.len()));
        for (hash, column) in hashes.into_iter().zip(columns) {
            let equals = |other: &C| (0..n_rows).all(|at| bits(other, at) == bits(column, at));
            let is_it = |(known, other): &(u64, &C)| *known == hash && equals(other);
            let place = distinct.iter().position(is_it).unwrap_or(distinct.len());
            if place == distinct.len() {
                distinct.push((hash, column));
            }
            places.push(place);
        }
        let panel = |columns: &[(u64, &C)]| {
            let mut panel = vec![Row::default(); n_rows.next_multiple_of(BLOCK)];
            for (at, row) in panel[..n_rows].iter_mut().enumerate() {
                row.0.iter_mut().zip(columns).for_each(|(cell, (_, column))| *cell = value(column, at));
            }
            panel
        };
        Self { n_rows, panels: distinct.par_chunks(WIDTH).map(panel).collect(), places }
    }

    /// The number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The number of columns.
    pub fn n_columns(&self) -> usize {
        self.places.len()
    }

    /// The groups of columns, row after row.
    pub(crate) fn panels(&self) -> &[Vec<Row>] {
        &self.panels
    }

    /// The sums of all columns, given those of the panels.
    pub(crate) fn columns<'s>(&'s self, sums: &'s [Row]) -> impl Iterator<Item = f64> + 's {
        self.places.iter().map(|place| sums[place / WIDTH].0[place % WIDTH])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_columns_are_kept_once() {
        let column = |k: usize| (0..300).map(|at| if at < 299 { 1.0 } else { k as f64 }).collect::<Vec<_>>();
        let columns: Vec<Vec<f64>> = (0..30).map(|k| column(k % 11)).collect();
        let matrix = Matrix::from_columns(&columns);
        assert_eq!((matrix.n_columns(), matrix.panels().len()), (30, 2));
        let last: Vec<Row> = matrix.panels().iter().map(|panel| panel[299]).collect();
        assert_eq!(
            matrix.columns(&last).collect::<Vec<_>>(),
            (0..30).map(|k| f64::from(k % 11)).collect::<Vec<_>>()
        );
        // Zeros of both signs are equal, but not the same; the sum of negative ones is negative.
        assert_eq!(
            Matrix::from_columns(&[vec![0.0], vec![-0.0]])
                .columns(&[Row([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])])
                .collect::<Vec<_>>(),
            [0.0, 1.0]
        );
    }
}
