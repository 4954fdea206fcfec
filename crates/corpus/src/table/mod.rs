//! Tables in CSV, TSV, JSON, JSON Lines and Parquet: rows of named cells, read in the same way for all purposes.
//!
//! A reader passes each row to a [`Consumer`], which reads captions row by row, or collects a [`Table`].

mod cell;
mod columns;
mod delimited;
pub(crate) mod known;
mod objects;
#[cfg(feature = "parquet")]
mod parquet;
mod row;
mod row_ids;

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

pub use self::cell::Cell;
pub(crate) use self::cell::read_value;
pub use self::columns::CaptionColumns;
pub(crate) use self::columns::{Names, header_sign, means_something, names_captions};
pub(crate) use self::delimited::{Separation, read as read_delimited};
pub use self::known::names_image_ids;
pub(crate) use self::objects::{Origin, read_array, read_lines, read_list};
#[cfg(feature = "parquet")]
pub(crate) use self::parquet::read as read_parquet;
pub(crate) use self::row::{Consumer, Row};
pub(crate) use self::row_ids::{RowIds, row_numbers};

use crate::Format;
#[cfg(not(feature = "parquet"))]
use crate::Remedy;
use crate::error::{Error, ErrorKind, Position};
use crate::input::{Source, Text};

/// A table in memory.
pub(crate) struct Table {
    /// All names, in order of first appearance; duplicate names in a header are kept.
    pub names: Vec<String>,
    /// The rows.
    pub rows: Vec<TableRow>,
}

/// A row in memory; cells that are null are left out.
pub(crate) struct TableRow {
    /// Its line or number.
    pub place: Position,
    cells: Vec<(Rc<str>, Cell<'static>)>,
}

impl TableRow {
    /// The cell of that name, unless it is null.
    pub fn get(&self, name: &str) -> Option<&Cell<'static>> {
        self.cells.iter().find(|(known, _)| &**known == name).map(|(_, cell)| cell)
    }
}

/// The storage of nested objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nesting {
    /// As cells.
    Whole,
    /// As separate cells named `outer.inner`.
    Flat,
}

impl Table {
    /// Reads a table, whose format is detected from its content; `expected` describes its rows in errors.
    pub fn read(source: Source<'_>, expected: &str, nesting: Nesting) -> Result<Self, Error> {
        let mut gathering = Gathering::new(nesting);
        read(source, expected, &mut gathering)?;
        Ok(gathering.table())
    }

    /// The column of the captions that people rated: the first of `names`, or one with another known name that contains
    /// more than numbers.
    pub fn judged_caption(&self, names: &[&str]) -> Option<usize> {
        let holds_words = |column: &usize| {
            let name = &self.names[*column];
            let mut cells = self.rows.iter().filter_map(|row| row.get(name));
            cells.any(|cell| cell.number().is_none())
        };
        let other =
            || known::CANDIDATE.iter().filter_map(|name| self.names().known(&[name])).find(holds_words);
        self.names().known(names).or_else(other)
    }

    /// Returns true if a column has texts of several words, and another nothing but words without spaces.
    pub fn has_texts_beside_ids(&self) -> bool {
        let texts = |name: &String| {
            let cells = self.rows.iter().map(|row| row.get(name).map_or_else(String::new, Cell::to_string));
            cells.map(|text| text.split_whitespace().count()).collect::<Vec<_>>()
        };
        let counts: Vec<Vec<usize>> = self.names.iter().map(texts).collect();
        let is_text =
            |counts: &Vec<usize>| counts.iter().filter(|count| **count > 1).count() * 2 > counts.len();
        let is_id = |counts: &Vec<usize>| counts.iter().all(|count| *count == 1);
        self.rows.len() > 1 && counts.iter().any(is_text) && counts.iter().any(is_id)
    }

    /// The rows as lists of named values.
    pub fn into_records(self) -> Vec<(Position, Vec<(String, Cell<'static>)>)> {
        let record = |row: TableRow| {
            let cells = row.cells.into_iter().map(|(name, cell)| (name.to_string(), cell)).collect();
            (row.place, cells)
        };
        self.rows.into_iter().map(record).collect()
    }

    /// The names, for finding columns.
    pub fn names(&self) -> Names<'_> {
        Names(&self.names)
    }
}

