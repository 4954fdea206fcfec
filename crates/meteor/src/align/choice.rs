//! What the paths of a beam search choose from, and which of them it keeps.

use super::matches::Match;
use crate::options::Matcher;

/// A match that a path may choose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) found: Match,
    /// What METEOR adds to the two counts of a path.
    ///
    /// In the search every matcher but the exact one weighs a half, whatever the weights of the score. The
    /// counts are integers, so that each addition is rounded down by itself: a single word adds nothing.
    pub(super) gain: u32,
    pub(super) distance: u32,
}

impl Candidate {
    pub(super) fn new(found: Match, matchers: &[Matcher]) -> Self {
        let gain = match matchers.get(usize::from(found.module)) {
            Some(Matcher::Exact) => found.hypothesis_len + found.reference_len,
            _ => found.hypothesis_len / 2 + found.reference_len / 2,
        };
        Self { found, gain, distance: found.distance() }
    }
}

/// A match that a path has chosen, after those of its parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) parent: u32,
    pub(super) chosen: Match,
}

/// Sorts the keys of a queue's paths, best first, and drops what is beyond the beam.
///
/// More matched words win, then fewer chunks, then less distance, then the earlier place in the queue.
#[inline]
pub(super) fn rank<K: Copy + Ord>(keys: &mut Vec<K>, beam: usize) {
    if keys.len() > beam {
        keys.select_nth_unstable(beam);
        keys.truncate(beam);
    }
    keys.sort_unstable();
}
