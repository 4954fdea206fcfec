//! Detects captions of moments of a video, rather than of the whole video: several for each video, each with its times.

use std::collections::HashMap;

use super::sheet::SheetColumn;
use super::{EvidentList, Pick, column};
use crate::table::Cell;

/// The columns of starts and ends, by their names and values, if a video has several spans. The other side may name the
/// spans by ids of their own, so that this is told only where a video has several captions.
pub(super) fn starts_and_ends(list: &EvidentList, pick: &Pick) -> Option<Vec<usize>> {
    const STARTS: &[&str] = &["start", "begin", "from", "onset", "t0"];
    const ENDS: &[&str] = &["end", "stop", "until", "offset", "finish", "t1", "to"];
    let sheet = &list.list.sheet;
    // One word of the name, or the start of a name that is one word: start_time, startTime, tStart.
    let is_named = |column: &SheetColumn, words: &[&str]| {
        let name = column.path.rsplit('.').next().unwrap_or_default();
        let mut parts: Vec<String> = vec![String::new()];
        for c in name.chars() {
            if !c.is_alphanumeric() || c.is_uppercase() {
                parts.push(String::new());
            }
            parts.last_mut()?.extend(c.is_alphanumeric().then(|| c.to_ascii_lowercase()));
        }
        parts.iter().find(|part| words.contains(&part.as_str())).map(|_| ())
    };
    let named = |words: &'static [&str]| {
        (0..sheet.columns.len())
            .filter(|place| !pick.captions.contains(place) && pick.id != Some(*place))
            .filter(move |place| is_named(&sheet.columns[*place], words).is_some())
    };
    let id = pick.id?;
    let number = |column: usize, row: usize| match sheet.columns[column].cells.get(row)? {
        Cell::List(_) => None,
        cell => cell.number().filter(|number| number.is_finite()),
    };
    let are_spans = |start: usize, end: usize| {
        let mut met: HashMap<_, (f64, f64)> = HashMap::new();
        let mut differ = false;
        for row in 0..sheet.len() {
            let (Some(from), Some(to)) = (number(start, row), number(end, row)) else { return false };
            if from > to {
                return false;
            }
            if let Some(id) = sheet.columns[id].cells.get(row).and_then(column::id) {
                differ |= met.insert(id, (from, to)).is_some_and(|other| other != (from, to));
            }
        }
        differ
    };
    let pairs = named(STARTS).flat_map(|start| named(ENDS).map(move |end| (start, end)));
    pairs.into_iter().find(|(start, end)| are_spans(*start, *end)).map(|(start, end)| vec![start, end])
}

/// The column of the spans of time beside which the captions of a pick stand, if a video has captions of several spans.
pub(super) fn times(list: &EvidentList, pick: &Pick) -> Option<usize> {
    let sheet = &list.list.sheet;
    let rows = sheet.len();
    let texts = |row: usize| {
        let cells = pick.captions.iter().filter_map(|column| sheet.columns.get(*column)?.cells.get(row));
        cells.map(|cell| column::texts(cell).len()).sum::<usize>()
    };
    let id = |row: usize| pick.id.and_then(|id| column::id(sheet.columns.get(id)?.cells.get(row)?));
    let are_times = |(_, column): &(usize, &SheetColumn)| {
        let spans: Option<Vec<Vec<(f64, f64)>>> = column.cells.iter().map(spans).collect();
        let Some(spans) = spans.filter(|spans| spans.len() == rows && rows > 0) else { return false };
        if !spans.iter().enumerate().all(|(row, spans)| spans.len() == texts(row)) {
            return false;
        }
        let has_list = spans.iter().any(|spans| spans.len() > 1);
        let mut met = HashMap::new();
        let differ = (0..rows).any(|row| {
            let (Some(id), Some(span)) = (id(row), spans[row].first()) else { return false };
            met.insert(id, *span).is_some_and(|other| other != *span)
        });
        has_list || differ
    };
    let mut others = sheet.columns.iter().enumerate().filter(|(place, _)| !pick.captions.contains(place));
    others.find(are_times).map(|(place, _)| place)
}

/// The spans of time in a cell: `[1.5, 7]`, or several, each with an end after its beginning.
fn spans(cell: &Cell<'_>) -> Option<Vec<(f64, f64)>> {
    let Cell::List(items) = cell else { return None };
    let number = |cell: &Cell<'_>| match cell {
        Cell::Integer(_) | Cell::Number(_) => cell.number(),
        _ => None,
    };
    let flat: Option<Vec<f64>> = match items.first()? {
        Cell::List(_) => {
            let pair = |item: &Cell<'_>| match item {
                Cell::List(pair) if pair.len() == 2 => Some(pair.iter().map(number).collect::<Vec<_>>()),
                _ => None,
            };
            let pairs: Option<Vec<Vec<Option<f64>>>> = items.iter().map(pair).collect();
            pairs?.into_iter().flatten().collect()
        }
        _ => items.iter().map(number).collect(),
    };
    let flat = flat.filter(|flat| flat.len() % 2 == 0)?;
    let spans: Vec<(f64, f64)> = flat.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    spans.iter().all(|(start, end)| start < end).then_some(spans)
}
