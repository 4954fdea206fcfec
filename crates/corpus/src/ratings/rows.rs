//! What readers of ratings and of pairs share: places, faults of syntax, and the rows of CSV and TSV.

use csv::StringRecord;

use crate::{Error, ErrorKind, Position, Remedy};

/// The place of a record of a JSON list, counted from 0 here and from 1 in errors.
pub(super) fn record(k: usize) -> Position {
    Position { record: Some(k as u64 + 1), ..Position::default() }
}

/// The place of a line, counted from 0 here and from 1 in errors.
pub(super) fn line(k: usize) -> Position {
    Position { line: Some(k as u64 + 1), ..Position::default() }
}

/// JSON that cannot be read; `lines_before` stand before the text that was parsed.
pub(super) fn syntax(name: &str, error: &serde_json::Error, lines_before: usize) -> Error {
    let position = Position { line: Some((error.line() + lines_before) as u64), ..Position::default() };
    Error::new(ErrorKind::Syntax, name, format!("the JSON cannot be read ({error})"))
        .at(position)
        .with_remedy(Remedy::say("give a list of objects, or one object per line"))
}

/// The names in the header of CSV, or of TSV where the first line has more tabs than commas; `row` gets each row below
/// it with its place.
pub(super) fn delimited(
    text: &str,
    name: &str,
    mut row: impl FnMut(&[String], Position, &StringRecord),
) -> Result<(), Error> {
    let head = text.lines().next().unwrap_or_default();
    let delimiter = if head.matches('\t').count() > head.matches(',').count() { b'\t' } else { b',' };
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
    let fault = |error: csv::Error| {
        let line = error.position().map(csv::Position::line);
        Error::new(ErrorKind::Syntax, name, format!("the table cannot be read ({error})"))
            .at(Position { line, ..Position::default() })
    };
    let header = reader.headers().map_err(fault)?.iter().map(|column| column.trim().to_owned());
    let header: Vec<String> = header.collect();
    for found in reader.records() {
        let found = found.map_err(fault)?;
        let line = found.position().map(csv::Position::line);
        row(&header, Position { line, ..Position::default() }, &found);
    }
    Ok(())
}
