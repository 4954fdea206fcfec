//! Reads lines with an id and a caption in a common frame, such as `161743 & a dog \\` or `[161743] = "a dog",`, and
//! lines in which ids and captions alternate.
//!
//! The only assumption is that all lines share the frame, which is the text before and after the ids and around the
//! captions. Lines that belong to no caption may precede and follow, and rules may occur anywhere. The other side
//! decides whether the ids are ids.

use std::collections::{HashMap, HashSet};

use super::records::{Doubt, RecordList};
use super::sheet::Sheet;
use super::text::{FIRST, REST};
use super::words::is_unspaced;
use crate::error::Position;
use crate::table::Cell;

/// With fewer captions, lines may be alike by chance.
const FEWEST: usize = 4;

/// The most lines above the captions, and below them.
const AROUND: usize = 6;

/// A line that recurs within this many lines is none of the captions.
const RECURS: usize = 8;

/// A line and its position.
type Line<'l> = (Position, &'l str);

/// The ways to read lines in frames.
pub(super) fn all(lines: &[&Line<'_>]) -> Vec<RecordList> {
    let recurring = recurring(lines);
    let has_word = |line: &str| line.contains(char::is_alphanumeric);
    let left: Vec<Line<'_>> = lines
        .iter()
        .map(|(place, line)| (*place, line.trim()))
        .filter(|(_, line)| has_word(line) && !recurring.contains(line))
        .collect();
    in_lines(&left, false).into_iter().chain(in_turns(&left)).collect()
}

/// The lines that stand many times; none where none of the first ones does.
fn recurring<'l>(lines: &[&Line<'l>]) -> HashSet<&'l str> {
    const HEAD: usize = 256;
    let recurring = |lines: &[&Line<'l>], n: usize| -> HashSet<&'l str> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        lines.iter().for_each(|(_, line)| *counts.entry(line.trim()).or_default() += 1);
        let recurs = |(_, count): &(&str, usize)| *count >= FEWEST && count * RECURS >= n;
        counts.into_iter().filter(recurs).map(|(line, _)| line).collect()
    };
    let head = lines.get(..HEAD).unwrap_or(lines);
    let found = recurring(head, head.len());
    if found.is_empty() || head.len() == lines.len() { found } else { recurring(lines, lines.len()) }
}

