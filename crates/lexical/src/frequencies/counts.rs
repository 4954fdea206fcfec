//! Builds a table from n-grams with their frequencies, in any order.

use super::table::{Parts, key};
use super::words::Words;
use super::{DocumentFrequencies, Error, MAX_ORDER};

/// The treatment of n-grams that are given more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Its frequencies are added, as when disjoint sets of images are merged.
    Add,
    /// The last frequency counts, as in a Python dictionary.
    KeepLast,
}

/// N-grams with their frequencies, from which a table is built.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    words: Words,
    /// The words of all n-grams, in sequence.
    numbers: Vec<u32>,
    /// For each n-gram, the end of its words, and its frequency.
    ngrams: Vec<(u32, u32)>,
}

impl Counts {
    /// The number of `word` for use with [`push`](Self::push).
    ///
    /// # Errors
    /// When the distinct words exceed 4 GiB in total.
    pub fn word(&mut self, word: &str) -> Result<u32, Error> {
        self.words.intern(word)
    }

    /// The word with this number; empty if there is none.
    pub(crate) fn word_text(&self, number: u32) -> &str {
        self.words.get(number)
    }

    /// Adds an n-gram: the numbers of its words, and the number of images in which it occurs.
    ///
    /// # Errors
    /// When the n-gram is empty, longer than [`MAX_ORDER`], or has a number that [`word`](Self::word) did not return;
    /// or when all n-grams together have more than four thousand million words.
    pub fn push(&mut self, ngram: &[u32], frequency: u32) -> Result<(), Error> {
        if !(1..=MAX_ORDER).contains(&ngram.len()) {
            return Err(Error::new(format!(
                "an n-gram of {} words; a table holds those of 1 to {MAX_ORDER}",
                ngram.len()
            )));
        }
        if ngram.iter().any(|number| *number as usize >= self.words.len()) {
            return Err(Error::new("an n-gram with a word that has no number"));
        }
        let end = u32::try_from(self.numbers.len() + ngram.len())
            .map_err(|_| Error::new("the n-grams have together more words than 32 bits can number"))?;
        self.numbers.extend_from_slice(ngram);
        self.ngrams.push((end, frequency));
        Ok(())
    }

    /// The length of the longest n-gram so far; 0 without n-grams.
    pub fn longest(&self) -> usize {
        let mut start = 0;
        let mut longest = 0;
        for (end, _) in &self.ngrams {
            longest = longest.max(end - start);
            start = *end;
        }
        longest as usize
    }

    /// Builds the table over `n_images` images of the n-grams with at most `order` words.
    ///
    /// N-grams of frequency 0 are left out, since the frequency of n-grams that are not in a table is 0.
    ///
    /// # Errors
    /// When a frequency exceeds `n_images`, an n-gram is longer than `order`, or `order` is not from 1 to
    /// [`MAX_ORDER`].
    pub fn into_table(
        self,
        n_images: u64,
        order: usize,
        repeats: Repeats,
    ) -> Result<DocumentFrequencies, Error> {
        let Self { words, numbers, ngrams } = self;
        if !(1..=MAX_ORDER).contains(&order) {
            return Err(Error::new(format!(
                "order {order}; a table holds n-grams of 1 to {MAX_ORDER} words"
            )));
        }
        let ngrams = Ngrams { numbers: &numbers, ends: &ngrams };
        let by_rank = words.sorted();
        let mut ranks = vec![0; words.len()];
        for (rank, number) in (0..).zip(&by_rank) {
            if let Some(slot) = ranks.get_mut(*number as usize) {
                *slot = rank;
            }
        }
        let mut distinct: Vec<Distinct> = Vec::new();
        for place in ngrams.sorted(&ranks, order)? {
            let (ngram, frequency) = ngrams.get(place);
            match distinct.last_mut().filter(|last| last.ngram == ngram) {
                Some(last) if repeats == Repeats::Add => {
                    last.frequency = last.frequency.checked_add(frequency).ok_or_else(|| {
                        Error::new("an n-gram that occurs in over four thousand million images")
                    })?;
                }
                Some(last) => last.frequency = frequency,
                None => distinct.push(Distinct { ngram, frequency }),
            }
        }
        distinct.retain(|ngram| ngram.frequency > 0);
        grow(&words, &by_rank, &distinct, n_images, order)
    }
}

/// One n-gram, as the numbers of its words, and its frequency.
struct Distinct<'n> {
    ngram: &'n [u32],
    frequency: u32,
}

/// All n-grams as given.
struct Ngrams<'n> {
    numbers: &'n [u32],
    ends: &'n [(u32, u32)],
}

