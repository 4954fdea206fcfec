//! Scores in one JSON object as a table is written by its columns: `{"clip": {id: number}}`, lists beside each other,
//! and the forms of pandas.

use super::objects::Object;
use crate::reading::{LABELS, of_split_frame};
use crate::table::{Cell, Names, known};

/// The least number of ids of which the form says that they are ids.
const FEW: usize = 5;

/// An object in another shape.
pub(super) enum Frame<'t> {
    /// Rows with a column of ids.
    Rows(Vec<Object<'t>>),
    /// An object from ids to scores.
    ById(Object<'t>),
}

/// The scores of an object that has columns instead of ids; `None` if it has none.
pub(super) fn read<'t>(object: &Object<'t>) -> Option<Frame<'t>> {
    let split = of_split_frame(object).and_then(|rows| rows.into_iter().map(identified).collect());
    let rows = split.or_else(|| records(object)).or_else(|| lists(object)).or_else(|| indexed(object));
    let keys: Vec<String> = object.iter().map(|(key, _)| key.clone()).collect();
    let is_row = Names(&keys).known(known::IMAGE).is_some();
    let of_one = || by_measure(object).or_else(|| by_system(object)).or_else(|| beside_means(object));
    let by_id = || of_one().filter(|_| !is_row);
    rows.map(Frame::Rows).or_else(|| by_id().map(Frame::ById))
}

/// Names with one of ids; what is called an index, or ids of images, if there is no other.
fn with_id(mut names: Vec<String>) -> Option<Vec<String>> {
    if Names(&names).known(known::IMAGE).is_none() {
        let is_it = |name: &String| {
            let name = name.to_ascii_lowercase();
            name == LABELS || name == "index" || name.ends_with("ids") || name == "images" || name == "keys"
        };
        let at = names.iter().position(is_it)?;
        "image_id".clone_into(&mut names[at]);
    }
    Some(names)
}

/// A row with a column of ids.
fn identified<'t>(row: Object<'t>) -> Option<Object<'t>> {
    let (names, cells): (Vec<String>, Vec<Cell<'t>>) = row.into_iter().unzip();
    Some(with_id(names)?.into_iter().zip(cells).collect())
}

/// `{"schema": …, "data": [{…}]}`, or the only list of objects beside other things.
fn records<'t>(object: &Object<'t>) -> Option<Vec<Object<'t>>> {
    let is_object = |cell: &Cell<'_>| matches!(cell, Cell::Object(_));
    let of_objects = |(_, cell): &'_ &(String, Cell<'t>)| match cell {
        Cell::List(cells) => !cells.is_empty() && cells.iter().all(is_object),
        _ => false,
    };
    let mut lists = object.iter().filter(|(key, _)| key != "schema").filter(of_objects);
    let (Some((_, Cell::List(cells))), None) = (lists.next(), lists.next()) else { return None };
    let row = |cell: &Cell<'t>| match cell {
        Cell::Object(row) => identified(row.clone()),
        _ => None,
    };
    cells.iter().map(row).collect()
}

/// `{"image_ids": […], "clip": […]}`.
fn lists<'t>(object: &Object<'t>) -> Option<Vec<Object<'t>>> {
    let of = |cell: &Cell<'t>| match cell {
        Cell::List(cells) => Some(cells.clone()),
        _ => None,
    };
    let columns: Vec<Vec<Cell<'t>>> = object.iter().map(|(_, cell)| of(cell)).collect::<Option<_>>()?;
    let n = columns.first().map(Vec::len).filter(|n| *n > 0 && columns.len() > 1)?;
    if columns.iter().any(|cells| cells.len() != n) {
        return None;
    }
    let names = with_id(object.iter().map(|(name, _)| name.clone()).collect())?;
    let row = |k: usize| {
        let cells = columns.iter().filter_map(|cells| cells.get(k)).cloned();
        names.iter().cloned().zip(cells).collect()
    };
    Some((0..n).map(row).collect())
}

