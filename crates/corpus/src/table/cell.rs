//! The cells of tables.

use std::borrow::Cow;
use std::fmt;

use crate::SegmentId;
use crate::json::{Fault, Json, MAX_DEPTH, Result as Read, ValueKind, What};

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'t> {
    /// No value.
    Null,
    /// Text.
    Text(Cow<'t, str>),
    /// Text from a format without types, which may represent a number.
    Untyped(Cow<'t, str>),
    /// A 64-bit integer.
    Integer(i64),
    /// Another number, which may be infinite or NaN.
    Number(f64),
    /// True or false.
    Bool(bool),
    /// Several values.
    List(Vec<Cell<'t>>),
    /// An object without duplicate keys.
    Object(Vec<(String, Cell<'t>)>),
    /// A single value of another type, such as a date or a UUID, as text: it may be an id, but no caption.
    Label(Box<str>),
    /// A value of an unsupported type, which is named.
    Other(String),
}

impl<'t> Cell<'t> {
    /// Text without type as a list if it is one in JSON, and as null if it is empty; other cells as they are.
    pub(crate) fn typed(self) -> Cell<'t> {
        match self {
            Self::Untyped(text) if text.trim().is_empty() => Cell::Null,
            Self::Untyped(text) if text.trim_start().starts_with('[') => {
                let mut json = Json::new(&text);
                let list = read_value(&mut json).and_then(|list| json.end().map(|()| list));
                match list {
                    Ok(list) => list.into_owned(),
                    Err(_) => Cell::Untyped(text),
                }
            }
            cell => cell,
        }
    }

    /// The same cell with owned texts.
    pub(crate) fn into_owned(self) -> Cell<'static> {
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
            Self::Label(text) => Cell::Label(text),
            Self::Other(kind) => Cell::Other(kind),
        }
    }

    /// The cell as an id; `None` if it cannot be one.
    pub(crate) fn id(&self) -> Option<SegmentId> {
        match self {
            Self::Text(text) => Some(SegmentId::from(&**text)),
            Self::Label(text) => Some(SegmentId::from(&**text)),
            Self::Untyped(text) => Some(SegmentId::from_untyped(text)),
            Self::Integer(integer) => Some(SegmentId::Integer(*integer)),
            Self::Number(number) => SegmentId::from_float(*number),
            _ => None,
        }
    }

    /// The cell as the value of a column that may hold ids: an id, but no other number.
    pub(crate) fn key(&self) -> Option<SegmentId> {
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
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Number(number) => Some(*number),
            Self::Text(text) | Self::Untyped(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// The score in an object of categories, as SPICE's program writes them: the F of all together.
    pub(crate) fn overall(&self) -> Option<f64> {
        let field = |cell: &Self, names: &[&str]| match cell {
            Self::Object(fields) => {
                let is_named = |key: &str| names.iter().any(|name| key.eq_ignore_ascii_case(name));
                fields.iter().find(|(key, _)| is_named(key)).map(|(_, cell)| cell.clone())
            }
            _ => None,
        };
        let all = field(self, &["all", "overall"])?;
        all.number().or_else(|| field(&all, &["f", "f1", "score"])?.number())
    }

    /// The kind of value, for errors: `a list`.
    pub(crate) fn kind(&self) -> &str {
        match self {
            Self::Null => "null",
            Self::Text(_) | Self::Untyped(_) => "a string",
            Self::Number(number) if number.is_nan() => "NaN",
            Self::Integer(_) | Self::Number(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::List(_) => "an array",
            Self::Object(_) => "an object",
            Self::Label(_) => "a value that is no text",
            Self::Other(kind) => kind,
        }
    }
}

/// Displays text unchanged, and everything else as JSON.
impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) | Self::Untyped(text) => f.write_str(text),
            Self::Label(text) => f.write_str(text),
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
            Self::Label(text) => f.write_str(&quoted(text)),
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

/// Reads a value of any kind.
pub(crate) fn read_value<'t>(json: &mut Json<'t>) -> Read<Cell<'t>> {
    value(json, MAX_DEPTH)
}

/// Reads a value with at most `levels` levels of nesting.
fn value<'t>(json: &mut Json<'t>, levels: u32) -> Read<Cell<'t>> {
    let kind = json.kind()?;
    if levels == 0 && matches!(kind, ValueKind::Array | ValueKind::Object) {
        return json.fault(What::Syntax("values are nested too deep".into()));
    }
    Ok(match kind {
        ValueKind::String => Cell::Text(json.string()?.decoded()?),
        ValueKind::Array => {
            json.open(b'[', "an array")?;
            let (mut first, mut items) = (true, Vec::new());
            while json.next_element(&mut first)? {
                items.push(value(json, levels - 1)?);
            }
            Cell::List(items)
        }
        ValueKind::Object => {
            let start = json.at();
            json.open(b'{', "an object")?;
            let (mut first, mut names, mut cells) = (true, Vec::new(), Vec::new());
            while let Some(key) = json.next_key(&mut first)? {
                names.push(key.decoded()?.into_owned());
                cells.push(value(json, levels - 1)?);
            }
            if let Some(twice) = duplicate(&names) {
                let name = &names[twice];
                let what = What::Duplicate(format!("the key {name:?} appears twice in one object"));
                return Fault::err(start, what);
            }
            Cell::Object(names.into_iter().zip(cells).collect())
        }
        ValueKind::Number | ValueKind::Other => match json.scalar()? {
            "null" => Cell::Null,
            "true" => Cell::Bool(true),
            "false" => Cell::Bool(false),
            "NaN" => Cell::Number(f64::NAN),
            number => match number.parse() {
                Ok(integer) => Cell::Integer(integer),
                Err(_) => number.parse().map_or_else(|_| Cell::Other(number.to_owned()), Cell::Number),
            },
        },
    })
}

/// The index of the first name that equals an earlier one.
pub(super) fn duplicate(names: &[String]) -> Option<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|a, b| names[*a].cmp(&names[*b]).then(a.cmp(b)));
    order.windows(2).filter(|pair| names[pair[0]] == names[pair[1]]).map(|pair| pair[1]).min()
}
