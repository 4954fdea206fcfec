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
            let are_numbers = fields.iter().skip(1).all(|field| field.trim().parse::<f64>().is_ok());
            let remedy = (fields.len() > header.len()).then(|| match separation {
                Separation::Commas if are_numbers => Remedy::say("write decimals with a point, as in 0.5"),
                _ => separation.remedy(),
            });
            return Err(remedy.into_iter().fold(error, Error::with_remedy));
        }
        let line = Position { line: Some(rows.row_line), ..Position::default() };
        consumer.row(&Row::new(name, &Fields { fields: &fields, line, separation }))?;
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
    separation: Separation,
}

impl Cells for Fields<'_, '_> {
    fn len(&self) -> usize {
        self.fields.len()
    }

    fn cell(&self, column: usize) -> Result<Cell<'_>, Error> {
        // Databases write \N for nothing.
        let field = self.fields.get(column).filter(|field| &***field != "\\N");
        let Some(field) = field else { return Ok(Cell::Null) };
        let has_point = self.separation.allows_comma_as_point();
        let decimal = has_point.then(|| decimal(field)).flatten();
        Ok(Cell::Untyped(decimal.map_or(Cow::Borrowed(&**field), Cow::Owned)))
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

/// A number with a comma in place of the point, with a point: spreadsheets of many countries write 0,5. A comma before
/// three digits may stand between thousands, unless the number begins with zero.
fn decimal(field: &str) -> Option<String> {
    let field = field.trim();
    let (whole, fraction) = field.split_once(',')?;
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_thousand = fraction.len() == 3 && !digits.starts_with('0');
    (are_digits(digits) && are_digits(fraction) && !is_thousand).then(|| format!("{whole}.{fraction}"))
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
        let is_rare = |one: &Self| matches!(one, Self::Semicolons | Self::Tabs);
        let most = || all.into_iter().max_by_key(|one| count(header, *one)).filter(is_rare);
        even.or_else(most).unwrap_or(Self::Commas)
    }

    /// Returns true if numbers may be written with a comma as their point.
    fn allows_comma_as_point(self) -> bool {
        matches!(self, Self::Semicolons | Self::Tabs)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_are_points_unless_they_stand_between_thousands() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            ["0,5", "-3,25", "12,5 ", "0,125"].map(decimal),
            ["0.5", "-3.25", "12.5", "0.125"].map(some)
        );
        for text in ["1,000", "12,345", "1,5,2", "a,5", "5,", ",5", "5", "0.5", "a dog, a cat", "1, 2"] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }

    #[test]
    fn the_separator_is_the_one_that_all_lines_share() {
        for (text, separation) in [
            ("id,caption\n1,a dog\n", Separation::Commas),
            ("id;caption\n1;a dog, brown\n2;a cat\n", Separation::Semicolons),
            ("id\tcaption\n1\ta dog, brown\n", Separation::Tabs),
            ("id\tcaption\n1\ta dog\tbrown\n", Separation::Tabs),
            ("id|caption\n1|a dog\n", Separation::Pipes),
            ("id,caption\n1,\"a dog, brown\"\n2,a cat; grey\n", Separation::Commas),
            ("score\n0.5\n", Separation::Commas),
        ] {
            assert_eq!(Separation::of(text), separation, "{text}");
        }
    }
}
