//! Rows of a file of pairs, as JSON values by name.

use std::collections::HashMap;

use serde_json::Value;

use super::super::rows::{delimited, line, record, syntax};
use super::cells::shown;
use super::twice;
use crate::{Error, ErrorKind, Position, Remedy};

/// One row.
pub(super) struct Row {
    pub place: Position,
    /// Cells by name; null where they are empty.
    pub cells: Vec<(String, Value)>,
    /// Whether text may stand for a number, as in CSV.
    pub untyped: bool,
}

impl Row {
    pub fn get(&self, name: &str) -> Option<&Value> {
        let cell = self.cells.iter().find(|(known, _)| known == name);
        cell.map(|(_, value)| value).filter(|value| !value.is_null())
    }
}

/// All names, in order of first appearance, and twice what stands twice in a row; none if there is no row.
pub(super) fn names(rows: &[Row]) -> Option<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for row in rows {
        let mut here: HashMap<&str, usize> = HashMap::new();
        for (name, _) in &row.cells {
            let n = here.entry(name).or_default();
            *n += 1;
            let most = known.entry(name).or_default();
            if n > most {
                *most = *n;
                names.push(name.clone());
            }
        }
    }
    (!rows.is_empty()).then_some(names)
}

/// Reads JSON (a list of objects, or an object of such lists by category), JSON Lines, CSV or TSV.
pub(super) fn read(text: &str, name: &str) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    match text.trim_start().as_bytes().first() {
        None => {
            return Err(Error::new(ErrorKind::Empty, name, "the file is empty")
                .with_remedy(Remedy::say("give a file of pairs")));
        }
        Some(b'[' | b'{') if let Some(error) = twice::find(text) => {
            let position = Position { line: Some(error.line() as u64), ..Position::default() };
            return Err(Error::new(ErrorKind::Duplicate, name, error.to_string())
                .at(position)
                .with_remedy(Remedy::say("leave out one of them")));
        }
        Some(b'[') => {
            let list: Vec<Value> = serde_json::from_str(text).map_err(|error| syntax(name, &error, 0))?;
            for (k, value) in list.into_iter().enumerate() {
                rows.push(object(value, record(k), None, name)?);
            }
        }
        Some(b'{') => match by_category(text) {
            Some(lists) => {
                for (category, list) in lists {
                    for value in list {
                        let place = record(rows.len());
                        rows.push(object(value, place, Some(&category), name)?);
                    }
                }
            }
            None => lines(text, name, &mut rows)?,
        },
        Some(_) => table(text, name, &mut rows)?,
    }
    Ok(rows)
}

/// The lists of an object that holds nothing but lists of objects, of which some may be empty.
fn by_category(text: &str) -> Option<Vec<(String, Vec<Value>)>> {
    let Ok(Value::Object(map)) = serde_json::from_str(text) else { return None };
    let lists = map.into_iter().map(|(category, value)| match value {
        Value::Array(list) if list.iter().all(Value::is_object) => Some((category, list)),
        _ => None,
    });
    lists.collect()
}

fn lines(text: &str, name: &str, rows: &mut Vec<Row>) -> Result<(), Error> {
    // One object that spans lines is one row.
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        rows.push(object(value, record(0), None, name)?);
        return Ok(());
    }
    for (k, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let value: Value = serde_json::from_str(text).map_err(|error| syntax(name, &error, k))?;
        rows.push(object(value, line(k), None, name)?);
    }
    Ok(())
}

fn object(value: Value, place: Position, category: Option<&str>, name: &str) -> Result<Row, Error> {
    let Value::Object(map) = value else {
        let message = "expected an object with keys such as image_id, captions and votes";
        return Err(Error::new(ErrorKind::Shape, name, message).at(place));
    };
    let mut cells: Vec<(String, Value)> = map.into_iter().collect();
    if let Some(category) = category {
        let own = cells.iter().find(|(name, value)| name == "category" && !value.is_null());
        if let Some(own) = own.map(|(_, value)| shown(value)).filter(|own| own.trim() != category.trim()) {
            let message = format!("the category '{own}' stands in the list of '{category}'");
            return Err(Error::new(ErrorKind::Shape, name, message)
                .at(place)
                .with_remedy(Remedy::say("name the category once, or alike")));
        }
        cells.retain(|(name, _)| name != "category");
        cells.push(("category".to_owned(), Value::String(category.to_owned())));
    }
    Ok(Row { place, cells, untyped: false })
}

fn table(text: &str, name: &str, rows: &mut Vec<Row>) -> Result<(), Error> {
    delimited(text, name, |header, place, row| {
        let cells = header.iter().zip(row).map(|(name, cell)| (name.clone(), parsed(cell))).collect();
        rows.push(Row { place, cells, untyped: true });
    })
}

/// A cell, which may hold a list as JSON.
fn parsed(cell: &str) -> Value {
    if cell.trim().is_empty() {
        return Value::Null;
    }
    let list = cell.trim_start().starts_with('[').then(|| serde_json::from_str(cell).ok()).flatten();
    list.filter(Value::is_array).unwrap_or_else(|| Value::String(cell.to_owned()))
}
