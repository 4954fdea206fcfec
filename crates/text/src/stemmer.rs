//! Stemmers by name.

use crate::vocabulary::{Symbol, Vocabulary};

/// What reduces words to stems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Stemmer {
    /// Snowball's English stemmer ("Porter 2"), the one of METEOR 1.5.
    English,
}

impl Stemmer {
    /// The name that signatures show.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::English => "snowball-english",
        }
    }

    /// For each word of `vocabulary` the symbol of its stem, which is added where it is new.
    #[must_use]
    pub fn stems(self, vocabulary: &mut Vocabulary) -> Vec<Symbol> {
        let stemmer = match self {
            Self::English => rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::English),
        };
        let words: Vec<String> = vocabulary.iter().map(|(_, word)| stemmer.stem(word).into_owned()).collect();
        words.iter().map(|stem| vocabulary.intern(stem)).collect()
    }
}
