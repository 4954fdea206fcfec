//! METEOR's resources: word lists, WordNet and paraphrases, in one compiled file.
//!
//! None of them is part of this crate. [`Compiler`] creates the file once from the published program that the
//! user has downloaded; [`Resources`] reads it in place, from a memory map or a vector.

mod arrays;
mod compile;
mod lexicon;
mod paraphrases;
mod sections;

use capeval_choice::Refusal;
use std::fmt;

use capeval_arrays::{Reader, SharedBytes};

use arrays::{PackedNumbers, Strings};
pub use compile::{Compiler, Progress, Summary};
pub(crate) use lexicon::Lexicon;
pub(crate) use paraphrases::Paraphrases;
use sections::{FORMAT, Key, Kind};

use crate::error::damaged;
use crate::language::Language;

/// METEOR's compiled resources.
///
/// Opening the file verifies its checksum, which takes about 10 ms; [`verify`](Self::verify) checks the lists, which
/// takes longer than scoring a few thousand captions. All reading is bounds-checked.
pub struct Resources {
    reader: Reader,
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resources({}, {} bytes)", self.fingerprint(), self.file().len())
    }
}

impl Resources {
    /// The version of the file format; files of any other version are refused.
    pub const FORMAT_VERSION: u32 = FORMAT.version;

    /// Opens a compiled file, and refuses it if a byte of it has changed: scores would be other ones.
    pub fn open(bytes: SharedBytes) -> Result<Self, Refusal> {
        let reader = Reader::open(&FORMAT, bytes).map_err(|error| damaged(error.to_string()))?;
        let resources = Self { reader };
        for language in Language::all() {
            Lexicon::open(&resources.reader, language)?;
            Paraphrases::open(&resources.reader, language)?;
        }
        Ok(resources)
    }

    /// Verifies the consistency of all lists.
    pub fn verify(&self) -> Result<(), Refusal> {
        let file = self.file();
        let is_whole = Language::all().into_iter().all(|language| {
            self.lexicon(language).is_none_or(|lexicon| lexicon.is_whole(file))
                && self.paraphrases(language).is_none_or(|paraphrases| paraphrases.is_whole(file))
        });
        if is_whole { Ok(()) } else { Err(damaged("the lists of METEOR's resource file are inconsistent")) }
    }

    /// Eight hexadecimal digits that identify the content: equal for equal sources, whatever the path.
    pub fn fingerprint(&self) -> String {
        self.reader.description().to_owned()
    }

    /// The origins and the licences of the data.
    pub fn notice(&self) -> String {
        let notice = Strings::open(&self.reader, Key::new(Kind::Notice, Language::Other));
        let text = notice.ok().and_then(|notice| notice.get(self.file(), 0));
        String::from_utf8_lossy(text.unwrap_or_default()).into_owned()
    }

    /// Replaces `synsets` with the numbers of the English synonym sets of `word`, which is in lower case and has
    /// underscores for spaces; ascending.
    pub fn synsets(&self, word: &str, synsets: &mut Vec<u32>) {
        match self.lexicon(Language::English) {
            Some(lexicon) => lexicon.synsets(self.file(), word, synsets),
            None => synsets.clear(),
        }
    }

    /// The whole file.
    pub(crate) fn file(&self) -> &[u8] {
        self.reader.bytes()
    }

    /// The function words of a language; `None` for languages without a list.
    pub(crate) fn function_words(&self, language: Language) -> Option<Words> {
        Words::open(&self.reader, Kind::FunctionWords, language)
    }

    /// Words that keep a final dot, and words that keep it only before a number.
    pub(crate) fn prefixes(&self, language: Language) -> (Option<Words>, Option<Words>) {
        let open = |kind| Words::open(&self.reader, kind, language);
        (open(Kind::Prefixes), open(Kind::NumericPrefixes))
    }

    pub(crate) fn stem_table(&self, language: Language) -> Option<StemTable> {
        let key = Key::new(Kind::StemTable, language);
        let open = |key| PackedNumbers::open(&self.reader, key).ok();
        Some(StemTable { words: open(key)?, stems: open(key.part(1))? })
    }

    pub(crate) fn lexicon(&self, language: Language) -> Option<Lexicon> {
        Lexicon::open(&self.reader, language).ok().flatten()
    }

    pub(crate) fn paraphrases(&self, language: Language) -> Option<Paraphrases> {
        Paraphrases::open(&self.reader, language).ok().flatten()
    }
}

/// A set of words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words(Strings);

impl Words {
    fn open(reader: &Reader, kind: Kind, language: Language) -> Option<Self> {
        Strings::open(reader, Key::new(kind, language)).ok().map(Self)
    }

    pub(crate) fn contains(&self, file: &[u8], word: &str) -> bool {
        self.0.find(file, word.as_bytes()).is_some()
    }
}

/// A stemmer based on a table that is keyed by the hashes of words, as in METEOR.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StemTable {
    /// Ascending as unsigned numbers.
    words: PackedNumbers,
    stems: PackedNumbers,
}

impl StemTable {
    /// The hash of the stem of the word with this hash; returns `hash` itself if the table does not list it.
    pub(crate) fn stem(&self, file: &[u8], hash: i32) -> i32 {
        let at = self.words.search(file, 0..self.words.len(), hash.cast_unsigned());
        at.and_then(|at| self.stems.get(file, at)).map_or(hash, u32::cast_signed)
    }
}
