//! Byte pair encoding: neighbouring symbols are joined, the earliest pair of the list first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A list of merges over a vocabulary.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    ids: HashMap<String, u32>,
    /// For each pair of ids, its rank and what it becomes.
    merges: HashMap<(u32, u32), (u32, u32)>,
    unknown: u32,
}

impl Pairs {
    pub fn new(ids: &HashMap<String, u32>, merges: &[(String, String)], unknown: u32) -> Self {
        let mut ranked = HashMap::with_capacity(merges.len());
        for ((one, other), rank) in merges.iter().zip(0..) {
            let pair = ids.get(one).zip(ids.get(other));
            if let (Some((one, other)), Some(both)) = (pair, ids.get(&format!("{one}{other}"))) {
                ranked.insert((*one, *other), (rank, *both));
            }
        }
        Self { ids: ids.clone(), merges: ranked, unknown }
    }

    /// Adds the ids of a word, which consists of these symbols.
    pub fn add<'s>(&self, symbols: impl Iterator<Item = &'s str>, ids: &mut Vec<u32>) {
        let mut word: Vec<u32> =
            symbols.map(|symbol| self.ids.get(symbol).copied().unwrap_or(self.unknown)).collect();
        // Where the symbol after each one is, and the one before it; joined ones are passed over.
        let n = word.len();
        let mut after: Vec<usize> = (1..=n).collect();
        let mut before: Vec<usize> = (0..n).map(|at| at.wrapping_sub(1)).collect();
        let pair = |word: &[u32], at: usize, next: usize| {
            let (one, other) = (*word.get(at)?, *word.get(next)?);
            let (rank, both) = self.merges.get(&(one, other))?;
            Some(Reverse((*rank, at, next, one, other, *both)))
        };
        let mut waiting: BinaryHeap<_> = (0..n).filter_map(|at| pair(&word, at, at + 1)).collect();
        let mut is_joined = vec![false; n];
        while let Some(Reverse((_, at, next, one, other, both))) = waiting.pop() {
            // One of the two may be another symbol by now.
            if is_joined[at] || is_joined[next] || after[at] != next || (word[at], word[next]) != (one, other)
            {
                continue;
            }
            word[at] = both;
            is_joined[next] = true;
            after[at] = after[next];
            if let Some(back) = before.get_mut(after[at]) {
                *back = at;
            }
            waiting.extend(pair(&word, at, after[at]));
            waiting.extend(pair(&word, before[at], at));
        }
        ids.extend(word.into_iter().zip(is_joined).filter(|(_, is_joined)| !is_joined).map(|(id, _)| id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, by looking for the best pair again after each merge.
    fn slowly(pairs: &Pairs, mut word: Vec<u32>) -> Vec<u32> {
        loop {
            let ranks = word.windows(2).enumerate().filter_map(|(at, pair)| {
                let (rank, both) = pairs.merges.get(&(pair[0], pair[1]))?;
                Some((*rank, at, *both))
            });
            let Some((_, at, both)) = ranks.min() else { return word };
            word[at] = both;
            word.remove(at + 1);
        }
    }

    fn pairs() -> Pairs {
        let tokens = ["a", "b", "c", "ab", "bc", "aa", "aab", "abc", "aaa", "abab"];
        let ids: HashMap<String, u32> =
            tokens.iter().zip(0..).map(|(token, id)| ((*token).to_owned(), id)).collect();
        let merges =
            [("b", "c"), ("a", "a"), ("a", "b"), ("aa", "b"), ("a", "bc"), ("ab", "ab"), ("aa", "a")];
        let merges: Vec<(String, String)> =
            merges.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        Pairs::new(&ids, &merges, 9)
    }

    #[test]
    fn the_best_pair_is_joined_first_and_of_equal_ones_the_first() {
        let pairs = pairs();
        let letters = ["a", "b", "c"];
        for number in 0..3_usize.pow(7) {
            let word: Vec<usize> = (0..7).map(|k| number / 3_usize.pow(k) % 3).collect();
            let mut ids = Vec::new();
            pairs.add(word.iter().map(|letter| letters[*letter]), &mut ids);
            assert_eq!(ids, slowly(&pairs, word.iter().map(|letter| *letter as u32).collect()), "{word:?}");
        }
    }

    #[test]
    fn a_word_without_end_is_read_in_time() {
        let mut ids = Vec::new();
        pairs().add(std::iter::repeat_n("a", 100_001), &mut ids);
        assert_eq!((ids.len(), ids.first(), ids.last()), (50_000, Some(&5), Some(&8)));
    }
}
