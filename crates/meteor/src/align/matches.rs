//! Matches between a hypothesis and a reference, and the matches of one reference word.

use crate::options::MAX_MATCHERS;

/// A run of hypothesis words that matches a run of reference words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) reference: u32,
    pub(crate) reference_len: u32,
    pub(crate) hypothesis: u32,
    pub(crate) hypothesis_len: u32,
    /// Position of the matcher in the order in which they run.
    pub(crate) module: u8,
}

impl Match {
    pub(super) fn single(reference: usize, hypothesis: u32, module: usize) -> Self {
        Self {
            reference: reference as u32,
            reference_len: 1,
            hypothesis,
            hypothesis_len: 1,
            module: module as u8,
        }
    }

    pub(super) fn hypothesis_end(&self) -> u32 {
        self.hypothesis + self.hypothesis_len
    }

    pub(super) fn reference_end(&self) -> u32 {
        self.reference + self.reference_len
    }

    /// The distance that this match adds to a path.
    pub(super) fn distance(&self) -> u32 {
        self.reference.abs_diff(self.hypothesis)
    }
}

/// A paraphrase match. Matches of the same reference word are ordered by their fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Paraphrase {
    pub(super) reference: u32,
    /// False, which sorts first, if the source is in the reference; true if it is in the hypothesis.
    pub(super) source_in_hypothesis: bool,
    pub(super) order: [u32; 3],
    pub(super) reference_len: u32,
    pub(super) hypothesis: u32,
    pub(super) hypothesis_len: u32,
}

impl Paraphrase {
    pub(super) fn as_match(&self, module: usize) -> Match {
        let Self { reference, reference_len, hypothesis, hypothesis_len, .. } = *self;
        Match { reference, reference_len, hypothesis, hypothesis_len, module: module as u8 }
    }
}

/// The hypothesis words that a reference word matches, for hypotheses of up to 64 words.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    /// The words matched by each matcher.
    pub(super) masks: [u64; MAX_MATCHERS],
    /// The words matched by at least one matcher, and by at least two.
    pub(super) any: u64,
    pub(super) twice: u64,
    /// The number of matches.
    pub(super) count: u32,
}

impl Row {
    pub(super) fn new(masks: [u64; MAX_MATCHERS]) -> Self {
        let mut row = Self { masks, ..Self::default() };
        for mask in masks {
            row.twice |= row.any & mask;
            row.any |= mask;
            row.count += mask.count_ones();
        }
        row
    }

    /// The row if only the first matcher runs.
    pub(super) fn of_first(self) -> Self {
        Self::new([self.masks[0], 0, 0, 0])
    }
}
