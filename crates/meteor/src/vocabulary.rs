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

    /// Whether it is a phrase and not only the beginning of one.
    pub(crate) fn is_phrase(self) -> bool {
        self.0 & 2 != 0
    }

    /// Whether longer phrases begin with it.
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
            let larger = vec![(Self::EMPTY, Step::NONE); (2 * self.slots.len()).max(1 << 10)];
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

/// A property that words can share: a hash, the hash of a stem, or a synset.
///
/// All three are numbered together from 0, so an array can be indexed by feature.
pub(crate) type Feature = u32;

/// The property that a feature represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FeatureOf {
    Key(i32),
    Stem(i32),
    Synset(u32),
}

/// The properties of a word that the matchers compare.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// The feature of the word's `String.hashCode()`; words with equal hashes count as equal.
    pub(crate) key: Feature,
    /// The feature of the stem's `String.hashCode()`.
    pub(crate) stem: Feature,
    synsets_start: u32,
    synsets_end: u32,
    /// The phrase that consists of this word.
    pub(crate) step: Step,
    /// The length in UTF-16 code units.
    pub(crate) length: u32,
    pub(crate) is_function: bool,
}

/// A phrase of the paraphrase table, or the beginning of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phrase {
    /// The node in the paraphrase table.
    pub(crate) node: u32,
    targets_start: u32,
    targets_end: u32,
    /// The filter of the phrase's targets, with two bits per target, so that most look-ups need no search.
    filter: Filter,
}

impl Phrase {
    /// The filter of the phrase's paraphrases; `None` if it has no paraphrases.
    pub(crate) fn filter(&self) -> Option<Filter> {
        (self.targets_start < self.targets_end).then_some(self.filter)
    }

    /// The probe for looking up this phrase in filters.
    pub(crate) fn probe(&self) -> Probe {
        Probe::of(self.node)
    }
}

/// The location of a set of hashed nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter {
    start: u32,
    /// The number of machine words, which is a power of two, minus one.
    mask: u32,
}

impl Filter {
    /// The index of the machine word that would contain the node.
    #[inline]
    fn place(self, probe: Probe) -> usize {
        (self.start + (probe.hash & self.mask)) as usize
    }
}

/// A hashed node: it determines a machine word of a filter and two bits in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    hash: u32,
    bits: u64,
}

impl Probe {
    fn of(node: u32) -> Self {
        let hash = u64::from(node).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bits = 1 << (hash >> 26 & 63) | 1 << (hash >> 20 & 63);
        Self { hash: (hash >> 32) as u32, bits }
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
    /// For each word, its number in the paraphrase table, or `NONE`.
    table_words: Vec<u32>,
    features: HashMap<FeatureOf, Feature, FixedState>,
    synsets: Vec<Feature>,
    phrases: Vec<Phrase>,
    /// For each phrase, its node in the table.
    nodes: Vec<u32>,
    /// The phrase of each known table node.
    step_of_node: HashMap<u32, Step, FixedState>,
    steps: Steps,
    targets: Vec<u32>,
    filters: Vec<u64>,
}

impl Vocabulary {
    /// The properties of word number `word`.
    #[inline]
    pub(crate) fn word(&self, word: u32) -> &Word {
        &self.words[word as usize]
    }

    #[inline]
    pub(crate) fn phrase(&self, phrase: u32) -> &Phrase {
        &self.phrases[phrase as usize]
    }

    /// The synsets of a word.
    #[inline]
    pub(crate) fn synsets(&self, word: &Word) -> &[Feature] {
        &self.synsets[word.synsets_start as usize..word.synsets_end as usize]
    }

    /// The word as text.
    pub(crate) fn text(&self, word: u32) -> &str {
        text_at(&self.text, &self.ends, word as usize)
    }

