//! Vectors in tables: a column of ids, and one with a list of numbers in each row, such as embeddings in Parquet.

use crate::input::{Source, unpack};
use crate::table::{self, Consumer, Names, Row, known};
use crate::{Error, ErrorKind, Remedy, SegmentId};

/// The description of a row in errors.
const EXPECTED: &str = "an object with an id and a list of numbers";

/// Vectors of one length, one after another, with their ids.
#[derive(Debug, Default, PartialEq)]
pub struct VectorTable {
    /// The id of each vector: that of an image, or a text.
    pub ids: Vec<SegmentId>,
    /// The length of a vector.
    pub dims: usize,
    /// The numbers.
    pub rows: Vec<f32>,
}

/// Reads a table of vectors, compressed or not; errors call the file `name`.
///
/// # Errors
/// When the file cannot be read, when no column or several hold lists of numbers, when it is not clear which column has
/// the ids, or when vectors differ in length.
pub fn read_vectors(bytes: &[u8], name: &str) -> Result<VectorTable, Error> {
    let content = unpack(bytes, name, false)?;
    let mut reading =
        Reading { source: name, names: Vec::new(), columns: None, table: VectorTable::default() };
    table::read(Source::from_bytes(&content, name)?, EXPECTED, &mut reading)?;
    Ok(reading.table)
}

struct Reading<'s> {
    source: &'s str,
    names: Vec<String>,
    /// The columns of ids and of vectors, once a row has shown them.
    columns: Option<(usize, usize)>,
    table: VectorTable,
}

impl Reading<'_> {
    fn fault(&self, message: impl Into<String>, remedy: &'static str) -> Error {
        Error::new(ErrorKind::Shape, self.source, message).with_remedy(Remedy::say(remedy))
    }

    /// The columns of ids and of vectors, which the first row shows.
    fn find(&self, row: &Row<'_>) -> Result<(usize, usize), Error> {
        let listed: Vec<usize> = (0..self.names.len()).filter(|k| numbers(row, *k).is_some()).collect();
        let [vectors] = listed[..] else {
            return Err(match &listed[..] {
                [] => {
                    self.fault("no column holds lists of numbers", "give a table with a vector in each row")
                }
                several => {
                    let all: Vec<&str> = several.iter().map(|k| self.names[*k].as_str()).collect();
                    let message = format!("several columns hold lists of numbers: {}", all.join(", "));
                    self.fault(message, "leave all but one of them out")
                }
            });
        };
        let others: Vec<usize> = (0..self.names.len()).filter(|k| *k != vectors).collect();
        let names: Vec<String> = others.iter().map(|k| self.names[*k].clone()).collect();
        let ids = match others[..] {
            [only] => Some(only),
            _ => Names(&names).known(known::IMAGE).map(|k| others[k]),
        };
        let ids = ids.ok_or_else(|| {
            self.fault(
                "it is not clear which column has the ids",
                "leave the others out, or call it image_id",
            )
        })?;
        Ok((ids, vectors))
    }
}

impl Consumer for Reading<'_> {
    fn names(&mut self, names: &[String]) -> Result<Option<Vec<usize>>, Error> {
        self.names = names.to_vec();
        self.columns = None;
        Ok(None)
    }

    fn row(&mut self, row: &Row<'_>) -> Result<(), Error> {
        let (ids, vectors) = match self.columns {
            Some(columns) => columns,
            None => *self.columns.insert(self.find(row)?),
        };
        let id = row.id(ids)?;
        let Some(numbers) = numbers(row, vectors) else {
            return Err(row.refuse(vectors, format!("the vector of {} is no list of numbers", id.quoted())));
        };
        let table = &mut self.table;
        if table.ids.is_empty() {
            table.dims = numbers.len();
        }
        if numbers.len() != table.dims {
            let message = format!(
                "the vector of {} has {} numbers, and others {}",
                id.quoted(),
                numbers.len(),
                table.dims
            );
            return Err(row.refuse(vectors, message));
        }
        // What is null is no number, which is refused with its id later.
        table.rows.extend(numbers.into_iter().map(|number| number.map_or(f32::NAN, |x| x as f32)));
        table.ids.push(id);
        Ok(())
    }
}

/// The numbers of a cell that is a list of numbers.
fn numbers(row: &Row<'_>, column: usize) -> Option<Vec<Option<f64>>> {
    let of_cell = || match row.cell(column).ok()?.typed() {
        table::Cell::List(items) if !items.is_empty() => {
            items.iter().map(|item| Some(item.number())).collect()
        }
        _ => None,
    };
    row.numbers(column).filter(|numbers| !numbers.is_empty()).or_else(of_cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<VectorTable, String> {
        read_vectors(text.as_bytes(), "table").map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_has_a_vector_in_each_row() {
        let expected = VectorTable {
            ids: vec![SegmentId::from(1), SegmentId::from(7)],
            dims: 2,
            rows: vec![0.5, -1.0, 2.0, 0.0],
        };
        for text in [
            "{\"id\": 1, \"embedding\": [0.5, -1]}\n{\"id\": 7, \"embedding\": [2, 0]}\n",
            r#"[{"e": [0.5, -1], "key": 1, "model": "b32"}, {"e": [2, 0], "key": 7, "model": "b32"}]"#,
            "whatever,vector\n1,\"[0.5, -1]\"\n7,\"[2, 0]\"\n",
        ] {
            assert_eq!(read(text).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_table_of_vectors_is_refused() {
        for (text, words) in [
            ("id,caption\n1,a\n", "table: no column holds lists of numbers"),
            (r#"[{"id": 1, "a": [1], "b": [2]}]"#, "table: several columns hold lists of numbers: a, b"),
            (r#"[{"x": 1, "y": 2, "b": [2]}]"#, "table: it is not clear which column has the ids"),
            (
                r#"[{"id": 1, "b": [2]}, {"id": 2, "b": [1, 2]}]"#,
                "the vector of 2 has 2 numbers, and others 1",
            ),
            (r#"[{"id": 1, "b": [2]}, {"id": 2, "b": "x"}]"#, "the vector of 2 is no list of numbers"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}
