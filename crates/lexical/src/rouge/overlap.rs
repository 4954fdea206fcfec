//! Counts the n-grams that a candidate has in common with its references.

use std::mem;

use capeval_text::ngrams::MAX_ORDER;

const NONE: u32 = u32::MAX;
const FREE: u64 = u64::MAX;

/// The n-grams of one text, with which many others are compared; words are numbers.
///
/// The words of the text are renumbered without gaps; [`Skip`](super::Skip) uses the same numbers.
#[derive(Default)]
pub(crate) struct Overlap {
    order: usize,
    /// By word: 1 + its new number, or 0.
    places: Vec<u32>,
    seen: Vec<u32>,
    /// The text in the new numbers.
    words: Vec<u32>,
    /// The words of the text, and at last one that it does not contain.
    counts: Vec<Occurrences>,
    /// Its longer n-grams; open addressing. The number of an n-gram is its place here after those of all words.
    cells: Vec<Cell>,
    /// For each position, the n-gram of the current order that starts there.
    at: Vec<u32>,
    /// The other text in the new numbers, with [`NONE`] for words that the prepared text does not contain.
    other: Vec<u32>,
}

/// The number of times that a text contains an n-gram, and that it has been found in the other text.
#[derive(Clone, Copy, Default)]
struct Occurrences {
    have: u32,
    used: u32,
}

impl Occurrences {
    /// Finds the n-gram once more in the other text; 1 if that counts. Without a branch, which no processor foresees.
    #[inline]
    fn find(&mut self) -> u32 {
        let counts = u32::from(self.used < self.have);
        self.used += counts;
        counts
    }
}

/// An n-gram that consists of a shorter one and a word.
#[derive(Clone, Copy)]
struct Cell {
    key: u64,
    occurrences: Occurrences,
}

impl Overlap {
    /// Counts the n-grams of `text` up to `order` words.
    pub(crate) fn prepare(&mut self, text: &[u32], order: usize) {
        debug_assert!(order <= MAX_ORDER);
        self.order = order;
        for word in self.seen.drain(..) {
            self.places[word as usize] = 0;
        }
        self.words.clear();
        self.counts.clear();
        for word in text {
            let at = *word as usize;
            if self.places.len() <= at {
                self.places.resize(at + 1, 0);
            }
            if self.places[at] == 0 {
                self.seen.push(*word);
                self.places[at] = self.seen.len() as u32;
                self.counts.push(Occurrences::default());
            }
            let own = self.places[at] - 1;
            self.counts[own as usize].have += 1;
            self.words.push(own);
        }
        let n_words = self.counts.len();
        self.counts.push(Occurrences::default());
        let n_longer = (1..order).map(|n| text.len().saturating_sub(n)).sum::<usize>();
        let free = Cell { key: FREE, occurrences: Occurrences::default() };
        self.cells.clear();
        self.cells.resize((2 * n_longer).next_power_of_two().max(2), free);
        self.at.clear();
        self.at.extend_from_slice(&self.words);
        for n in 1..order {
            for start in 0..text.len().saturating_sub(n) {
                let key = u64::from(self.at[start]) << 32 | u64::from(self.words[start + n]);
                let slot = slot(&self.cells, key);
                let cell = &mut self.cells[slot];
                cell.key = key;
                cell.occurrences.have += 1;
                self.at[start] = (n_words + slot) as u32;
            }
        }
    }

    /// The prepared text in the new numbers, from 0 without gaps.
    pub(crate) fn words(&self) -> &[u32] {
        &self.words
    }

    /// The text that was last compared, in the new numbers; [`u32::MAX`] for words that the prepared one lacks.
    pub(crate) fn other(&self) -> &[u32] {
        &self.other
    }

    /// The number of distinct words in the prepared text.
    pub(crate) fn n_distinct(&self) -> usize {
        self.seen.len()
    }

    /// The new number of `word`, or [`u32::MAX`] if the prepared text does not contain it.
    #[inline]
    pub(crate) fn own(&self, word: u32) -> u32 {
        self.places.get(word as usize).copied().unwrap_or(0).wrapping_sub(1)
    }

    /// For each order from 1, the number of n-grams that `other` and the prepared text have in common, each counted as
    /// often as it occurs in both.
    pub(crate) fn hits(&mut self, other: &[u32]) -> [u64; MAX_ORDER] {
        let mut words = mem::take(&mut self.other);
        words.clear();
        words.extend(other.iter().map(|word| self.own(*word)));
        let Self { order, counts, cells, at: ngrams, .. } = self;
        counts.iter_mut().for_each(|word| word.used = 0);
        cells.iter_mut().for_each(|cell| cell.occurrences.used = 0);
        let n_words = counts.len().saturating_sub(1);
        let mut hits = [0; MAX_ORDER];
        let mut any = false;
        for word in &words {
            any |= *word != NONE;
            hits[0] += u64::from(counts[n_words.min(*word as usize)].find());
        }
        ngrams.clear();
        ngrams.extend_from_slice(&words);
        for (n, hits) in hits.iter_mut().enumerate().take(*order).skip(1) {
            if !mem::take(&mut any) {
                break;
            }
            for (ngram, word) in ngrams.iter_mut().zip(words.get(n..).unwrap_or_default()) {
                // Where the prefix or the word is not in the prepared text, so is the n-gram.
                let slot = slot(cells, u64::from(*ngram) << 32 | u64::from(*word));
                let cell = &mut cells[slot];
                let is_known = cell.key != FREE;
                any |= is_known;
                *ngram = if is_known { (n_words + slot) as u32 } else { NONE };
                *hits += u64::from(cell.occurrences.find());
            }
        }
        self.other = words;
        hits
    }
}

/// The cell of a key, or a free one.
#[inline]
fn slot(cells: &[Cell], key: u64) -> usize {
    let mask = cells.len() - 1;
    let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
    while cells[slot].key != FREE && cells[slot].key != key {
        slot = (slot + 1) & mask;
    }
    slot
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn count(text: &[u32], n: usize) -> HashMap<&[u32], u64> {
        let mut counts = HashMap::new();
        text.windows(n).for_each(|ngram| *counts.entry(ngram).or_insert(0) += 1);
        counts
    }

    proptest! {
        #[test]
        fn hits_equal_those_of_two_maps(a in "[a-d]{0,40}", bs in proptest::collection::vec("[a-e]{0,40}", 1..4)) {
            let numbers = |text: &str| text.bytes().map(u32::from).collect::<Vec<_>>();
            let a = numbers(&a);
            let mut overlap = Overlap::default();
            for b in bs {
                let b = numbers(&b);
                overlap.prepare(&a, 5);
                let hits = overlap.hits(&b);
                for n in 1..=5 {
                    let (of_a, of_b) = (count(&a, n), count(&b, n));
                    let expected: u64 =
                        of_a.iter().map(|(ngram, n)| of_b.get(ngram).map_or(0, |m| *n.min(m))).sum();
                    prop_assert_eq!(hits[n - 1], expected);
                }
            }
        }
    }
}
