//! The phrases of scene graphs, numbered, so that a phrase is normalised, looked up and classified once.

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::matching::Subset;
use crate::scene::Concept;

/// A dictionary of synonyms.
pub trait Synonyms {
    /// Replaces `synsets` with the numbers of the synonym sets of `word`, which is in lower case and has underscores
    /// for spaces.
    fn synsets(&self, word: &str, synsets: &mut Vec<u32>);
}

/// A dictionary that threads share.
pub(crate) type SharedSynonyms = Arc<dyn Synonyms + Send + Sync>;

/// The greatest number of bytes of phrases that are kept for the next captions.
const MOST_BYTES: usize = 4 << 20;

/// Phrases, with a number for each.
pub struct Phrases {
    synonyms: SharedSynonyms,
    numbers: HashTable<u32>,
    known: Vec<Phrase>,
    bytes: usize,
}

struct Phrase {
    text: Box<str>,
    /// Ascending.
    synsets: Box<[u32]>,
    /// The subsets of attributes to which it belongs alone, a bit each.
    subsets: u8,
}

impl Phrases {
    /// No phrases, whose synonyms are those of a dictionary.
    pub fn new(synonyms: Arc<dyn Synonyms + Send + Sync>) -> Self {
        Self { synonyms, numbers: HashTable::new(), known: Vec::new(), bytes: 0 }
    }

    /// Forgets the phrases if they are many; nothing may hold their numbers.
    pub(crate) fn tidy(&mut self) {
        if self.bytes > MOST_BYTES {
            *self = Self::new(Arc::clone(&self.synonyms));
        }
    }

    /// The number of a phrase.
    pub(crate) fn number(&mut self, phrase: &str) -> u32 {
        let hash = |phrase: &str| FixedState::default().hash_one(phrase);
        let known = &mut self.known;
        let hashed = hash(phrase);
        if let Some(number) = self.numbers.find(hashed, |number| *known[*number as usize].text == *phrase) {
            return *number;
        }
        let number = known.len() as u32;
        known.push(Phrase::new(phrase, &*self.synonyms));
        self.bytes += size_of::<Phrase>() + phrase.len();
        self.numbers.insert_unique(hashed, number, |number| hash(&known[*number as usize].text));
        number
    }

    /// The phrase with a number.
    pub(crate) fn text(&self, number: u32) -> &str {
        &self.known[number as usize].text
    }

    /// The phrases of a concept.
    pub fn texts(&self, concept: &Concept) -> Vec<&str> {
        concept.phrases().iter().map(|number| self.text(*number)).collect()
    }

    /// The synonym sets of a phrase, ascending.
    pub(crate) fn synsets(&self, number: u32) -> &[u32] {
        &self.known[number as usize].synsets
    }

    /// Returns true if an attribute of this phrase alone belongs to a subset.
    pub(crate) fn is_among(&self, number: u32, subset: Subset) -> bool {
        self.known[number as usize].subsets >> subset as u8 & 1 == 1
    }
}

impl Phrase {
    fn new(text: &str, synonyms: &dyn Synonyms) -> Self {
        let key = text.trim_matches(|c| c <= ' ').to_lowercase().replace(' ', "_");
        let mut synsets = Vec::new();
        synonyms.synsets(&key, &mut synsets);
        synsets.sort_unstable();
        synsets.dedup();
        let is_listed = |list: &str| list.split(' ').any(|word| word == text);
        let lists = Subset::ALL.into_iter().filter(|subset| subset.words().is_some_and(is_listed));
        let subsets = lists.fold(0, |subsets, subset| subsets | 1 << subset as u8);
        Self { text: text.into(), synsets: synsets.into(), subsets }
    }
}
