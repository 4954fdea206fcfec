//! An upper bound on the score of an alignment, computed without a search.
//!
//! Only the best reference of a segment counts, so a reference whose bound is not above the best score so far
//! needs no search. On COCO val2014 this halves the time spent on searches.

use crate::options::{MAX_MATCHERS, Parameters};

/// The length of the longest sentences that have a bound.
pub(crate) const LONGEST: usize = 64;

/// Properties of the matches of a pair that are known before the search.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prospects {
    /// Words of the hypothesis and of the reference that can be matched, by class.
    pub(crate) hypothesis: Classes,
    pub(crate) reference: Classes,
    /// Words on both sides that can be matched by paraphrases with more than one word on either side.
    pub(crate) in_phrases: u32,
    /// Positions in the reference where a match can continue the chunk of the previous one.
    pub(crate) continuations: u32,
    /// True if all words on both sides can be matched.
    pub(crate) complete: bool,
}

/// Numbers of words by the rank of the highest weight with which they can be matched; content words come
/// before function words.
pub(crate) type Classes = [u8; 2 * MAX_MATCHERS];

/// The formula, with the values that the bound needs computed in advance.
#[derive(Clone, Debug)]
pub(crate) struct ScoreBound {
    parameters: Parameters,
    /// Classes by descending value of their words, with that value.
    classes: Vec<(u8, f64)>,
    /// For each number of chunks and each number of matched words on both sides, the penalty.
    penalties: Vec<f64>,
}

/// A margin for rounding differences between the bound and the score. It also ensures that equally good
/// references are scored, since the first of these counts.
const SLACK: f64 = 1e-9;

impl ScoreBound {
    /// The bound for matchers with these weights, of which `ranks` are the positions by descending weight.
    pub(crate) fn new(parameters: Parameters, weights: &[f64], ranks: &[u8]) -> Self {
        let mut classes = Vec::new();
        for (rank, matcher) in ranks.iter().enumerate() {
            let weight = weights[usize::from(*matcher)];
            classes.push((rank as u8, weight * parameters.delta));
            classes.push(((rank + MAX_MATCHERS) as u8, weight * (1.0 - parameters.delta)));
        }
        classes.sort_by(|a, b| b.1.total_cmp(&a.1));
        let Parameters { beta, gamma, .. } = parameters;
        let penalties = (0..=LONGEST)
            .flat_map(|chunks| {
                (0..=2 * LONGEST).map(move |words| gamma * (chunks as f64 / (words as f64 / 2.0)).powf(beta))
            })
            .collect();
        Self { parameters, classes, penalties }
    }

    /// A score that no alignment exceeds; `lengths` are the weighted lengths of hypothesis and reference.
    pub(crate) fn score(&self, prospects: &Prospects, lengths: (f64, f64)) -> f64 {
        let (hypothesis, n_hypothesis) = self.sums(&prospects.hypothesis);
        let (reference, n_reference) = self.sums(&prospects.reference);
        let phrases = prospects.in_phrases as usize;
        let fewest = n_hypothesis.min(n_reference);
        let most = (n_hypothesis + n_reference).min(2 * fewest + phrases);
        if most == 0 {
            return SLACK;
        }
        // Up to here there may be only one chunk, so more words improve every factor.
        let free = phrases + 2 * prospects.continuations as usize;
        let Parameters { alpha, .. } = self.parameters;
        let mut best: f64 = 0.0;
        for words in (free + 2).min(most)..=most {
            let side = (words + phrases).div_ceil(2);
            let precision = hypothesis[side.min(n_hypothesis)] / lengths.0;
            let recall = reference[side.min(n_reference)] / lengths.1;
            let fmean = 1.0 / ((1.0 - alpha) / precision + alpha / recall);
            let chunks = words.saturating_sub(free).div_ceil(2).max(1);
            let penalty = if prospects.complete && chunks == 1 {
                0.0
            } else {
                self.penalties[chunks.min(LONGEST) * (2 * LONGEST + 1) + words.min(2 * LONGEST)]
            };
            let score = fmean * (1.0 - penalty);
            if score > best {
                best = score;
            }
        }
        best + SLACK
    }

    /// The largest sums of the values of 0, 1, 2, … words, and the number of words.
    fn sums(&self, counts: &Classes) -> ([f64; LONGEST + 1], usize) {
        let mut sums = [0.0; LONGEST + 1];
        let (mut n, mut sum) = (0, 0.0);
        for (class, value) in &self.classes {
            for _ in 0..counts[usize::from(*class)] {
                sum += value;
                n = (n + 1).min(LONGEST);
                sums[n] = sum;
            }
        }
        (sums, n)
    }
}
