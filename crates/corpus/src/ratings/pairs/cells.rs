//! The cells of a row of pairs: texts, numbers, and values in two columns or in a list of two.

use super::fault::Fault;
use super::rows::Row;
use crate::table::Cell;

/// Two values in a list, or in two columns.
#[derive(Debug, PartialEq)]
pub(super) enum Two {
    List(String),
    Columns {
        names: [String; 2],
        /// Columns that would be a third value, such as `caption_c`.
        more: Vec<String>,
    },
}

impl Two {
    /// The names of its columns, for errors.
    pub fn named(&self) -> String {
        match self {
            Self::List(name) => format!("\"{name}\""),
            Self::Columns { names: [a, b], .. } => format!("\"{a}\" and \"{b}\""),
        }
    }

    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::List(name) => vec![name],
            Self::Columns { names, .. } => names.iter().map(String::as_str).collect(),
        }
    }

    /// The two cells; `None` if both are empty. It is an error if there is a third cell, or a list not of two.
    pub fn cells<'r>(
        &self,
        row: &'r Row,
        what: &str,
    ) -> Result<Option<[Option<&'r Cell<'static>>; 2]>, Fault> {
        match self {
            Self::List(name) => match row.get(name) {
                None => Ok(None),
                Some(Cell::List(list)) if list.len() == 2 => Ok(Some([list.first(), list.get(1)])),
                Some(Cell::List(list)) => {
                    Err(Fault::new(format!("expected two {what} in \"{name}\", not {}", list.len()))
                        .advise("give a list of two"))
                }
                Some(other) => Err(Fault::new(format!("expected two {what} in \"{name}\", not {other}"))
                    .advise("give a list of two")),
            },
            Self::Columns { names, more } => {
                if let Some(third) = more.iter().find(|name| row.get(name).is_some()) {
                    let message =
                        format!("expected two {what}, but there is \"{third}\" beside {}", self.named());
                    return Err(Fault::new(message).advise("leave all but two out"));
                }
                let cells = [row.get(&names[0]), row.get(&names[1])];
                Ok(cells.iter().any(Option::is_some).then_some(cells))
            }
        }
    }
}

/// The one of several notations for `what` that a row uses; it is an error if it uses more than one.
pub(super) fn only<'c, T>(
    all: &'c [T],
    row: &Row,
    what: &str,
    named: impl Fn(&'c T) -> (Vec<&'c str>, String),
) -> Result<Option<&'c T>, Fault> {
    let mut used = all.iter().filter(|way| named(way).0.iter().any(|name| row.get(name).is_some()));
    match (used.next(), used.next()) {
        (Some(first), Some(second)) => {
            let message = format!("{what} are given both in {} and in {}", named(first).1, named(second).1);
            Err(Fault::new(message).advise("leave out one of them"))
        }
        (first, _) => Ok(first),
    }
}

/// As [`only`], for single columns.
pub(super) fn only_column<'c>(all: &'c [String], row: &Row, what: &str) -> Result<Option<&'c String>, Fault> {
    only(all, row, what, |name| (vec![name.as_str()], format!("\"{name}\"")))
}

/// A caption: text, or an object with a `text`, its ends trimmed.
pub(super) fn text(cell: &Cell<'_>) -> Option<String> {
    match cell {
        Cell::Text(text) | Cell::Untyped(text) => Some(text.trim().to_owned()),
        Cell::Object(inner) => {
            let of = |name: &str| inner.iter().find(|(key, _)| key == name).map(|(_, cell)| cell);
            match of("text").or_else(|| of("caption"))? {
                Cell::Text(text) => Some(text.trim().to_owned()),
                _ => None,
            }
        }
        _ => None,
    }
}
