//! Sums of rows that can be merged: what is left of a table when only corpus scores are wanted.
//!
//! A sum of real numbers leaves a machine unrounded, as the partial sums of `ExactSum`, so parts merge without rounding
//! in any order and tasks may be repeated. Intervals on many machines resample 1,024 blocks of images, dealt by the
//! seed and the id; resamples of single images would need a weight per image and resample.

use crate::exact::ExactSum;
use crate::table::{Column, ColumnKind};

/// The sum of one column.
#[derive(Clone, Debug)]
pub enum Total {
    /// Of integers.
    Count(i64),
    /// Of real numbers, not yet rounded.
    Sum(ExactSum),
}

/// The sums of the columns of rows, merged exactly: neither the order of rows nor the way they were grouped changes a
/// bit.
#[derive(Clone, Debug)]
pub struct Totals {
    totals: Vec<Total>,
}

impl Totals {
    /// The sums of no rows.
    pub fn new<'c>(columns: impl IntoIterator<Item = &'c Column>) -> Self {
        let zero = |column: &Column| match column.kind {
            ColumnKind::Count => Total::Count(0),
            ColumnKind::Sum => Total::Sum(ExactSum::default()),
        };
        Self { totals: columns.into_iter().map(zero).collect() }
    }

    /// Adds a row.
    pub fn add(&mut self, row: &[f64]) {
        for (total, value) in self.totals.iter_mut().zip(row) {
            match total {
                Total::Count(count) => *count = count.saturating_add(*value as i64),
                Total::Sum(sum) => sum.add(*value),
            }
        }
    }

    /// Adds the sums of other rows with the same columns.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.totals.iter_mut().zip(&other.totals) {
            match (mine, theirs) {
                (Total::Count(mine), Total::Count(theirs)) => *mine = mine.saturating_add(*theirs),
                (Total::Sum(mine), Total::Sum(theirs)) => mine.extend(theirs.parts()),
                _ => {}
            }
        }
    }

    /// The sum of each column.
    pub fn columns(&self) -> &[Total] {
        &self.totals
    }

    /// The sum of each column, to change it.
    pub fn columns_mut(&mut self) -> &mut [Total] {
        &mut self.totals
    }

    /// The sums, each rounded once: the row that [`Table::total`](crate::Table::total) gives for all rows.
    pub fn row(&self) -> Vec<f64> {
        let value = |total: &Total| match total {
            Total::Count(count) => *count as f64,
            Total::Sum(sum) => sum.value(),
        };
        self.totals.iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;

    #[test]
    fn merged_sums_are_the_total_of_the_table_however_it_was_cut() {
        let columns = vec![Column::count("n"), Column::sum("x")];
        let rows: Vec<f64> =
            (0..2000).map(|k| if k % 2 == 0 { f64::from(k) } else { (f64::from(k)).sin() * 1e3 }).collect();
        let whole = Table::new(columns.clone(), rows.clone()).total();
        for size in [1, 7, 64, 1000] {
            let mut merged = Totals::new(&columns);
            for part in rows.chunks(2 * size).rev() {
                let mut totals = Totals::new(&columns);
                part.chunks(2).for_each(|row| totals.add(row));
                merged.merge(&totals);
            }
            assert_eq!(merged.row(), whole, "parts of {size}");
        }
    }
}
