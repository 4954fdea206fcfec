//! What the matchers need to know of each distinct word and phrase, looked up once.

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashTable};
use rust_stemmers::Stemmer;
use std::hash::BuildHasher;

use crate::java::{hash_code, utf16_len};
use crate::language::Language;
use crate::options::{Matcher, Options};
use crate::resources::{Lexicon, Paraphrases, Resources, StemTable, Words};

/// No phrase: the word is not in the paraphrase table.
pub(crate) const NONE: u32 = u32::MAX;

/// What the matchers compare of a word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// `String.hashCode()` of the word; equal hashes are equal words.
    pub(crate) key: i32,
    /// `String.hashCode()` of the stem.
    pub(crate) stem: i32,
    synsets_start: u32,
    synsets_end: u32,
    /// One bit per synset number, hashed: words without a common bit share no synset.
    synset_bits: u64,
    /// The one-word phrase.
    pub(crate) phrase: u32,
    /// The paraphrase table's number of the word.
    table_word: u32,
    /// UTF-16 code units.
    pub(crate) length: u32,
    pub(crate) is_function: bool,
}

/// A phrase of the paraphrase table, or the beginning of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phrase {
    /// The table's number.
    pub(crate) node: u32,
    /// Number of words.
    pub(crate) len: u32,
    targets_start: u32,
    targets_end: u32,
    /// Where the phrase's filter lies: one bit per hash of a target, so that most questions need no search.
    filter_start: u32,
    filter_shift: u32,
    /// The node, hashed for filters.
    hash: u32,
    has_longer: bool,
}

impl Phrase {
    /// Whether the phrase has paraphrases of its own.
    pub(crate) fn is_source(&self) -> bool {
        self.targets_start < self.targets_end
    }
}

/// The resources that the options ask for.
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

/// Everything known so far about words and phrases; grows as texts are read, and serves one thread.
#[derive(Clone, Default)]
pub(crate) struct Vocabulary {
    text: String,
    /// `ends[k]` is where word `k` stops in `text`.
    ends: Vec<u32>,
    table: HashTable<u32>,
    hasher: FixedState,
    words: Vec<Word>,
    synsets: Vec<u32>,
    phrases: Vec<Phrase>,
    /// Phrase of a table node.
    phrase_of_node: HashMap<u32, u32, FixedState>,
    /// Phrase and next word to longer phrase, or `NONE`.
    longer: HashMap<(u32, u32), u32, FixedState>,
    targets: Vec<u32>,
    filters: Vec<u64>,
}

impl Vocabulary {
    /// The word numbered `word`.
    #[inline]
    pub(crate) fn word(&self, word: u32) -> &Word {
        &self.words[word as usize]
    }

    pub(crate) fn text(&self, word: u32) -> &str {
        text_at(&self.text, &self.ends, word as usize)
    }

    #[inline]
    pub(crate) fn phrase(&self, phrase: u32) -> &Phrase {
        &self.phrases[phrase as usize]
    }

