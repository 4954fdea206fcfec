//! The common parts of notices and errors about captions.

use capeval_choice::{Notice, NoticeCode, SegmentId};

/// A notice about `count` items; the first few distinct `ids` are kept.
pub(crate) fn about<'s>(
    code: impl Into<NoticeCode>,
    count: usize,
    ids: impl IntoIterator<Item = &'s SegmentId>,
    message: String,
) -> Notice {
    let mut named: Vec<SegmentId> = Vec::new();
    for id in ids {
        if named.len() == Notice::MAX_IDS {
            break;
        }
        if !named.contains(id) {
            named.push(id.clone());
        }
    }
    Notice::new(code, message).count(count).ids(named)
}

/// Lists the first distinct ids for a message: `1, 2, "a.jpg"`, with an ellipsis if there are more.
pub(crate) fn list_ids<'a>(ids: impl IntoIterator<Item = &'a SegmentId>, count: usize) -> String {
    let mut shown: Vec<&SegmentId> = Vec::new();
    let mut repeated = 0;
    for id in ids {
        if shown.contains(&id) {
            repeated += 1;
        } else if shown.len() == Notice::MAX_IDS {
            break;
        } else {
            shown.push(id);
        }
    }
    let more = if count > shown.len() + repeated { ", …" } else { "" };
    let shown: Vec<String> = shown.into_iter().map(|id| id.quoted().to_string()).collect();
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_ids_says_that_there_are_more() {
        let ids: Vec<SegmentId> = (1..=9).map(SegmentId::from).collect();
        assert_eq!(list_ids(&ids, 9), "1, 2, 3, 4, 5, …");
        assert_eq!(list_ids(&ids[..2], 2), "1, 2");
    }
}
