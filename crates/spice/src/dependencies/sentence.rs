//! The words of a sentence.

use super::net::Net;
use crate::WordId;

/// The words of a sentence.
pub(super) struct Sentence<'s> {
    pub(super) texts: Vec<&'s str>,
    pub(super) tags: Vec<&'s str>,
    pub(super) lower: Vec<String>,
}

impl Sentence<'_> {
    pub(super) fn text(&self, net: &Net, word: WordId) -> &str {
        self.texts.get(net.place(word).0 - 1).copied().unwrap_or_default()
    }

    pub(super) fn lower(&self, net: &Net, word: WordId) -> &str {
        self.lower.get(net.place(word).0 - 1).map_or("", String::as_str)
    }

    pub(super) fn tag(&self, net: &Net, word: WordId) -> &str {
        self.tags.get(net.place(word).0 - 1).copied().unwrap_or_default()
    }
}
