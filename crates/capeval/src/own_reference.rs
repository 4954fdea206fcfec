//! What studies of judged captions do about references, and when a judged caption is one of them.

use capeval_corpus::{Ids, Surplus};

use crate::OwnReference;

/// The rules of a study for references.
#[derive(Clone, Copy)]
pub(crate) struct ReferenceRules {
    /// Judged captions that are also references of their images.
    pub own: OwnReference,
    /// Judged captions of images without references.
    pub surplus: Surplus,
    pub ids: Ids,
}

/// How a caption is compared with references: by its words, or without case and punctuation.
pub(crate) fn same_caption(own: OwnReference) -> fn(&str, &str) -> bool {
    match own {
        OwnReference::RemoveSameWords => same_words_in_any_case,
        OwnReference::Keep | OwnReference::Remove | OwnReference::HoldOut | OwnReference::Skip => same_words,
    }
}

/// Whether two captions differ only in spaces.
fn same_words(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

/// Whether two captions differ only in case, punctuation and spaces.
fn same_words_in_any_case(a: &str, b: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = char> {
        let words = text.split_whitespace().map(|word| word.chars().filter(|c| c.is_alphanumeric()));
        let words = words.filter(|word| word.clone().next().is_some());
        words.flat_map(|word| word.chain([' '])).flat_map(char::to_lowercase)
    }
    letters(a).eq(letters(b))
}
