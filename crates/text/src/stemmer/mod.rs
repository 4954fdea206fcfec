//! Stemmers by name.

mod exceptions;
mod nltk;
mod porter;
mod suffixes;

use std::borrow::Cow;

use crate::vocabulary::Vocabulary;

pub use exceptions::Exceptions;

/// What reduces words to stems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stemmer {
    /// Snowball's English stemmer ("Porter 2"), the one of METEOR 1.5.
    English,
    /// Porter's stemmer as in its author's programs.
    Porter,
    /// Porter's stemmer as in ROUGE-1.5.5, without that program's list of exceptions.
    Porter155,
    /// Porter's stemmer as in NLTK, the one of Google's rouge_score.
    PorterNltk,
}

impl Stemmer {
    /// Every stemmer.
    pub const ALL: &[Self] = &[Self::English, Self::Porter, Self::Porter155, Self::PorterNltk];

    /// The name that signatures show.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::English => "snowball-english",
            Self::Porter => "porter",
            Self::Porter155 => "porter-155",
            Self::PorterNltk => "porter-nltk",
        }
    }

    /// The stemmer of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|stemmer| stemmer.name() == name)
    }

    /// The stem of each word of `vocabulary`, in order of symbols.
    #[must_use]
    pub fn stems(self, vocabulary: &Vocabulary) -> Vec<String> {
        let snowball = rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::English);
        vocabulary.iter().map(|(_, word)| self.stem_with(&snowball, word).into_owned()).collect()
    }

    /// The stem of one word; [`stems`](Self::stems) is faster for many.
    #[must_use]
    pub fn stem(self, word: &str) -> String {
        let snowball = rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::English);
        self.stem_with(&snowball, word).into_owned()
    }

    fn stem_with<'w>(self, snowball: &rust_stemmers::Stemmer, word: &'w str) -> Cow<'w, str> {
        match self {
            Self::English => snowball.stem(word),
            Self::Porter => porter::stem(word, porter::Dialect::Porter).into(),
            Self::Porter155 => porter::stem(word, porter::Dialect::Rouge155).into(),
            Self::PorterNltk => nltk::stem(word).into(),
        }
    }
}
