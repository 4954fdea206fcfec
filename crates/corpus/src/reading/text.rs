//! Reads plain text whose lines have fields: an id before or after a caption, or columns without a header.
//!
//! A way to read lines is proposed if all lines have its form. The form of an id says how certain that is ([`Doubt`]);
//! the ids of the other side decide whether that way is chosen.

use std::collections::{HashMap, HashSet};

use super::records::{Doubt, RecordList};
use super::sheet::{Record, Sheet};
use super::{frames, literals};
use crate::Role;
use crate::error::Position;
use crate::table::{Cell, header_sign, remarks};

/// Separators of an id from its caption, those that are rare in captions first. White space is the last resort.
const SEPARATORS: &[&str] = &["\t", "|||", "|", ";", ",", "::", ": ", ":", " "];

/// Those of an id behind its caption. Between tabs, fields are columns, and their order does not matter.
const LAST_SEPARATORS: &[&str] = &["|||", "|", ";", ",", "::", " "];

/// Those between columns, of which the first line may be a header.
const COLUMNS: &[&str] = &["\t", "|||", "|", ";", ","];

/// What ids of lines are called, if each line has one.
pub(super) const FIRST: &str = "first field";
pub(super) const LAST: &str = "last field";
pub(super) const REST: &str = "the rest";

/// The number of a block, which stands in no line.
pub(super) const BLOCK: &str = "block";

/// The ways to read lines; those of references may be blocks.
pub(super) fn all(lines: &[(Position, &str)], role: Role) -> Vec<RecordList> {
    let blocks = blocks(lines).filter(|_| role != Role::Candidates);
    lists(lines).into_iter().chain(blocks).collect()
}

/// A line and its position.
type Line<'l> = (Position, &'l str);

