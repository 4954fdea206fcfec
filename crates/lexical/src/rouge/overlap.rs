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
    /// The words of the text.
    counts: Vec<Occurrences>,
    /// Its longer n-grams; open addressing. The number of an n-gram is its place here after those of all words.
    cells: Vec<Cell>,
    /// For each position, the n-gram of the current order that starts there.
    at: Vec<u32>,
    /// The other text in the new numbers, with [`NONE`] for words that the prepared text does not contain.
    other: Vec<u32>,
    touched: Vec<u32>,
}

/// The number of times that a text contains an n-gram, and that it has been found in the other text.
#[derive(Clone, Copy, Default)]
struct Occurrences {
    have: u32,
    used: u32,
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
        let n_longer = (1..order).map(|n| text.len().saturating_sub(n)).sum::<usize>();
        let free = Cell { key: FREE, occurrences: Occurrences::default() };
        self.cells.clear();
        self.cells.resize((2 * n_longer).next_power_of_two().max(2), free);
        self.at.clear();
        self.at.extend_from_slice(&self.words);
        let n_words = self.counts.len();
        for n in 1..order {
            for start in 0..text.len().saturating_sub(n) {
                let key = u64::from(self.at[start]) << 32 | u64::from(self.words[start + n]);
                let slot = self.slot(key);
                let cell = &mut self.cells[slot];
                cell.key = key;
                cell.occurrences.have += 1;
                self.at[start] = (n_words + slot) as u32;
            }
        }
    }

    #[inline]
    fn slot(&self, key: u64) -> usize {
        let mask = self.cells.len() - 1;
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.cells[slot].key != FREE && self.cells[slot].key != key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// The occurrences of an n-gram of the prepared text.
    #[inline]
    fn occurrences(&mut self, ngram: u32) -> &mut Occurrences {
        let n_words = self.counts.len();
        match (ngram as usize).checked_sub(n_words) {
            None => &mut self.counts[ngram as usize],
            Some(slot) => &mut self.cells[slot].occurrences,
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
        let mut hits = [0; MAX_ORDER];
        let (mut words, mut ngrams, mut touched) =
            (mem::take(&mut self.other), mem::take(&mut self.at), mem::take(&mut self.touched));
        words.clear();
        words.extend(other.iter().map(|word| self.own(*word)));
        ngrams.clear();
        ngrams.extend_from_slice(&words);
        for n in 0..self.order {
            let mut any = false;
            for start in 0..other.len().saturating_sub(n) {
                if n > 0 {
                    let (prefix, word) = (ngrams[start], words[start + n]);
                    if prefix == NONE {
                        continue;
                    }
                    let slot = (word != NONE).then(|| self.slot(u64::from(prefix) << 32 | u64::from(word)));
                    ngrams[start] = match slot {
                        Some(slot) if self.cells[slot].key != FREE => (self.counts.len() + slot) as u32,
                        _ => NONE,
                    };
                }
                let ngram = ngrams[start];
                if ngram == NONE {
                    continue;
                }
                any = true;
                let Occurrences { have, used } = self.occurrences(ngram);
                if *used < *have {
                    *used += 1;
                    hits[n] += 1;
                    touched.push(ngram);
                }
            }
            if !any {
                break;
            }
        }
        touched.drain(..).for_each(|ngram: u32| self.occurrences(ngram).used = 0);
        (self.other, self.at, self.touched) = (words, ngrams, touched);
        hits
    }
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
