//! How good an alignment can get, without searching for it.
//!
//! Only the best reference of a segment counts, so a reference whose bound is not above the best score so far
//! needs no search. On COCO val2014 this halves the time spent searching.

use crate::options::{MAX_MATCHERS, Parameters};

/// Sentences longer than this have no bound.
pub(crate) const LONGEST: usize = 64;

/// What is known of the matches of a pair before the search.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prospects {
    /// Words of the hypothesis and of the reference that can be matched, by class.
    pub(crate) hypothesis: Classes,
    pub(crate) reference: Classes,
    /// Words on both sides that paraphrases of more than one word on either side can match.
    pub(crate) in_phrases: u32,
    /// Places in the reference where a match can go on from the one before.
    pub(crate) continuations: u32,
    /// Whether all words on both sides can be matched.
    pub(crate) complete: bool,
}

/// Counts of words: by the rank of the best weight they can be matched with, content words before function words.
pub(crate) type Classes = [u8; 2 * MAX_MATCHERS];

/// The formula, with what the bound needs of it worked out.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    parameters: Parameters,
    /// Matchers by falling weight.
    pub(crate) ranks: Vec<u8>,
    /// Classes by falling value of their words, and that value.
    classes: Vec<(u8, f64)>,
    /// Per number of chunks, per number of matched words on both sides: the share that is taken off.
    penalties: Vec<f64>,
}

/// Room for the difference of rounding between the bound and the score; also what lets an equally good
/// reference be looked at, since the first of these counts.
const SLACK: f64 = 1e-9;

impl Bound {
    pub(crate) fn new(parameters: Parameters, weights: &[f64]) -> Self {
        let mut ranks: Vec<u8> = (0..weights.len() as u8).collect();
        ranks.sort_by(|a, b| weights[usize::from(*b)].total_cmp(&weights[usize::from(*a)]));
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
        Self { parameters, ranks, classes, penalties }
    }

    /// A score that no alignment exceeds; `lengths` are those of hypothesis and reference, weighted.
    pub(crate) fn score(&self, prospects: &Prospects, lengths: (f64, f64)) -> f64 {
        let (hypothesis, n_hypothesis) = self.sums(&prospects.hypothesis);
        let (reference, n_reference) = self.sums(&prospects.reference);
        let phrases = prospects.in_phrases as usize;
        let fewest = n_hypothesis.min(n_reference);
        let most = (n_hypothesis + n_reference).min(2 * fewest + phrases);
        if most == 0 {
            return SLACK;
        }
        // Up to here one chunk may do, so that more words are better on all counts.
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

    /// The largest sums of values of 0, 1, 2, … words, and how many words there are.
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
