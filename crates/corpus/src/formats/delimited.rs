//! Tables of text with a header: CSV, TSV, and the pipes of Flickr30k's `results.csv`.

use std::borrow::Cow;

use capeval_choice::Argument;

use crate::captions::Captions;
use crate::error::{Error, ErrorKind, Position};
use crate::input::{Source, Text};
use crate::notice::list_ids;
use crate::options::ReadOptions;
use crate::records::{ID_KEYS, numbered_notice};
use crate::{Format, Remedy, Role, SegmentId};

/// Columns of references, the best group first; a group also takes its names with a number (`caption_1`).
const REFERENCE_COLUMNS: &[&[&str]] = &[
    &["reference", "references", "ref"],
    &["caption", "captions"],
    &["comment"],
    &["text"],
    &["sentence"],
    &["raw"],
];

/// Columns of candidates, the best one first.
const CANDIDATE_COLUMNS: &[&str] = &[
    "prediction",
    "predicted_caption",
    "caption_predicted",
    "hypothesis",
    "hyp",
    "candidate",
    "caption",
    "comment",
    "text",
    "sentence",
];

/// Reads a table with a header; rows of unequal length are errors. Without an id column rows are numbered from 1.
/// Where there are several caption columns, an empty cell is no caption.
pub(crate) fn read(
    format: Format,
    source: Source<'_>,
    options: &ReadOptions,
    captions: &mut Captions,
) -> Result<(), Error> {
    let name = source.name;
    let Text { text, base } = source.into_text()?;
    captions.reserve_for(text.len());
    let fault = |kind: ErrorKind, at: usize, message: String| {
        Error::new(kind, name, message).at(Position::in_text(&text, at, base))
    };
    let mut rows = Rows::new(&text, Dialect::of(format));
    let mut fields = Vec::new();
    let syntax = |fault_: RowFault| {
        let error = fault(ErrorKind::Syntax, fault_.at, fault_.message.into());
        fault_.remedy.map(Remedy::say).into_iter().fold(error, Error::with_remedy)
    };
    if !rows.next(&mut fields).map_err(syntax)? {
        return Err(Error::new(ErrorKind::Empty, name, "the file is empty"));
    }
    let header: Vec<String> = fields.iter().map(|field| field.trim().to_owned()).collect();
    let columns = Columns::choose(&header, options).map_err(|(message, remedy)| {
        let error = fault(ErrorKind::Shape, 0, message);
        remedy.into_iter().fold(error, Error::with_remedy)
    })?;
    rows.only_column = header.len() == 1;
    let mut count = 0_i64;
    while rows.next(&mut fields).map_err(syntax)? {
        count += 1;
        if fields.len() != header.len() {
            let message = format!("this row has {} fields and the header has {}", fields.len(), header.len());
            return Err(fault(ErrorKind::Syntax, rows.row_start, message));
        }
        let field = |column: usize| fields.get(column).map_or("", |field| &**field);
        let id = match columns.id {
            Some(column) => SegmentId::from_untyped(field(column)),
            None => SegmentId::Integer(count),
        };
        let mut any = false;
        for column in &columns.captions {
            let text = field(*column);
            if !text.is_empty() || columns.captions.len() == 1 {
                captions.push_at(id.clone(), text, rows.row_line);
                any = true;
            }
        }
        if !any {
            captions.declare(id);
        }
    }
    if columns.id.is_none() {
        captions.notice(numbered_notice(name, usize::try_from(count).unwrap_or(usize::MAX), options));
    }
    Ok(())
}

/// Whether a first line is a header that names captions.
pub(crate) fn header_names_captions(line: &str, separator: char) -> bool {
    let mut names = line.split(separator).map(|name| name.trim().trim_matches('"'));
    let mut found = false;
    names.all(|name| {
        found |= REFERENCE_COLUMNS.iter().any(|group| in_group(name, group))
            || CANDIDATE_COLUMNS.iter().any(|column| name.eq_ignore_ascii_case(column));
        !name.contains(char::is_whitespace)
    }) && found
}

/// Whether a column is one of a group, with or without a number: `caption`, `caption_1`, `Caption1`.
fn in_group(name: &str, group: &[&str]) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let stem = if stem.len() < name.len() { stem.strip_suffix('_').unwrap_or(stem) } else { stem };
    group.iter().any(|column| stem.eq_ignore_ascii_case(column))
}

pub(crate) struct Columns {
    pub id: Option<usize>,
    pub captions: Vec<usize>,
}

