//! Reads files that no strict reader understood, and tables with more columns than a strict reader needs.

use std::collections::{BTreeSet, HashMap, HashSet};

use capeval_choice::{Argument, Code, Task, counted, suggest};

use super::marks::{is_true, without_rejected};
use super::records::{Doubt, RecordList, SPLIT};
use super::sheet::{Record, Sheet, SheetColumn};
use super::side::joined;
use super::{
    Because, EvidentList, Pick, Reading, column, family, literals, marks, moments, records, text, yaml,
};
use crate::captions::Captions;
use crate::error::{Error, ErrorKind, Position};
use crate::keys::Keys;
use crate::notice::list_ids;
use crate::options::ReadOptions;
use crate::table::{CaptionColumns, Cell, Table};
use crate::{Format, Notice, Remedy, Role, SegmentId};

/// The captions of values that are nested in any way; `None` if there are none in them.
pub(crate) fn read_values(text: &str, name: &str, options: &ReadOptions) -> Result<Option<Captions>, Error> {
    let Some(values) = literals::values(text).or_else(|| yaml::values(text)) else { return Ok(None) };
    let format = if text.trim_start().starts_with('[') { Format::ListJson } else { Format::JsonLines };
    of_lists(records::lists(values), name, options, Some(format))
}

/// The captions of a table whose columns have no known names; `None` if none of them could hold captions.
pub(crate) fn read_table(
    table: Table,
    name: &str,
    options: &ReadOptions,
    format: Format,
) -> Result<Option<Captions>, Error> {
    let records = if has_header(&table) { table.into_records() } else { headless(table) };
    let list = Sheet::new(records).map(|sheet| RecordList { path: String::new(), sheet, doubt: Doubt::None });
    of_lists(list.into_iter().collect(), name, options, Some(format))
}

/// The captions of a value in memory, which is nested in any way; `None` if there are none in it.
///
/// # Errors
/// If it has no records of the wanted splits.
pub fn understand_value(
    value: Cell<'static>,
    name: &str,
    options: &ReadOptions,
) -> Result<Option<Captions>, Error> {
    of_lists(records::lists(vec![value]), name, options, None)
}

