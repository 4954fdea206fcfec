//! Stemmers by name.

use crate::vocabulary::Vocabulary;

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

    /// The stemmer of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::English].into_iter().find(|stemmer| stemmer.name() == name)
    }

    /// The stem of each word of `vocabulary`, in order of symbols.
    #[must_use]
    pub fn stems(self, vocabulary: &Vocabulary) -> Vec<String> {
        let stemmer = match self {
            Self::English => rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::English),
        };
        vocabulary.iter().map(|(_, word)| stemmer.stem(word).into_owned()).collect()
    }
}