    pub(crate) fn n_words(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn n_phrases(&self) -> usize {
        self.phrases.len()
    }

    /// The number of `text`, with all that the matchers need looked up if it is new.
    pub(crate) fn intern(&mut self, resources: &Resources, dictionaries: &Dictionaries, text: &str) -> u32 {
        let hash = self.hasher.hash_one(text);
        let Self { text: all, ends, table, .. } = &*self;
        if let Some(&word) = table.find(hash, |&word| text_at(all, ends, word as usize) == text) {
            return word;
        }
        self.learn(resources, dictionaries, text, hash)
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
        let mut synset_bits = 0;
        if let Some(lexicon) = &dictionaries.lexicon {
            let mut synsets = Vec::new();
            lexicon.synsets(file, text, &mut synsets);
            for synset in synsets {
                synset_bits |= 1 << (synset.wrapping_mul(0x9E37_79B1) >> 26);
                self.synsets.push(synset);
            }
        }
        let function_words = dictionaries.function_words;
        let is_function = function_words.is_some_and(|words| words.contains(file, &text.to_lowercase()));
        let (mut table_word, mut phrase) = (NONE, NONE);
        if let Some(paraphrases) = &dictionaries.paraphrases {
            if let Some(number) = paraphrases.word(file, text) {
                table_word = number;
                if let Some(node) = paraphrases.longer(file, Paraphrases::ROOT, number) {
                    phrase = self.phrase_of(file, paraphrases, node, 1);
                }
            }
        }
        self.words.push(Word {
            key,
            stem,
            synsets_start,
            synsets_end: self.synsets.len() as u32,
            synset_bits,
            phrase,
            table_word,
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

    /// The phrase `phrase` with `word` added, or `NONE`.
    #[inline]
    pub(crate) fn longer(
        &mut self,
        resources: &Resources,
        dictionaries: &Dictionaries,
        phrase: u32,
        word: u32,
    ) -> u32 {
        let Phrase { node, len, has_longer, .. } = self.phrases[phrase as usize];
        let table_word = self.words[word as usize].table_word;
        if !has_longer || table_word == NONE {
            return NONE;
        }
        if let Some(longer) = self.longer.get(&(phrase, word)) {
            return *longer;
        }
        let file = resources.file();
        let longer = dictionaries.paraphrases.as_ref().and_then(|paraphrases| {
            let longer = paraphrases.longer(file, node, table_word)?;
            Some(self.phrase_of(file, paraphrases, longer, len + 1))
        });
        let longer = longer.unwrap_or(NONE);
        self.longer.insert((phrase, word), longer);
        longer
    }

    fn phrase_of(&mut self, file: &[u8], paraphrases: &Paraphrases, node: u32, len: u32) -> u32 {
        if let Some(phrase) = self.phrase_of_node.get(&node) {
            return *phrase;
        }
        let targets_start = self.targets.len();
        self.targets.extend(paraphrases.targets(file, node));
        let targets_end = self.targets.len();
        let n_bits = (16 * (targets_end - targets_start)).next_power_of_two().max(64);
        let filter_start = self.filters.len();
        let filter_shift = 32 - n_bits.trailing_zeros().min(31);
        if targets_start < targets_end {
            self.filters.resize(filter_start + n_bits / 64, 0);
            for target in &self.targets[targets_start..] {
                let bit = node_hash(*target) >> filter_shift;
                self.filters[filter_start + bit as usize / 64] |= 1 << (bit % 64);
            }
        }
        let phrase = self.phrases.len() as u32;
        self.phrases.push(Phrase {
            node,
            len,
            targets_start: targets_start as u32,
            targets_end: targets_end as u32,
            filter_start: filter_start as u32,
            filter_shift,
            hash: node_hash(node),
            has_longer: paraphrases.has_longer(file, node),
        });
        self.phrase_of_node.insert(node, phrase);
        phrase
    }

    /// Whether two words share a synset.
    #[inline]
    pub(crate) fn share_synset(&self, a: &Word, b: &Word) -> bool {
        if a.synset_bits & b.synset_bits == 0 {
            return false;
        }
        let of = |word: &Word| &self.synsets[word.synsets_start as usize..word.synsets_end as usize];
        let (mut a, mut b) = (of(a), of(b));
        while let ([first, a_rest @ ..], [second, b_rest @ ..]) = (a, b) {
            match first.cmp(second) {
                std::cmp::Ordering::Less => a = a_rest,
                std::cmp::Ordering::Greater => b = b_rest,
                std::cmp::Ordering::Equal => return true,
            }
        }
        false
    }

    /// Whether `target` may be among the paraphrases of `source`; false is certain.
    #[inline]
    pub(crate) fn may_paraphrase(&self, source: &Phrase, target: &Phrase) -> bool {
        let bit = target.hash >> source.filter_shift;
        self.filters[source.filter_start as usize + bit as usize / 64] >> (bit % 64) & 1 == 1
    }

    /// The places of `target` among the paraphrases of `source`, in the order of the table.
    pub(crate) fn paraphrase_places(&self, source: &Phrase, target: &Phrase) -> impl Iterator<Item = u32> {
        let targets = &self.targets[source.targets_start as usize..source.targets_end as usize];
        let node = target.node;
        targets.iter().enumerate().filter(move |(_, target)| **target == node).map(|(place, _)| place as u32)
    }
}

fn text_at<'t>(text: &'t str, ends: &[u32], word: usize) -> &'t str {
    let start = if word == 0 { 0 } else { ends[word - 1] as usize };
    &text[start..ends[word] as usize]
}

fn node_hash(node: u32) -> u32 {
    node.wrapping_mul(0x9E37_79B1)
}
