//! Plain text whose lines have fields: an id before a caption, or columns without a header.

use super::records::RecordList;
use super::sheet::{Record, Sheet};
use crate::error::Position;
use crate::table::Cell;

/// Separators of an id from its caption, those that are rare in captions first. A space is the last resort.
const SEPARATORS: &[&str] = &["\t", "|||", "|", ";", ",", ": ", ":", " "];

/// The ways to read lines as an id and the rest, or as several fields, for those who know which ids there are.
pub(super) fn lists(lines: &[(Position, &str)]) -> Vec<RecordList> {
    let filled: Vec<&(Position, &str)> = lines.iter().filter(|(_, line)| !line.trim().is_empty()).collect();
    let list = |separator: &&str| {
        let mut records = Vec::with_capacity(filled.len());
        let mut ids = Vec::with_capacity(filled.len());
        for (place, line) in &filled {
            let (id, record) = record(line, separator)?;
            ids.push(id);
            records.push((*place, record));
        }
        if !are_ids(&ids, separator) {
            return None;
        }
        let path = match *separator {
            "\t" => "lines with tabs".to_owned(),
            " " => "lines that begin with a word".to_owned(),
            separator => format!("lines with {:?}", separator.trim()),
        };
        Some(RecordList { path, sheet: Sheet::new(records)? })
    };
    SEPARATORS.iter().filter_map(list).filter(|list| list.sheet.len() >= 2).collect()
}

/// Returns true if fields before a separator can be ids: names with a digit or a sign, or numbers in order. Between
/// tabs there may be any words, which no caption has.
fn are_ids(fields: &[&str], separator: &str) -> bool {
    if matches!(separator, "\t" | "|||") {
        return true;
    }
    let is_name = |field: &&str| {
        let has = |is: fn(char) -> bool| field.contains(is);
        !has(char::is_whitespace)
            && has(|c| c.is_ascii_digit() || "._-/#".contains(c))
            && field.parse::<f64>().is_err()
    };
    let numbers: Option<Vec<i64>> =
        fields.iter().map(|field| field.trim_end_matches(['.', ')', ':']).parse().ok()).collect();
    let count =
        |numbers: Vec<i64>| numbers.windows(2).all(|pair| pair[1] == pair[0] + 1 || pair[1] == pair[0]);
    fields.iter().all(is_name) || numbers.is_some_and(count)
}

/// The id of a line, which stands before the first separator, and its fields. Between tabs and `|||`, there may be
/// several captions.
fn record<'l>(line: &'l str, separator: &str) -> Option<(&'l str, Record)> {
    let (first, rest) = line.split_once(separator)?;
    let first = first.trim();
    if first.is_empty() || first.contains('\t') {
        return None;
    }
    let first = unnumbered(unquoted(first));
    let rest: Vec<Cell<'static>> = match separator {
        "\t" | "|||" => {
            rest.split(separator).map(str::trim).filter(|field| !field.is_empty()).map(text).collect()
        }
        _ => vec![text(rest.trim())],
    };
    let id = Cell::Untyped(first.trim_end_matches(['.', ')', ':']).to_owned().into());
    Some((first, vec![("first field".to_owned(), id), ("the rest".to_owned(), Cell::List(rest))]))
}

fn text(field: &str) -> Cell<'static> {
    Cell::Text(unquoted(field).replace("\"\"", "\"").into())
}

/// A field without the quotes around it.
fn unquoted(field: &str) -> &str {
    let inner = field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(field)
}

/// An id without the number of the caption, as in `image.jpg#0`.
fn unnumbered(id: &str) -> &str {
    match id.rsplit_once('#') {
        Some((image, number)) if !image.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => image,
        _ => id,
    }
}
