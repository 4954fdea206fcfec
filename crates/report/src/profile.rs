//! The profile of a system's captions, for the page of a diversity report.

use serde::{Deserialize, Serialize};

/// Counts over all captions of one system, in words of a metric's tokenizer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// The number of captions with 0, 1, 2 … words.
    pub lengths: Vec<usize>,
    /// The number of distinct words in the first words, for some numbers of first words up to all.
    pub growth: Vec<(usize, usize)>,
    /// The n-grams, from those of one word on.
    pub ngrams: Vec<NgramCount>,
    /// The captions that occur most often, each with the number of times; only captions that occur again.
    pub frequent: Vec<(String, usize)>,
}

/// The n-grams of one length in the captions of a system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NgramCount {
    /// All of them.
    pub n: usize,
    /// The distinct ones.
    pub n_distinct: usize,
    /// Those that the training captions lack; `None` without training captions.
    pub n_new: Option<usize>,
}

impl Profile {
    /// The number of captions.
    pub fn n_captions(&self) -> usize {
        self.lengths.iter().sum()
    }
}
