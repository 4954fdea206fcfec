//! N-gram language models with backoff.
//!
//! A model contains the base-10 logarithms of the probabilities of n-grams, and a backoff weight for each n-gram that
//! can be extended. The probability of a word after others is that of the longest n-gram in the model, multiplied by
//! the backoff weights of the longer contexts in the model.
//!
//! As in KenLM, `<s>` before a segment is a context but not a token, `</s>` after it is a token, and a word outside the
//! vocabulary is `<unk>`, whose logarithm is −100 in a model without this word.

mod arpa;
mod estimate;

use capeval_text::Vocabulary;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

pub use estimate::{Estimate, FALLBACK_DISCOUNTS};

/// The maximum length of n-grams in a model.
pub const MAX_ORDER: usize = 16;

/// The number of an n-gram that does not exist.
const NONE: u32 = u32::MAX;

const UNKNOWN: &str = "<unk>";
const START: &str = "<s>";
const END: &str = "</s>";
/// The logarithm of the probability of an unknown word in a model without `<unk>`.
const UNKNOWN_LOG10: f64 = -100.0;

/// A word of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(u32);

/// An n-gram language model with backoff.
pub struct NgramModel {
    order: usize,
    /// The words; the number of a word is that of its symbol.
    vocabulary: Vocabulary,
    /// N-grams by (their first words as an n-gram, their last word).
    children: HashMap<u64, u32, FixedState>,
    ngrams: Vec<Ngram>,
    unknown: Word,
    start: Word,
    end: Word,
}

/// An n-gram: the probability of its last word after the others, and its backoff weight.
#[derive(Clone, Copy, Debug)]
struct Ngram {
    /// The n-gram without its last word, or [`NONE`].
    prefix: u32,
    word: u32,
    /// The number of words.
    length: u32,
    /// Base-10 logarithm of the probability; NaN for an n-gram that is only a context.
    log10: f64,
    /// Base-10 logarithm of the backoff weight.
    backoff: f64,
}

impl std::fmt::Debug for NgramModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NgramModel(order {}, {} n-grams)", self.order, self.ngrams.len())
    }
}

fn key(prefix: u32, word: u32) -> u64 {
    u64::from(prefix) << 32 | u64::from(word)
}

impl NgramModel {
    fn empty(order: usize) -> Self {
        let mut vocabulary = Vocabulary::default();
        let [unknown, start, end] = [UNKNOWN, START, END].map(|word| Word(vocabulary.intern(word).number()));
        Self { order, vocabulary, children: HashMap::default(), ngrams: Vec::new(), unknown, start, end }
    }

    /// The n-gram that extends `prefix` by `word`, which is added if it is new.
    fn intern(&mut self, prefix: u32, word: u32) -> u32 {
        let next = self.ngrams.len() as u32;
        let ngram = *self.children.entry(key(prefix, word)).or_insert(next);
        if ngram == next {
            let length = 1 + self.ngrams.get(prefix as usize).map_or(0, |prefix| prefix.length);
            self.ngrams.push(Ngram { prefix, word, length, log10: f64::NAN, backoff: 0.0 });
        }
        ngram
    }

    fn find(&self, prefix: u32, word: u32) -> Option<u32> {
        self.children.get(&key(prefix, word)).copied()
    }

    /// The length of the longest n-grams.
    pub fn order(&self) -> usize {
        self.order
    }

    /// The number of n-grams of each length.
    pub fn n_ngrams(&self) -> Vec<usize> {
        let mut counts = vec![0; self.order];
        for ngram in self.ngrams.iter().filter(|ngram| !ngram.log10.is_nan()) {
            counts[ngram.length as usize - 1] += 1;
        }
        counts
    }

    /// The model's word for `word`; [`unknown`](Self::unknown) if it has none.
    ///
    /// The symbols `<s>` and `</s>` are not words of a text, so they are unknown, too.
    pub fn word(&self, word: &str) -> Word {
        let found = self.vocabulary.get(word).map_or(self.unknown, |symbol| Word(symbol.number()));
        if found == self.start || found == self.end || self.find(NONE, found.0).is_none() {
            self.unknown
        } else {
            found
        }
    }

    /// The word for all words outside the vocabulary.
    pub fn unknown(&self) -> Word {
        self.unknown
    }

    /// The symbol that ends a segment.
    pub fn end(&self) -> Word {
        self.end
    }

    /// A context at the start of a segment.
    pub fn start(&self) -> Context {
        let mut context = Context::default();
        self.log10(&mut context, self.start);
        context
    }

    /// The base-10 logarithm of the probability of `word` after `context`, to which the word is added.
    pub fn log10(&self, context: &mut Context, word: Word) -> f64 {
        let mut log10 = None;
        let mut backoff = 0.0;
        let mut after = Context::default();
        for length in (0..=context.length).rev() {
            let prefix = if length == 0 { NONE } else { context.ngrams[length - 1] };
            if length > 0 && prefix == NONE {
                continue;
            }
            let found = self.find(prefix, word.0);
            if let Some(ngram) = found
                && length + 1 < self.order
            {
                after.ngrams[length] = ngram;
                after.length = after.length.max(length + 1);
            }
            if log10.is_none() {
                match found.map(|ngram| self.ngrams[ngram as usize].log10) {
                    Some(known) if !known.is_nan() => log10 = Some(known),
                    _ if length > 0 => backoff += self.ngrams[prefix as usize].backoff,
                    _ => {}
                }
            }
        }
        *context = after;
        backoff + log10.unwrap_or(UNKNOWN_LOG10)
    }

    /// A hash of the words, probabilities and backoff weights of all n-grams, which does not depend on their order.
    pub fn fingerprint(&self) -> u64 {
        let words: Vec<u64> = self.vocabulary.iter().map(|(_, word)| hash(0, word.as_bytes())).collect();
        let mut spelt: Vec<u64> = Vec::with_capacity(self.ngrams.len());
        let mut sum = self.order as u64;
        for Ngram { prefix, word, length: _, log10, backoff } in &self.ngrams {
            let before = spelt.get(*prefix as usize).copied().unwrap_or_default();
            let spelling = hash(before, &words[*word as usize].to_le_bytes());
            spelt.push(spelling);
            if !log10.is_nan() {
                let numbers = [log10.to_bits().to_le_bytes(), backoff.to_bits().to_le_bytes()];
                sum = sum.wrapping_add(hash(spelling, numbers.as_flattened()));
            }
        }
        sum
    }
}

/// FNV-1a, starting from `before`.
fn hash(before: u64, bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ before.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The words before a word, as far as the model depends on them.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// For each length from 1 on, the last words as an n-gram, or [`NONE`].
    ngrams: [u32; MAX_ORDER],
    length: usize,
}

impl Default for Context {
    fn default() -> Self {
        Self { ngrams: [NONE; MAX_ORDER], length: 0 }
    }
}
