//! Rows of text with a header: CSV, TSV, and the pipes of Flickr30k's `results.csv`.

use std::borrow::Cow;

use super::cell::Cell;
use super::row::{Cells, Consumer, Row};
use crate::error::{Error, ErrorKind, Position};
use crate::input::Text;
use crate::{Remedy, SegmentId};

/// Reads a table with a header; a row with another number of fields is an error.
pub(crate) fn read(
    source: &Text<'_>,
    name: &str,
    separation: Separation,
    consumer: &mut dyn Consumer,
) -> Result<(), Error> {
    let Text { text, base } = source;
    let fault = |kind: ErrorKind, at: usize, message: String| {
        Error::new(kind, name, message).at(Position::in_text(text, at, *base))
    };
    let syntax = |row: RowFault| {
        let error = fault(ErrorKind::Syntax, row.at, row.message.into());
        row.remedy.map(Remedy::say).into_iter().fold(error, Error::with_remedy)
    };
    let mut rows = Rows::new(text, separation);
    let mut fields = Vec::new();
    if !rows.next(&mut fields).map_err(syntax)? {
        return Err(Error::new(ErrorKind::Empty, name, "the file is empty"));
    }
    let header: Vec<String> = fields.iter().map(|field| field.trim().to_owned()).collect();
    consumer.names(&header).map_err(|error| error.at(Position::in_text(text, 0, *base)))?;
    rows.only_column = header.len() == 1;
    while rows.next(&mut fields).map_err(syntax)? {
        let is_alone = fields.len() == 1 && header.len() > 1;
        if (separation == Separation::Pipes || is_alone) && is_frame(&fields) {
            continue;
        }
        if fields.len() != header.len() {
            let noun = if fields.len() == 1 { "field" } else { "fields" };
            let message = format!("this row has {} {noun} and the header has {}", fields.len(), header.len());
            let error = fault(ErrorKind::Syntax, rows.row_start, message);
            let remedy = (fields.len() > header.len()).then(|| separation.remedy());
            return Err(remedy.into_iter().fold(error, Error::with_remedy));
        }
        let line = Position { line: Some(rows.row_line), ..Position::default() };
        consumer.row(&Row::new(name, &Fields { fields: &fields, line }))?;
    }
    Ok(())
}

/// Returns true for a line that draws a table between pipes: the rule below the header, as Markdown and databases write
/// it, and the number of rows at the end.
fn is_frame(fields: &[Cow<'_, str>]) -> bool {
    let is_rule = |field: &Cow<'_, str>| field.bytes().all(|byte| b"-:+ ".contains(&byte));
    let count = |field: &str| {
        let (number, unit) = field.trim_start_matches('(').split_once(' ')?;
        let unit = unit.trim_start_matches("rows").trim_start_matches("row");
        let is_unit = unit == ")" || unit.starts_with(" in set");
        Some(is_unit && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let has_rule = fields.iter().any(|field| field.contains("---"));
    has_rule && fields.iter().all(is_rule) || matches!(fields, [only] if count(only.trim()) == Some(true))
}

struct Fields<'r, 't> {
    fields: &'r [Cow<'t, str>],
    line: Position,
}

impl Cells for Fields<'_, '_> {
    fn len(&self) -> usize {
        self.fields.len()
    }

    fn cell(&self, column: usize) -> Result<Cell<'_>, Error> {
        // Databases write \N for nothing.
        let field = self.fields.get(column).filter(|field| &***field != "\\N");
        Ok(field.map_or(Cell::Null, |field| Cell::Untyped(Cow::Borrowed(field))))
    }

    fn id(&self, column: usize) -> Result<SegmentId, Error> {
        Ok(SegmentId::from_untyped(self.fields.get(column).map_or("", |field| field)))
    }

    fn place(&self) -> Position {
        self.line
    }

    fn position(&self, _: Option<usize>) -> Position {
        self.line
    }
}

/// The separator of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separation {
    /// Commas; a field that begins with a quote must end with one.
    Commas,
    /// Tabs; a field that begins with a quote is quoted if it also ends with one, and plain otherwise, since both
    /// kinds of file are common.
    Tabs,
    /// Semicolons, as spreadsheets of many countries write them; quotes as with commas.
    Semicolons,
    /// Pipes; there are no quotes, and spaces around fields are dropped.
    Pipes,
}

