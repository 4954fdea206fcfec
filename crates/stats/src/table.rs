//! Statistics of many segments: one row of named numbers each.

use crate::exact::ExactSum;

/// The kind of the numbers of a column, which decides how they are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Integers; their sums are exact below 2^53.
    Count,
    /// Real numbers; their exact sum is rounded once, at the end.
    Sum,
}

/// A named column of a [`Table`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The statistic's name, such as `matches-2`.
    pub name: String,
    /// The kind of its numbers.
    pub kind: ColumnKind,
}

impl Column {
    /// A column of integers.
    pub fn count(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: ColumnKind::Count }
    }

    /// A column of real numbers.
    pub fn sum(name: impl Into<String>) -> Self {
        Self { name: name.into(), kind: ColumnKind::Sum }
    }
}

/// The additive statistics of every segment, row by row.
///
/// A corpus score is a function of [`total`](Self::total); a shard, a merge or a resample is a selection of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    values: Vec<f64>,
}

impl Table {
    /// A table of `values`, row after row.
    ///
    /// # Panics
    /// When the length of `values` is not a multiple of the number of columns.
    pub fn new(columns: Vec<Column>, values: Vec<f64>) -> Self {
        assert!(!columns.is_empty() && values.len().is_multiple_of(columns.len()), "whole rows");
        Self { columns, values }
    }

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The rows, in the order of the segments.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> + Clone + '_ {
        self.values.chunks_exact(self.columns.len())
    }

    /// Row `at`.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, at: usize) -> &[f64] {
        &self.values[at * self.columns.len()..(at + 1) * self.columns.len()]
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.columns.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The rows at the places `rows`, in this order.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn select(&self, rows: &[usize]) -> Self {
        let values = rows.iter().flat_map(|row| self.row(*row)).copied().collect();
        Self { columns: self.columns.clone(), values }
    }

    /// Replaces the rows at the places `rows` by those of `other`, in this order.
    ///
    /// # Panics
    /// When there is no such row, or `other` has other columns or fewer rows.
    pub fn replace(&mut self, rows: &[usize], other: &Self) {
        let width = self.columns.len();
        assert!(other.columns.len() == width, "the same columns");
        for (at, row) in rows.iter().enumerate() {
            self.values[row * width..(row + 1) * width].copy_from_slice(other.row(at));
        }
    }

    /// The sum of each column over the rows at the places `rows`, not yet rounded.
    pub fn sums(&self, rows: impl Iterator<Item = usize>) -> Vec<ExactSum> {
        let mut sums = vec![ExactSum::default(); self.columns.len()];
        for row in rows {
            sums.iter_mut().zip(self.row(row)).for_each(|(sum, value)| sum.add(*value));
        }
        sums
    }

    /// The sum of all rows, whatever their order.
    pub fn total(&self) -> Vec<f64> {
        // Few enough that all columns of the rows are read from a near cache.
        const ROWS: usize = 256;
        let width = self.columns.len();
        let nothing: f64 = std::iter::empty::<f64>().sum();
        let mut sums = vec![(nothing, ExactSum::default()); width];
        for rows in self.values.chunks(ROWS * width) {
            for (c, (column, (count, sum))) in self.columns.iter().zip(&mut sums).enumerate() {
                let values = rows.iter().skip(c).step_by(width).copied();
                match column.kind {
                    ColumnKind::Count => *count = values.fold(*count, |count, value| count + value),
                    ColumnKind::Sum => sum.extend(values),
                }
            }
        }
        let total = |(column, (count, sum)): (&Column, &(f64, ExactSum))| match column.kind {
            ColumnKind::Count => *count,
            ColumnKind::Sum => sum.value(),
        };
        self.columns.iter().zip(&sums).map(total).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_add_each_column_in_its_own_way() {
        let columns = vec![Column::count("n"), Column::sum("x")];
        let table = Table::new(columns, vec![1.0, 0.1, 1.0, 1e16, 1.0, -1e16]);
        assert_eq!(table.total(), [3.0, 0.1]);
        assert_eq!(table.len(), 3);
    }

    #[test]
    fn rows_are_selected_and_replaced_by_their_places() {
        let columns = vec![Column::count("n"), Column::sum("x")];
        let mut table = Table::new(columns, vec![1.0, 0.1, 2.0, 0.2, 3.0, 0.3]);
        let two = table.select(&[2, 0]);
        assert_eq!(two.rows().flatten().copied().collect::<Vec<_>>(), [3.0, 0.3, 1.0, 0.1]);
        table.replace(&[1, 2], &two);
        assert_eq!(table.rows().flatten().copied().collect::<Vec<_>>(), [1.0, 0.1, 3.0, 0.3, 1.0, 0.1]);
    }
}
