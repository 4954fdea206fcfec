//! The cells of tables.

use std::borrow::Cow;
use std::fmt;

use super::objects::value;
use crate::SegmentId;
use crate::json::{Json, MAX_DEPTH};

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'t> {
    /// No value.
    Null,
    Text(Cow<'t, str>),
    /// Text from a format without types, which may represent a number.
    Untyped(Cow<'t, str>),
    /// A 64-bit integer.
    Integer(i64),
    /// Another number, which may be infinite or NaN.
    Number(f64),
    /// True or false.
    Bool(bool),
    List(Vec<Cell<'t>>),
    /// An object without duplicate keys.
    Object(Vec<(String, Cell<'t>)>),
    /// A value of an unsupported type, which is named.
    Other(String),
}

impl<'t> Cell<'t> {
    /// Text without type as a list if it is one in JSON, and as null if it is empty; other cells as they are.
    pub fn typed(self) -> Cell<'t> {
        match self {
            Self::Untyped(text) if text.trim().is_empty() => Cell::Null,
            Self::Untyped(text) if text.trim_start().starts_with('[') => {
                let mut json = Json::new(&text);
                let list = value(&mut json, MAX_DEPTH).and_then(|list| json.end().map(|()| list));
                match list {
                    Ok(list) => list.into_owned(),
                    Err(_) => Cell::Untyped(text),
                }
            }
            cell => cell,
        }
    }

    /// The same cell with owned texts.
    pub fn into_owned(self) -> Cell<'static> {
        match self {
            Self::Null => Cell::Null,
            Self::Text(text) => Cell::Text(text.into_owned().into()),
            Self::Untyped(text) => Cell::Untyped(text.into_owned().into()),
            Self::Integer(integer) => Cell::Integer(integer),
            Self::Number(number) => Cell::Number(number),
            Self::Bool(truth) => Cell::Bool(truth),
            Self::List(list) => Cell::List(list.into_iter().map(Cell::into_owned).collect()),
            Self::Object(inner) => {
                Cell::Object(inner.into_iter().map(|(key, cell)| (key, cell.into_owned())).collect())
            }
            Self::Other(kind) => Cell::Other(kind),
        }
    }

    /// The cell as an id; `None` if it cannot be one.
    pub fn id(&self) -> Option<SegmentId> {
        match self {
            Self::Text(text) => Some(SegmentId::from(&**text)),
            Self::Untyped(text) => Some(SegmentId::from_untyped(text)),
            Self::Integer(integer) => Some(SegmentId::Integer(*integer)),
            Self::Number(number) => SegmentId::from_float(*number),
            _ => None,
        }
    }

    /// The cell as the value of a column that may hold ids: an id, but no other number.
    pub fn key(&self) -> Option<SegmentId> {
        let id = self.id()?;
        let is_number = |text: &str| {
            text.is_empty() || text.parse::<f64>().is_ok() && !text.bytes().all(|b| b.is_ascii_digit())
        };
        match &id {
            SegmentId::Text(text) if matches!(self, Self::Untyped(_)) && is_number(text) => None,
            _ => Some(id),
        }
    }

    /// The cell as a number, also from a text; `None` if it is not a number.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Number(number) => Some(*number),
            Self::Text(text) | Self::Untyped(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// The kind of value, for errors: `a list`.
    pub fn kind(&self) -> &str {
        match self {
            Self::Null => "null",
            Self::Text(_) | Self::Untyped(_) => "a string",
            Self::Number(number) if number.is_nan() => "NaN",
            Self::Integer(_) | Self::Number(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
            Self::Other(kind) => kind,
        }
    }
}

/// Displays text unchanged, and everything else as JSON.
impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) | Self::Untyped(text) => f.write_str(text),
            other => other.write_json(f),
        }
    }
}

impl Cell<'_> {
    fn write_json(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            Self::Null => f.write_str("null"),
            Self::Text(text) | Self::Untyped(text) => f.write_str(&quoted(text)),
            Self::Integer(integer) => write!(f, "{integer}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Bool(truth) => write!(f, "{truth}"),
            Self::List(list) => {
                for (k, item) in list.iter().enumerate() {
                    f.write_str(if k == 0 { "[" } else { "," })?;
                    item.write_json(f)?;
                }
                f.write_str(if list.is_empty() { "[]" } else { "]" })
            }
            Self::Object(inner) => {
                for (k, (key, cell)) in inner.iter().enumerate() {
                    f.write_str(if k == 0 { "{" } else { "," })?;
                    write!(f, "{}:", quoted(key))?;
                    cell.write_json(f)?;
                }
                f.write_str(if inner.is_empty() { "{}" } else { "}" })
            }
            Self::Other(kind) => f.write_str(kind),
        }
    }
}