impl Separation {
    /// The separator that each of the first lines has equally often, the one with most fields.
    pub fn of(text: &str) -> Self {
        const LINES: usize = 20;
        let lines = || text.lines().filter(|line| !line.trim().is_empty()).take(LINES);
        let header = lines().next().unwrap_or_default();
        let count = |line: &str, one: Self| line.bytes().filter(|byte| *byte == one.separator()).count();
        let all = [Self::Tabs, Self::Semicolons, Self::Pipes, Self::Commas];
        let is_even = |one: &Self| {
            count(header, *one) > 0 && lines().all(|line| count(line, *one) == count(header, *one))
        };
        let even = all.into_iter().filter(is_even).max_by_key(|one| count(header, *one));
        let most =
            || all.into_iter().max_by_key(|one| count(header, *one)).filter(|one| *one == Self::Semicolons);
        even.or_else(most).unwrap_or(Self::Commas)
    }

    /// The remedy for a caption with a separator in it.
    fn remedy(self) -> Remedy {
        let name = match self {
            Self::Commas => "a comma",
            Self::Tabs => "a tab",
            Self::Semicolons => "a semicolon",
            Self::Pipes => {
                return Remedy::say("write a caption with | in it to a CSV file, in quotation marks");
            }
        };
        Remedy::say(format!("put a caption with {name} in it into quotation marks"))
    }

    fn separator(self) -> u8 {
        match self {
            Self::Commas => b',',
            Self::Tabs => b'\t',
            Self::Semicolons => b';',
            Self::Pipes => b'|',
        }
    }
}

#[derive(Debug)]
struct RowFault {
    at: usize,
    message: &'static str,
    remedy: Option<&'static str>,
}

/// The rows of a table. Blank lines are skipped, except in a table with one column, in which they are empty fields.
struct Rows<'t> {
    text: &'t str,
    at: usize,
    separation: Separation,
    line: u64,
    /// The start of the current row.
    row_start: usize,
    row_line: u64,
    only_column: bool,
}

impl<'t> Rows<'t> {
    fn new(text: &'t str, separation: Separation) -> Self {
        Self { text, at: 0, separation, line: 1, row_start: 0, row_line: 1, only_column: false }
    }

    /// Replaces `fields` with those of the next row; false at the end.
    fn next(&mut self, fields: &mut Vec<Cow<'t, str>>) -> Result<bool, RowFault> {
        fields.clear();
        while !self.only_column && self.end_of_line() {}
        self.row_start = self.at;
        self.row_line = self.line;
        if self.at >= self.text.len() {
            return Ok(false);
        }
        loop {
            let field = match self.quoted_field()? {
                Some(field) => field,
                None => Cow::Borrowed(self.plain_field()),
            };
            fields.push(field);
            if self.text.as_bytes().get(self.at) == Some(&self.separation.separator()) {
                self.at += 1;
            } else if self.end_of_line() || self.at >= self.text.len() {
                return Ok(true);
            } else {
                let message = "a quoted field goes on after its closing quote";
                let remedy = Some("write a quote inside it twice");
                return Err(RowFault { at: self.at, message, remedy });
            }
        }
    }

    fn end_of_line(&mut self) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = match rest {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return false,
        };
        self.at += length;
        self.line += 1;
        true
    }

    fn plain_field(&mut self) -> &'t str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = memchr::memchr2(self.separation.separator(), b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let field = rest.get(..end).unwrap_or_default();
        let at_newline = rest.as_bytes().get(end) == Some(&b'\n');
        let field = if at_newline { field.strip_suffix('\r').unwrap_or(field) } else { field };
        self.at += field.len();
        if self.separation == Separation::Pipes { field.trim() } else { field }
    }

    /// Reads a field in quotes; `None` if the next field is not in quotes.
    fn quoted_field(&mut self) -> Result<Option<Cow<'t, str>>, RowFault> {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        if self.separation == Separation::Pipes || bytes.get(self.at) != Some(&b'"') {
            return Ok(None);
        }
        let mut at = start;
        let mut doubled = false;
        let end = loop {
            let Some(quote) = memchr::memchr(b'"', bytes.get(at..).unwrap_or_default()) else {
                if self.separation == Separation::Tabs {
                    return Ok(None);
                }
                let message = "this quoted field never ends (the file may be truncated)";
                return Err(RowFault { at: self.at, message, remedy: None });
            };
            if bytes.get(at + quote + 1) != Some(&b'"') {
                break at + quote;
            }
            doubled = true;
            at += quote + 2;
        };
        let after = bytes.get(end + 1..).unwrap_or_default();
        let closed = matches!(after, [] | [b'\n', ..] | [b'\r', b'\n', ..])
            || after.first() == Some(&self.separation.separator());
        if !closed && self.separation == Separation::Tabs {
            return Ok(None);
        }
        let field = self.text.get(start..end).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', field.as_bytes()).count() as u64;
        self.at = end + 1;
        Ok(Some(if doubled { Cow::Owned(field.replace("\"\"", "\"")) } else { Cow::Borrowed(field) }))
    }
}
