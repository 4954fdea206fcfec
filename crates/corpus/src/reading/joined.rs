//! Ids that two columns make together, such as a scene and an object, or a video and a clip.

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

/// The text between two parts of one of the ids.
fn between<'i>(first: &str, second: &str, ids: &HashSet<&'i str>) -> Option<&'i str> {
    let inner = |id: &&'i str| id.strip_prefix(first)?.strip_suffix(second);
    ids.iter().filter_map(inner).filter(|inner| inner.len() <= BETWEEN).min_by_key(|inner| inner.len())
}