/// The inner objects, if they have the same keys.
fn alike<'o, 't>(object: &'o Object<'t>) -> Option<Vec<(&'o str, &'o Object<'t>)>> {
    let inner = |(key, cell): &'o (String, Cell<'t>)| match cell {
        Cell::Object(items) => Some((key.as_str(), items)),
        _ => None,
    };
    let inner: Vec<(&str, &Object<'t>)> = object.iter().map(inner).collect::<Option<_>>()?;
    let (_, first) = inner.first().filter(|(_, items)| !items.is_empty())?;
    let is_plain = |(_, cell): &(String, Cell<'_>)| !matches!(cell, Cell::Object(_) | Cell::List(_));
    let is_alike = |items: &&Object<'t>| {
        items.len() == first.len()
            && items.iter().zip(first.iter()).all(|((a, _), (b, _))| a == b)
            && items.iter().all(is_plain)
    };
    inner.iter().all(|(_, items)| is_alike(items)).then_some(inner)
}

/// `{"image_id": {"0": id}, "clip": {"0": number}}`.
fn indexed<'t>(object: &Object<'t>) -> Option<Vec<Object<'t>>> {
    let columns = alike(object)?;
    let names: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    Names(&names).known(known::IMAGE).filter(|_| columns.len() > 1)?;
    let row = |k: usize| {
        let cells = columns.iter().filter_map(|(_, items)| items.get(k)).map(|(_, cell)| cell.clone());
        names.iter().cloned().zip(cells).collect()
    };
    Some((0..columns[0].1.len()).map(row).collect())
}

/// Returns true for a key that can only be an id, by its form.
fn is_id(key: &str) -> bool {
    let is_number = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
    let is_file = key.rsplit_once('.').is_some_and(|(stem, end)| {
        let is_end = (2..=4).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_alphanumeric());
        !stem.is_empty() && is_end && end.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    is_number || is_file || key.contains('/')
}

fn has_digit(key: &str) -> bool {
    key.bytes().any(|byte| byte.is_ascii_digit())
}

/// `{"clip": {id: number}}`, turned to `{id: {"clip": number}}`: the inner keys can only be ids, the outer ones cannot,
/// or the inner ones are many with digits, and the outer ones few without.
fn by_measure<'t>(object: &Object<'t>) -> Option<Object<'t>> {
    let columns = alike(object)?;
    let ids = || columns[0].1.iter().map(|(key, _)| key.as_str());
    let n = ids().count();
    let is_sure = ids().all(is_id) && !columns.iter().any(|(key, _)| is_id(key));
    let is_likely = n >= FEW
        && n > columns.len()
        && ids().all(has_digit)
        && !columns.iter().any(|(key, _)| has_digit(key));
    let is_number = |cell: &Cell<'_>| matches!(cell, Cell::Integer(_) | Cell::Number(_) | Cell::Null);
    let are_numbers = columns.iter().all(|(_, items)| items.iter().all(|(_, cell)| is_number(cell)));
    if !(are_numbers && (is_sure || is_likely)) {
        return None;
    }
    let of = |k: usize| {
        let score = |(name, items): &(&str, &Object<'t>)| Some(((*name).to_owned(), items.get(k)?.1.clone()));
        columns.iter().filter_map(score).collect()
    };
    Some(ids().enumerate().map(|(k, id)| (id.to_owned(), Cell::Object(of(k)))).collect())
}

/// The same for each of several systems.
fn by_system<'t>(object: &Object<'t>) -> Option<Object<'t>> {
    let turned = |(system, cell): &(String, Cell<'t>)| match cell {
        Cell::Object(inner) => Some((system.clone(), Cell::Object(by_measure(inner)?))),
        _ => None,
    };
    object.iter().map(turned).collect()
}

/// `{"scores": {id: number}, "mean": number}`.
fn beside_means<'t>(object: &Object<'t>) -> Option<Object<'t>> {
    let mut inner = object.iter().filter(|(_, cell)| matches!(cell, Cell::Object(_)));
    let (Some((key, Cell::Object(items))), None) = (inner.next(), inner.next()) else { return None };
    let names_no_id = object.iter().all(|(key, _)| !has_digit(key));
    let are_ids = items.len() > 1 && items.iter().all(|(key, _)| is_id(key) || has_digit(key));
    let is_number =
        |(_, cell): &(String, Cell<'_>)| matches!(cell, Cell::Integer(_) | Cell::Number(_) | Cell::Null);
    (object.len() > 1 && names_no_id && are_ids && items.iter().all(is_number) && !is_id(key))
        .then(|| items.clone())
}
