//! Stemmers by name.

mod exceptions;
mod nltk;
mod porter;
mod suffixes;

use std::borrow::Cow;

use crate::vocabulary::Vocabulary;

pub use exceptions::Exceptions;

capeval_choice::named! {
    /// A stemmer.
    #[non_exhaustive]
    pub enum Stemmer ("stemmer") {
        English = "snowball-english", "Snowball's English stemmer (Porter 2), used by METEOR 1.5";
        Porter = "porter", "Porter's stemmer as in its author's programs";
        Porter155 = "porter-155", "Porter's stemmer as in ROUGE-1.5.5, without that program's list of exceptions";
        PorterNltk = "porter-nltk", "Porter's stemmer as in NLTK, used by Google's rouge_score";
    }
}

impl Stemmer {
    /// The stem of each word of `vocabulary`, in order of symbols.
    pub fn stems(self, vocabulary: &Vocabulary) -> Vec<String> {
        let snowball = rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::English);
        vocabulary.iter().map(|(_, word)| self.stem_with(&snowball, word).into_owned()).collect()
    }

    /// The stem of one word; [`stems`](Self::stems) is faster for many.
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
