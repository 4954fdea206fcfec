//! Studies of judged captions: the treatment of references, and of judged captions that are references themselves.

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

/// The comparison of a caption with references: by its words, or without case and punctuation.
pub(crate) fn same_caption(own: OwnReference) -> fn(&str, &str) -> bool {
    match own {
        OwnReference::RemoveSameWords => same_words_in_any_case,
        OwnReference::Keep | OwnReference::Remove | OwnReference::HoldOut | OwnReference::Skip => same_words,
    }
}

/// Returns true if two captions differ only in spaces.
fn same_words(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

/// Returns true if two captions differ only in case, punctuation and spaces: a hyphen may stand where the other has a
/// space.
fn same_words_in_any_case(a: &str, b: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = char> {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
    }
    letters(a).eq(letters(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_punctuation_and_spaces_do_not_make_another_caption() {
        let is_same = same_caption(OwnReference::RemoveSameWords);
        for (a, b) in [
            ("A dark-skinned man .", "a dark skinned man"),
            ("two t-shirts", "two tshirts"),
            ("it's a dog's life", "Its a dogs life."),
            ("  a  dog", "a dog\n"),
        ] {
            assert!(is_same(a, b) && is_same(b, a), "{a:?} and {b:?}");
        }
        for (a, b) in [("a dog", "a dogs"), ("a dog runs", "runs a dog"), ("a dog", "2 a dog")] {
            assert!(!is_same(a, b), "{a:?} and {b:?}");
        }
        let is_same = same_caption(OwnReference::Remove);
        assert!(
            is_same("a  dog ", "a dog")
                && !is_same("A dog", "a dog")
                && !is_same("dark-skinned", "dark skinned")
        );
    }
}
