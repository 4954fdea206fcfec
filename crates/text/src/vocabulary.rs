//! The vocabulary of a corpus, which represents words as numbers.

use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::ends::Ends;
use crate::ngrams::mix;
use crate::tokenizers::plain::is_python_space;
use capeval_arrays::Buffer;

/// A word as a number. It is meaningful only with its own vocabulary, so it is never written out alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Pod, Zeroable)]
#[repr(transparent)]
pub struct Symbol(u32);

impl Symbol {
    /// The empty word, which every vocabulary contains.
    pub const EMPTY: Self = Self(0);

    /// The symbol as an index; indices are dense and start at 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The symbol as a number, for packing into keys.
    pub fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// The symbols of short words seen before, by a hash of their bytes: most words of a text are few and short, and are
/// found here in a tenth of the time that the table of a vocabulary takes.
#[derive(Default)]
pub(crate) struct Recent(Vec<(ShortWord, Symbol)>);

/// A word of up to 16 bytes: its length, and its bytes as two numbers, which overlap.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct ShortWord(usize, u64, u64);

impl ShortWord {
    #[inline]
    fn new(word: &str) -> Option<Self> {
        let bytes = word.as_bytes();
        let (first, last) = match bytes.len() {
            8..=16 => (u64::from_le_bytes(*bytes.first_chunk()?), u64::from_le_bytes(*bytes.last_chunk()?)),
            4..8 => {
                let (first, last) = (bytes.first_chunk()?, bytes.last_chunk()?);
                (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
            }
            n @ 1..4 => (u64::from(bytes[0]) | u64::from(bytes[n / 2]) << 8, u64::from(bytes[n - 1])),
            _ => return None,
        };
        Some(Self(bytes.len(), first, last))
    }
}

impl Recent {
    /// The number of words, so few that they stay in a core's cache.
    const SIZE: usize = 1 << 11;

    /// The size of a vocabulary in which words are found as fast.
    const FEW: usize = 64;

    /// The symbol of `word`, which is added to `vocabulary`, always the same one, if it is new.
    #[inline]
    pub(crate) fn intern(&mut self, word: &str, vocabulary: &mut Vocabulary) -> Symbol {
        let Some(short) = ShortWord::new(word) else { return vocabulary.intern(word) };
        if self.0.is_empty() {
            // A few captions are read in less time than the memory takes.
            if vocabulary.len() < Self::FEW {
                return vocabulary.intern(word);
            }
            self.0.resize(Self::SIZE, (ShortWord::default(), Symbol::EMPTY));
        }
        let hash = mix(short.1 ^ short.2.rotate_left(29));
        let (known, symbol) = &mut self.0[hash as usize % Self::SIZE];
        if *known != short {
            (*known, *symbol) = (short, vocabulary.intern(word));
        }
        *symbol
    }
}

/// Distinct words in order of first appearance; word 0 is the empty word.
///
/// The hash has no random seed, so runs are reproducible.
pub struct Vocabulary {
    /// A vocabulary whose words come before this one's own.
    base: Option<Arc<Vocabulary>>,
    text: String,
    /// `ends[k]` is the end of own word `k` in `text`; own word `k + 1` starts there.
    ends: Vec<u32>,
    table: HashTable<u32>,
    hasher: FixedState,
}

impl Default for Vocabulary {
    fn default() -> Self {
        let mut empty = Self {
            base: None,
            text: String::new(),
            ends: Vec::new(),
            table: HashTable::new(),
            hasher: FixedState::with_seed(0),
        };
        empty.intern("");
        empty
    }
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Vocabulary({} words)", self.len())
    }
}

#[inline]
fn word_at<'t>(text: &'t str, ends: &[u32], k: usize) -> &'t str {
    &text[Ends(ends).range(k)]
}

impl Vocabulary {
    /// Creates a vocabulary that contains the words of `base`, with their symbols, and can grow.
    ///
    /// Candidates extend the vocabulary of their references in this way without changing it.
    pub fn over(base: Arc<Self>) -> Self {
        Self {
            base: Some(base),
            text: String::new(),
            ends: Vec::new(),
            table: HashTable::new(),
            hasher: FixedState::with_seed(0),
        }
    }

    #[inline]
    fn n_below(&self) -> usize {
        self.base.as_ref().map_or(0, |base| base.len())
    }

    /// The number of words, including the empty one.
    pub fn len(&self) -> usize {
        self.n_below() + self.ends.len()
    }

    /// Always false, because every vocabulary contains the empty word.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The symbol of `word`, which is added if it is new.
    ///
    /// # Panics
    /// If the distinct words exceed 4 GiB in total.
    #[inline]
    pub fn intern(&mut self, word: &str) -> Symbol {
        let hash = self.hasher.hash_one(word);
        if let Some(symbol) = self.find(word, hash) {
            return symbol;
        }
        let below = self.n_below() as u32;
        let Self { text, ends, table, hasher, .. } = self;
        let k = u32::try_from(ends.len()).expect("there are fewer words than bytes");
        text.push_str(word);
        ends.push(u32::try_from(text.len()).expect("the distinct words of a corpus fit in 4 GiB"));
        table.insert_unique(hash, k, |&k| hasher.hash_one(word_at(text, ends, k as usize)));
        Symbol(below + k)
    }

    /// The symbol of `word`; `None` if the vocabulary does not contain it.
    pub fn get(&self, word: &str) -> Option<Symbol> {
        self.find(word, self.hasher.hash_one(word))
    }

