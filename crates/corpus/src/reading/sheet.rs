//! Represents a file of any format as a table: records with values under paths such as `response.choices[].text`.

use std::collections::{HashMap, HashSet};

use crate::error::Position;
use crate::table::Cell;

/// More paths than this are no columns, but keys that are data.
const MOST_COLUMNS: usize = 500;

/// So few distinct values over a whole file name the parts of a conversation: `user`, `assistant`.
const MOST_ROLES: usize = 6;

/// A record: its values by path.
pub(super) type Record = Vec<(String, Cell<'static>)>;

/// A table in memory, column by column.
#[derive(Clone, Debug, Default)]
pub(super) struct Sheet {
    /// The columns in order of first appearance, all of the same length.
    pub columns: Vec<SheetColumn>,
    /// The position of each row in the file.
    pub places: Vec<Position>,
}

/// A column with its path and a cell for each row.
#[derive(Clone, Debug)]
pub(super) struct SheetColumn {
    pub path: String,
    pub cells: Vec<Cell<'static>>,
}

impl Sheet {
    /// The table of records, whose nested values become columns; `None` if it would have hundreds of columns, or
    /// two values under one path.
    pub fn new(records: Vec<(Position, Record)>) -> Option<Self> {
        let roles = roles(&records);
        let mut sheet = Self::default();
        let mut known: HashMap<String, usize> = HashMap::new();
        for (row, (place, record)) in records.into_iter().enumerate() {
            sheet.places.push(place);
            let mut flat = Vec::new();
            for (key, cell) in record {
                flatten(key, cell, &roles, &mut flat);
            }
            for (path, cell) in flat {
                let column = *known.entry(path).or_insert_with_key(|path| {
                    sheet.columns.push(SheetColumn { path: path.clone(), cells: Vec::new() });
                    sheet.columns.len() - 1
                });
                if known.len() > MOST_COLUMNS {
                    return None;
                }
                let cells = &mut sheet.columns.get_mut(column)?.cells;
                // A record has each value once.
                if cells.len() > row {
                    return None;
                }
                cells.resize(row, Cell::Null);
                cells.push(cell);
            }
        }
        let rows = sheet.places.len();
        sheet.columns.iter_mut().for_each(|column| column.cells.resize(rows, Cell::Null));
        sheet.unite();
        Some(sheet)
    }

    /// Makes one column of a value that is a text in some records, and an object with it in the others.
    fn unite(&mut self) {
        let paths: Vec<String> = self.columns.iter().map(|column| column.path.clone()).collect();
        for path in &paths {
            let below = format!("{path}.");
            let mut inner = self.columns.iter().filter(|column| column.path.starts_with(&below));
            let (Some(one), None) = (inner.next(), inner.next()) else { continue };
            let (one, cells) = (one.path.clone(), one.cells.clone());
            let Some(outer) = self.columns.iter_mut().find(|column| column.path == *path) else { continue };
            let is_apart = |(a, b): (&Cell<'_>, &Cell<'_>)| *a == Cell::Null || *b == Cell::Null;
            if !outer.cells.iter().zip(&cells).all(is_apart) {
                continue;
            }
            for (cell, inner) in outer.cells.iter_mut().zip(cells).filter(|(_, inner)| *inner != Cell::Null) {
                *cell = inner;
            }
            self.columns.retain(|column| column.path != one);
        }
    }

    /// Keeps the rows that `keep` marks.
    pub fn retain(&mut self, keep: &[bool]) {
        let kept = |row: usize| keep.get(row).copied().unwrap_or(true);
        for column in &mut self.columns {
            let mut row = 0;
            column.cells.retain(|_| {
                row += 1;
                kept(row - 1)
            });
        }
        let mut row = 0;
        self.places.retain(|_| {
            row += 1;
            kept(row - 1)
        });
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// The column under a path, in which `.0` and `[]` mean the same.
    pub fn find(&self, path: &str) -> Option<usize> {
        let is = |wanted: &str| self.columns.iter().position(|column| column.path == wanted);
        is(path).or_else(|| {
            let wanted = without_places(path);
            self.columns.iter().position(|column| without_places(&column.path) == wanted)
        })
    }
}

/// A path without places in lists: `choices.0.text` and `choices[].text` are `choices.text`.
fn without_places(path: &str) -> String {
    let path = path.replace("[]", "");
    let parts = path.split('.').filter(|part| part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()));
    parts.collect::<Vec<_>>().join(".")
}

/// Adds the values within a cell under their paths.
fn flatten(path: String, cell: Cell<'static>, roles: &Roles, flat: &mut Record) {
    match cell {
        Cell::Object(fields) => {
            for (key, cell) in fields {
                flatten(format!("{path}.{key}"), cell, roles, flat);
            }
        }
        Cell::List(items) if items.iter().any(|item| matches!(item, Cell::Object(_))) => {
            let mut lists: Vec<(String, Vec<Cell<'static>>)> = Vec::new();
            for item in items {
                let Cell::Object(fields) = item else { continue };
                let role = roles.of(&path, &fields);
                let path = role.map_or_else(|| format!("{path}[]"), |role| format!("{path}[{role}]"));
                let mut inner = Vec::new();
                for (key, cell) in fields {
                    flatten(format!("{path}.{key}"), cell, roles, &mut inner);
                }
                for (path, cell) in inner {
                    let cells = match cell {
                        Cell::List(cells) => cells,
                        cell => vec![cell],
                    };
                    match lists.iter_mut().find(|(known, _)| *known == path) {
                        Some((_, list)) => list.extend(cells),
                        None => lists.push((path, cells)),
                    }
                }
            }
            flat.extend(lists.into_iter().map(|(path, cells)| (path, Cell::List(cells))));
        }
        Cell::Null => {}
        cell => flat.push((path, cell)),
    }
}

/// The keys that tell the parts of a conversation apart, by the path of its list.
#[derive(Default)]
struct Roles(HashMap<String, String>);

impl Roles {
    /// The part of a conversation that an item is: its role, or a thought of a model of Google's.
    fn of(&self, path: &str, fields: &[(String, Cell<'static>)]) -> Option<String> {
        if fields.iter().any(|(name, cell)| name == "thought" && *cell == Cell::Bool(true)) {
            return Some("thought=true".to_owned());
        }
        let key = self.0.get(path)?;
        let (key, role) = fields.iter().find(|(name, _)| name == key)?;
        match role {
            Cell::Text(role) => Some(format!("{key}={role}")),
            _ => None,
        }
    }
}

/// Finds keys whose values are a few words that the lists of all records share.
fn roles(records: &[(Position, Record)]) -> Roles {
    let mut met: HashMap<(String, String), (HashSet<String>, usize)> = HashMap::new();
    for (_, record) in records {
        for (path, cell) in record {
            let Cell::List(items) = cell else { continue };
            for item in items {
                let Cell::Object(fields) = item else { continue };
                for (key, cell) in fields {
                    let Cell::Text(text) = cell else { continue };
                    let (values, count) = met.entry((path.clone(), key.clone())).or_default();
                    *count += 1;
                    if values.len() <= MOST_ROLES {
                        values.insert(text.to_string());
                    }
                }
            }
        }
    }
    let is_role = |values: &HashSet<String>, count: usize| {
        let are_words = values.iter().all(|value| !value.is_empty() && !value.contains(char::is_whitespace));
        (2..=MOST_ROLES).contains(&values.len()) && count > 2 * values.len() && are_words
    };
    let mut roles = Roles::default();
    let mut found: Vec<_> = met.into_iter().filter(|(_, (values, count))| is_role(values, *count)).collect();
    found.sort_by(|(a, _), (b, _)| b.cmp(a));
    for ((path, key), _) in found {
        roles.0.insert(path, key);
    }
    roles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(sheet: &Sheet) -> Vec<&str> {
        sheet.columns.iter().map(|column| &*column.path).collect()
    }

    fn sheet(text: &str) -> Sheet {
        let Some(Cell::List(items)) = super::super::literals::values(text).and_then(|mut all| all.pop())
        else {
            panic!("{text} is a list")
        };
        let record = |item| match item {
            Cell::Object(fields) => (Position::default(), fields),
            other => panic!("{other:?} is an object"),
        };
        Sheet::new(items.into_iter().map(record).collect()).expect("few columns")
    }

    #[test]
    fn nested_values_are_columns() {
        let sheet = sheet(
            r#"[{"id": 1, "r": {"choices": [{"message": {"content": "a dog"}}]}, "s": [{"raw": "x"}, {"raw": "y"}]},
                {"id": 2, "extra": true}]"#,
        );
        assert_eq!(paths(&sheet), ["id", "r.choices[].message.content", "s[].raw", "extra"]);
        assert_eq!(sheet.find("r.choices.0.message.content"), Some(1));
        assert_eq!(
            sheet.columns[2].cells,
            [Cell::List(vec![Cell::Text("x".into()), Cell::Text("y".into())]), Cell::Null]
        );
        assert_eq!(sheet.columns[3].cells, [Cell::Null, Cell::Bool(true)]);
    }

    #[test]
    fn parts_of_conversations_are_columns() {
        let turn = r#"{"c": [{"from": "human", "value": "what?"}, {"from": "gpt", "value": "a dog"}]}"#;
        let sheet = sheet(&format!("[{turn}, {turn}, {turn}]"));
        let expected = ["c[from=human].from", "c[from=human].value", "c[from=gpt].from", "c[from=gpt].value"];
        assert_eq!(paths(&sheet), expected);
    }
}
