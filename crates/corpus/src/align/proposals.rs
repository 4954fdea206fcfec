//! What ids could mean, where those of candidates and references have nothing in common: another column, or the same
//! ids with something before or after them.

use std::collections::HashSet;

use capeval_choice::Argument;

use super::index::ImageIndex;
use crate::captions::Captions;
use crate::{Remedy, Role, SegmentId};

/// The longest id that is looked into, in bytes.
const ID_BYTES: usize = 200;

/// A remedy that gives every candidate an image; `None` if there is none.
pub(super) fn of(images: &ImageIndex, candidates: &Captions) -> Option<Remedy> {
    let texts = |ids: &[SegmentId]| ids.iter().map(ToString::to_string).collect::<HashSet<String>>();
    let (there, here) = (texts(images.ids()), texts(candidates.ids()));
    let ids = |role: Role, template: String| Remedy::set(Argument::IdColumn(role), template);
    for (column, others) in images.other_ids() {
        let others = texts(others);
        // Of COCO's images, only the first is known.
        let is_first = others.len() == 1 && others.iter().all(|id| here.contains(id));
        if is_first || here.iter().all(|id| others.contains(id)) {
            let why = format!("use {column:?}, whose values are the ids of {}", candidates.source());
            return Some(ids(Role::References, column.clone()).to(why));
        }
    }
    if here.len() < 2 {
        return None;
    }
    if let Some((before, after)) = affixes(&here, &there) {
        let why = format!("write the references' ids as {} does", candidates.source());
        return Some(ids(Role::References, format!("{before}{{}}{after}")).to(why));
    }
    let inner = |id: &&String| affix_of(id, &here).is_some();
    let (before, after) = there.iter().find(inner).and_then(|id| affix_of(id, &here))?;
    let fits = here.iter().all(|id| there.contains(&format!("{before}{id}{after}")));
    let why = format!("write the candidates' ids as {} does", images.source());
    fits.then(|| ids(Role::Candidates, format!("{before}{{}}{after}")).to(why))
}

/// The texts before and after ids of the other side in every id of this one.
fn affixes(here: &HashSet<String>, there: &HashSet<String>) -> Option<(String, String)> {
    let first = here.iter().next()?;
    let (before, after) = affix_of(first, there)?;
    let fits = |id: &String| {
        let inner = id.strip_prefix(&*before).and_then(|rest| rest.strip_suffix(&*after));
        inner.is_some_and(|inner| there.contains(inner))
    };
    here.iter().all(fits).then_some((before, after))
}

/// The texts before and after the longest part of an id that is one of `ids`.
fn affix_of(id: &str, ids: &HashSet<String>) -> Option<(String, String)> {
    if id.len() > ID_BYTES {
        return None;
    }
    let ends: Vec<usize> = id.char_indices().map(|(at, _)| at).chain([id.len()]).collect();
    for length in (1..ends.len()).rev() {
        for pair in ends.windows(length + 1) {
            let (from, to) = (pair[0], pair[length]);
            if id.get(from..to).is_some_and(|inner| ids.contains(inner)) {
                return Some((id[..from].to_owned(), id[to..].to_owned()));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ids: &[&str]) -> HashSet<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    #[test]
    fn affixes_are_those_of_all_ids() {
        let there = set(&["a", "b", "é"]);
        let found = Some(("v_".to_owned(), ".mp4".to_owned()));
        assert_eq!(affixes(&set(&["v_a.mp4", "v_é.mp4"]), &there), found);
        assert_eq!(affixes(&set(&["v_a.mp4", "w_b.mp4"]), &there), None);
        assert_eq!(affix_of("éé", &there), Some((String::new(), "é".to_owned())));
    }
}
