//! Plain text whose lines have fields: an id before a caption, or columns without a header.

use std::collections::HashMap;

use super::literal;
use super::records::RecordList;
use super::sheet::{Record, Sheet};
use crate::Role;
use crate::error::Position;
use crate::table::{Cell, remarks};

/// Separators of an id from its caption, those that are rare in captions first. A space is the last resort.
const SEPARATORS: &[&str] = &["\t", "|||", "|", ";", ",", ": ", ":", " "];

/// The ways to read lines; those of references may be blocks.
pub(super) fn all(lines: &[(Position, &str)], role: Role) -> Vec<RecordList> {
    let blocks = blocks(lines).filter(|_| role != Role::Candidates);
    lists(lines).into_iter().chain(blocks).collect()
}

/// The ways to read lines as an id and the rest, or as several fields, for those who know which ids there are.
fn lists(lines: &[(Position, &str)]) -> Vec<RecordList> {
    let remarks = remarks(lines.iter().map(|(_, line)| *line));
    let remarks = if remarks < lines.len() { remarks } else { 0 };
    let all = lines.iter().skip(remarks).filter(|(_, line)| !line.trim().is_empty());
    let all: Vec<&(Position, &str)> = all.collect();
    // The first line may be a header.
    let is_header = |separator: &str| {
        let line = all.first().map_or("", |(_, line)| line);
        let is_word = |field: &str| !field.is_empty() && !field.trim().contains(char::is_whitespace);
        line.contains(separator) && line.split(separator).all(is_word)
    };
    let separators = SEPARATORS.iter().map(|separator| (separator, &all[..]));
    let below = SEPARATORS[..5].iter().filter(|separator| is_header(separator));
    let below = below.map(|separator| (separator, all.get(1..).unwrap_or_default()));
    let list = |(separator, filled): (&&str, &[&(Position, &str)])| {
        // Most files are plain captions, of which nothing is copied.
        let fields: Option<Vec<&str>> =
            filled.iter().map(|(_, line)| Some(split(line, separator)?.0)).collect();
        let fields = fields?;
        let label = label(&fields);
        if label.is_none() && !are_ids(&fields, separator) {
            return None;
        }
        let mark = mark(filled.iter().filter_map(|(_, line)| Some(split(line, separator)?.1)));
        let record =
            |(place, line): &&(Position, &str)| Some((*place, record(line, separator, label, mark)?));
        let records: Vec<(Position, Record)> = filled.iter().filter_map(record).collect();
        let path = match *separator {
            "\t" => "lines with tabs".to_owned(),
            " " => "lines that begin with a word".to_owned(),
            separator => format!("lines with {:?}", separator.trim()),
        };
        Some(RecordList { path, sheet: Sheet::new(records)? })
    };
    let lists = separators.chain(below).filter_map(list).chain(log(&all));
    lists.filter(|list| list.sheet.len() >= 2).collect()
}

/// The captions of images as blocks of lines with blank lines between them; `None` if each block has one line.
fn blocks(lines: &[(Position, &str)]) -> Option<RecordList> {
    let blocks = lines.split(|(_, line)| line.trim().is_empty()).filter(|block| !block.is_empty());
    let blocks: Vec<&[(Position, &str)]> = blocks.collect();
    if blocks.len() < 2 || blocks.iter().all(|block| block.len() == 1) {
        return None;
    }
    let record = |(block, number): (&[(Position, &str)], i64)| {
        let texts = block.iter().map(|(_, line)| Cell::Text((*line).to_owned().into())).collect();
        let fields = [("block", Cell::Integer(number)), ("the lines", Cell::List(texts))];
        (block[0].0, fields.map(|(name, cell)| (name.to_owned(), cell)).into())
    };
    let records = blocks.into_iter().zip(1..).map(record).collect();
    Some(RecordList { path: "blocks between blank lines".to_owned(), sheet: Sheet::new(records)? })
}

/// The lines of a log that begin with letters for their kind and the number of their image, such as `H-3`: a record
/// for each image.
fn log(lines: &[&(Position, &str)]) -> Option<RecordList> {
    let mut kinds: Vec<&str> = Vec::new();
    let mut records: Vec<(Position, Record)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, line) in lines {
        let (first, rest) = line.split_once('\t')?;
        let (kind, number) = first.split_at(first.find('-')? + 1);
        let is_kind = kind.bytes().rev().skip(1).all(|byte| byte.is_ascii_alphabetic());
        if !is_kind || number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
        let at = *places.entry(number).or_insert_with(|| {
            records.push((*place, vec![("number".to_owned(), Cell::Untyped(number.to_owned().into()))]));
            records.len() - 1
        });
        let last = rest.rsplit('\t').next().unwrap_or(rest);
        records.get_mut(at)?.1.push((kind.to_owned(), text(last)));
    }
    let sheet = Sheet::new(records).filter(|_| kinds.len() > 1)?;
    Some(RecordList { path: format!("lines with {}", kinds.join(", ")), sheet })
}

