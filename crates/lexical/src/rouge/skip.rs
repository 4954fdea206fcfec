//! Skip-bigrams: pairs of words in order, with a limited or unlimited number of words between them.

use super::Overlap;

const NONE: u32 = u32::MAX;

/// The number of words between the two words of a skip-bigram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// At most this number; 0 for bigrams.
    Most(usize),
    /// Any number.
    Unlimited,
}

impl Gap {
    /// The maximum distance of the two words, in a text of `n` words.
    fn reach(self, n: usize) -> usize {
        match self {
            Self::Most(gap) => gap.saturating_add(1).min(n),
            Self::Unlimited => n,
        }
    }
}

/// The number of skip-bigrams in a text of `n` words.
pub(crate) fn n_pairs(n: usize, gap: Gap) -> u64 {
    let (n, reach) = (n as u64, gap.reach(n) as u64);
    if n == 0 { 0 } else { (n - reach) * reach + reach * (reach - 1) / 2 }
}

/// Counts the skip-bigrams that a candidate and a reference have in common.
///
/// For each first word that both contain, it counts the second words of both in two arrays. Time is at most
/// proportional to the number of distinct first words times the length of the texts, memory to the length.
#[derive(Default)]
pub(crate) struct Skip {
    /// The reference in the numbers of the candidate.
    words: Vec<u32>,
    candidate: Places,
    reference: Places,
    counts: Vec<u64>,
    others: Vec<u64>,
}

impl Skip {
    /// Reads the candidate that `overlap` is prepared for.
    pub(crate) fn prepare(&mut self, overlap: &Overlap) {
        self.candidate.fill(overlap.words(), overlap.n_distinct());
        self.counts.clear();
        self.counts.resize(overlap.n_distinct(), 0);
        self.others.clear();
        self.others.resize(overlap.n_distinct(), 0);
    }

    /// Reads a reference.
    pub(crate) fn read(&mut self, reference: &[u32], overlap: &Overlap) {
        self.words.clear();
        self.words.extend(reference.iter().map(|word| overlap.own(*word)));
        self.reference.fill(&self.words, overlap.n_distinct());
    }

    /// The number of common skip-bigrams, each counted as often as it occurs in both texts.
    pub(crate) fn hits(&mut self, overlap: &Overlap, gap: Gap) -> u64 {
        let mut hits = 0;
        for first in 0..overlap.n_distinct() as u32 {
            if self.reference.first(first).is_none() {
                continue;
            }
            self.candidate
                .seconds(overlap.words(), first, gap, |second, n| self.counts[second as usize] += n);
            self.reference.seconds(&self.words, first, gap, |second, n| {
                let (have, used) = (self.counts[second as usize], &mut self.others[second as usize]);
                let n = n.min(have.saturating_sub(*used));
                *used += n;
                hits += n;
            });
            self.candidate.seconds(overlap.words(), first, gap, |second, _| {
                self.counts[second as usize] = 0;
                self.others[second as usize] = 0;
            });
        }
        hits
    }

    /// The number of common words, without the last word of each text.
    pub(crate) fn unigram_hits(&mut self, overlap: &Overlap) -> u64 {
        let all_but_last = |words: &[u32]| words.len().saturating_sub(1);
        let candidate = &overlap.words()[..all_but_last(overlap.words())];
        candidate.iter().for_each(|word| self.counts[*word as usize] += 1);
        let mut hits = 0;
        for word in &self.words[..all_but_last(&self.words)] {
            if *word != NONE && self.counts[*word as usize] > 0 {
                self.counts[*word as usize] -= 1;
                hits += 1;
            }
        }
        candidate.iter().for_each(|word| self.counts[*word as usize] = 0);
        hits
    }
}

/// The positions of each word in a text.
#[derive(Default)]
struct Places {
    /// By word, the first position, or [`NONE`].
    first: Vec<u32>,
    n_uses: Vec<u32>,
    /// By position, the next one with the same word, or [`NONE`].
    next: Vec<u32>,
}

impl Places {
    fn fill(&mut self, words: &[u32], n_distinct: usize) {
        self.first.clear();
        self.first.resize(n_distinct, NONE);
        self.n_uses.clear();
        self.n_uses.resize(n_distinct, 0);
        self.next.clear();
        self.next.resize(words.len(), NONE);
        for (position, word) in words.iter().enumerate().rev() {
            if *word != NONE {
                self.next[position] = self.first[*word as usize];
                self.first[*word as usize] = position as u32;
                self.n_uses[*word as usize] += 1;
            }
        }
    }

    fn first(&self, word: u32) -> Option<usize> {
        let first = self.first[word as usize];
        (first != NONE).then_some(first as usize)
    }

    /// Calls `count` with the second words of all skip-bigrams that start with `word`, and the number of skip-bigrams
    /// that end at each of their positions.
    fn seconds(&self, words: &[u32], word: u32, gap: Gap, mut count: impl FnMut(u32, u64)) {
        let Some(first) = self.first(word) else { return };
        let reach = gap.reach(words.len());
        let n_uses = self.n_uses[word as usize] as usize;
        if n_uses.saturating_mul(reach) <= words.len() - first {
            let mut position = first as u32;
            while position != NONE {
                let start = position as usize + 1;
                for second in &words[start..words.len().min(start + reach)] {
                    if *second != NONE {
                        count(*second, 1);
                    }
                }
                position = self.next[position as usize];
            }
        } else {
            let mut within = 0;
            for position in first + 1..words.len() {
                within += u64::from(words[position - 1] == word);
                if position > reach {
                    within -= u64::from(words[position - 1 - reach] == word);
                }
                if within > 0 && words[position] != NONE {
                    count(words[position], within);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn pairs(text: &[u32], gap: Gap) -> HashMap<(u32, u32), u64> {
        let mut counts = HashMap::new();
        for (i, a) in text.iter().enumerate() {
            for (j, b) in text.iter().enumerate().skip(i + 1) {
                if gap == Gap::Unlimited || matches!(gap, Gap::Most(most) if j - i - 1 <= most) {
                    *counts.entry((*a, *b)).or_insert(0) += 1;
                }
            }
        }
        counts
    }

    proptest! {
        #[test]
        fn hits_equal_those_of_two_maps(a in "[a-d]{0,40}", b in "[a-e]{0,40}", most in 0_usize..12) {
            let numbers = |text: &str| text.bytes().map(u32::from).collect::<Vec<_>>();
            let (a, b) = (numbers(&a), numbers(&b));
            let (mut overlap, mut skip) = (Overlap::default(), Skip::default());
            overlap.prepare(&a, 1);
            skip.prepare(&overlap);
            skip.read(&b, &overlap);
            for gap in [Gap::Unlimited, Gap::Most(most), Gap::Most(usize::MAX)] {
                let (of_a, of_b) = (pairs(&a, gap), pairs(&b, gap));
                prop_assert_eq!(n_pairs(a.len(), gap), of_a.values().sum::<u64>());
                let expected: u64 = of_a.iter().map(|(pair, n)| of_b.get(pair).map_or(0, |m| *n.min(m))).sum();
                prop_assert_eq!(skip.hits(&overlap, gap), expected);
            }
        }
    }

    #[test]
    fn four_words_make_six_skip_bigrams() {
        assert_eq!(n_pairs(4, Gap::Unlimited), 6);
        assert_eq!(n_pairs(4, Gap::Most(0)), 3);
        assert_eq!((n_pairs(0, Gap::Unlimited), n_pairs(1, Gap::Most(4))), (0, 0));
    }
}
