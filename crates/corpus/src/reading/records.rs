//! Finds the records of a file in nested values, as in JSON: lists and dictionaries, with or without wrappers.

use std::collections::{HashMap, HashSet};

use super::sheet::{Record, Sheet};
use crate::error::Position;
use crate::table::{Cell, Names, known};

/// Wrappers around records that are nested deeper are not looked into.
const MAX_WRAPPERS: u32 = 5;

/// The name of the column that holds the keys of a dictionary of records.
pub(super) const KEY: &str = "(key)";

/// The name of the labels of an index without a name that do not count the rows of a table.
pub(super) const INDEX: &str = "(index)";

/// The name of the column that holds the values of a dictionary of captions.
pub(super) const VALUE: &str = "(value)";

/// The name of the column that holds the split of a record, where splits are keys.
pub(super) const SPLIT: &str = "(split)";

/// The name of the labels of a data frame that has no name for them, before it is known whether they are ids.
pub(crate) const LABELS: &str = "(labels)";

/// Records within a file.
#[derive(Clone, Debug)]
pub(super) struct RecordList {
    /// The way to them, for people: `results`, or nothing for the file itself.
    pub path: String,
    /// The records as a table.
    pub sheet: Sheet,
    /// How sure it is that these are records.
    pub doubt: Doubt,
}

/// How sure it is that lines of text are records with ids, as far as one side can tell. In doubt, they are that only
/// if the other side has the same ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Doubt {
    #[default]
    None,
    /// They have a form that captions could have as well.
    Some,
    /// They begin or end with numbers, which may be words of captions: `2 dogs run`.
    Bare,
    /// They are labels that count rows, as data frames have them unless they get others.
    Counted,
}

/// The lists of records within the values of a file, those with most records first.
pub(super) fn lists(mut values: Vec<Cell<'static>>) -> Vec<RecordList> {
    let whole = match values.len() {
        1 => values.remove(0),
        _ => Cell::List(values),
    };
    let mut found = Vec::new();
    find(whole, String::new(), MAX_WRAPPERS, &mut found);
    let sheet = |(path, records): (String, Vec<Record>)| {
        let place = |row: usize| Position { record: Some(row as u64 + 1), ..Position::default() };
        let records = records.into_iter().enumerate().map(|(row, record)| (place(row), record)).collect();
        Sheet::new(records).map(|sheet| RecordList { path, sheet, doubt: Doubt::None })
    };
    let mut lists: Vec<RecordList> = found.into_iter().filter_map(sheet).collect();
    lists.sort_by_key(|list| std::cmp::Reverse(list.sheet.len()));
    let counted: Vec<RecordList> = lists.iter_mut().filter_map(without_counts).collect();
    lists.extend(counted);
    lists
}

/// Takes the labels of a data frame out of its records if they only count them. Returns the records with these labels,
/// which are ids if the other side has the same.
fn without_counts(list: &mut RecordList) -> Option<RecordList> {
    let place = list.sheet.columns.iter().position(|column| column.path == LABELS)?;
    let with_name = |list: &RecordList| {
        let mut named = list.clone();
        named.sheet.columns[place].path = KEY.to_owned();
        named
    };
    let cells = &list.sheet.columns[place].cells;
    let are_counted = (0..).zip(cells).all(|(row, cell)| *cell == Cell::Integer(row));
    if !are_counted {
        *list = with_name(list);
        return None;
    }
    let counted = RecordList { doubt: Doubt::Counted, ..with_name(list) };
    list.sheet.columns.remove(place);
    Some(counted)
}

/// Adds the lists of records at and below a value.
fn find(value: Cell<'static>, path: String, levels: u32, found: &mut Vec<(String, Vec<Record>)>) {
    let Some(levels) = levels.checked_sub(1) else { return };
    match value {
        Cell::List(items) => {
            if let Some(records) = of_list(items) {
                found.push((path, records));
            }
        }
        Cell::Object(fields) => of_object(fields, path, levels, found),
        _ => {}
    }
}