/// The word with which all fields begin, before a name without spaces: `image` of `image 17`.
fn label<'f>(fields: &[&'f str]) -> Option<&'f str> {
    let (label, _) = fields.first()?.split_once(' ')?;
    let is_name = |field: &&str| {
        let name = field.strip_prefix(label).and_then(|rest| rest.strip_prefix(' '));
        name.is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace))
    };
    fields.iter().all(is_name).then_some(label)
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
    let follows = |pair: &[i64]| pair[1] == pair[0] || pair[0].checked_add(1) == Some(pair[1]);
    let count = |numbers: Vec<i64>| numbers.windows(2).all(follows);
    fields.iter().all(is_name) || numbers.is_some_and(count)
}

/// The field before the first separator of a line, which may be an id, and the rest.
fn split<'l>(line: &'l str, separator: &str) -> Option<(&'l str, &'l str)> {
    let (first, rest) = line.split_once(separator)?;
    let first = first.trim();
    (!first.is_empty() && !first.contains('\t')).then(|| (unnumbered(unquoted(first)), rest))
}

/// The word without letters and digits with which all texts behind ids begin, such as `=>`: it parts ids from captions.
fn mark<'r>(mut rests: impl Iterator<Item = &'r str>) -> Option<&'r str> {
    let first = |rest: &'r str| rest.split_whitespace().next();
    let mark = first(rests.next()?).filter(|word| !word.contains(char::is_alphanumeric))?;
    rests.all(|rest| first(rest) == Some(mark)).then_some(mark)
}

/// A line as an id and the rest, without the mark between them. Between tabs and `|||`, there may be several captions.
fn record(line: &str, separator: &str, label: Option<&str>, mark: Option<&str>) -> Option<Record> {
    let (first, rest) = split(line, separator)?;
    let rest = mark.and_then(|mark| rest.trim_start().strip_prefix(mark)).unwrap_or(rest);
    let first = label.and_then(|label| first.strip_prefix(label)).unwrap_or(first).trim_start();
    let rest: Vec<Cell<'static>> = match separator {
        "\t" | "|||" => {
            rest.split(separator).map(str::trim).filter(|field| !field.is_empty()).map(text).collect()
        }
        _ => vec![text(rest.trim())],
    };
    let id = Cell::Untyped(first.trim_end_matches(['.', ')', ':']).to_owned().into());
    let rest = match <[_; 1]>::try_from(rest) {
        Ok([value @ (Cell::List(_) | Cell::Object(_))]) => value,
        Ok([text]) => Cell::List(vec![text]),
        Err(rest) => Cell::List(rest),
    };
    Some(vec![("first field".to_owned(), id), ("the rest".to_owned(), rest)])
}

/// A field as a text, or as the values of JSON within it.
fn text(field: &str) -> Cell<'static> {
    if field.starts_with(['[', '{'])
        && let Some([value]) = literal::values(field).and_then(|values| <[_; 1]>::try_from(values).ok())
    {
        return value;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The ways to read lines.
    fn ways(lines: &[&str]) -> Vec<String> {
        let lines: Vec<(Position, &str)> = lines.iter().map(|line| (Position::default(), *line)).collect();
        lists(&lines).into_iter().map(|list| list.path).collect()
    }

    #[test]
    fn fields_are_ids_if_they_are_names_or_count() {
        assert_eq!(ways(&["a.jpg\ta dog", "b.jpg\ta cat"]), ["lines with tabs"]);
        assert_eq!(ways(&["H-1 a dog", "H-2 a cat"]), ["lines that begin with a word"]);
        assert_eq!(ways(&["1. a dog", "2. a cat"]), ["lines that begin with a word"]);
        assert!(ways(&["a dog runs", "two cats sleep", "the end"]).is_empty());
        let largest = i64::MAX.to_string();
        assert!(ways(&[&format!("{largest} a dog"), "5 a cat"]).is_empty());
    }

    #[test]
    fn a_mark_between_ids_and_captions_is_no_word() {
        assert_eq!(mark(["=> a dog", " => a cat"].into_iter()), Some("=>"));
        assert_eq!(mark(["- a dog", "a cat"].into_iter()), None);
        let caption = |record: Option<Record>| record.unwrap().pop().unwrap().1;
        let with = |line, mark| caption(record(line, " ", None, mark));
        assert_eq!(with("v1 => a dog", Some("=>")), with("v1 a dog", None));
    }
}