/// The ways to read lines as an id and the rest, or as several fields, for those who know which ids there are.
fn lists(lines: &[Line<'_>]) -> Vec<RecordList> {
    let remarks = remarks(lines.iter().map(|(_, line)| *line));
    let remarks = if remarks < lines.len() { remarks } else { 0 };
    let all = lines.iter().skip(remarks).filter(|(_, line)| !line.trim().is_empty());
    let all: Vec<&Line<'_>> = all.collect();
    let Some((_, first)) = all.first() else { return Vec::new() };
    // The first line may be a header.
    let is_header = |separator: &str| {
        let is_word = |field: &str| !field.is_empty() && !field.trim().contains(char::is_whitespace);
        first.contains(separator) && first.split(separator).all(is_word)
    };
    let signs = signs_behind_id(first);
    let (last, known) = SEPARATORS.split_last().map_or(("", &[][..]), |(last, known)| (*last, known));
    let separators = known.iter().copied().chain(signs).chain([last]);
    let below = COLUMNS.iter().copied().filter(|separator| is_header(separator));
    let mut lists = Vec::new();
    let mut taken: Vec<&str> = Vec::new();
    for separator in separators {
        if taken.iter().any(|before| are_before(&all, before, separator)) {
            continue;
        }
        if let Some(list) = before_captions(&all, separator) {
            taken.push(separator);
            lists.push(list);
        }
    }
    let below = below.chain(header_sign(first));
    lists.extend(below.filter_map(|separator| before_captions(all.get(1..).unwrap_or_default(), separator)));
    lists.extend(LAST_SEPARATORS.iter().filter_map(|separator| behind_captions(&all, separator)));
    lists.extend(log(&all));
    lists.extend(labelled(&all));
    let bare: Vec<RecordList> = lists.iter().filter_map(without_signs).collect();
    lists.extend(bare);
    lists.extend(frames::all(&all));
    lists.retain(|list| list.sheet.len() >= 2);
    lists
}

/// The signs between an id at the start of a line and its caption, if they are no known separator: `@@`, `~`, `->`.
fn signs_behind_id(line: &str) -> Option<&str> {
    let is_of_id = |c: char| c.is_alphanumeric() || "_-./".contains(c);
    let closing = |open: char| Some([')', ']', '}', '>', '"']["([{<\"".find(open)?]);
    let close = line.chars().next().and_then(closing).and_then(|close| line.get(1..)?.find(close));
    let rest = match close {
        Some(close) => line.get(close + 2..).unwrap_or_default(),
        None => line.trim_start_matches(is_of_id),
    };
    let is_sign = |c: char| !c.is_alphanumeric() && !c.is_whitespace() && !"\"'([{<#".contains(c);
    let signs = &rest[..rest.len() - rest.trim_start_matches(is_sign).len()];
    (rest.len() < line.len() && !signs.is_empty() && !SEPARATORS.contains(&signs)).then_some(signs)
}

/// Returns true if one separator stands before another one, or at its place, in every line.
fn are_before(lines: &[&Line<'_>], one: &str, other: &str) -> bool {
    let place = |line: &str, separator: &str| match separator {
        " " => {
            line.trim_start().find(char::is_whitespace).map(|at| at + line.len() - line.trim_start().len())
        }
        separator => line.find(separator),
    };
    lines.iter().all(|(_, line)| {
        place(line, one).is_some_and(|one| place(line, other).is_none_or(|other| one <= other))
    })
}

/// Lines as an id and the rest, if all have the separator and what stands before it may be an id.
fn before_captions(lines: &[&Line<'_>], separator: &str) -> Option<RecordList> {
    // Most files are plain captions, of which nothing is copied.
    let parts: Option<Vec<(&str, &str)>> = lines.iter().map(|(_, line)| split(line, separator)).collect();
    let parts = parts?;
    let fields: Vec<&str> = parts.iter().map(|(field, _)| *field).collect();
    let is_constant = fields.windows(2).all(|pair| pair[0] == pair[1]);
    if is_constant && fields.len() > 1 && !matches!(separator, "\t" | "|||" | " ") {
        return None;
    }
    let label = label(&fields);
    let is_apart = !matches!(separator, "," | ":") || !parts.iter().all(|(_, rest)| begins_with_digit(rest));
    let doubt = match label {
        Some(_) => Doubt::None,
        None => doubt(&fields, separator).filter(|_| is_apart)?,
    };
    if parts.iter().filter(|(_, rest)| rest.trim().is_empty()).count() * 5 > parts.len() {
        return None;
    }
    if separator == " "
        && let Some(list) = of_columns(lines, doubt)
    {
        return Some(list);
    }
    let mark = mark(parts.iter().map(|(_, rest)| *rest));
    let records = lines.iter().zip(&parts);
    let record =
        |((place, _), parts): (&&Line<'_>, &(&str, &str))| (*place, record(*parts, separator, label, mark));
    let path = match separator {
        "\t" => "lines with tabs".to_owned(),
        " " => "lines that begin with a word".to_owned(),
        separator => format!("lines with {:?}", separator.trim()),
    };
    let sheet = Sheet::new(records.map(record).collect())?;
    Some(RecordList { path, sheet, doubt })
}

/// Lines that begin with words that all share and a number, as in `step 21 a dog` and `img 21 - a dog`.
fn labelled(lines: &[&Line<'_>]) -> Option<RecordList> {
    const MOST: usize = 2;
    let (_, first) = lines.first()?;
    let has_digit = |word: &str| word.contains(|c: char| c.is_ascii_digit());
    let label = first.split_whitespace().take_while(|word| !has_digit(word)).count();
    if !(1..=MOST).contains(&label) {
        return None;
    }
    let labels: Vec<&str> = first.split_whitespace().take(label).collect();
    let parts = |line: &'_ str| {
        let mut rest = line.trim_start();
        for word in &labels {
            rest = rest.strip_prefix(word)?.strip_prefix(char::is_whitespace)?.trim_start();
        }
        let (number, rest) = rest.split_once(char::is_whitespace)?;
        let number = number.trim_matches(|c: char| !c.is_alphanumeric());
        let is_id = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.is_empty();
        is_id.then(|| (number.to_owned(), rest.trim().to_owned()))
    };
    let parts: Vec<(String, String)> = lines.iter().map(|(_, line)| parts(line)).collect::<Option<_>>()?;
    let mark = mark(parts.iter().map(|(_, rest)| rest.as_str()));
    let record = |((place, _), (id, rest)): (&&Line<'_>, &(String, String))| {
        (*place, record((id.as_str(), rest.as_str()), " ", None, mark))
    };
    let sheet = Sheet::new(lines.iter().zip(&parts).map(record).collect())?;
    let path = format!("lines that begin with {:?} and a number", labels.join(" "));
    Some(RecordList { path, sheet, doubt: Doubt::Some })
}

/// Records whose ids are numbers between signs that all share, as in `id=21`, `#21` and `21/24`, with the numbers
/// alone; `None` if there are no such signs.
fn without_signs(list: &RecordList) -> Option<RecordList> {
    let column = list.sheet.columns.iter().position(|column| column.path == FIRST)?;
    let ids: Vec<String> = list.sheet.columns[column].cells.iter().map(Cell::to_string).collect();
    let first = ids.first()?;
    let start = first.find(|c: char| c.is_ascii_digit())?;
    let (before, rest) = first.split_at(start);
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_sign = |c: char| !c.is_alphanumeric() && !"_-/.".contains(c);
    let total = behind.strip_prefix('/').filter(|total| number(total).is_some());
    let is_bare = before.is_empty() && behind.is_empty();
    if is_bare || !(before.is_empty() || before.ends_with(is_sign)) || !(behind.is_empty() || total.is_some())
    {
        return None;
    }
    let inner = |id: &String| {
        let inner = id.strip_prefix(before)?.strip_suffix(behind)?;
        let is_number = !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Cell::Untyped(inner.to_owned().into()))
    };
    let cells = ids.iter().map(inner).collect::<Option<Vec<_>>>()?;
    let mut bare = list.clone();
    bare.sheet.columns[column].cells = cells;
    bare.doubt = if list.doubt == Doubt::None { Doubt::Some } else { list.doubt };
    Some(bare)
}

/// Lines as an id and the rest before it, if all end with what may be an id.
fn behind_captions(lines: &[&Line<'_>], separator: &str) -> Option<RecordList> {
    let parts: Option<Vec<(&str, &str)>> =
        lines.iter().map(|(_, line)| split_last(line, separator)).collect();
    let parts = parts?;
    let are_in_brackets = parts.iter().all(|(_, id)| unbracketed(id) != *id);
    let are_numbers = parts.iter().all(|(_, id)| number(id).is_some());
    let doubt = if separator == " " && are_numbers && !are_in_brackets { Doubt::Bare } else { Doubt::Some };
    let path = match separator {
        " " => "lines that end with a word".to_owned(),
        separator => format!("lines with {separator:?} before their last field"),
    };
    let record = |((place, _), (rest, id)): (&&Line<'_>, &(&str, &str))| {
        let id = Cell::Untyped(unbracketed(id).to_owned().into());
        let rest = Cell::List(vec![text(rest.trim_end())]);
        (*place, vec![(LAST.to_owned(), id), (REST.to_owned(), rest)])
    };
    let sheet = Sheet::new(lines.iter().zip(&parts).map(record).collect())?;
    Some(RecordList { path, sheet, doubt })
}

/// Lines of several fields before a caption between spaces, such as those of TREC: numbers that count or do not vary
/// stand beside the ids, and a score may stand at the end.
fn of_columns(lines: &[&Line<'_>], doubt: Doubt) -> Option<RecordList> {
    const MOST: usize = 3;
    let words: Vec<Vec<&str>> = lines.iter().map(|(_, line)| line.split_whitespace().collect()).collect();
    let column = |k: usize| words.iter().map(|words| words.get(k).copied()).collect::<Option<Vec<&str>>>();
    let mut fields = vec![column(0)?];
    while fields.len() < MOST {
        let Some(next) = column(fields.len()).filter(|next| {
            words.iter().any(|words| words.len() > fields.len() + 1) && is_beside_ids(next, &fields)
        }) else {
            break;
        };
        fields.push(next);
    }
    let is_score = |word: &&str| word.contains('.') && word.parse::<f64>().is_ok();
    let scores: Option<Vec<&str>> =
        words.iter().map(|words| words.last().copied().filter(is_score)).collect();
    let scores = scores.filter(|scores| scores.len() > 2);
    if fields.len() == 1 && scores.is_none() {
        return None;
    }
    let record = |(row, (place, _)): (usize, &&Line<'_>)| {
        let names = std::iter::once(FIRST.to_owned()).chain((2..).map(|k| format!("field {k}")));
        let cells = fields.iter().map(|column| Cell::Untyped(column[row].to_owned().into()));
        let end = words[row].len() - usize::from(scores.is_some());
        let caption = words[row].get(fields.len()..end).unwrap_or_default().join(" ");
        let mut record: Record = names.zip(cells).collect();
        record.push((REST.to_owned(), Cell::List(vec![text(&caption)])));
        record.extend(
            scores.as_ref().map(|scores| (LAST.to_owned(), Cell::Untyped(scores[row].to_owned().into()))),
        );
        (*place, record)
    };
    let sheet = Sheet::new(lines.iter().enumerate().map(record).collect())?;
    Some(RecordList { path: "lines that begin with a word".to_owned(), sheet, doubt })
}

/// Returns true if words that follow others at the start of all lines are no words of captions: ids behind a number
/// that does not vary, such a number, or numbers that tell lines apart as no captions do.
fn is_beside_ids(words: &[&str], before: &[Vec<&str>]) -> bool {
    const ENOUGH: usize = 5;
    let is_constant = |words: &[&str]| words.windows(2).all(|pair| pair[0] == pair[1]);
    let is_filler = |words: &[&str]| {
        is_constant(words)
            && words.first().is_some_and(|word| {
                matches!(*word, "0" | "Q0") || words.len() >= ENOUGH && number(word).is_some()
            })
    };
    let distinct: HashSet<&&str> = words.iter().collect();
    let are_numbers = words.iter().all(|word| number(word).is_some());
    let are_ids = are_numbers
        && (distinct.len() == words.len() && words.iter().all(|word| is_telling(word)) || counts(words));
    let is_behind_filler = before.last().is_some_and(|before| is_filler(before))
        && (are_numbers || words.iter().all(|word| is_name(word)));
    is_filler(words) || are_ids || is_behind_filler && !is_constant(words)
}

/// Returns true if words are all numbers from 0 or 1 on, in any order, each once.
fn counts(words: &[&str]) -> bool {
    let numbers: HashSet<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let n = words.len();
    n > 2
        && numbers.len() == n
        && (numbers.iter().all(|k| *k < n) || numbers.iter().all(|k| (1..=n).contains(k)))
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
        let fields = [(BLOCK, Cell::Integer(number)), ("the lines", Cell::List(texts))];
        (block[0].0, fields.map(|(name, cell)| (name.to_owned(), cell)).into())
    };
    let records = blocks.into_iter().zip(1..).map(record).collect();
    let sheet = Sheet::new(records)?;
    Some(RecordList { path: "blocks between blank lines".to_owned(), sheet, doubt: Doubt::None })
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
        let is_kind = kind.len() > 1 && kind.bytes().rev().skip(1).all(|byte| byte.is_ascii_alphabetic());
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
    let doubt = if kinds.len() > 1 { Doubt::None } else { Doubt::Some };
    let sheet = Sheet::new(records)?;
    Some(RecordList { path: format!("lines with {}", kinds.join(", ")), sheet, doubt })
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

/// Whether fields before a separator are ids: names with a digit or a sign, or numbers, which are in doubt unless they
/// count from 0 or 1; `None` if they are none. Between tabs there may be any words, which no caption has.
fn doubt(fields: &[&str], separator: &str) -> Option<Doubt> {
    if matches!(separator, "\t" | "|||") {
        return Some(Doubt::None);
    }
    if fields.iter().all(|field| is_name(field)) {
        return Some(Doubt::None);
    }
    if !fields.iter().all(|field| number(field).is_some() || is_compound(field)) {
        return None;
    }
    let numbers: Vec<i64> = fields.iter().filter_map(|field| number(field)).collect();
    let are_whole = numbers.len() == fields.len();
    let follows = |pair: &[i64]| pair[1] == pair[0] || pair[0].checked_add(1) == Some(pair[1]);
    let is_count = are_whole && matches!(numbers.first(), Some(0 | 1)) && numbers.windows(2).all(follows);
    let is_marked = |field: &&str| field.ends_with(['.', ')', ':']);
    Some(match separator {
        _ if is_count => Doubt::None,
        " " if !fields.iter().all(is_marked) => Doubt::Bare,
        _ => Doubt::Some,
    })
}

/// Returns true for a word with a digit or a sign that is no number.
fn is_name(field: &str) -> bool {
    let has = |is: fn(char) -> bool| field.contains(is);
    !has(char::is_whitespace)
        && has(|c| c.is_ascii_digit() || "._-/#".contains(c))
        && has(|c| c.is_alphabetic() || "_#".contains(c))
        && number(field).is_none()
        && field.parse::<f64>().is_err()
}

/// Returns true for digits with signs between them, but for fractions: `2,000`, `10:30`, `2024-05`.
fn is_compound(field: &str) -> bool {
    let has = |is: fn(char) -> bool| field.contains(is);
    has(|c| c.is_ascii_digit())
        && !has(|c| c.is_alphabetic() || c.is_whitespace())
        && number(field).is_none()
        && field.parse::<f64>().is_err()
}

/// The whole number that a field is, also with what lists write behind numbers; the largest one for longer ones.
fn number(field: &str) -> Option<i64> {
    let field = unbracketed(field.trim_end_matches(['.', ')', ':']));
    let digits = field.strip_prefix('-').unwrap_or(field);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| field.parse().unwrap_or(i64::MAX))
}

/// Returns true for a text that is an id rather than a count, a time or a year: it is no number, or a long one.
pub(super) fn is_telling(id: &str) -> bool {
    const LONG: usize = 5;
    let digits = id.bytes().filter(u8::is_ascii_digit).count();
    let is_number = digits > 0 && !id.contains(|c: char| c.is_alphabetic() || "_#".contains(c));
    let has_zero = digits == id.len() && id.len() > 1 && id.starts_with('0');
    !is_number || has_zero || digits >= LONG && !id.contains([',', ':'])
}

fn begins_with_digit(text: &str) -> bool {
    text.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
}

/// The field before the first separator of a line, which may be an id, and the rest. A name alone is an id without a
/// caption.
fn split<'l>(line: &'l str, separator: &str) -> Option<(&'l str, &'l str)> {
    let is_alone = || {
        number(line.trim()).is_some() || is_name(line.trim()) && line.contains(|c: char| c.is_ascii_digit())
    };
    let (first, rest) = match separator {
        " " => match line.trim_start().split_once(char::is_whitespace) {
            Some((first, rest)) => (first, rest),
            None => is_alone().then_some((line, ""))?,
        },
        separator => line.split_once(separator)?,
    };
    let first = first.trim();
    let is_tabbed = separator == " " && line.trim_start().as_bytes().get(first.len()) == Some(&b'\t');
    (!first.is_empty() && !first.contains('\t') && !is_tabbed).then(|| (unnumbered(unquoted(first)), rest))
}

/// The text before the last separator of a line, and the field behind it, which may be an id: a name with a digit, a
/// number, or what stands in brackets.
fn split_last<'l>(line: &'l str, separator: &str) -> Option<(&'l str, &'l str)> {
    let line = line.trim_end();
    let (rest, last) = match separator {
        " " => line.rsplit_once(char::is_whitespace)?,
        separator => line.rsplit_once(separator)?,
    };
    let last = unquoted(last.trim());
    let inner = unbracketed(last);
    let is_name = is_name(inner) && inner.contains(|c: char| c.is_ascii_digit());
    let is_id = !inner.ends_with(['.', '!', '?']) && (number(inner).is_some() || is_name);
    (is_id && !line.contains('\t') && !rest.trim().is_empty()).then_some((rest, last))
}

/// The word without letters and digits with which all texts behind ids begin, such as `=>`, or the key of their values,
/// as in `caption=a dog`: it parts ids from captions.
fn mark<'r>(mut rests: impl Iterator<Item = &'r str>) -> Option<&'r str> {
    let first = |rest: &'r str| rest.split_whitespace().next();
    let one = first(rests.next()?)?;
    let is_name =
        |key: &str| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if let Some(key) = one.find('=').filter(|at| is_name(&one[..*at])).and_then(|at| one.get(..=at)) {
        return rests.all(|rest| rest.trim_start().starts_with(key)).then_some(key);
    }
    let mark = Some(one).filter(|word| !word.contains(char::is_alphanumeric))?;
    rests.all(|rest| first(rest) == Some(mark)).then_some(mark)
}

