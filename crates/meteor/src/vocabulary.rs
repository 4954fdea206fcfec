//! The data that the matchers need about each distinct word and phrase, looked up once.

use capeval_text::Ends;
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashTable};
use rust_stemmers::Stemmer;
use std::hash::BuildHasher;

use crate::java::{hash_code, utf16_len};
use crate::language::Language;
use crate::options::{Matcher, Options};
use crate::resources::{Lexicon, Paraphrases, Resources, StemTable, Words};

/// Means "no phrase", "no match" or "no position".
pub(crate) const NONE: u32 = u32::MAX;

/// A phrase reached while reading a sentence: its number and its properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step(u32);

impl Step {
    /// The words so far do not begin any phrase.
    pub(crate) const NONE: Self = Self(NONE);

    fn new(phrase: u32, has_longer: bool, is_phrase: bool) -> Self {
        Self(phrase << 2 | u32::from(is_phrase) << 1 | u32::from(has_longer))
    }

    /// The number of the phrase.
    pub(crate) fn phrase(self) -> u32 {
        self.0 >> 2
    }

    /// Returns true if it is a phrase and not only the beginning of one.
    pub(crate) fn is_phrase(self) -> bool {
        self.0 & 2 != 0
    }

    /// Returns true if longer phrases begin with it.
    pub(crate) fn has_longer(self) -> bool {
        self.0 & 1 != 0
    }
}

/// A hash table from (table node, next word) to the longer phrase; most look-ups need a single probe.
#[derive(Clone, Default)]
struct Steps {
    /// Keys and values; the length is a power of two, and the table is never full.
    slots: Vec<(u64, Step)>,
    len: usize,
}

impl Steps {
    const EMPTY: u64 = u64::MAX;

    fn place(&self, key: u64) -> usize {
        let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash ^ hash >> 32) as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn get(&self, key: u64) -> Option<Step> {
        if self.slots.is_empty() {
            return None;
        }
        let mut place = self.place(key);
        loop {
            let (found, step) = self.slots[place];
            if found == key {
                return Some(step);
            }
            if found == Self::EMPTY {
                return None;
            }
            place = (place + 1) & (self.slots.len() - 1);
        }
    }

    /// Adds a key that is not in the table yet.
    fn insert(&mut self, key: u64, step: Step) {
        if 2 * (self.len + 1) > self.slots.len() {
            let larger = vec![(Self::EMPTY, Step::NONE); (2 * self.slots.len()).max(1 << 14)];
            let old = std::mem::replace(&mut self.slots, larger);
            self.len = 0;
            for (key, step) in old {
                if key != Self::EMPTY {
                    self.insert(key, step);
                }
            }
        }
        let mut place = self.place(key);
        while self.slots[place].0 != Self::EMPTY {
            place = (place + 1) & (self.slots.len() - 1);
        }
        self.slots[place] = (key, step);
        self.len += 1;
    }
}

/// The number of a class of words that a matcher treats alike: words with equal hashes, or with stems of equal hashes.
///
/// Both kinds are numbered together from 0, so an array can be indexed by class.
pub(crate) type Class = u32;

/// The form that words share if they match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SharedForm {
    Key(i32),
    Stem(i32),
}

/// The properties of a word that the matchers compare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// The class of the word's `String.hashCode()`; words with equal hashes count as equal.
    pub(crate) key: Class,
    /// The class of the stem's `String.hashCode()`.
    pub(crate) stem: Class,
    /// The phrase that consists of this word.
    pub(crate) step: Step,
    /// The number in the paraphrase table, or `NONE`.
    table_word: u32,
    /// The length in UTF-16 code units.
    pub(crate) length: u32,
    pub(crate) is_function: bool,
}

/// An entry of the paraphrase table, as seen from one of its two phrases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paraphrase {
    /// The other phrase.
    pub(crate) other: u32,
    /// True if this phrase is the source of the entry, and the other one its target.
    pub(crate) is_source: bool,
    /// The position of the target among the targets of the source.
    pub(crate) place: u32,
}