    #[inline]
    fn find(&self, word: &str, hash: u64) -> Option<Symbol> {
        if let Some(base) = &self.base
            && let Some(symbol) = base.find(word, hash)
        {
            return Some(symbol);
        }
        let found = self.table.find(hash, |&k| word_at(&self.text, &self.ends, k as usize) == word)?;
        Some(Symbol(self.n_below() as u32 + found))
    }

    /// The word of `symbol`; empty if `symbol` is out of range.
    pub fn word(&self, symbol: Symbol) -> &str {
        match (symbol.index().checked_sub(self.n_below()), &self.base) {
            (Some(k), _) if k < self.ends.len() => word_at(&self.text, &self.ends, k),
            (None, Some(base)) => base.word(symbol),
            _ => "",
        }
    }

    /// All symbols and words, in order of symbols.
    pub fn iter(&self) -> impl Iterator<Item = (Symbol, &str)> + '_ {
        (0..self.len()).map(|k| (Symbol(k as u32), self.word(Symbol(k as u32))))
    }

    /// Returns true if Python's `str.split()` would split or drop `word`.
    pub(crate) fn splits(word: &str) -> bool {
        word.is_empty()
            || if word.is_ascii() {
                word.bytes().any(|b| is_python_space(b as char))
            } else {
                word.chars().any(is_python_space)
            }
    }

    /// The data to store: all words in sequence, and the end of each.
    ///
    /// Words of the base vocabulary are not included.
    pub fn parts(&self) -> (&str, &[u32]) {
        (&self.text, &self.ends)
    }

    /// Restores a vocabulary; `None` unless the arguments are possible results of [`parts`](Self::parts).
    pub fn from_parts(text: &str, ends: &Buffer<u32>) -> Option<Self> {
        let mut vocabulary = Self {
            base: None,
            text: text.to_owned(),
            ends: ends.to_vec(),
            table: HashTable::with_capacity(ends.len()),
            hasher: FixedState::with_seed(0),
        };
        let Self { text, ends, table, hasher, .. } = &mut vocabulary;
        let mut start = 0;
        for (k, end) in ends.iter().enumerate() {
            let word = text.get(start..*end as usize)?;
            let hash = hasher.hash_one(word);
            if table.find(hash, |&k| word_at(text, ends, k as usize) == word).is_some() {
                return None;
            }
            table.insert_unique(hash, k as u32, |&k| hasher.hash_one(word_at(text, ends, k as usize)));
            start = *end as usize;
        }
        (start == text.len() && ends.first() == Some(&0)).then_some(vocabulary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_always_gets_the_same_symbol() {
        let mut vocabulary = Vocabulary::default();
        let cat = vocabulary.intern("cat");
        let dog = vocabulary.intern("dog");
        assert_eq!(vocabulary.intern("cat"), cat);
        assert_ne!(cat, dog);
        assert_eq!((vocabulary.word(cat), vocabulary.word(dog)), ("cat", "dog"));
        assert_eq!(vocabulary.intern(""), Symbol::EMPTY);
        assert_eq!(vocabulary.get("bird"), None);
    }

    #[test]
    fn words_seen_before_get_the_same_symbol_as_from_the_vocabulary() {
        let (mut recent, mut vocabulary) = (Recent::default(), Vocabulary::default());
        // Words that differ in length, in one place or in nothing but bytes of zero, and more than are kept.
        let alike = (0..20).flat_map(|n| {
            let word = "ab\0".repeat(7)[..n].to_owned();
            (0..n).map(move |k| [&word[..k], "x", &word[k + 1..]].concat()).chain(["\0".repeat(n)])
        });
        let words: Vec<String> = alike.chain((0..5_000).map(|k| format!("w{k}"))).collect();
        for word in words.iter().chain(&words) {
            let symbol = recent.intern(word, &mut vocabulary);
            assert_eq!(vocabulary.word(symbol), word);
        }
    }

    #[test]
    fn stored_parts_restore_the_vocabulary() {
        let mut vocabulary = Vocabulary::default();
        for word in ["a", "", "猫", "a", "b"] {
            vocabulary.intern(word);
        }
        let (text, ends) = vocabulary.parts();
        let again = Vocabulary::from_parts(text, &ends.to_vec().into()).unwrap();
        assert_eq!(again.get("猫"), vocabulary.get("猫"));
        assert_eq!(again.len(), 4);
    }

    #[test]
    fn a_vocabulary_over_another_extends_it() {
        let mut base = Vocabulary::default();
        let cat = base.intern("cat");
        let mut over = Vocabulary::over(Arc::new(base));
        assert_eq!(over.intern("cat"), cat);
        let dog = over.intern("dog");
        assert_eq!((dog.index(), over.len(), over.word(dog), over.word(cat)), (2, 3, "dog", "cat"));
        assert_eq!(over.iter().map(|(_, word)| word).collect::<Vec<_>>(), ["", "cat", "dog"]);
    }

    #[test]
    fn damaged_parts_are_refused() {
        let refused =
            |text: &str, ends: &[u32]| Vocabulary::from_parts(text, &ends.to_vec().into()).is_none();
        assert!(refused("ab", &[0, 1]), "text left over");
        assert!(refused("ab", &[0, 2, 1]), "falling ends");
        assert!(refused("猫", &[0, 1, 3]), "inside a character");
        assert!(refused("aa", &[0, 1, 2]), "a word twice");
        assert!(refused("", &[]), "no empty word");
    }
}
