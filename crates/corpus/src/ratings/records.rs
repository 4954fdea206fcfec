//! Records of named cells, from CSV, TSV, JSON and JSON Lines.

use serde_json::Value;

use super::rows::{delimited, line, record, syntax};
use crate::{Error, ErrorKind, Position, SegmentId};

/// Rows of a table.
pub(super) struct Records {
    pub rows: Vec<Record>,
    /// All names, in order of first appearance.
    pub names: Vec<String>,
}

/// One row; cells that are missing or null are left out.
pub(super) struct Record {
    pub place: Position,
    /// Cells by the number of their name.
    pub cells: Vec<(usize, Cell)>,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Text(String),
    /// Text of a format without types, which may stand for a number.
    Untyped(String),
    Integer(i64),
    Number(f64),
    List(Vec<f64>),
}

impl Cell {
    /// The cell as an id, unless it can be none.
    pub fn id(&self) -> Option<SegmentId> {
        match self {
            Self::Text(text) => Some(SegmentId::from(text.as_str())),
            Self::Untyped(text) => Some(SegmentId::from_untyped(text)),
            Self::Integer(integer) => Some(SegmentId::Integer(*integer)),
            Self::Number(_) | Self::List(_) => None,
        }
    }

    /// The cell as words.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) | Self::Untyped(text) => text.clone(),
            Self::Integer(integer) => integer.to_string(),
            Self::Number(number) => number.to_string(),
            Self::List(list) => format!("{list:?}"),
        }
    }
}

impl Records {
    pub fn new() -> Self {
        Self { rows: Vec::new(), names: Vec::new() }
    }

    /// The number of a name.
    pub fn name(&mut self, name: &str) -> usize {
        match self.names.iter().position(|known| known == name) {
            Some(at) => at,
            None => {
                self.names.push(name.to_owned());
                self.names.len() - 1
            }
        }
    }
}

impl Record {
    pub fn cell(&self, name: Option<usize>) -> Option<&Cell> {
        let name = name?;
        self.cells.iter().find(|(known, _)| *known == name).map(|(_, cell)| cell)
    }
}

/// Reads records; objects in objects are named `outer.inner`.
pub(super) fn read(text: &str, name: &str) -> Result<Records, Error> {
    let mut records = Records::new();
    match text.trim_start().as_bytes().first() {
        Some(b'[') => {
            let rows: Vec<Value> = serde_json::from_str(text).map_err(|error| syntax(name, &error, 0))?;
            for (k, row) in rows.iter().enumerate() {
                push_object(&mut records, row, record(k), name)?;
            }
        }
        Some(b'{') => {
            for (k, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
                let row: Value = serde_json::from_str(text).map_err(|error| syntax(name, &error, k))?;
                push_object(&mut records, &row, line(k), name)?;
            }
        }
        _ => read_delimited(&mut records, text, name)?,
    }
    Ok(records)
}

fn push_object(records: &mut Records, row: &Value, place: Position, name: &str) -> Result<(), Error> {
    let Value::Object(map) = row else {
        return Err(Error::new(
            ErrorKind::Shape,
            name,
            "expected an object with keys such as image_id and rating",
        )
        .at(place));
    };
    let mut cells = Vec::new();
    for (key, value) in map {
        if let Value::Object(inner) = value {
            for (inner_key, value) in inner {
                push_value(records, &mut cells, &format!("{key}.{inner_key}"), value);
            }
        } else {
            push_value(records, &mut cells, key, value);
        }
    }
    records.rows.push(Record { place, cells });
    Ok(())
}

fn push_value(records: &mut Records, cells: &mut Vec<(usize, Cell)>, key: &str, value: &Value) {
    let cell = match value {
        Value::String(text) => Cell::Text(text.clone()),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Cell::Integer(integer),
            (None, Some(number)) => Cell::Number(number),
            (None, None) => return,
        },
        Value::Bool(truth) => Cell::Integer(i64::from(*truth)),
        // A rater who gave none is null; what holds anything else is no list of numbers.
        Value::Array(list) if list.iter().all(|item| item.is_number() || item.is_null()) => {
            Cell::List(list.iter().filter_map(Value::as_f64).collect())
        }
        Value::Array(_) => Cell::Text(value.to_string()),
        Value::Null | Value::Object(_) => return,
    };
    cells.push((records.name(key), cell));
}

fn read_delimited(records: &mut Records, text: &str, name: &str) -> Result<(), Error> {
    delimited(text, name, |header, place, row| {
        let numbers: Vec<usize> = header.iter().map(|column| records.name(column)).collect();
        let cells = numbers.iter().zip(row).filter(|(_, cell)| !cell.trim().is_empty());
        let cells = cells.map(|(name, cell)| (*name, Cell::Untyped(cell.to_owned())));
        records.rows.push(Record { place, cells: cells.collect() });
    })
}
