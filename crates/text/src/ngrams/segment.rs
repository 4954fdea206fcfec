//! What one candidate shares with its references.

use super::index::{EntryTable, ImageNgrams};
use super::{NONE, key};
use crate::vocabulary::Symbol;

/// A distinct n-gram of a candidate.
#[derive(Clone, Copy, Debug)]
pub struct CandidateNgram {
    /// Its first n − 1 words, as an index into the candidate's n-grams; [`NONE`] for a word.
    pub prefix: u32,
    /// Its last word.
    pub symbol: Symbol,
    /// How often the candidate holds it.
    pub count: u32,
    /// Its entry among the references' n-grams, or [`NONE`].
    pub entry: u32,
}

/// Buffers for [`SegmentNgrams`]; make one per thread and keep it.
#[derive(Default)]
pub struct SegmentScratch {
    table: EntryTable,
    ngrams: Vec<CandidateNgram>,
    bounds: Vec<usize>,
    positions: Vec<u32>,
    /// For each entry of the references, the candidate's n-gram or [`NONE`].
    shared: Vec<u32>,
    counts: Vec<u32>,
}

/// A candidate's distinct n-grams beside the counts of its references.
#[derive(Clone, Copy)]
pub struct SegmentNgrams<'a> {
    ngrams: &'a [CandidateNgram],
    bounds: &'a [usize],
    counts: &'a [u32],
    references: ImageNgrams<'a>,
}

impl<'a> SegmentNgrams<'a> {
    /// The candidate's distinct n-grams of order `n` (from 0), in order of first appearance.
    #[must_use]
    pub fn order(&self, n: usize) -> &'a [CandidateNgram] {
        &self.ngrams[self.range(n)]
    }

    /// All the candidate's distinct n-grams: words first, then bigrams, and so on.
    #[must_use]
    pub fn all(&self) -> &'a [CandidateNgram] {
        self.ngrams
    }

    /// The longest n-grams looked at.
    #[must_use]
    pub fn max_order(&self) -> usize {
        self.bounds.len()
    }

    /// How often reference `r` holds each of the candidate's n-grams, in the order of [`all`](Self::all).
    #[must_use]
    pub fn reference_counts(&self, r: usize) -> &'a [u32] {
        let n = self.ngrams.len();
        &self.counts[r * n..(r + 1) * n]
    }

    /// The range of order `n` (from 0) among [`all`](Self::all).
    #[must_use]
    pub fn range(&self, n: usize) -> std::ops::Range<usize> {
        (if n == 0 { 0 } else { self.bounds[n - 1] })..self.bounds[n]
    }

    /// The references' n-grams.
    #[must_use]
    pub fn references(&self) -> ImageNgrams<'a> {
        self.references
    }
}

impl SegmentScratch {
    /// Compares a candidate, given as its words, with the n-grams of its references.
    pub fn compare<'a>(
        &'a mut self,
        words: &[Symbol],
        references: ImageNgrams<'a>,
        order: usize,
    ) -> SegmentNgrams<'a> {
        self.count_candidate(words, order);
        self.find_shared(&references, order);
        self.count_references(&references);
        SegmentNgrams { ngrams: &self.ngrams, bounds: &self.bounds, counts: &self.counts, references }
    }

    fn count_candidate(&mut self, words: &[Symbol], order: usize) {
        self.ngrams.clear();
        self.bounds.clear();
        self.positions.clear();
        self.positions.resize(words.len(), NONE);
        self.table.clear((0..order).map(|n| words.len().saturating_sub(n)).sum());
        for n in 0..order {
            for position in 0..words.len().saturating_sub(n) {
                let (prefix, symbol) = (self.positions[position], words[position + n]);
                let next = self.ngrams.len() as u32;
                let at = self.table.entry(key(prefix, symbol), next);
                if at == next {
                    self.ngrams.push(CandidateNgram { prefix, symbol, count: 0, entry: NONE });
                }
                self.ngrams[at as usize].count += 1;
                self.positions[position] = at;
            }
            self.bounds.push(self.ngrams.len());
        }
    }

    fn find_shared(&mut self, references: &ImageNgrams<'_>, order: usize) {
        self.shared.clear();
        for n in 0..order {
            for entry in references.entries(n) {
                let prefix = if n == 0 { NONE } else { self.shared[references.prefixes[entry] as usize] };
                let at = if n > 0 && prefix == NONE {
                    NONE
                } else {
                    self.table.get(key(prefix, references.symbols[entry]))
                };
                if at != NONE {
                    self.ngrams[at as usize].entry = entry as u32;
                }
                self.shared.push(at);
            }
        }
    }

    fn count_references(&mut self, references: &ImageNgrams<'_>) {
        let n = self.ngrams.len();
        self.counts.clear();
        self.counts.resize(n * references.n_references(), 0);
        for r in 0..references.n_references() {
            let counts = &mut self.counts[r * n..(r + 1) * n];
            for entry in references.uses(r) {
                let ngram = self.shared[*entry as usize];
                if ngram != NONE {
                    counts[ngram as usize] += 1;
                }
            }
        }
    }
}