/// Ids and captions in the same lines; behind numbers that only count them, there may be others.
fn in_lines(lines: &[Line<'_>], are_behind: bool) -> Option<RecordList> {
    let (body, before) = body(lines)?;
    let parts: Vec<(Position, &str, &str)> = body
        .iter()
        .map(|(place, line)| {
            let (id, rest) = id(line.get(before.len()..)?)?;
            Some((*place, id, rest))
        })
        .collect::<Option<_>>()?;
    let rests: Vec<&str> = parts.iter().map(|(_, _, rest)| *rest).collect();
    let start = start(&rests);
    let is_marked = !before.is_empty() || start.contains(|c: char| !c.is_whitespace());
    let ids: Vec<&str> = parts.iter().map(|(_, id, _)| *id).collect();
    if start.is_empty()
        || !are_ids(&ids, is_marked)
        || !are_behind && body.len() == lines.len() && is_plain(before, start, &ids)
    {
        return None;
    }
    let captions = inner(&rests, start);
    let count = |first: usize| ids.iter().zip(first..).all(|(id, k)| id.parse() == Ok(k));
    if !are_behind && (count(0) || count(1)) {
        let behind: Vec<Line<'_>> =
            parts.iter().zip(&captions).map(|((place, ..), caption)| (*place, *caption)).collect();
        if let Some(list) = in_lines(&behind, true) {
            return Some(list);
        }
    }
    let records = parts.iter().zip(captions).map(|((place, id, _), caption)| (*place, *id, caption));
    let path = match (start.trim(), before.trim()) {
        ("", "") => "lines that begin with an id".to_owned(),
        ("", before) => format!("lines that begin with {before:?} and an id"),
        (start, _) => format!("lines with {start:?} behind ids"),
    };
    list(records.collect(), path)
}

/// Returns true for an id and a caption with nothing but white space or a known sign between them, which are read
/// elsewhere.
fn is_plain(before: &str, start: &str, ids: &[&str]) -> bool {
    let has_digit = |id: &&str| id.contains(|c: char| c.is_ascii_digit());
    before.is_empty()
        && ids.iter().all(has_digit)
        && matches!(start.trim(), "" | ":" | "," | ";" | "|" | ")" | ".")
}

/// Ids in every other line, and captions in those that follow.
fn in_turns(lines: &[Line<'_>]) -> Option<RecordList> {
    if lines.len() < 2 * FEWEST || lines.len() % 2 == 1 {
        return None;
    }
    let half =
        |first: usize| -> Vec<&str> { lines.iter().skip(first).step_by(2).map(|(_, line)| *line).collect() };
    let (heads, rests) = (half(0), half(1));
    let before = before_ids(&heads);
    let ids: Vec<(&str, &str)> =
        heads.iter().map(|head| id(head.get(before.len()..)?)).collect::<Option<_>>()?;
    let (_, behind) = ids.first()?;
    let ids: Vec<&str> = ids.iter().filter(|(_, rest)| rest == behind).map(|(id, _)| *id).collect();
    let have_words = rests.iter().filter(|rest| rest.contains(char::is_whitespace)).count() * 2 > rests.len();
    if ids.len() < heads.len() || !are_ids(&ids, false) || !have_words {
        return None;
    }
    let captions = inner(&rests, start(&rests));
    let places = lines.iter().step_by(2).map(|(place, _)| *place);
    let records = places.zip(ids).zip(captions).map(|((place, id), caption)| (place, id, caption));
    list(records.collect(), "lines in turns".to_owned())
}

fn list(records: Vec<(Position, &str, &str)>, path: String) -> Option<RecordList> {
    let record = |(place, id, caption): (Position, &str, &str)| {
        let caption = Cell::List(vec![Cell::Text(caption.to_owned().into())]);
        let id = Cell::Untyped(id.to_owned().into());
        (place, vec![(FIRST.to_owned(), id), (REST.to_owned(), caption)])
    };
    let sheet = Sheet::new(records.into_iter().map(record).collect())?;
    Some(RecordList { path, sheet, doubt: Doubt::Some })
}

/// The lines of captions, without those above and below, and what stands before the id in each of them.
fn body<'l, 'a>(lines: &'a [Line<'l>]) -> Option<(&'a [Line<'l>], &'l str)> {
    if lines.len() < FEWEST {
        return None;
    }
    let middle = lines.len() / 2;
    let before = before_ids(&[lines.get(middle)?.1, lines.get(middle - 1)?.1]);
    let id = |line: &'l str| Some(id(line.strip_prefix(before)?)?.0);
    let are_letters = id(lines.get(middle)?.1).is_some_and(|id| !is_number(id));
    let is_one = |(_, line): &Line<'l>| {
        id(line).is_some_and(|id| if are_letters { is_letter(id) } else { is_number(id) })
    };
    let first = lines.iter().position(is_one)?;
    let last = lines.iter().rposition(is_one)?;
    let body = lines.get(first..=last)?;
    let is_all = body.len() >= FEWEST && first <= AROUND && lines.len() - last - 1 <= AROUND;
    let is_whole = is_all && 3 * body.len() >= 2 * lines.len() && body.iter().all(is_one);
    is_whole.then_some((body, before))
}

/// What texts begin with before the ids that differ.
fn before_ids<'l>(lines: &[&'l str]) -> &'l str {
    let common = common_start(lines);
    // Letters of scripts without spaces are words of the frame.
    common.trim_end_matches(|c| is_of_id(c) && !is_unspaced(c))
}

fn is_of_id(c: char) -> bool {
    c.is_alphanumeric() || "_-./".contains(c)
}

