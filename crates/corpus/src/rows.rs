//! Rows of tables in any format for readers of other crates, which know their columns by name.

use crate::input::Source;
use crate::ratings::pair_rows;
use crate::table::{Cell, Nesting, Table, TableRow};
use crate::{Error, Position, SegmentId, written_list};

/// The description of a row in errors.
const EXPECTED: &str = "an object with named values";

/// The rows of a table: CSV, TSV, JSON Lines, a JSON array, a JSON object of arrays, whose keys become the column
/// `category`, or Parquet, of which columns with images and other structures are not decoded.
pub struct Rows {
    pub(crate) table: Table,
}

/// A row with its cells.
#[derive(Clone, Copy)]
pub struct Row<'r>(&'r TableRow);

/// Reads the rows of a table, compressed or not; errors call it `name`.
pub fn read_rows(bytes: &[u8], name: &str) -> Result<Rows, Error> {
    let source = Source::from_bytes(bytes, name)?;
    if source.head().starts_with(b"PAR1") {
        return Ok(Rows { table: Table::read(source, EXPECTED, Nesting::Flat)? });
    }
    Ok(Rows { table: pair_rows(&source.into_text()?.text, name)? })
}

impl Rows {
    /// The names of the columns, in order of first appearance.
    pub fn columns(&self) -> &[String] {
        &self.table.names
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.table.rows.len()
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.table.rows.is_empty()
    }

    /// The rows, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        self.table.rows.iter().map(Row)
    }
}

impl Row<'_> {
    /// The position of the row, for errors.
    pub fn place(&self) -> Position {
        self.0.place
    }

    /// A cell as an image id; `None` if it is empty or cannot be one.
    pub fn id(&self, column: &str) -> Option<SegmentId> {
        self.0.get(column)?.id()
    }

    /// A cell as text; `None` if it is empty.
    pub fn text(&self, column: &str) -> Option<String> {
        self.0.get(column).map(Cell::to_string)
    }

    /// A cell as one or several texts; lists may be written as in JSON or in Python. `None` if it is empty.
    pub fn texts(&self, column: &str) -> Option<Vec<String>> {
        Some(match self.0.get(column)? {
            Cell::List(list) => {
                list.iter().filter(|item| **item != Cell::Null).map(Cell::to_string).collect()
            }
            cell => {
                let text = cell.to_string();
                written_list(&text).unwrap_or_else(|| vec![text])
            }
        })
    }

    /// A cell as one or several numbers; true is 1 and false 0. `None` if it is empty or anything else is in it.
    pub fn numbers(&self, column: &str) -> Option<Vec<f64>> {
        match self.0.get(column)? {
            Cell::List(list) => list.iter().map(number).collect(),
            cell => number(cell).map(|number| vec![number]),
        }
    }
}

fn number(cell: &Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Bool(truth) => Some(f64::from(u8::from(*truth))),
        cell => cell.number(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_formats_give_the_same_rows() {
        let csv = "img,refs,score\na.jpg,\"['a dog', 'it''s']\",0.5\nb.jpg,\"[\"\"a cat\"\"]\",\n";
        let list = r#"[{"img": "a.jpg", "refs": ["a dog", "it's"], "score": 0.5}, {"img": "b.jpg", "refs": ["a cat"]}]"#;
        let lists = r#"{"x": [{"img": "a.jpg", "refs": ["a dog", "it's"], "score": 0.5}], "y": [{"img": "b.jpg", "refs": ["a cat"]}]}"#;
        let csv = csv.replace("it''s", "its");
        for text in [csv.as_str(), &list.replace("it's", "its"), &lists.replace("it's", "its")] {
            let rows = read_rows(text.as_bytes(), "x").unwrap();
            let found: Vec<_> =
                rows.iter().map(|row| (row.id("img"), row.texts("refs"), row.numbers("score"))).collect();
            let texts = |list: &[&str]| Some(list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
            assert_eq!(found[0], (Some("a.jpg".into()), texts(&["a dog", "its"]), Some(vec![0.5])), "{text}");
            assert_eq!(found[1], (Some("b.jpg".into()), texts(&["a cat"]), None), "{text}");
            assert_eq!((rows.len(), rows.is_empty(), rows.columns().len() >= 3), (2, false, true));
            assert!(rows.iter().all(|row| row.text("none").is_none()));
        }
        assert!(read_rows(b"", "x").is_err() && read_rows(b"PAR1 and no more", "x").is_err());
    }
}