/// Shows `consumer` the rows of a table, whose format is detected from its content; `expected` says in errors what its
/// rows are.
pub(crate) fn read(source: Source<'_>, expected: &str, consumer: &mut dyn Consumer) -> Result<(), Error> {
    if source.head().starts_with(b"PAR1") {
        return read_parquet(source, consumer);
    }
    match source.head().trim_ascii_start().first() {
        Some(b'{') => read_lines(source, expected, consumer),
        Some(b'[') => read_list(source, expected, consumer),
        _ => {
            let name = source.name;
            let Text { text, base } = source.into_text()?;
            if text.trim().is_empty() {
                return Err(Error::new(ErrorKind::Empty, name, "the file is empty"));
            }
            // Spreadsheets write the separator before some tables.
            let text = if text.starts_with("sep=") { plain_table(&text).into_owned().into() } else { text };
            let separation = Separation::of(&text);
            read_delimited(&Text { text, base }, name, separation, consumer)
        }
    }
}

/// The table in a format that has columns with names, in memory. Semicolons are separators if nothing else is.
pub(crate) fn read_as(format: Format, source: &Source<'_>) -> Result<Table, Error> {
    let read = |separation: Separation| {
        let mut table = Gathering::new(Nesting::Whole);
        let Text { text, base } = source.borrowed().into_text()?;
        let text = Text { text: plain_table(&text).into_owned().into(), base };
        read_delimited(&text, source.name, separation, &mut table)?;
        Ok(table.table())
    };
    match format {
        Format::Parquet => {
            let mut table = Gathering::new(Nesting::Whole);
            read_parquet(source.borrowed(), &mut table)?;
            Ok(table.table())
        }
        Format::Tsv => read(Separation::Tabs),
        Format::Pipes => read(Separation::Pipes),
        _ => read(Separation::of(&plain_table(&source.borrowed().into_text()?.text))),
    }
}

/// Returns true if the first line of a text could be a header of several columns.
pub(crate) fn may_have_header(text: &str) -> bool {
    let header = text.lines().next().unwrap_or_default();
    let is_name = |field: &str| {
        let field = field.trim().trim_matches('"');
        !field.is_empty() && !field.contains(char::is_whitespace) && field.parse::<f64>().is_err()
    };
    ['\t', ',', ';', '|'].into_iter().any(|sign| header.contains(sign) && header.split(sign).all(is_name))
}

/// A table without the separator that spreadsheets write before it, remarks above it, and lines that end as on old
/// computers.
pub(crate) fn plain_table(text: &str) -> Cow<'_, str> {
    let mut text = match text.contains('\n') || !text.contains('\r') {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.replace('\r', "\n")),
    };
    let lines = || text.split_inclusive('\n');
    let separator = lines().take_while(|line| line.trim_end().len() <= 6 && line.starts_with("sep="));
    let above = separator.count();
    let above = above + remarks(lines().skip(above));
    let start: usize = lines().take(above).map(str::len).sum();
    if start > 0 && start < text.len() {
        text = Cow::Owned(text.get(start..).unwrap_or_default().to_owned());
    }
    let start = titles(&text);
    if start > 0 {
        text = Cow::Owned(text.get(start..).unwrap_or_default().to_owned());
    }
    text
}

/// The number of lines above others that begin with a sign of remarks, or stand between `/*` and `*/`.
pub(crate) fn remarks<'t>(lines: impl Iterator<Item = &'t str>) -> usize {
    const SIGNS: &[&str] = &["#", "//", "% "];
    let (mut count, mut blank, mut is_open) = (0, 0, false);
    for line in lines.map(str::trim) {
        let begins = line.starts_with("/*");
        if is_open || begins || SIGNS.iter().any(|sign| line.starts_with(sign)) {
            (count, blank) = (count + blank + 1, 0);
            is_open = (is_open || begins) && !line.contains("*/");
        } else if line.is_empty() && count > 0 {
            blank += 1;
        } else {
            break;
        }
    }
    count
}