    pub(crate) fn n_words(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn n_features(&self) -> usize {
        self.features.len()
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

    fn feature(&mut self, of: FeatureOf) -> Feature {
        let next = self.features.len() as Feature;
        *self.features.entry(of).or_insert(next)
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
        let synsets_start = self.synsets.len() as u32;
        if let Some(lexicon) = &dictionaries.lexicon {
            let mut synsets = Vec::new();
            lexicon.synsets(file, text, &mut synsets);
            for synset in synsets {
                let feature = self.feature(FeatureOf::Synset(synset));
                self.synsets.push(feature);
            }
        }
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
        let (key, stem) = (self.feature(FeatureOf::Key(key)), self.feature(FeatureOf::Stem(stem)));
        self.table_words.push(table_word);
        self.words.push(Word {
            key,
            stem,
            synsets_start,
            synsets_end: self.synsets.len() as u32,
            step,
            length: utf16_len(text) as u32,
            is_function,
        });
        let Self { text: all, ends, table, hasher, .. } = self;
        let word = ends.len() as u32;
        all.push_str(text);
        ends.push(all.len() as u32);
        table.insert_unique(hash, word, |&word| hasher.hash_one(text_at(all, ends, word as usize)));
        word
    }

    /// The phrase `step` followed by `word`.
    #[inline]
    pub(crate) fn longer(
        &mut self,
        resources: &Resources,
        dictionaries: &Dictionaries,
        step: Step,
        word: u32,
    ) -> Step {
        let (node, table_word) = (self.nodes[step.phrase() as usize], self.table_words[word as usize]);
        let Some(paraphrases) = &dictionaries.paraphrases else { return Step::NONE };
        // Seven of eight look-ups end here.
        if table_word == NONE || !paraphrases.may_have_longer(resources.file(), node, table_word) {
            return Step::NONE;
        }
        let key = u64::from(node) << 32 | u64::from(table_word);
        match self.steps.get(key) {
            Some(longer) => longer,
            None => self.learn_longer(resources.file(), paraphrases, node, table_word),
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
        if let Some(step) = self.step_of_node.get(&node) {
            return *step;
        }
        let targets_start = self.targets.len();
        self.targets.extend(paraphrases.targets(file, node));
        let targets_end = self.targets.len();
        let n_words = (targets_end - targets_start).div_ceil(4).next_power_of_two();
        let filter_start = self.filters.len();
        let filter = Filter { start: filter_start as u32, mask: n_words as u32 - 1 };
        if targets_start < targets_end {
            self.filters.resize(filter_start + n_words, 0);
            for target in &self.targets[targets_start..] {
                let probe = Probe::of(*target);
                self.filters[filter.place(probe)] |= probe.bits;
            }
        }
        let phrase = self.phrases.len() as u32;
        self.nodes.push(node);
        self.phrases.push(Phrase {
            node,
            targets_start: targets_start as u32,
            targets_end: targets_end as u32,
            filter,
        });
        let step = Step::new(phrase, paraphrases.has_longer(file, node), paraphrases.is_phrase(file, node));
        self.step_of_node.insert(node, step);
        step
    }

    /// Whether the phrase behind `probe` may be among the paraphrases behind `filter`; false is certain.
    #[inline]
    pub(crate) fn may_paraphrase(&self, filter: Filter, probe: Probe) -> bool {
        self.filters[filter.place(probe)] & probe.bits == probe.bits
    }

    /// The positions of `target` among the paraphrases of `source`, in the order of the table.
    pub(crate) fn paraphrase_places(&self, source: &Phrase, target: &Phrase) -> impl Iterator<Item = u32> {
        let targets = &self.targets[source.targets_start as usize..source.targets_end as usize];
        let node = target.node;
        targets.iter().enumerate().filter(move |(_, target)| **target == node).map(|(place, _)| place as u32)
    }
}

fn text_at<'t>(text: &'t str, ends: &[u32], word: usize) -> &'t str {
    &text[Ends(ends).range(word)]
}
