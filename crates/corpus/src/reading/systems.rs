//! Reads the captions of several systems from one table, with the name of the system in each row.

use std::collections::{HashMap, HashSet};

use super::sheet::SheetColumn;
use super::{EvidentList, Pick, column};
use crate::SegmentId;
use crate::table::Cell;

/// With more names, a column names something else.
const MOST: usize = 32;

/// The column that names the system of each caption, and these names: an image has one caption of each system at most,
/// and no system has less than half as many as another. Numbers are no names, but count the captions of an image.
pub(super) fn of(list: &EvidentList, pick: &Pick) -> Option<(String, Vec<SegmentId>)> {
    let columns = &list.list.sheet.columns;
    let ids = &columns.get(pick.id?)?.cells;
    let names = |cells: &[Cell<'_>]| {
        let mut names: Vec<SegmentId> = Vec::new();
        let mut images: HashMap<&str, HashSet<SegmentId>> = HashMap::new();
        for (id, cell) in ids.iter().zip(cells) {
            let (Cell::Text(name) | Cell::Untyped(name)) = cell else { return None };
            let known = images.entry(name).or_default();
            if known.is_empty() {
                names.push(SegmentId::from(&**name));
            }
            let is_name = !name.trim().is_empty() && name.parse::<f64>().is_err();
            if !is_name || names.len() > MOST || !known.insert(column::id(id)?) {
                return None;
            }
        }
        let most = images.values().map(HashSet::len).max()?;
        let are_systems = names.len() > 1 && most > 1 && images.values().all(|known| known.len() * 2 >= most);
        are_systems.then_some(names)
    };
    let is_other = |(place, _): &(usize, &SheetColumn)| {
        let is_constant = list.evidence.get(*place).is_none_or(|evidence| evidence.is_constant);
        !is_constant && pick.id != Some(*place) && !pick.captions.contains(place)
    };
    let mut others = columns.iter().enumerate().filter(is_other);
    others.find_map(|(_, column)| Some((column.path.clone(), names(&column.cells)?)))
}