impl<'n> Ngrams<'n> {
    fn get(&self, place: u32) -> (&'n [u32], u32) {
        let place = place as usize;
        let start = place.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |(end, _)| *end);
        let (end, frequency) = self.ends.get(place).copied().unwrap_or((start, 0));
        (self.numbers.get(start as usize..end as usize).unwrap_or_default(), frequency)
    }

    /// The indices of the n-grams, sorted by the ranks of their words and then by index.
    ///
    /// This is a radix sort from the last word to the first; a missing word precedes all others, so an n-gram precedes
    /// those that extend it.
    fn sorted(&self, ranks: &[u32], order: usize) -> Result<Vec<u32>, Error> {
        let mut places: Vec<u32> = (0..).take(self.ends.len()).collect();
        let mut moved = vec![0; places.len()];
        for position in (0..order).rev() {
            let bucket = |place: u32| match self.get(place).0.get(position) {
                Some(word) => ranks.get(*word as usize).map_or(0, |rank| rank + 1),
                None => 0,
            };
            let buckets: Vec<u32> = (0..).take(places.len()).map(bucket).collect();
            let mut starts = vec![0_u32; ranks.len() + 2];
            for bucket in &buckets {
                starts[*bucket as usize + 1] += 1;
            }
            let mut sum = 0;
            for start in &mut starts {
                sum += *start;
                *start = sum;
            }
            for place in &places {
                let start = &mut starts[buckets[*place as usize] as usize];
                moved[*start as usize] = *place;
                *start += 1;
            }
            std::mem::swap(&mut places, &mut moved);
        }
        match self.ends.iter().zip(0..).find(|(_, place)| self.get(*place).0.len() > order) {
            Some((_, place)) => {
                let n = self.get(place).0.len();
                Err(Error::new(format!("an n-gram of {n} words in a table of order {order}")))
            }
            None => Ok(places),
        }
    }
}

/// Builds the trie of n-grams sorted by the ranks of their words.
fn grow(
    words: &Words,
    by_rank: &[u32],
    distinct: &[Distinct],
    n_images: u64,
    order: usize,
) -> Result<DocumentFrequencies, Error> {
    let mut used = vec![false; words.len()];
    for number in distinct.iter().flat_map(|ngram| ngram.ngram) {
        used[*number as usize] = true;
    }
    let mut text = String::new();
    let mut word_ends = Vec::new();
    // For each number, the index of its word among the used ones.
    let mut word_of = vec![0_u32; words.len()];
    for number in by_rank.iter().filter(|number| used[**number as usize]) {
        word_of[*number as usize] = word_ends.len() as u32;
        text.push_str(words.get(*number));
        word_ends.push(text.len() as u32);
    }
    // For each order, each node's prefix (counted within its own order), last word and frequency.
    let mut nodes: Vec<Vec<(u32, u32, u32)>> = vec![Vec::new(); order];
    nodes[0] = (0..).take(word_ends.len()).map(|word| (0, word, 0)).collect();
    let mut path: Vec<u32> = Vec::new();
    let mut before: &[u32] = &[];
    for Distinct { ngram, frequency } in distinct {
        let n_shared = before.iter().zip(*ngram).take_while(|(old, new)| old == new).count();
        path.truncate(n_shared);
        for (position, number) in ngram.iter().enumerate().skip(n_shared) {
            let word = word_of[*number as usize];
            let node = match path.last() {
                None => word,
                Some(prefix) => {
                    nodes[position].push((*prefix, word, 0));
                    nodes[position].len() as u32 - 1
                }
            };
            path.push(node);
        }
        if let Some(node) = path.last() {
            nodes[ngram.len() - 1][*node as usize].2 = *frequency;
        }
        before = ngram;
    }
    let n_nodes: usize = nodes.iter().map(Vec::len).sum();
    if u32::try_from(n_nodes).is_err() {
        return Err(Error::new("more n-grams than 32 bits can number"));
    }
    let mut parts = Parts { n_images, text, word_ends, ..Parts::default() };
    parts.frequencies.reserve(n_nodes);
    let mut start_of_prefixes = 0;
    for (n, nodes) in nodes.iter().enumerate() {
        parts.frequencies.extend(nodes.iter().map(|(_, _, frequency)| *frequency));
        if n > 0 {
            parts.keys.extend(nodes.iter().map(|(prefix, word, _)| key(start_of_prefixes + prefix, *word)));
            start_of_prefixes = parts.order_ends[n - 1];
        }
        parts.order_ends.push(parts.frequencies.len() as u32);
    }
    parts.into_table(None)
}
