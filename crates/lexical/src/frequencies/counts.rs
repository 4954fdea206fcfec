//! N-grams with their frequencies, gathered in any order, from which tables are built.

use std::hash::BuildHasher;

use capeval_choice::Refusal;
use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::encoding::{Parts, key};
use super::words::Words;
use super::{DocumentFrequencies, MAX_ORDER};

/// The prefix of single words.
pub(super) const NOTHING: u32 = u32::MAX;

/// N-grams with their frequencies, from which a table is built.
///
/// An n-gram is a pair: the number of its first n − 1 words as an n-gram, and its last word. So the prefixes of an
/// n-gram have numbers, too, before its own, and frequency 0 unless they are given one.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    words: Words,
    keys: Vec<u64>,
    lengths: Vec<u8>,
    frequencies: Vec<u32>,
    table: HashTable<u32>,
}

/// The hash of a key; without a random seed, so runs are reproducible.
fn hash(key: u64) -> u64 {
    FixedState::with_seed(0).hash_one(key)
}

impl Counts {
    /// The number of `word` for use with the other functions.
    ///
    /// # Errors
    /// When the distinct words exceed 4 GiB in total.
    pub fn word(&mut self, word: &str) -> Result<u32, Refusal> {
        self.words.intern(word)
    }

    /// The word with this number; empty if there is none.
    pub(crate) fn word_text(&self, number: u32) -> &str {
        self.words.get(number)
    }

    /// The number of the n-gram that extends `prefix`, or begins with `word` where there is none.
    ///
    /// # Errors
    /// When `word` or `prefix` has no number, or the n-gram is longer than [`MAX_ORDER`]; or when there are too many.
    pub fn extend(&mut self, prefix: Option<u32>, word: u32) -> Result<u32, Refusal> {
        let length = match prefix {
            None => 1,
            Some(prefix) => match self.lengths.get(prefix as usize) {
                Some(length) => length + 1,
                None => return Err(Refusal::new("a prefix that has no number")),
            },
        };
        if usize::from(length) > MAX_ORDER {
            return Err(wrong_length(usize::from(length)));
        }
        if word as usize >= self.words.len() {
            return Err(Refusal::new("an n-gram with a word that has no number"));
        }
        let Self { keys, table, .. } = self;
        let key = key(prefix.unwrap_or(NOTHING), word);
        let hash_of = |number: &u32| hash(keys.get(*number as usize).copied().unwrap_or_default());
        let hash = hash(key);
        if let Some(known) = table.find(hash, |number| keys.get(*number as usize) == Some(&key)) {
            return Ok(*known);
        }
        let number = u32::try_from(keys.len()).ok().filter(|number| *number < NOTHING);
        let number = number.ok_or_else(|| Refusal::new("more n-grams than 32 bits can number"))?;
        table.insert_unique(hash, number, hash_of);
        keys.push(key);
        self.lengths.push(length);
        self.frequencies.push(0);
        Ok(number)
    }

    /// Adds to the frequency of the n-gram with this number.
    ///
    /// # Errors
    /// When the sum exceeds 32 bits, or the n-gram has no number.
    pub fn add(&mut self, ngram: u32, frequency: u32) -> Result<(), Refusal> {
        let known = self.frequencies.get_mut(ngram as usize);
        let known = known.ok_or_else(|| Refusal::new("an n-gram that has no number"))?;
        *known = known
            .checked_add(frequency)
            .ok_or_else(|| Refusal::new("an n-gram that occurs in over four thousand million images"))?;
        Ok(())
    }

    /// Adds to the frequency of an n-gram, given as the numbers of its words.
    pub fn push(&mut self, ngram: &[u32], frequency: u32) -> Result<(), Refusal> {
        let number = self.find(ngram)?;
        self.add(number, frequency)
    }

    /// Sets the frequency of an n-gram; the last one counts, as in a Python dictionary.
    pub fn set(&mut self, ngram: &[u32], frequency: u32) -> Result<(), Refusal> {
        let number = self.find(ngram)?;
        self.frequencies[number as usize] = frequency;
        Ok(())
    }

    fn find(&mut self, ngram: &[u32]) -> Result<u32, Refusal> {
        if ngram.len() > MAX_ORDER {
            return Err(wrong_length(ngram.len()));
        }
        let mut number = None;
        for word in ngram {
            number = Some(self.extend(number, *word)?);
        }
        number.ok_or_else(|| wrong_length(0))
    }

    /// The number of n-grams so far, with all their prefixes.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The length of the longest n-gram so far; 0 without n-grams.
    pub fn longest(&self) -> usize {
        self.lengths.iter().max().copied().unwrap_or_default().into()
    }

    /// Makes room for `n` more n-grams.
    pub(super) fn reserve(&mut self, n: usize) {
        let Self { keys, table, .. } = self;
        table.reserve(n, |number| hash(keys.get(*number as usize).copied().unwrap_or_default()));
        self.lengths.reserve(n);
        self.frequencies.reserve(n);
        self.keys.reserve(n);
    }

    /// The number of distinct words.
    pub(super) fn n_words(&self) -> usize {
        self.words.len()
    }

