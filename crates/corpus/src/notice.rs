//! What should the user know about these captions? Warnings as values.

use capeval_choice::Remedy;

use crate::SegmentId;

/// A warning that travels with the result instead of being printed.
///
/// `code` names the kind of notice for programs. A code with a colon (`missing:skip`) is a policy that changed
/// which captions are scored, and so belongs into the signature of every score; see [`Notice::signature`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The kind of notice, such as `missing:skip` or `row-numbers`.
    pub code: &'static str,
    /// A sentence for people, lower-case and without a full stop.
    pub message: String,
    /// The first ids that the notice is about, at most [`Notice::MAX_IDS`].
    pub ids: Vec<SegmentId>,
    /// How many ids (or lines, where there are no ids) it is about.
    pub count: usize,
    /// What a person can do about it.
    pub remedy: Option<Remedy>,
}

impl Notice {
    /// How many ids a notice or an error names.
    pub const MAX_IDS: usize = 5;

    /// A notice about `count` things, of which the first few different `ids` are kept.
    pub fn new(
        code: &'static str,
        count: usize,
        ids: impl IntoIterator<Item = SegmentId>,
        message: impl Into<String>,
    ) -> Self {
        let mut named: Vec<SegmentId> = Vec::new();
        for id in ids {
            if named.len() == Self::MAX_IDS {
                break;
            }
            if !named.contains(&id) {
                named.push(id);
            }
        }
        Self { code, message: message.into(), ids: named, count, remedy: None }
    }

    /// The same with a remedy.
    pub fn with_remedy(self, remedy: Remedy) -> Self {
        Self { remedy: Some(remedy), ..self }
    }

    /// What the signature of a score must carry, such as `missing:skip(39504)`; `None` where the notice
    /// changes no digit.
    pub fn signature(&self) -> Option<String> {
        self.code.contains(':').then(|| format!("{}({})", self.code, self.count))
    }
}

/// Lists the first different ids of a message: `1, 2, "a.jpg"`, with an ellipsis where there are more.
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

/// `1 image`, `2 images`: a count with its noun.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_policies_enter_the_signature() {
        let skipped = Notice::new("missing:skip", 39504, [], "");
        assert_eq!(skipped.signature().as_deref(), Some("missing:skip(39504)"));
        assert_eq!(Notice::new("row-numbers", 3, [], "").signature(), None);
    }

    #[test]
    fn a_list_of_ids_says_that_there_are_more() {
        let ids: Vec<SegmentId> = (1..=9).map(SegmentId::from).collect();
        assert_eq!(list_ids(&ids, 9), "1, 2, 3, 4, 5, …");
        assert_eq!(list_ids(&ids[..2], 2), "1, 2");
    }
}