/// The records of a list: objects, rows of values, or lists of these, as several processes write them.
fn of_list(items: Vec<Cell<'static>>) -> Option<Vec<Record>> {
    if items.is_empty() {
        return None;
    }
    let all = |is: fn(&Cell<'_>) -> bool| items.iter().all(is);
    if all(|item| matches!(item, Cell::Object(_))) {
        let records: Vec<Record> = items.into_iter().filter_map(fields).collect();
        let records = match unbatched(&records) {
            Some(rows) => rows,
            None => records,
        };
        return Some(if are_single(&records) { keyed(records.into_iter().flatten()) } else { records });
    }
    if all(|item| matches!(item, Cell::List(_))) {
        let rows: Vec<Vec<Cell<'static>>> = items
            .into_iter()
            .filter_map(|item| match item {
                Cell::List(cells) => Some(cells),
                _ => None,
            })
            .collect();
        let is_flat = |row: &Vec<Cell<'_>>| !row.iter().any(|cell| matches!(cell, Cell::Object(_)));
        if !rows.iter().all(is_flat) {
            return of_images(&rows).or_else(|| of_list(rows.into_iter().flatten().collect()));
        }
        let width = rows.first().map_or(0, Vec::len);
        let is_table = width >= 2 && rows.iter().all(|row| row.len() == width);
        let record = |row: Vec<Cell<'static>>| {
            row.into_iter().enumerate().map(|(k, cell)| ((k + 1).to_string(), cell)).collect()
        };
        return is_table.then(|| rows.into_iter().map(record).collect());
    }
    None
}