/// The length of the lines above a header, which are titles: they have fewer fields than the header, and the rows below
/// it have as many.
fn titles(text: &str) -> usize {
    const MOST: usize = 20;
    let is_name = |field: &str| !field.trim().is_empty() && !field.trim().contains(char::is_whitespace);
    let header = |separator: char| {
        let filled = |line: &str| line.split(separator).filter(|field| !field.trim().is_empty()).count();
        let (mut start, mut most) = (0, 1);
        for line in text.split_inclusive('\n').take(MOST) {
            let n = filled(line);
            let end = start + line.len();
            if n > most && line.trim_end().split(separator).all(is_name) {
                let below =
                    text.get(end..).unwrap_or_default().lines().filter(|line| !line.trim().is_empty());
                let are_rows = |rows: &[&str]| rows.iter().all(|row| row.split(separator).count() >= n);
                let below: Vec<&str> = below.take(2).collect();
                return (below.len() == 2 && are_rows(&below)).then_some(start);
            }
            (start, most) = (end, most.max(n));
        }
        None
    };
    [',', ';', '\t', '|'].into_iter().find_map(header).unwrap_or(0)
}

/// Says that this build has no reader of Parquet.
#[cfg(not(feature = "parquet"))]
pub(crate) fn read_parquet(source: Source<'_>, _: &mut dyn Consumer) -> Result<(), Error> {
    let message = "this is Parquet, and this build cannot read it";
    Err(Error::new(ErrorKind::Format, source.name, message)
        .with_remedy(Remedy::say("build with the feature parquet, or save the table as CSV")))
}

/// Collects the rows of a table in memory.
pub(crate) struct Gathering {
    table: Table,
    known: HashMap<Rc<str>, usize>,
    /// The names for the following rows.
    current: Vec<Rc<str>>,
    nesting: Nesting,
}

impl Gathering {
    /// An empty collection.
    pub fn new(nesting: Nesting) -> Self {
        let table = Table { names: Vec::new(), rows: Vec::new() };
        Self { table, known: HashMap::new(), current: Vec::new(), nesting }
    }

    /// The collected table.
    pub fn table(self) -> Table {
        self.table
    }

    /// The position, as a record, of the row that will be added next.
    pub fn next(&self) -> Position {
        Position { record: Some(self.table.rows.len() as u64 + 1), ..Position::default() }
    }

    /// Adds an object as a row.
    pub fn add(&mut self, object: Vec<(String, Cell<'_>)>) {
        let place = self.next();
        let mut cells = Vec::with_capacity(object.len());
        for (key, cell) in object {
            self.add_cell(key, cell, &mut cells);
        }
        self.table.rows.push(TableRow { place, cells });
    }

    /// Adds a cell of a row; the values of an object are cells of their own, if they are wanted.
    fn add_cell(&mut self, name: String, cell: Cell<'_>, cells: &mut Vec<(Rc<str>, Cell<'static>)>) {
        match cell {
            Cell::Null => {
                self.name(&name);
            }
            cell if self.nesting == Nesting::Flat && cell.overall().is_some() => {
                cells.push((self.name(&name), Cell::Number(cell.overall().unwrap_or(f64::NAN))));
            }
            Cell::Object(inner) if self.nesting == Nesting::Flat => {
                for (key, cell) in inner {
                    self.add_cell(format!("{name}.{key}"), cell, cells);
                }
            }
            cell => cells.push((self.name(&name), cell.into_owned())),
        }
    }

    fn name(&mut self, name: &str) -> Rc<str> {
        if let Some((known, _)) = self.known.get_key_value(name) {
            return Rc::clone(known);
        }
        let shared: Rc<str> = name.into();
        self.known.insert(Rc::clone(&shared), self.table.names.len());
        self.table.names.push(name.to_owned());
        shared
    }
}

impl Consumer for Gathering {
    fn names(&mut self, names: &[String]) -> Result<Option<Vec<usize>>, Error> {
        self.current.clear();
        for name in names {
            // A header may have duplicate names; objects do not.
            if self.current.iter().any(|known| **known == **name) {
                self.table.names.push(name.clone());
            }
            let name = self.name(name);
            self.current.push(name);
        }
        Ok(None)
    }

    fn row(&mut self, row: &Row<'_>) -> Result<(), Error> {
        let mut cells = Vec::with_capacity(self.current.len());
        for column in 0..self.current.len() {
            let name = Rc::clone(&self.current[column]);
            match row.cell(column)?.typed() {
                Cell::Null => {}
                cell @ Cell::Object(_) if self.nesting == Nesting::Flat => {
                    self.add_cell(name.to_string(), cell, &mut cells);
                }
                cell => cells.push((name, cell.into_owned())),
            }
        }
        self.table.rows.push(TableRow { place: row.place(), cells });
        Ok(())
    }
}