/// The id at the start of a text, and what follows it.
fn id(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_start_matches(is_of_id);
    let id = text.get(..text.len() - rest.len())?;
    let id = id.trim_end_matches(['.', '-', '_']);
    (!id.is_empty()).then(|| (id, &text[id.len()..]))
}

/// Returns true for words that tell lines apart as no captions do: each is there once and has a digit, or is a letter
/// beside a mark.
fn are_ids(ids: &[&str], is_marked: bool) -> bool {
    let is_id = |id: &&str| is_number(id) || is_marked && is_letter(id);
    if !ids.iter().all(is_id) {
        return false;
    }
    let distinct: HashSet<&&str> = ids.iter().collect();
    distinct.len() == ids.len()
}

fn is_number(id: &str) -> bool {
    id.contains(char::is_numeric)
}

fn is_letter(id: &str) -> bool {
    id.chars().count() == 1
}

/// What stands before the captions in all of these texts: up to the last sign that they share, or white space.
fn start<'l>(texts: &[&'l str]) -> &'l str {
    let common = common_start(texts);
    let is_sign = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
    let end = match common.rfind(is_sign) {
        Some(at) => {
            let behind = common.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            let rest = &common[at + behind..];
            at + behind + rest.len() - rest.trim_start().len()
        }
        None => common.len() - common.trim_start().len(),
    };
    &common[..end]
}

/// The captions in texts that begin in the same way, without the signs that all have at the end.
fn inner<'l>(texts: &[&'l str], start: &str) -> Vec<&'l str> {
    let mut bare: Vec<&str> = texts.iter().map(|text| text.get(start.len()..).unwrap_or_default()).collect();
    // Commas stand between records, and so not behind the last one.
    if let Some((last, others)) = bare.split_last_mut()
        && !last.ends_with(',')
        && others.iter().all(|text| text.ends_with(','))
    {
        others.iter_mut().for_each(|text| *text = text.strip_suffix(',').unwrap_or(text));
    }
    let first = bare.first().copied().unwrap_or_default();
    let is_common = |end: &str| bare.iter().all(|text| text.ends_with(end));
    let signs = first.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
    let ends = first.char_indices().map(|(at, _)| at).filter(|at| *at >= signs);
    let end = ends.filter_map(|at| first.get(at..)).find(|end| is_common(end)).unwrap_or_default();
    // A stop is the caption's own.
    let end = end.trim_start_matches(['.', '!', '?', '。']);
    bare.iter().map(|text| text.strip_suffix(end).unwrap_or(text).trim()).collect()
}