/// A phrase that was met in a text.
#[derive(Clone, Copy, Debug)]
struct Phrase {
    /// Its node in the table.
    node: u32,
    followers: Followers,
}

/// A node of the table: of a phrase, or of a paraphrase of one.
#[derive(Clone, Copy, Debug)]
enum PhraseNode {
    /// It was met in a text.
    InText(Step),
    /// It was not, and is a target of the phrases in a list of [`Waiting`] entries, of which this is the last one.
    AsTarget(u32),
}

/// An entry of the table whose target has not been met in any text.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    source: u32,
    /// The position of the target among the targets of the source.
    place: u32,
    /// The previous entry with the same target, or `NONE`.
    previous: u32,
}

/// The place in [`Successors`] of the words after a phrase.
#[derive(Clone, Copy, Debug)]
struct Followers {
    start: u32,
    /// The number of blocks, a power of two, less one.
    mask: u32,
}

/// The words with which known phrases continue in the table: a Bloom filter for each phrase, so that those of common
/// phrases stay in the nearest cache. Nearly half of all words continue no phrase.
#[derive(Clone)]
struct Successors(Vec<u64>);

impl Default for Successors {
    /// The first block is that of phrases that do not continue.
    fn default() -> Self {
        // To grow step by step takes new memory at each step.
        let mut blocks = Vec::with_capacity(1 << 16);
        blocks.push(0);
        Self(blocks)
    }
}

impl Successors {
    /// The block of `word`, and its bits there.
    fn place(of: Followers, word: u32) -> (usize, u64) {
        let hash = word.wrapping_mul(0x9E37_79B9);
        ((of.start + (hash >> 12 & of.mask)) as usize, 1 << (hash >> 26) | 1 << (hash >> 6 & 63))
    }

    fn add(&mut self, words: impl ExactSizeIterator<Item = u32>) -> Followers {
        if words.len() == 0 {
            return Followers { start: 0, mask: 0 };
        }
        let n_blocks = (words.len() / 4).next_power_of_two();
        let of = Followers { start: self.0.len() as u32, mask: n_blocks as u32 - 1 };
        self.0.resize(self.0.len() + n_blocks, 0);
        for word in words {
            let (block, bits) = Self::place(of, word);
            self.0[block] |= bits;
        }
        of
    }

    /// Returns true if `word` may be among these; false is certain.
    #[inline]
    fn may_contain(&self, of: Followers, word: u32) -> bool {
        let (block, bits) = Self::place(of, word);
        self.0[block] & bits == bits
    }
}

/// The resources that the options require.
#[derive(Clone, Debug)]
pub(crate) struct Dictionaries {
    pub(crate) function_words: Option<Words>,
    stemmer: Option<Language>,
    stem_table: Option<StemTable>,
    lexicon: Option<Lexicon>,
    paraphrases: Option<Paraphrases>,
}

impl Dictionaries {
    pub(crate) fn new(resources: &Resources, options: &Options) -> Self {
        let uses = |matcher| options.matchers.contains(&matcher);
        let language = options.language;
        Self {
            function_words: resources.function_words(options.function_words),
            stemmer: uses(Matcher::Stem).then_some(language),
            stem_table: if uses(Matcher::Stem) { resources.stem_table(language) } else { None },
            lexicon: if uses(Matcher::Synonym) { resources.lexicon(language) } else { None },
            paraphrases: if uses(Matcher::Paraphrase) { resources.paraphrases(language) } else { None },
        }
    }
}

/// Everything known so far about words and phrases; grows as texts are read, and belongs to one thread.
#[derive(Clone, Default)]
pub(crate) struct Vocabulary {
    text: String,
    /// `ends[k]` is the end of word `k` in `text`.
    ends: Vec<u32>,
    table: HashTable<u32>,
    hasher: FixedState,
    words: Vec<Word>,
    classes: HashMap<SharedForm, Class, FixedState>,
    /// For each word, the other known words that share a synset number with it.
    synonyms: Vec<Vec<u32>>,
    /// The known words that have each synset.
    of_synset: HashMap<u32, Vec<u32>, FixedState>,
    phrases: Vec<Phrase>,
    successors: Successors,
    met: HashMap<u32, PhraseNode, FixedState>,
    steps: Steps,
    /// For each phrase, the entries that pair it with other known phrases.
    paraphrases: Vec<Vec<Paraphrase>>,
    waiting: Vec<Waiting>,
}

