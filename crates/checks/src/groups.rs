//! No file of groups makes the reader panic, and groups are those of known images.

use capeval_corpus::{GroupFile, SegmentId};

pub fn check(bytes: &[u8]) {
    let Ok(file) = GroupFile::read(bytes, "f") else { return };
    let is_known = |id: &SegmentId| {
        matches!(id, SegmentId::Integer(1..=9)) || matches!(id, SegmentId::Text(id) if id.len() < 3)
    };
    let columns: Vec<Option<String>> =
        file.columns().into_iter().take(8).map(|name| Some(name.to_owned())).collect();
    for column in columns.into_iter().chain([None]) {
        if let Ok(groups) = file.groups(column.as_deref(), &is_known) {
            assert!(groups.pairs.iter().any(|(id, _)| is_known(id)), "{column:?}: {groups:?}");
        }
    }
}