/// The captions of columns in memory, which have a cell for each row; `None` if none could hold captions.
///
/// # Errors
/// If no row is of the wanted splits.
pub fn understand_columns(
    columns: Vec<(String, Vec<Cell<'static>>)>,
    name: &str,
    options: &ReadOptions,
) -> Result<Option<Captions>, Error> {
    let rows = columns.iter().map(|(_, cells)| cells.len()).max().unwrap_or_default();
    let place = |row: usize| Position { record: Some(row as u64 + 1), ..Position::default() };
    let mut records: Vec<(Position, Record)> = (0..rows).map(|row| (place(row), Vec::new())).collect();
    for (column, cells) in columns {
        for ((_, record), cell) in records.iter_mut().zip(cells) {
            record.push((column.clone(), cell));
        }
    }
    let list = Sheet::new(records).map(|sheet| RecordList { path: String::new(), sheet, doubt: Doubt::None });
    of_lists(list.into_iter().collect(), name, options, None)
}

/// Returns true if the first row names the columns, rather than being a row like the others.
fn has_header(table: &Table) -> bool {
    const WORDS: usize = 3;
    let is_value = |name: &String| name.split_whitespace().count() >= WORDS || name.parse::<f64>().is_ok();
    // A question may be the name of a column: then another name is unlike the words below it.
    let is_word = |text: &str| !text.trim().is_empty() && !text.trim().contains(char::is_whitespace);
    let differs = |name: &String| {
        let mut cells = table.rows.iter().filter_map(|row| row.get(name)).map(Cell::to_string).peekable();
        !is_word(name) && cells.peek().is_some() && cells.all(|cell| is_word(&cell))
    };
    !table.names.iter().any(is_value) || table.names.iter().any(differs)
}

/// The records of a table without a header, whose first row was taken for one.
fn headless(table: Table) -> Vec<(Position, Record)> {
    let columns: Vec<String> = (1..=table.names.len()).map(|k| format!("column {k}")).collect();
    let names = table.names.clone();
    let of_header = names.iter().map(|name| Cell::Untyped(name.clone().into()).typed());
    let header: Record = columns.iter().cloned().zip(of_header).collect();
    let first = Position { line: Some(1), ..Position::default() };
    let rename = |(place, record): (Position, Record)| {
        let column = |name: String| {
            names.iter().position(|known| *known == name).and_then(|k| columns.get(k).cloned())
        };
        let record = record.into_iter().filter_map(|(name, cell)| Some((column(name)?, cell))).collect();
        (place, record)
    };
    std::iter::once((first, header)).chain(table.into_records().into_iter().map(rename)).collect()
}

/// Keeps beside whole lines the ways to read them as an id and captions.
pub(crate) fn read_lines(captions: &mut Captions, options: &ReadOptions) {
    let lines: Vec<(Position, &str)> =
        (0..captions.len()).map(|row| (captions.position(row), captions.text(row))).collect();
    let lists: Vec<EvidentList> = text::all(&lines, options.role).into_iter().map(EvidentList::new).collect();
    if !lists.is_empty() {
        let reading = Reading {
            lists,
            role: options.role,
            named_id: false,
            named_captions: false,
            current: None,
            is_open: false,
            is_beside: false,
            is_family: false,
            notes: Vec::new(),
            left_out: None,
        };
        captions.set_reading(reading);
    }
}

/// The captions of lines with fields, of which the user named one.
pub(crate) fn read_fields(
    lines: &Captions,
    name: &str,
    options: &ReadOptions,
) -> Result<Option<Captions>, Error> {
    let lines: Vec<(Position, &str)> =
        (0..lines.len()).map(|row| (lines.position(row), lines.text(row))).collect();
    of_lists(text::all(&lines, options.role), name, options, Some(Format::Tsv))
}

/// Refuses captions of which some have no id, although others have one.
fn refuse_row_without_id(
    list: &EvidentList,
    pick: &Pick,
    name: &str,
    options: &ReadOptions,
) -> Result<(), Error> {
    let Some((row, column)) = list.row_without_id(pick) else { return Ok(()) };
    let message = format!("it has no id in {:?}, although others have one", list.path(column));
    let position = list.list.sheet.places.get(row).copied().unwrap_or_default();
    let remedy = Remedy::give(Argument::IdColumn(options.role)).to("name another key");
    let remedy = remedy.or(Remedy::say("leave it out"));
    Err(Error::new(ErrorKind::Id, name, message).at(position).with_remedy(remedy))
}

fn of_lists(
    lists: Vec<RecordList>,
    name: &str,
    options: &ReadOptions,
    format: Option<Format>,
) -> Result<Option<Captions>, Error> {
    let (options, is_joined) = &whole_captions(options);
    let mut lists = lists;
    let (is_split, notices) = select(&mut lists, name, options)?;
    let mut lists: Vec<EvidentList> = lists.into_iter().map(EvidentList::new).collect();
    lists.iter_mut().for_each(|list| list.is_ground = options.role != Role::Candidates);
    if let Some((column, template)) = options.id_template() {
        lists.iter_mut().for_each(|list| template.add_to(list, column));
    } else if let Some(column) = &options.id_column {
        add_named_id(&mut lists, column);
    }
    let Some(first) = lists.iter().position(|list| may_hold_captions(list, options)) else {
        let scores = lists.iter().find(|list| holds_scores(list) && options.caption_columns.is_none());
        return scores.map_or(Ok(None), |scores| Err(scores_for_captions(scores, name)));
    };
    lists.swap(0, first);
    lists.retain(|list| may_hold_captions(list, options));
    let is_plural = find_known(&mut lists, options, name);
    let Some(first) = lists.first() else { return Ok(None) };
    let named = |column: &Option<String>| column.as_ref().and_then(|path| first.list.sheet.find(path));
    let id = named(&options.id_column).or_else(|| first.known_id());
    let captions: Vec<usize> = match &options.caption_columns {
        Some(paths) => paths.iter().filter_map(|path| first.list.sheet.find(path)).collect(),
        None if !first.known.is_empty() => first.known.clone(),
        None => first.caption_columns().into_iter().filter(|column| Some(*column) != id).take(1).collect(),
    };
    let possible = first.caption_columns().into_iter().filter(|column| Some(*column) != id).count();
    let pick = Pick { list: 0, id, captions, is_joined: *is_joined };
    // Readers of files have said so already.
    if format.is_none() {
        refuse_row_without_id(first, &pick, name, options)?;
    }
    if let Some(times) = moments::times(first, &pick).filter(|_| !is_joined) {
        return Err(captions_of_moments(first, &pick, times, name, options));
    }
    let times = moments::starts_and_ends(first, &pick).filter(|_| !is_joined).unwrap_or_default();
    let times: Vec<String> = times.into_iter().map(|column| first.path(column).to_owned()).collect();
    let reading = Reading {
        role: options.role,
        named_id: options.id_column.is_some(),
        named_captions: options.caption_columns.is_some(),
        is_open: options.caption_columns.is_none() && first.known.is_empty() && possible > 1,
        current: Some(pick.clone()),
        is_beside: false,
        is_family: options.role != Role::Candidates && first.known.len() > 1 || is_plural,
        notes: marks::notes(first, &pick, name, options),
        left_out: None,
        lists: Vec::new(),
    };
    let left_out = || family::left_out(first, &pick, name, options.role);
    let left_out = if reading.is_open || reading.named_captions { None } else { left_out() };
    let reading = Reading { left_out, ..reading };
    let mut captions = first.captions(&pick, name, format);
    let layout = captions.layout_mut();
    if options.id_column.is_some() {
        layout.id.because = Because::Named;
    }
    if options.caption_columns.is_some() {
        layout.caption.because = Because::Named;
    }
    if is_split && options.selects() {
        captions.set_split();
    }
    if captions.is_empty() {
        return Ok(None);
    }
    if pick.id.is_none() {
        captions.set_keys(Keys::in_order());
    }
    notices.into_iter().for_each(|notice| captions.notice(notice));
    captions.set_times(times);
    reading.notes().for_each(|notice| captions.notice(notice.clone()));
    captions.set_reading(Reading { lists, ..reading });
    Ok(Some(captions))
}

/// Finds the columns of known names in lists, and their families; returns true if some have plurals.
fn find_known(lists: &mut [EvidentList], options: &ReadOptions, name: &str) -> bool {
    let mut is_plural = false;
    for list in lists {
        list.known = known(list, options, name);
        if options.role == Role::Candidates {
            continue;
        }
        let with_plurals = family::with_plurals(list, list.known.clone());
        is_plural |= with_plurals != list.known;
        list.known = with_plurals;
        if list.known.is_empty() {
            list.known = numbered(list);
        }
    }
    is_plural
}

/// Leaves the records that are wanted: whether the file tells splits, and notices of what was left out.
fn select(
    lists: &mut Vec<RecordList>,
    name: &str,
    options: &ReadOptions,
) -> Result<(bool, Vec<Notice>), Error> {
    let is_split = match &options.split {
        Some(wanted) => split(lists, wanted, name, options)?,
        None => true,
    };
    let mut notices = Vec::new();
    for what in options.dropped() {
        notices.push(without_dropped(lists, what, name, options)?);
    }
    notices.extend(lists.iter_mut().filter_map(|list| without_others(list, name)));
    notices.extend(lists.iter_mut().filter_map(|list| without_rejected(list, name)));
    Ok((is_split, notices))
}

/// The options with the column in braces that the user gave for captions, such as `{sentence}`: all texts of an image
/// in it are one caption.
fn whole_captions(options: &ReadOptions) -> (ReadOptions, bool) {
    let column = match options.caption_columns.as_deref() {
        Some([column]) => column.strip_prefix('{').and_then(|column| column.strip_suffix('}')),
        _ => None,
    };
    let named = column.map(|column| vec![column.to_owned()]).or_else(|| options.caption_columns.clone());
    (ReadOptions { caption_columns: named, ..options.clone() }, column.is_some())
}

fn captions_of_moments(
    list: &EvidentList,
    pick: &Pick,
    times: usize,
    name: &str,
    options: &ReadOptions,
) -> Error {
    let column = pick.captions.first().map_or("", |column| list.path(*column));
    let message = format!(
        "holds captions with times in {:?} (dense video captions), several for a video: they describe moments, which \
         are not matched here",
        list.path(times)
    );
    let paragraph = Remedy::set(Argument::CaptionColumns(options.role), format!("{{{column}}}"))
        .to("score all captions of a video as one paragraph");
    let remedy = Remedy::run(Task::ScoreMoments).to("match the moments").or(paragraph);
    Error::new(ErrorKind::Moments, name, message).with_remedy(remedy)
}

/// Returns true if all columns of a list are numbers apart from ids, and some are fractions.
fn holds_scores(list: &EvidentList) -> bool {
    let columns = &list.list.sheet.columns;
    let all = |is: fn(&Cell<'_>) -> bool| columns.iter().filter(|column| column.cells.iter().all(is)).count();
    let fractions = all(|cell| cell.number().is_some_and(|number| number.fract() != 0.0 || number == 0.0));
    let others = (0..columns.len()).filter(|column| !list.names_image(*column));
    let numbers =
        others.clone().filter(|column| columns[*column].cells.iter().all(|cell| cell.number().is_some()));
    fractions > 0 && numbers.count() == others.count()
}

fn scores_for_captions(list: &EvidentList, name: &str) -> Error {
    let is_score = |column: &usize| !list.names_image(*column);
    let columns = (0..list.list.sheet.columns.len()).filter(is_score);
    let columns: Vec<SegmentId> = columns.map(|column| SegmentId::from(list.path(column))).collect();
    let message = format!("holds numbers, not captions: {}", list_ids(&columns, columns.len()));
    let remedy = Remedy::give(Argument::Scores).to("use them as scores of captions");
    Error::new(ErrorKind::Format, name, message).with_remedy(remedy)
}

/// Adds the column of ids that the user named to the lists that lack it, if a list beside them has it with ids that
/// they share, as COCO's images have file names and annotations do not.
fn add_named_id(lists: &mut [EvidentList], column: &str) {
    let Some(beside) = lists.iter().position(|list| list.list.sheet.find(column).is_some()) else { return };
    let beside = lists[beside].clone();
    let Some(named) = beside.list.sheet.find(column) else { return };
    for list in lists.iter_mut().filter(|list| list.list.sheet.find(column).is_none()) {
        let found = list.id_columns().into_iter().find_map(|own| {
            let cells = &list.list.sheet.columns.get(own)?.cells;
            beside.id_columns().into_iter().find_map(|key| {
                let keys = beside.list.sheet.columns.get(key)?.cells.iter().map(column::id);
                let values = beside.list.sheet.columns.get(named)?.cells.iter().cloned();
                let known: HashMap<Option<SegmentId>, Cell<'static>> = keys.zip(values).collect();
                cells.iter().map(|cell| known.get(&column::id(cell)).cloned()).collect::<Option<Vec<_>>>()
            })
        });
        if let Some(cells) = found {
            list.add_column(SheetColumn { path: column.to_owned(), cells });
        }
    }
}

/// Returns true if a list has the columns that the user named, or else one that could hold captions.
fn may_hold_captions(list: &EvidentList, options: &ReadOptions) -> bool {
    let has = |path: &String| list.list.sheet.find(path).is_some();
    let has_id = options.id_column.as_ref().is_none_or(has);
    has_id
        && match &options.caption_columns {
            Some(paths) => paths.iter().any(has),
            None => !list.caption_columns().is_empty(),
        }
}

/// The columns that could hold captions, if numbers or letters at the end of their names alone tell them apart: they
/// are the references of an image.
fn numbered(list: &EvidentList) -> Vec<usize> {
    let columns = list.caption_columns().into_iter().map(|column| vec![column]).collect();
    match <[_; 1]>::try_from(joined(list, columns)) {
        Ok([columns]) if columns.len() > 1 => columns,
        _ => Vec::new(),
    }
}

/// The columns whose names are known to mean captions, if their values agree.
fn known(list: &EvidentList, options: &ReadOptions, name: &str) -> Vec<usize> {
    let by_name = ReadOptions { id_column: None, caption_columns: None, ..options.clone() };
    let found = CaptionColumns::find_in_object(&list.leaves(), &by_name, name);
    let possible = list.caption_columns();
    let parent = |column: &usize| list.path(*column).rsplit_once('.').map_or("", |(parent, _)| parent);
    let found = found.map(|found| found.captions).unwrap_or_default();
    // Columns on different paths hold different things, whatever their last name is.
    let are_one = found.windows(2).all(|pair| parent(&pair[0]) == parent(&pair[1]));
    found.into_iter().filter(|one| are_one && possible.contains(one)).collect()
}

/// The most splits that a message names.
const SPLITS: usize = 8;

/// Keeps the records of the wanted splits: those whose own column says so, or whose id stands beside a split in another
/// list of the file. Returns false if the file has no splits.
fn split(
    lists: &mut Vec<RecordList>,
    wanted: &[String],
    name: &str,
    options: &ReadOptions,
) -> Result<bool, Error> {
    let is_wanted =
        |cell: &Cell<'_>| column::texts(cell).iter().any(|text| wanted.iter().any(|split| *text == *split));
    let of_split = |list: &RecordList| {
        let names = |path: &str| {
            path == SPLIT || path.to_lowercase().ends_with("split") || path == "subset" || path == "set"
        };
        list.sheet.columns.iter().position(|column| names(&column.path))
    };
    let mut known: Vec<String> = Vec::new();
    let columns = lists.iter().filter_map(|list| list.sheet.columns.get(of_split(list)?));
    for text in columns.flat_map(|column| &column.cells).flat_map(column::texts) {
        if known.len() < SPLITS && !known.iter().any(|one| *one == *text) {
            known.push(text.to_string());
        }
    }
    let found = keep(lists, of_split, is_wanted);
    let is_left = lists.iter().any(|list| list.sheet.len() > 0);
    if found > 0 && !is_left {
        let message = format!(
            "there is no record of the split {}; the splits are {}",
            wanted.join(", "),
            known.join(", ")
        );
        let remedy = Remedy::give(Argument::Split(options.role)).to("name one of these");
        return Err(Error::new(ErrorKind::Split, name, message).with_remedy(remedy));
    }
    lists.retain(|list| list.sheet.len() > 0);
    lists.sort_by_key(|list| std::cmp::Reverse(list.sheet.len()));
    Ok(found > 0)
}

/// Keeps the records with a wanted cell in the column of their list, or beside their id in another one. Returns the
/// number of lists with such a column.
fn keep(
    lists: &mut [RecordList],
    of_list: impl Fn(&RecordList) -> Option<usize>,
    is_wanted: impl Fn(&Cell<'_>) -> bool,
) -> usize {
    let mut ids: Option<(HashSet<String>, HashSet<String>)> = None;
    for list in lists.iter() {
        let Some(column) = of_list(list).and_then(|column| list.sheet.columns.get(column)) else { continue };
        let (mut all, mut chosen) = (HashSet::new(), HashSet::new());
        for (row, cell) in column.cells.iter().enumerate() {
            for other in &list.sheet.columns {
                let Some(id) = other.cells.get(row).and_then(column::id) else { continue };
                all.insert(id.to_string());
                if is_wanted(cell) {
                    chosen.insert(id.to_string());
                }
            }
        }
        ids = Some((all, chosen));
    }
    let found = lists.iter().filter_map(&of_list).count();
    for list in lists.iter_mut() {
        let keep: Option<Vec<bool>> = match (of_list(list), &ids) {
            (Some(column), _) => {
                list.sheet.columns.get(column).map(|column| column.cells.iter().map(&is_wanted).collect())
            }
            (None, Some((all, chosen))) => {
                let column = list.sheet.columns.iter().find(|column| {
                    column
                        .cells
                        .iter()
                        .all(|cell| column::id(cell).is_some_and(|id| all.contains(&id.to_string())))
                });
                let is_chosen =
                    |cell: &Cell<'_>| column::id(cell).is_some_and(|id| chosen.contains(&id.to_string()));
                column.map(|column| column.cells.iter().map(is_chosen).collect())
            }
            (None, None) => None,
        };
        if let Some(keep) = keep {
            list.sheet.retain(&keep);
        }
    }
    found
}

/// Leaves out the records whose key is true, or has the value behind `=`, as the user wants, and says so.
fn without_dropped(
    lists: &mut Vec<RecordList>,
    what: &str,
    name: &str,
    options: &ReadOptions,
) -> Result<Notice, Error> {
    let (key, value) = what.split_once('=').map_or((what, None), |(key, value)| (key, Some(value.trim())));
    let key = key.trim();
    let leaf = |path: &str| path.rsplit_once('.').map_or(path, |(_, leaf)| leaf).to_owned();
    let of_key = |list: &RecordList| {
        let columns = &list.sheet.columns;
        list.sheet.find(key).or_else(|| columns.iter().position(|column| leaf(&column.path) == key))
    };
    let is_kept = |cell: &Cell<'_>| match value {
        Some(value) => cell.to_string() != value && !column::texts(cell).iter().any(|text| *text == value),
        None => !is_true(cell),
    };
    let longest = (0..lists.len()).max_by_key(|k| lists[*k].sheet.len()).unwrap_or_default();
    let n_records = |lists: &[RecordList]| lists.get(longest).map_or(0, |list| list.sheet.len());
    let before = n_records(lists);
    let fault = |message: String| Error::new(ErrorKind::Split, name, message);
    if keep(lists, of_key, is_kept) == 0 {
        let columns = lists.iter().flat_map(|list| &list.sheet.columns);
        let keys = columns.map(|column| leaf(&column.path)).filter(|key| !key.starts_with('('));
        let keys: BTreeSet<String> = keys.collect();
        let message = format!("it has no key '{key}' by which to leave captions out");
        let none = Remedy::set(Argument::Drop(options.role), "none").to("leave none out");
        return Err(fault(message).with_remedy(match keys.is_empty() {
            true => none,
            false => suggest(key, keys.iter().map(String::as_str)).or(none),
        }));
    }
    let n_dropped = before - n_records(lists);
    lists.retain(|list| list.sheet.len() > 0);
    if lists.is_empty() {
        let remedy = Remedy::give(Argument::Drop(options.role)).to("name another value");
        return Err(fault(format!("all captions are left out by {what}")).with_remedy(remedy));
    }
    let message = match n_dropped {
        0 => format!("no record of {name} is left out by {what}"),
        1 => format!("1 record of {name} is left out by {what}"),
        n => format!("{n} records of {name} are left out by {what}"),
    };
    Ok(Notice::new(Code::RejectedCaptions, message).count(n_dropped))
}

/// Leaves out a few records that share no key with the others, such as settings or a summary of results, and says so.
fn without_others(list: &mut RecordList, name: &str) -> Option<Notice> {
    /// At most one of this many records is another one.
    const RARE: usize = 5;
    let rows = list.sheet.len();
    let is_filled = |cell: &Cell<'_>| *cell != Cell::Null;
    let is_common =
        |column: &&SheetColumn| 2 * column.cells.iter().filter(|cell| is_filled(cell)).count() > rows;
    let common: Vec<&SheetColumn> = list.sheet.columns.iter().filter(is_common).collect();
    let is_like_others =
        |row: usize| common.iter().any(|column| column.cells.get(row).is_some_and(is_filled));
    let keep: Vec<bool> = (0..rows).map(is_like_others).collect();
    let left_out: Vec<usize> = (0..rows).filter(|row| !keep[*row]).collect();
    let first = left_out.first().filter(|_| left_out.len() * RARE <= rows)?;
    let message = format!(
        "read {name}: {} {} no key with the others and {} left out (the first one is number {})",
        counted(left_out.len(), "record"),
        if left_out.len() == 1 { "shares" } else { "share" },
        if left_out.len() == 1 { "is" } else { "are" },
        first + 1,
    );
    list.sheet.retain(&keep);
    Some(Notice::new(Code::Reading, message))
}
