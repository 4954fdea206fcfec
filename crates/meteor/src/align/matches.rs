//! Matches between a hypothesis and a reference.

use crate::options::Matcher;

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

    /// The number of words that this match adds to the matched words of a path, on either side.
    ///
    /// In the search every matcher except the exact one has a weight of one half, whatever its weight in the
    /// score. The counts are integers and each addition is rounded down, so a single word adds nothing.
    pub(super) fn gain(&self, matchers: &[Matcher]) -> u32 {
        match matchers.get(usize::from(self.module)) {
            Some(Matcher::Exact) => self.hypothesis_len + self.reference_len,
            _ => self.hypothesis_len / 2 + self.reference_len / 2,
        }
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
