//! Keeps some rows, with their places in the source.

use super::Captions;
use crate::SegmentId;

impl Captions {
    /// The rows whose images `keep` selects, with their positions in the source, and all notices.
    pub fn only(&self, keep: impl Fn(&SegmentId) -> bool) -> Self {
        let mut kept =
            Self { format: self.format, in_lists: self.in_lists, ..Self::new(self.source.as_str()) };
        for (row, (id, text)) in self.iter().enumerate().filter(|(_, (id, _))| keep(id)) {
            if !self.doubts.files.is_empty() {
                kept.begin_file(self.source_of(row));
            }
            kept.push(id.clone(), text);
            kept.lines.extend(self.lines.get(row));
            kept.records.push(self.records.get(row).copied().unwrap_or(row as u64 + 1));
        }
        kept.declared = self.declared.iter().filter(|id| keep(id)).cloned().collect();
        kept.notices.clone_from(&self.notices);
        kept.doubts.layout.clone_from(&self.doubts.layout);
        kept
    }

    /// The given rows, in this order, with their positions in the source and the notices.
    pub fn rows(&self, rows: impl IntoIterator<Item = usize>) -> Self {
        let mut kept =
            Self { format: self.format, in_lists: self.in_lists, ..Self::new(self.source.as_str()) };
        for (row, (id, text)) in rows.into_iter().filter_map(|row| Some((row, self.get(row)?))) {
            if !self.doubts.files.is_empty() {
                kept.begin_file(self.source_of(row));
            }
            kept.push(id.clone(), text);
            kept.lines.extend(self.lines.get(row));
            kept.records.push(self.records.get(row).copied().unwrap_or(row as u64 + 1));
        }
        kept.notices.clone_from(&self.notices);
        kept
    }
}
