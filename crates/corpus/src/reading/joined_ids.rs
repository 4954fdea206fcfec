//! Builds ids from two columns, such as a scene and an object, or a video and a clip.

use std::collections::HashSet;

use super::side::{Rows, Side};

/// The rows that are looked at.
const ROWS: usize = 200;

/// The columns that are tried.
const COLUMNS: usize = 8;

/// The longest text between two parts of an id, in bytes.
const BETWEEN: usize = 3;

/// A template of two columns of `side` whose values together are ids of `other`.
pub(super) fn of(side: &Side<'_>, other: &Side<'_>) -> Option<String> {
    let there: Vec<&Rows> = other.rows.iter().collect();
    let parts: Vec<&Rows> = side.rows.iter().filter(|rows| rows.id.is_some()).take(COLUMNS).collect();
    for ids in there {
        let known: HashSet<&str> = ids.ids.iter().map(String::as_str).collect();
        for first in &parts {
            for second in parts.iter().filter(|second| second.list == first.list && second.id != first.id) {
                let rows = || first.ids.iter().zip(&second.ids).take(ROWS);
                let between = rows().next().and_then(|(a, b)| between(a, b, &known));
                let Some(between) = between else { continue };
                let fits = rows().all(|(a, b)| known.contains(&*format!("{a}{between}{b}")));
                if fits && rows().len() > 1 {
                    return Some(format!("{{{}}}{between}{{{}}}", name(side, first)?, name(side, second)?));
                }
            }
            let others = parts.iter().filter(|other| other.list == first.list && other.id != first.id);
            let others: Vec<&&Rows> = others.collect();
            for second in &others {
                for third in others.iter().filter(|third| third.id != second.id) {
                    let rows = || first.ids.iter().zip(&second.ids).zip(&third.ids).take(ROWS);
                    let Some(signs) = rows().next().and_then(|((a, b), c)| signs([a, b, c], &known)) else {
                        continue;
                    };
                    let [one, two] = signs;
                    let fits = rows().all(|((a, b), c)| known.contains(&*format!("{a}{one}{b}{two}{c}")));
                    if fits && rows().len() > 1 {
                        let [a, b, c] = [name(side, first)?, name(side, second)?, name(side, third)?];
                        return Some(format!("{{{a}}}{one}{{{b}}}{two}{{{c}}}"));
                    }
                }
            }
        }
    }
    None
}

/// A template of the ids in use and another column that tells rows of `side` with one id apart, if `other` has columns
/// of these names with such values.
pub(super) fn telling(other: &Side<'_>, side: &Side<'_>, ids: &Rows) -> Option<String> {
    let single: HashSet<&String> = ids.ids.iter().collect();
    if single.len() == ids.ids.len() {
        return None;
    }
    let own = name(side, ids)?;
    let there_own = other.rows.iter().find(|rows| name(other, rows) == Some(own))?;
    for second in
        side.rows.iter().filter(|rows| rows.list == ids.list && rows.id != ids.id && rows.id.is_some())
    {
        let pairs: HashSet<(&String, &String)> = ids.ids.iter().zip(&second.ids).collect();
        let called = name(side, second)?;
        let Some(there) = other.rows.iter().find(|rows| name(other, rows) == Some(called)) else { continue };
        let theirs: HashSet<(&String, &String)> = there_own.ids.iter().zip(&there.ids).collect();
        let shared = pairs.iter().filter(|pair| theirs.contains(*pair)).count();
        if pairs.len() == ids.ids.len() && shared == pairs.len() {
            return Some(format!("{{{own}}}|{{{called}}}"));
        }
    }
    None
}

/// The name of the column that identifies rows.
fn name<'s>(side: &'s Side<'_>, rows: &Rows) -> Option<&'s str> {
    let list = side.reading?.lists.get(rows.list)?;
    Some(list.path(rows.id?))
}

/// The texts between three parts of one of the ids.
fn signs<'i>(parts: [&str; 3], ids: &HashSet<&'i str>) -> Option<[&'i str; 2]> {
    let [first, second, third] = parts;
    let inner = |id: &&'i str| {
        let inner = id.strip_prefix(first)?.strip_suffix(third)?;
        let ends = inner.match_indices(second).map(|(at, _)| (&inner[..at], &inner[at + second.len()..]));
        ends.filter(|(a, b)| a.len() <= BETWEEN && b.len() <= BETWEEN && !a.is_empty() && !b.is_empty())
            .map(|(a, b)| [a, b])
            .next()
    };
    ids.iter().filter_map(inner).min_by_key(|[a, b]| (a.len() + b.len(), *a, *b))
}

/// The text between two parts of one of the ids.
fn between<'i>(first: &str, second: &str, ids: &HashSet<&'i str>) -> Option<&'i str> {
    let inner = |id: &&'i str| id.strip_prefix(first)?.strip_suffix(second);
    // A number there is another part.
    let is_sign = |inner: &&str| inner.len() <= BETWEEN && !inner.contains(|c: char| c.is_ascii_digit());
    ids.iter().filter_map(inner).filter(is_sign).min_by_key(|inner| inner.len())
}