impl Columns {
    pub fn choose(header: &[String], options: &ReadOptions) -> Result<Self, (String, Option<Remedy>)> {
        let exact = |wanted: &str| header.iter().position(|name| name == wanted);
        let known = |wanted: &&str| header.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        let listed = || {
            let names: Vec<SegmentId> = header.iter().map(|name| SegmentId::from(&**name)).collect();
            let shown: Vec<String> = names.chunks(5).map(|some| list_ids(some, some.len())).collect();
            shown.join(", ")
        };
        let absent =
            |column: &str| (format!("there is no column {column:?}; the columns are {}", listed()), None);
        let id = match &options.id_column {
            Some(column) => Some(exact(column).ok_or_else(|| absent(column))?),
            None => ID_KEYS.iter().find_map(known),
        };
        let members = |group: &[&str]| -> Vec<usize> {
            (0..header.len())
                .filter(|column| header.get(*column).is_some_and(|name| in_group(name, group)))
                .collect()
        };
        let captions: Vec<usize> = match (&options.caption_columns, options.role) {
            (Some(columns), _) => {
                let places = columns.iter().map(|column| exact(column).ok_or_else(|| absent(column)));
                places.collect::<Result<_, _>>()?
            }
            (None, Role::Candidates) => match CANDIDATE_COLUMNS.iter().find_map(known) {
                Some(column) => vec![column],
                // Several captions for each image, as diversity wants them.
                None => CANDIDATE_COLUMNS
                    .iter()
                    .map(|column| members(&[*column]))
                    .find(|columns| !columns.is_empty())
                    .unwrap_or_default(),
            },
            (None, _) => REFERENCE_COLUMNS
                .iter()
                .map(|group| members(group))
                .find(|columns| !columns.is_empty())
                .unwrap_or_default(),
        };
        if captions.is_empty() {
            let message = format!("no column is known to hold captions; the columns are {}", listed());
            let remedy = Remedy::give(Argument::CaptionColumns(options.role)).to("name one");
            return Err((message, Some(remedy)));
        }
        Ok(Self { id, captions })
    }
}

/// How fields are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Commas; a field that begins with a quote must end with one.
    Commas,
    /// Tabs; a field that begins with a quote is quoted if it also ends with one, and plain otherwise, since both
    /// kinds of file are common.
    Tabs,
    /// Pipes; no quotes, and blanks around fields are left out.
    Pipes,
}

impl Dialect {
    fn of(format: Format) -> Self {
        match format {
            Format::Tsv => Self::Tabs,
            Format::Pipes => Self::Pipes,
            _ => Self::Commas,
        }
    }

    fn separator(self) -> u8 {
        match self {
            Self::Commas => b',',
            Self::Tabs => b'\t',
            Self::Pipes => b'|',
        }
    }
}

#[derive(Debug)]
pub(crate) struct RowFault {
    at: usize,
    message: &'static str,
    remedy: Option<&'static str>,
}

/// The rows of a table. Blank lines are passed over, but for a table of one column, where they are empty fields.
pub(crate) struct Rows<'t> {
    text: &'t str,
    at: usize,
    dialect: Dialect,
    line: u64,
    /// Where the current row begins.
    row_start: usize,
    row_line: u64,
    only_column: bool,
}

impl<'t> Rows<'t> {
    pub fn new(text: &'t str, dialect: Dialect) -> Self {
        Self { text, at: 0, dialect, line: 1, row_start: 0, row_line: 1, only_column: false }
    }

    /// Replaces `fields` by those of the next row; false at the end.
    pub fn next(&mut self, fields: &mut Vec<Cow<'t, str>>) -> Result<bool, RowFault> {
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
            if self.text.as_bytes().get(self.at) == Some(&self.dialect.separator()) {
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
        let end = memchr::memchr2(self.dialect.separator(), b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let field = rest.get(..end).unwrap_or_default();
        let at_newline = rest.as_bytes().get(end) == Some(&b'\n');
        let field = if at_newline { field.strip_suffix('\r').unwrap_or(field) } else { field };
        self.at += field.len();
        if self.dialect == Dialect::Pipes { field.trim() } else { field }
    }

    /// Reads a field in quotes, or nothing if there is none here.
    fn quoted_field(&mut self) -> Result<Option<Cow<'t, str>>, RowFault> {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        if self.dialect == Dialect::Pipes || bytes.get(self.at) != Some(&b'"') {
            return Ok(None);
        }
        let mut at = start;
        let mut doubled = false;
        let end = loop {
            let Some(quote) = memchr::memchr(b'"', bytes.get(at..).unwrap_or_default()) else {
                if self.dialect == Dialect::Tabs {
                    return Ok(None);
                }
                let message = "this quoted field never ends; is the file truncated?";
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
            || after.first() == Some(&self.dialect.separator());
        if !closed && self.dialect == Dialect::Tabs {
            return Ok(None);
        }
        let field = self.text.get(start..end).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', field.as_bytes()).count() as u64;
        self.at = end + 1;
        Ok(Some(if doubled { Cow::Owned(field.replace("\"\"", "\"")) } else { Cow::Borrowed(field) }))
    }
}
