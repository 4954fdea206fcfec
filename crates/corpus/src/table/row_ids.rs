//! The ids of rows, which are numbered where there are none.

use super::columns::Names;
use super::row::Row;
use crate::error::Error;
use crate::{Notice, Remedy, SegmentId};
use capeval_choice::Code;

/// Gives each row its id; rows are numbered from 1 where no column holds ids.
#[derive(Default)]
pub(crate) struct RowIds {
    column: Option<usize>,
    count: usize,
}

impl RowIds {
    /// Takes the ids of the rows to come from `column`.
    ///
    /// # Errors
    /// If rows before had ids and those to come have none, or the other way round.
    pub fn locate(&mut self, column: Option<usize>, names: &[String]) -> Result<(), String> {
        if self.count > 0 && column.is_some() != self.column.is_some() {
            let (has, others) = if column.is_some() { ("an id", "none") } else { ("no id", "one") };
            return Err(format!(
                "record {} has {has}, while those before it have {others}: its keys are {}",
                self.count + 1,
                Names(names).listed()
            ));
        }
        self.column = column;
        Ok(())
    }

    /// The id of the next row.
    pub fn next(&mut self, row: &Row<'_>) -> Result<SegmentId, Error> {
        self.count += 1;
        match self.column {
            Some(column) => row.id(column),
            None => Ok(SegmentId::Integer(i64::try_from(self.count).unwrap_or(i64::MAX))),
        }
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns true if rows are numbered.
    pub fn are_numbers(&self) -> bool {
        self.column.is_none()
    }

    /// Says that rows were numbered, if they were; a column of ids would be called by one of `names`.
    pub fn notice(&self, source: &str, names: &[&str], remedy: Remedy) -> Option<Notice> {
        let is_numbered = self.count > 0 && self.are_numbers();
        is_numbered.then(|| row_numbers(source, self.count, 1, names).remedy(remedy))
    }
}

/// Says that `n_rows` rows were numbered from `first`; a column of ids would be called by one of `names`.
pub(crate) fn row_numbers(source: &str, n_rows: usize, first: u32, names: &[&str]) -> Notice {
    let names = names.join(", ");
    let message = format!("{source} has no id column ({names}), so its rows are numbered from {first}");
    Notice::new(Code::RowNumbers, message).count(n_rows)
}
