//! The rows of a table as its reader passes them on.

use super::cell::Cell;
use crate::SegmentId;
use crate::error::{Error, ErrorKind, Position};

/// A consumer of the rows of a table.
pub(crate) trait Consumer {
    /// Receives the names of the following rows: once for CSV and Parquet, and whenever the keys change for objects.
    /// Returns the columns that it will read; `None` for all.
    fn names(&mut self, names: &[String]) -> Result<Option<Vec<usize>>, Error>;

    /// Receives a row.
    fn row(&mut self, row: &Row<'_>) -> Result<(), Error>;
}

/// A row, whose cells are read on request.
pub(crate) struct Row<'r> {
    source: &'r str,
    cells: &'r dyn Cells,
}

/// The cells of a row in some format.
pub(super) trait Cells {
    /// The number of cells.
    fn len(&self) -> usize;
    fn cell(&self, column: usize) -> Result<Cell<'_>, Error>;
    /// A cell as an image id.
    fn id(&self, column: usize) -> Result<SegmentId, Error>;
    /// The numbers of a cell that is a list of numbers and nulls; `None` for other cells.
    fn numbers(&self, _column: usize) -> Option<Vec<Option<f64>>> {
        None
    }
    /// The length of a cell that is a list, and its last item; `None` for other cells.
    fn last(&self, _column: usize) -> Option<(usize, Cell<'_>)> {
        None
    }
    /// The line or number of the row.
    fn place(&self) -> Position;
    /// The position of a cell, if known, or of the row.
    fn position(&self, column: Option<usize>) -> Position;
}

impl<'r> Row<'r> {
    pub(super) fn new(source: &'r str, cells: &'r dyn Cells) -> Self {
        Self { source, cells }
    }

    /// A cell; null if there is no such column.
    pub fn cell(&self, column: usize) -> Result<Cell<'_>, Error> {
        if column < self.cells.len() { self.cells.cell(column) } else { Ok(Cell::Null) }
    }

    /// A cell as an image id.
    pub fn id(&self, column: usize) -> Result<SegmentId, Error> {
        self.cells.id(column)
    }

    /// The numbers of a cell, without a cell for each, if its format can tell that it is a list of numbers and nulls.
    pub fn numbers(&self, column: usize) -> Option<Vec<Option<f64>>> {
        self.cells.numbers(column)
    }

    /// The length of a list and its last item, without the other items, if its format can tell that the cell is one.
    pub fn last(&self, column: usize) -> Option<(usize, Cell<'_>)> {
        self.cells.last(column)
    }

    /// The line or number of the row.
    pub fn place(&self) -> Position {
        self.cells.place()
    }

    /// The line on which the row begins, if its format has lines.
    pub fn line(&self) -> Option<u64> {
        self.cells.place().line
    }

    /// An error about a cell.
    pub fn refuse(&self, column: usize, message: String) -> Error {
        let position = self.cells.position(Some(column));
        Error::new(ErrorKind::Shape, self.source, message).at(position)
    }
}