impl Vocabulary {
    /// The properties of word number `word`.
    #[inline]
    pub(crate) fn word(&self, word: u32) -> &Word {
        &self.words[word as usize]
    }

    /// The other known words that share a synset number with `word`.
    #[inline]
    pub(crate) fn synonyms(&self, word: u32) -> &[u32] {
        &self.synonyms[word as usize]
    }

    /// The entries of the paraphrase table that pair `phrase` with known phrases.
    #[inline]
    pub(crate) fn paraphrases(&self, phrase: u32) -> &[Paraphrase] {
        &self.paraphrases[phrase as usize]
    }

    /// The word as text.
    pub(crate) fn text(&self, word: u32) -> &str {
        text_at(&self.text, &self.ends, word as usize)
    }

    pub(crate) fn n_words(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn n_classes(&self) -> usize {
        self.classes.len()
    }

    pub(crate) fn n_phrases(&self) -> usize {
        self.phrases.len()
    }

    /// The number of `text`; if it is new, looks up everything that the matchers need.
    pub(crate) fn intern(&mut self, resources: &Resources, dictionaries: &Dictionaries, text: &str) -> u32 {
        let hash = self.hasher.hash_one(text);
        let Self { text: all, ends, table, .. } = &*self;
        if let Some(&word) = table.find(hash, |&word| text_at(all, ends, word as usize) == text) {
            return word;
        }
        self.learn(resources, dictionaries, text, hash)
    }

    fn class(&mut self, of: SharedForm) -> Class {
        let next = self.classes.len() as Class;
        *self.classes.entry(of).or_insert(next)
    }

    /// The known words that share a synset with the word that is learnt next, which becomes known to them.
    fn relate(&mut self, synsets: &[u32]) -> Vec<u32> {
        let word = self.words.len() as u32;
        let mut synonyms = Vec::new();
        for synset in synsets {
            let words = self.of_synset.entry(*synset).or_default();
            synonyms.extend_from_slice(words);
            words.push(word);
        }
        synonyms.sort_unstable();
        synonyms.dedup();
        for other in &synonyms {
            self.synonyms[*other as usize].push(word);
        }
        synonyms
    }

    #[cold]
    fn learn(&mut self, resources: &Resources, dictionaries: &Dictionaries, text: &str, hash: u64) -> u32 {
        let file = resources.file();
        let key = hash_code(text);
        let stem = match (&dictionaries.stem_table, dictionaries.stemmer.and_then(Language::stemmer)) {
            (Some(table), _) => table.stem(file, key),
            (None, Some(algorithm)) => hash_code(&Stemmer::create(algorithm).stem(text)),
            (None, None) => key,
        };
        let mut synsets = Vec::new();
        if let Some(lexicon) = &dictionaries.lexicon {
            lexicon.synsets(file, text, &mut synsets);
        }
        let synonyms = self.relate(&synsets);
        let function_words = dictionaries.function_words;
        let is_function = function_words.is_some_and(|words| words.contains(file, &text.to_lowercase()));
        let (mut table_word, mut step) = (NONE, Step::NONE);
        if let Some(paraphrases) = &dictionaries.paraphrases
            && let Some(number) = paraphrases.word(file, text)
        {
            table_word = number;
            if let Some(node) = paraphrases.longer(file, Paraphrases::ROOT, number) {
                step = self.step_of(file, paraphrases, node);
            }
        }
        let (key, stem) = (self.class(SharedForm::Key(key)), self.class(SharedForm::Stem(stem)));
        self.synonyms.push(synonyms);
        let length = utf16_len(text) as u32;
        self.words.push(Word { key, stem, step, table_word, length, is_function });
        let Self { text: all, ends, table, hasher, .. } = self;
        let word = ends.len() as u32;
        all.push_str(text);
        ends.push(all.len() as u32);
        table.insert_unique(hash, word, |&word| hasher.hash_one(text_at(all, ends, word as usize)));
        word
    }

    /// The phrase `step` followed by `word`.
    #[inline]
    pub(crate) fn longer(&mut self, file: &[u8], dictionaries: &Dictionaries, step: Step, word: u32) -> Step {
        let Phrase { node, followers } = self.phrases[step.phrase() as usize];
        let table_word = self.word(word).table_word;
        let Some(paraphrases) = &dictionaries.paraphrases else { return Step::NONE };
        if table_word == NONE || !self.successors.may_contain(followers, table_word) {
            return Step::NONE;
        }
        let key = u64::from(node) << 32 | u64::from(table_word);
        match self.steps.get(key) {
            Some(longer) => longer,
            None => self.learn_longer(file, paraphrases, node, table_word),
        }
    }

    #[cold]
    fn learn_longer(&mut self, file: &[u8], paraphrases: &Paraphrases, node: u32, table_word: u32) -> Step {
        let longer = paraphrases.longer(file, node, table_word);
        let longer = longer.map_or(Step::NONE, |longer| self.step_of(file, paraphrases, longer));
        self.steps.insert(u64::from(node) << 32 | u64::from(table_word), longer);
        longer
    }

    fn step_of(&mut self, file: &[u8], paraphrases: &Paraphrases, node: u32) -> Step {
        if let Some(PhraseNode::InText(step)) = self.met.get(&node) {
            return *step;
        }
        let phrase = self.phrases.len() as u32;
        let followers = self.successors.add(paraphrases.successors(file, node));
        let has_longer = followers.start != 0;
        let step = Step::new(phrase, has_longer, paraphrases.is_phrase(file, node));
        self.phrases.push(Phrase { node, followers });
        self.paraphrases.push(Vec::new());
        let Self { paraphrases: known, waiting, met, .. } = self;
        let mut pair = |source: u32, target: u32, place: u32| {
            known[source as usize].push(Paraphrase { other: target, is_source: true, place });
            known[target as usize].push(Paraphrase { other: source, is_source: false, place });
        };
        if let Some(PhraseNode::AsTarget(mut last)) = met.insert(node, PhraseNode::InText(step)) {
            while let Some(Waiting { source, place, previous }) = waiting.get(last as usize) {
                pair(*source, phrase, *place);
                last = *previous;
            }
        }
        for (place, target) in (0..).zip(paraphrases.targets(file, node)) {
            let met = met.entry(target).or_insert(PhraseNode::AsTarget(NONE));
            match met {
                PhraseNode::InText(target) => pair(phrase, target.phrase(), place),
                PhraseNode::AsTarget(last) => {
                    let previous = std::mem::replace(last, waiting.len() as u32);
                    waiting.push(Waiting { source: phrase, place, previous });
                }
            }
        }
        step
    }
}

fn text_at<'t>(text: &'t str, ends: &[u32], word: usize) -> &'t str {
    &text[Ends(ends).range(word)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successors_are_found_and_seldom_others() {
        let mut successors = Successors::default();
        let lists = [0, 1, 2, 40, 3, 5000].map(|n| (0..n).map(|k| 8 * k + n).collect::<Vec<u32>>());
        let places = lists.each_ref().map(|words| successors.add(words.iter().copied()));
        let mut wrong = 0;
        for (words, of) in lists.iter().zip(places) {
            assert!(words.iter().all(|word| successors.may_contain(of, *word)));
            assert_eq!(words.is_empty(), of.start == 0);
            wrong += (0..43_139).filter(|word| successors.may_contain(of, *word)).count() - words.len();
        }
        assert!(wrong < 6 * 43_139 / 15, "{wrong}");
    }
}