/// The records of lists of objects, a record for each list, if the objects have no ids of their own: then a list has
/// the captions of an image. Otherwise, lists come from several processes.
fn of_images(lists: &[Vec<Cell<'static>>]) -> Option<Vec<Record>> {
    let mut words: HashMap<&str, usize> = HashMap::new();
    let mut count = 0;
    for list in lists {
        let mut seen: HashSet<(&str, String)> = HashSet::new();
        for object in list {
            let Cell::Object(fields) = object else { return None };
            count += 1;
            for (key, cell) in fields {
                let text = cell.to_string();
                let is_word = !text.is_empty() && !text.contains(char::is_whitespace);
                *words.entry(key).or_default() += usize::from(is_word && seen.insert((key, text)));
            }
        }
    }
    // A process may have images of another one, which fill its last batch.
    if words.values().any(|n| *n == count) {
        return None;
    }
    let record = |list: &Vec<Cell<'static>>| {
        let mut record: Vec<(String, Vec<Cell<'static>>)> = Vec::new();
        for (key, cell) in list.iter().cloned().filter_map(fields).flatten() {
            match record.iter_mut().find(|(known, _)| *known == key) {
                Some((_, cells)) => cells.push(cell),
                None => record.push((key, vec![cell])),
            }
        }
        record.into_iter().map(|(key, cells)| (key, Cell::List(cells))).collect()
    };
    Some(lists.iter().map(record).collect())
}

/// The rows of batches, which are records whose every field is a list of the same length.
fn unbatched(batches: &[Record]) -> Option<Vec<Record>> {
    let items = |cell: &Cell<'static>| match cell {
        Cell::List(items) if kind(cell) == 3 => Some(items.clone()),
        _ => None,
    };
    let mut rows: Vec<Record> = Vec::new();
    let mut has_several = false;
    for batch in batches {
        let columns: Vec<(&String, Vec<Cell<'static>>)> =
            batch.iter().map(|(key, cell)| Some((key, items(cell)?))).collect::<Option<_>>()?;
        let length = columns.first()?.1.len();
        if columns.len() < 2 || columns.iter().any(|(_, items)| items.len() != length) {
            return None;
        }
        has_several |= length > 1;
        let first = rows.len();
        rows.resize(first + length, Vec::new());
        for (key, items) in columns {
            for (row, item) in rows[first..].iter_mut().zip(items) {
                row.push((key.clone(), item));
            }
        }
    }
    has_several.then_some(rows)
}

fn fields(cell: Cell<'static>) -> Option<Record> {
    match cell {
        Cell::Object(fields) => Some(fields),
        _ => None,
    }
}

/// Returns true if each record has a single key of its own: then the keys are ids. Several captions of an image may
/// have the same one, if keys have digits as ids do.
fn are_single(records: &[Record]) -> bool {
    const MOST_OF_IMAGE: usize = 20;
    let mut keys: Vec<&str> = records.iter().filter_map(|record| Some(record.first()?.0.as_str())).collect();
    let all_single = records.iter().all(|record| record.len() == 1);
    keys.sort_unstable();
    keys.dedup();
    let has_digit = |key: &&str| key.bytes().any(|byte| byte.is_ascii_digit());
    let are_repeated =
        || keys.len() >= 2 && keys.len() * MOST_OF_IMAGE >= records.len() && keys.iter().all(has_digit);
    all_single && records.len() >= 2 && (keys.len() * 10 >= records.len() * 9 || are_repeated())
}

/// The records of a dictionary from ids to texts, objects, or lists of them.
fn keyed(fields: impl Iterator<Item = (String, Cell<'static>)>) -> Vec<Record> {
    let mut records = Vec::new();
    for (key, value) in fields {
        let id = || (KEY.to_owned(), Cell::Untyped(key.clone().into()));
        match value {
            Cell::Object(fields) => records.push(std::iter::once(id()).chain(fields).collect()),
            Cell::List(items) if items.iter().any(|item| matches!(item, Cell::Object(_))) => {
                let objects = items.into_iter().filter_map(self::fields);
                records.extend(objects.map(|fields| std::iter::once(id()).chain(fields).collect::<Record>()));
            }
            value => records.push(vec![id(), (VALUE.to_owned(), value)]),
        }
    }
    records
}

/// The kind of a value, by which the values of dictionaries are alike and those of wrappers differ.
fn kind(cell: &Cell<'_>) -> u8 {
    match cell {
        Cell::Object(_) => 1,
        Cell::List(items) if items.iter().any(|item| matches!(item, Cell::Object(_))) => 2,
        Cell::List(_) => 3,
        Cell::Text(_) => 4,
        _ => 5,
    }
}

fn of_object(
    mut fields: Vec<(String, Cell<'static>)>,
    path: String,
    levels: u32,
    found: &mut Vec<(String, Vec<Record>)>,
) {
    if let Some(records) = of_frame(&mut fields) {
        found.push((path, records));
        return;
    }
    if are_splits(&fields) {
        let mut records = Vec::new();
        for (split, value) in fields {
            let mut inner = Vec::new();
            find(value, String::new(), levels, &mut inner);
            let largest = inner.into_iter().max_by_key(|(_, records)| records.len());
            for mut record in largest.into_iter().flat_map(|(_, records)| records) {
                record.push((SPLIT.to_owned(), Cell::Text(split.clone().into())));
                records.push(record);
            }
        }
        found.push((path, records));
        return;
    }
    // An image has no lists of lists, but a wrapper has rows of a table.
    if let [(key, Cell::List(rows))] = fields.as_slice()
        && rows.len() > 1
        && rows.iter().all(|row| matches!(row, Cell::List(_)))
    {
        let (key, rows) = (key.clone(), Cell::List(rows.clone()));
        return find(rows, if path.is_empty() { key } else { format!("{path}.{key}") }, levels, found);
    }
    let first = fields.first().map(|(_, value)| kind(value));
    let are_alike = fields.iter().all(|(_, value)| Some(kind(value)) == first);
    let of_objects = matches!(first, Some(1 | 2));
    let is_dictionary = are_alike && matches!(first, Some(1..=4)) && !(of_objects && is_wrapper(&fields));
    if is_dictionary {
        found.push((path, keyed(fields.into_iter())));
        return;
    }
    for (key, value) in fields {
        let path = if path.is_empty() { key } else { format!("{path}.{key}") };
        find(value, path, levels, found);
    }
}

/// Returns true if an object of objects or of lists wraps a list of records, rather than having a record for each key:
/// its values have nothing in common, or it has a single one.
fn is_wrapper(fields: &[(String, Cell<'static>)]) -> bool {
    const FEW: usize = 6;
    let is_id = |key: &str| key.bytes().any(|byte| byte.is_ascii_digit());
    if let [(_, value)] = fields {
        return match value {
            Cell::List(items) => kind(value) == 2 && items.len() > 1,
            Cell::Object(inner) => {
                let are_records = inner.iter().any(|(_, value)| matches!(kind(value), 1 | 2));
                let are_ids = inner.len() > 1 && inner.iter().all(|(key, _)| is_id(key));
                are_records || inner.len() > FEW || are_ids
            }
            _ => false,
        };
    }
    let mut values = fields.iter().map(|(_, value)| names(value));
    let mut common = values.next().unwrap_or_default();
    let n_first = common.len();
    values.for_each(|names| common.retain(|name| names.contains(name)));
    // Lists of different records stand beside each other, as images and annotations do.
    let are_lists = fields.iter().all(|(_, value)| kind(value) == 2);
    let differ = common.is_empty() || are_lists && common.len() < n_first;
    differ && fields.len() <= FEW && !fields.iter().any(|(key, _)| is_id(key))
}

/// The names of the values of an object, or of the first object in a list.
fn names<'c>(value: &'c Cell<'_>) -> Vec<&'c str> {
    match value {
        Cell::Object(fields) => fields.iter().map(|(key, _)| &**key).collect(),
        Cell::List(items) => items.first().map(names).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Returns true if the keys are names of splits, and the values could be records.
fn are_splits(fields: &[(String, Cell<'static>)]) -> bool {
    const NAMES: &[&str] = &["train", "val", "dev", "test"];
    let is_split = |(key, value): &(String, Cell<'static>)| {
        let key = key.to_lowercase();
        NAMES.iter().any(|name| key.contains(name)) && matches!(kind(value), 1..=3)
    };
    fields.len() >= 2 && fields.iter().all(is_split)
}

/// The rows of `{"columns": […], "index": […], "data": [[…]]}`; `None` for another object. Labels are left out if a
/// column has ids, and are called [`LABELS`] if they have no name.
pub(crate) fn of_split_frame(object: &[(String, Cell<'_>)]) -> Option<Vec<Record>> {
    if !["columns", "data"].iter().all(|name| object.iter().any(|(key, _)| key == name)) {
        return None;
    }
    let mut fields = object.iter().map(|(name, cell)| (name.clone(), cell.clone().into_owned())).collect();
    let mut rows = of_frame(&mut fields)?;
    let names = rows.first()?.iter().map(|(name, _)| name.clone()).filter(|name| name != LABELS);
    if Names(&names.collect::<Vec<_>>()).known(known::IMAGE).is_some() {
        rows.iter_mut().for_each(|row| row.retain(|(name, _)| name != LABELS));
    }
    Some(rows)
}

/// The rows of a data frame, in the forms in which pandas writes one by columns.
fn of_frame(fields: &mut Vec<(String, Cell<'static>)>) -> Option<Vec<Record>> {
    let list = |name: &str| {
        fields.iter().find(|(key, _)| key == name).and_then(|(_, value)| match value {
            Cell::List(items) => Some(items),
            _ => None,
        })
    };
    let labels = |rows: usize| {
        let names = list("index_names").map(Vec::as_slice).unwrap_or_default();
        labels(list("index").filter(|index| index.len() == rows)?, names)
    };
    if let (Some(columns), Some(rows)) = (list("columns"), list("data")) {
        let names: Vec<String> = columns.iter().map(Cell::to_string).collect();
        let labels = labels(rows.len());
        let record = |(k, row): (usize, &Cell<'static>)| match row {
            Cell::List(cells) if cells.len() == names.len() => {
                let values = names.iter().cloned().zip(cells.iter().cloned());
                let labels = labels.iter().filter_map(|labels| labels.get(k)).flatten().cloned();
                Some(values.chain(labels.filter(|(name, _)| !names.contains(name))).collect())
            }
            _ => None,
        };
        return rows.iter().enumerate().map(record).collect();
    }
    if let (3, Some(values)) = (fields.len(), list("data"))
        && let Some((_, name)) = fields.iter().find(|(key, _)| key == "name")
        && let Some(labels) = labels(values.len())
    {
        let name = match name {
            Cell::Text(name) => name.to_string(),
            _ => VALUE.to_owned(),
        };
        let record = |(value, labels): (&Cell<'static>, Record)| {
            std::iter::once((name.clone(), value.clone())).chain(labels).collect()
        };
        return Some(values.iter().zip(labels).map(record).collect());
    }
    if let Some(columns) = list("columns").and_then(|columns| by_series(columns)) {
        return Some(columns);
    }
    if let Some(columns) = by_labels(fields) {
        return Some(columns);
    }
    by_lists(fields)
}

/// The labels of the rows of a data frame, as columns: those of several levels have a name each.
fn labels(index: &[Cell<'static>], names: &[Cell<'static>]) -> Option<Vec<Record>> {
    let name = |level: usize, levels: usize| match names.get(level) {
        Some(Cell::Text(name)) => name.to_string(),
        _ if levels == 1 => LABELS.to_owned(),
        _ => format!("(level {})", level + 1),
    };
    let labels = |label: &Cell<'static>| match label {
        Cell::List(levels) => {
            let named = |(level, cell): (usize, &Cell<'static>)| (name(level, levels.len()), cell.clone());
            levels.iter().enumerate().map(named).collect()
        }
        label => vec![(name(0, 1), label.clone())],
    };
    let labels: Vec<Record> = index.iter().map(labels).collect();
    let levels = labels.first()?.len();
    labels.iter().all(|labels| labels.len() == levels).then_some(labels)
}

/// The rows of `[{name, values}]`, as polars writes columns.
fn by_series(columns: &[Cell<'static>]) -> Option<Vec<Record>> {
    let series = |cell: &Cell<'static>| {
        let Cell::Object(fields) = cell else { return None };
        let name = fields.iter().find_map(|(key, value)| match value {
            Cell::Text(name) if key == "name" => Some(name.to_string()),
            _ => None,
        })?;
        let values = fields.iter().find_map(|(_, value)| match value {
            Cell::List(values) => Some(values.clone()),
            _ => None,
        })?;
        Some((name, values))
    };
    let columns: Vec<(String, Vec<Cell<'static>>)> = columns.iter().map(series).collect::<Option<_>>()?;
    let rows = columns.first()?.1.len();
    let mut records: Vec<Record> = vec![Vec::new(); rows];
    for (name, values) in columns {
        for (record, cell) in records.iter_mut().zip(values) {
            record.push((name.clone(), cell));
        }
    }
    Some(records)
}

/// The rows of `{column: {label: value}}`.
fn by_labels(fields: &mut Vec<(String, Cell<'static>)>) -> Option<Vec<Record>> {
    let labels = |value: &Cell<'static>| match value {
        Cell::Object(inner) => Some(inner.iter().map(|(label, _)| label.clone()).collect::<Vec<_>>()),
        _ => None,
    };
    let first = labels(&fields.first()?.1)?;
    let are_alike = fields.iter().all(|(_, value)| labels(value).is_some_and(|labels| labels == first));
    let are_scalars = |(_, value): &(String, Cell<'static>)| match value {
        Cell::Object(inner) => inner.iter().all(|(_, cell)| !matches!(cell, Cell::Object(_))),
        _ => false,
    };
    // Rows are counted by pandas unless they have labels of their own; then there are more of them than of columns.
    let is_counted = first.iter().enumerate().all(|(row, label)| *label == row.to_string());
    let by_columns = is_counted || first.len() > fields.len() && are_typed(fields);
    if fields.len() < 2 || !are_alike || !fields.iter().all(are_scalars) || !by_columns {
        return None;
    }
    let mut records: Vec<Record> =
        first.iter().map(|label| vec![(KEY.to_owned(), Cell::Untyped(label.clone().into()))]).collect();
    for (name, value) in std::mem::take(fields) {
        let Cell::Object(inner) = value else { continue };
        for (record, (_, cell)) in records.iter_mut().zip(inner) {
            record.push((name.clone(), cell));
        }
    }
    Some(records)
}

/// Returns true if the values of each field have one kind, and those of different fields differ.
fn are_typed(fields: &[(String, Cell<'static>)]) -> bool {
    let kinds = |value: &Cell<'static>| match value {
        Cell::Object(inner) => inner.iter().map(|(_, cell)| kind(cell)).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let kinds: Vec<Vec<u8>> = fields.iter().map(|(_, value)| kinds(value)).collect();
    let is_one = |kinds: &Vec<u8>| kinds.windows(2).all(|pair| pair[0] == pair[1]);
    kinds.iter().all(is_one)
}

/// The rows of `{column: [values]}`, if the columns are of several kinds or are unlike the captions of images.
fn by_lists(fields: &mut Vec<(String, Cell<'static>)>) -> Option<Vec<Record>> {
    let length = |value: &Cell<'static>| match value {
        Cell::List(items) => Some(items.len()),
        _ => None,
    };
    let rows = length(&fields.first()?.1)?;
    let are_equal = fields.iter().all(|(_, value)| length(value) == Some(rows));
    if fields.len() < 2 || !are_equal || rows <= fields.len() {
        return None;
    }
    let are_objects = |value: &Cell<'static>| kind(value) == 2;
    if fields.iter().any(|(_, value)| are_objects(value)) {
        return None;
    }
    let mut records: Vec<Record> = vec![Vec::new(); rows];
    for (name, value) in std::mem::take(fields) {
        let Cell::List(items) = value else { continue };
        for (record, cell) in records.iter_mut().zip(items) {
            record.push((name.clone(), cell));
        }
    }
    Some(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The way to the largest list of records, its paths, and its number of rows.
    fn read(text: &str) -> (String, String, usize) {
        let found = lists(super::super::literals::values(text).expect("values"));
        let first = found.into_iter().next().expect("a list of records");
        let paths: Vec<&str> = first.sheet.columns.iter().map(|column| &*column.path).collect();
        (first.path, paths.join(" "), first.sheet.len())
    }

    #[test]
    fn records_are_found_in_every_wrapper() {
        let list = r#"[{"image_id": 1, "caption": "a dog"}, {"image_id": 2, "caption": "a cat"}]"#;
        let objects = r#"{"1": {"caption": "a dog"}, "2": {"caption": "a cat"}}"#;
        for (text, path, paths, rows) in [
            (list.to_owned(), "", "image_id caption", 2),
            (format!(r#"{{"version": "1", "results": {list}}}"#), "results", "image_id caption", 2),
            (format!(r#"{{"a": {{"n": 1, "b": {list}}}}}"#), "a.b", "image_id caption", 2),
            (format!("[{list}, {list}]"), "", "image_id caption", 4),
            (objects.to_owned(), "", "(key) caption", 2),
            (format!(r#"{{"overall": {{"x": 1}}, "all": {objects}}}"#), "all", "(key) caption", 2),
            (r#"[{"7": "a dog"}, {"9": "a cat"}]"#.to_owned(), "", "(key) (value)", 2),
            (r#"[{"7": "a"}, {"7": "b"}, {"7": "c"}, {"9": "d"}]"#.to_owned(), "", "(key) (value)", 4),
            (r#"[{"c": "a"}, {"c": "b"}, {"c": "c"}, {"t": "d"}]"#.to_owned(), "", "c t", 4),
            (r#"{"7": [{"c": "a"}, {"c": "b"}], "9": [{"c": "d"}]}"#.to_owned(), "", "(key) c", 3),
            (format!(r#"{{"train": {list}, "test": {list}}}"#), "", "image_id caption (split)", 4),
            (r#"[[1, "a dog"], [2, "a cat"]]"#.to_owned(), "", "1 2", 2),
            (r#"{"c": {"0": "a", "1": "b"}, "id": {"0": 1, "1": 2}}"#.to_owned(), "", "(key) c id", 2),
            (
                r#"{"columns": ["id", "c"], "index": [0, 1], "data": [[1, "a"], [2, "b"]]}"#.to_owned(),
                "",
                "id c",
                2,
            ),
            (r#"{"columns": ["c"], "index": [7, 1], "data": [["a"], ["b"]]}"#.to_owned(), "", "c (key)", 2),
            (
                r#"{"index": [7, 1], "columns": ["c"], "data": [["a"], ["b"]], "index_names": ["i"]}"#
                    .to_owned(),
                "",
                "c i",
                2,
            ),
            (r#"{"name": "c", "index": ["x", "y"], "data": ["a", "b"]}"#.to_owned(), "", "c (key)", 2),
            (r#"{"id": [1, 2, 3], "c": ["a", "b", "c"]}"#.to_owned(), "", "id c", 3),
        ] {
            assert_eq!(read(&text), (path.to_owned(), paths.to_owned(), rows), "{text}");
        }
    }
}
