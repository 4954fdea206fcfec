//! Captions of moments of a video, which are no captions of the whole: they stand beside times, several for each video.

use std::collections::HashMap;

use super::sheet::SheetColumn;
use super::{EvidentList, Pick, column};
use crate::table::Cell;

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