/// The text with which all begin.
fn common_start<'l>(texts: &[&'l str]) -> &'l str {
    let Some((first, others)) = texts.split_first() else { return "" };
    let shared = |end: usize, text: &&str| {
        let pairs = first[..end].char_indices().zip(text.chars());
        pairs.take_while(|((_, a), b)| a == b).last().map_or(0, |((at, c), _)| at + c.len_utf8())
    };
    &first[..others.iter().fold(first.len(), shared)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Vec<Vec<(String, String)>> {
        let lines: Vec<Line<'_>> = lines.iter().map(|line| (Position::default(), *line)).collect();
        let texts = |list: RecordList| {
            let text = |column: usize, row: usize| match &list.sheet.columns[column].cells[row] {
                Cell::List(items) => items.first().map_or_else(String::new, Cell::to_string),
                cell => cell.to_string(),
            };
            (0..list.sheet.len()).map(|row| (text(0, row), text(1, row))).collect()
        };
        all(&lines.iter().collect::<Vec<_>>()).into_iter().map(texts).collect()
    }

    const CAPTIONS: [(&str, &str); 5] = [
        ("71", "A dog runs."),
        ("9", "Two cats on 2 beds."),
        ("305", "A red kite, high up."),
        ("12", "A bowl \"of\" soup."),
        ("8", "Men."),
    ];

    #[test]
    fn any_frame_is_taken_off() {
        let frames: &[&[&str]] = &[
            &["INSERT INTO c VALUES (", ", '", "');"],
            &["{id: ", ", text: '", "'},"],
            &["  [", "] = \"", "\","],
            &["", " & ", " \\\\"],
            &["", " = ", ""],
            &["* `", "` — ", ""],
            &["│ ", " │ ", " │"],
            &["my images/pic ", " ", ""],
            &["Bild Nr. ", "：", ""],
            &["t=5 n=", " text=\"", "\" ok"],
        ];
        let expected: Vec<(String, String)> =
            CAPTIONS.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect();
        for frame in frames {
            let lines: Vec<String> = CAPTIONS
                .iter()
                .map(|(id, text)| format!("{}{id}{}{text}{}", frame[0], frame[1], frame[2]))
                .collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let whole = [&["begin the list", "------"], lines.as_slice(), &["end"]].concat();
            let strip = |found: Vec<Vec<(String, String)>>| found.into_iter().next().unwrap_or_default();
            let ok = |(id, text): &(String, String)| (id.clone(), text.trim_end_matches("\" ok").to_owned());
            for lines in [lines.as_slice(), whole.as_slice()] {
                assert_eq!(strip(read(lines)).iter().map(ok).collect::<Vec<_>>(), expected, "{lines:?}");
            }
        }
    }

    #[test]
    fn ids_may_stand_behind_numbers_that_count() {
        for sign in [":", "^", " ", " | "] {
            let line = |(k, (id, text)): (usize, &(&str, &str))| format!("{k}{sign}{id}{sign}{text}");
            let header = format!("n{sign}image_id{sign}caption");
            let lines: Vec<String> =
                std::iter::once(header).chain(CAPTIONS.iter().enumerate().map(line)).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let found = read(&lines);
            assert_eq!(found[0][2], ("305".to_owned(), CAPTIONS[2].1.to_owned()), "{sign:?}");
        }
    }

    #[test]
    fn ids_and_captions_may_take_turns() {
        for (head, tail, caption) in [
            ("", ":", "    "),
            (">", "", ""),
            ("[", "]", ""),
            ("", "", ""),
            ("Look at ", ".jpg...", "Caption: "),
        ] {
            let lines: Vec<String> = CAPTIONS
                .iter()
                .flat_map(|(id, text)| [format!("{head}{id}{tail}"), format!("{caption}{text}")])
                .collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let found = read(&lines).pop().unwrap_or_default();
            assert_eq!(found.len(), 5, "{lines:?}");
            assert_eq!(found[1].1, "Two cats on 2 beds.", "{lines:?}");
        }
        let proto = CAPTIONS.iter().flat_map(|(id, text)| {
            ["caption {".to_owned(), format!("  id: {id}"), format!("  text: \"{text}\""), "}".to_owned()]
        });
        let proto: Vec<String> = proto.collect();
        let proto: Vec<&str> = proto.iter().map(String::as_str).collect();
        assert_eq!(read(&proto).pop().unwrap_or_default()[2], ("305".to_owned(), CAPTIONS[2].1.to_owned()));
    }

    #[test]
    fn captions_have_no_frame() {
        let export = [
            "[",
            "{id: 1, c: 'A b.'},",
            "{id: 2, c: 'B c.'},",
            "{id: 4, c: 'C d'},",
            "{id: 3, c: 'Dd'}",
            "]",
        ];
        assert_eq!(read(&export)[0][0], ("1".to_owned(), "A b.".to_owned()));
        for lines in [
            ["a photo of a dog", "a photo of 2 cats", "a photo of a kite", "a photo of 2 men"],
            ["a dog runs", "a man eats", "a cat sleeps", "a bird sings"],
            ["two dogs", "two cats and a man", "the end", "a man walks by"],
            ["3 dogs run", "4 cats sleep", "3 kites fly", "a man walks"],
            ["Question: who? dog", "Question: who? man", "Question: who? cat", "Question: who? kite"],
        ] {
            assert!(read(&lines).is_empty(), "{lines:?}");
        }
    }
}