    /// The numbers of the last words of all n-grams, the numbers of their prefixes, their lengths and frequencies.
    pub(super) fn ngrams(&self) -> impl Iterator<Item = Ngram> {
        let rest = self.lengths.iter().zip(&self.frequencies);
        self.keys.iter().zip(rest).map(|(key, (length, frequency))| Ngram {
            prefix: (key >> 32) as u32,
            word: *key as u32,
            length: *length,
            frequency: *frequency,
        })
    }

    /// The n-gram with this number, of which there must be one.
    pub(super) fn get(&self, number: u32) -> Ngram {
        let at = number as usize;
        let key = self.keys[at];
        Ngram {
            prefix: (key >> 32) as u32,
            word: key as u32,
            length: self.lengths[at],
            frequency: self.frequencies[at],
        }
    }

    /// Calls `visit` with the words of each n-gram whose frequency is not 0, and the frequency, in any order.
    pub fn for_each(&self, mut visit: impl FnMut(&[&str], u32)) {
        let mut words = Vec::with_capacity(MAX_ORDER);
        for ngram in self.ngrams().filter(|ngram| ngram.frequency > 0) {
            words.clear();
            let mut at = ngram;
            loop {
                words.push(self.word_text(at.word));
                if at.prefix == NOTHING {
                    break;
                }
                at = self.get(at.prefix);
            }
            words.reverse();
            visit(&words, ngram.frequency);
        }
    }

    /// Builds the table over `n_images` images of n-grams with at most `order` words.
    ///
    /// N-grams of frequency 0 are left out, since the frequency of n-grams that are not in a table is 0.
    ///
    /// # Errors
    /// When a frequency exceeds `n_images`, an n-gram is longer than `order`, or `order` is not from 1 to
    /// [`MAX_ORDER`].
    pub fn into_table(self, n_images: u64, order: usize) -> Result<DocumentFrequencies, Refusal> {
        if !(1..=MAX_ORDER).contains(&order) {
            return Err(Refusal::new(format!(
                "order {order}; a table holds n-grams of 1 to {MAX_ORDER} words"
            )));
        }
        if self.longest() > order {
            return Err(Refusal::new(format!(
                "an n-gram of {} words in a table of order {order}",
                self.longest()
            )));
        }
        let UsedEntries { ngrams, words } = self.used();
        let mut parts = Parts { n_images, ..Parts::default() };
        // The rank of each word among those that are used.
        let mut ranks = vec![0; self.n_words()];
        for number in self.words.sorted().into_iter().filter(|number| words[*number as usize]) {
            ranks[number as usize] = parts.word_ends.len() as u32;
            parts.text.push_str(self.word_text(number));
            parts.word_ends.push(parts.text.len() as u32);
        }
        // Each word is a node, even if only longer n-grams that contain it were given.
        parts.frequencies = vec![0; parts.word_ends.len()];
        parts.order_ends.push(parts.word_ends.len() as u32);
        let mut by_length: Vec<Vec<u32>> = vec![Vec::new(); order];
        for (number, ngram) in (0..).zip(self.ngrams()).filter(|(number, _)| ngrams[*number as usize]) {
            by_length[usize::from(ngram.length) - 1].push(number);
        }
        let mut nodes = vec![0; self.len()];
        for (n, numbers) in by_length.into_iter().enumerate() {
            if n == 0 {
                for number in numbers {
                    let ngram = self.get(number);
                    let node = ranks[ngram.word as usize];
                    parts.frequencies[node as usize] = ngram.frequency;
                    nodes[number as usize] = node;
                }
                continue;
            }
            let key_of = |number: u32| {
                let ngram = self.get(number);
                (key(nodes[ngram.prefix as usize], ranks[ngram.word as usize]), number)
            };
            let mut sorted: Vec<(u64, u32)> = numbers.into_iter().map(key_of).collect();
            sorted.sort_unstable();
            for (key, number) in sorted {
                nodes[number as usize] = parts.frequencies.len() as u32;
                parts.keys.push(key);
                parts.frequencies.push(self.frequencies[number as usize]);
            }
            parts.order_ends.push(parts.frequencies.len() as u32);
        }
        parts.into_table(None)
    }

    /// The parts of these n-grams that a table contains: without those that are no n-grams, of frequency 0 and without
    /// longer ones.
    fn used(&self) -> UsedEntries {
        let mut used = UsedEntries { ngrams: vec![false; self.len()], words: vec![false; self.n_words()] };
        // Prefixes have lower numbers.
        for number in (0..self.len()).rev() {
            let ngram = self.get(number as u32);
            if ngram.frequency > 0 || used.ngrams[number] {
                used.ngrams[number] = true;
                used.words[ngram.word as usize] = true;
                if let Some(prefix) = used.ngrams.get_mut(ngram.prefix as usize) {
                    *prefix = true;
                }
            }
        }
        used
    }
}

/// The n-grams and the words that a table has.
struct UsedEntries {
    ngrams: Vec<bool>,
    words: Vec<bool>,
}

/// An n-gram with its frequency.
#[derive(Clone, Copy)]
pub(super) struct Ngram {
    /// The number of its prefix; [`NOTHING`] for a single word.
    pub prefix: u32,
    pub word: u32,
    pub length: u8,
    pub frequency: u32,
}

fn wrong_length(n: usize) -> Refusal {
    Refusal::new(format!("an n-gram of {n} words; a table holds those of 1 to {MAX_ORDER}"))
}