/// An id and the rest of a line, without the mark between them. Between tabs and `|||`, there may be several captions.
fn record((first, rest): (&str, &str), separator: &str, label: Option<&str>, mark: Option<&str>) -> Record {
    let rest = mark.and_then(|mark| rest.trim_start().strip_prefix(mark)).unwrap_or(rest);
    let first = label.and_then(|label| first.strip_prefix(label)).unwrap_or(first).trim_start();
    let rest: Vec<Cell<'static>> = match separator {
        "\t" | "|||" => {
            rest.split(separator).map(str::trim).filter(|field| !field.is_empty()).map(text).collect()
        }
        _ => vec![text(rest.trim())],
    };
    let id = Cell::Untyped(unbracketed(first).trim_end_matches(['.', ')', ':']).to_owned().into());
    let rest = match <[_; 1]>::try_from(rest) {
        Ok([value @ (Cell::List(_) | Cell::Object(_))]) => value,
        Ok([text]) => Cell::List(vec![text]),
        Err(rest) => Cell::List(rest),
    };
    vec![(FIRST.to_owned(), id), (REST.to_owned(), rest)]
}

/// A field as a text, or as the values of JSON within it.
fn text(field: &str) -> Cell<'static> {
    if field.starts_with(['[', '{'])
        && let Some([value]) = literals::values(field).and_then(|values| <[_; 1]>::try_from(values).ok())
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

/// A field without the brackets around it, with the colon that may follow them.
fn unbracketed(field: &str) -> &str {
    let closed = field.strip_suffix(':').unwrap_or(field);
    let pairs = [('[', ']'), ('(', ')'), ('<', '>'), ('{', '}')];
    let inner = |(open, close): (char, char)| closed.strip_prefix(open)?.strip_suffix(close);
    let inner = pairs.into_iter().find_map(inner).map(str::trim).filter(|inner| !inner.is_empty());
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
        assert_eq!(ways(&[&format!("{largest} a dog"), "5 a cat"]), ["lines that begin with a word"]);
    }

    #[test]
    fn a_mark_between_ids_and_captions_is_no_word() {
        assert_eq!(mark(["=> a dog", " => a cat"].into_iter()), Some("=>"));
        assert_eq!(mark(["- a dog", "a cat"].into_iter()), None);
        let caption = |record: Option<Record>| record.unwrap().pop().unwrap().1;
        let with = |line, mark| caption(Some(record(split(line, " ").unwrap(), " ", None, mark)));
        assert_eq!(with("v1 => a dog", Some("=>")), with("v1 a dog", None));
    }
}
