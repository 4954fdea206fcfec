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

/// Adds those of `rows` that `picks` name to `sum`: the loop in which resampling spends its time.
///
/// Four sums, one for every fourth pick, do not wait for each other. A row that is not picked adds nothing, even if it
/// is infinite.
pub(crate) fn add(rows: &[Row; BLOCK], picks: &[u8], sum: &mut Row) {
    let mut sums = [*sum, [0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH]];
    let (fours, rest) = picks.as_chunks::<4>();
    for four in fours {
        for (sum, pick) in sums.iter_mut().zip(four) {
            *sum = plus(*sum, rows[usize::from(*pick)]);
        }
    }
    for (sum, pick) in sums.iter_mut().zip(rest) {
        *sum = plus(*sum, rows[usize::from(*pick)]);
    }
    let [a, b, c, d] = sums;
    *sum = plus(plus(a, b), plus(c, d));
}

#[inline(always)]
pub(crate) fn plus([a, b, c, d]: Row, [p, q, r, s]: Row) -> Row {
    [a + p, b + q, c + r, d + s]
}
