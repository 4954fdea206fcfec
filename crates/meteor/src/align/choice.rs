//! The candidates among which a beam search chooses, and the ranking of its paths.

use super::matches::Match;
use crate::options::Matcher;

/// A match that a path may choose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) found: Match,
    pub(super) gain: u32,
    pub(super) distance: u32,
}

impl Candidate {
    pub(super) fn new(found: Match, matchers: &[Matcher]) -> Self {
        Self { found, gain: found.gain(matchers), distance: found.distance() }
    }
}

/// A match that a path has chosen, linked to the previous choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) parent: u32,
    pub(super) chosen: Match,
}

/// Sorts the keys of the paths in a queue, best first, and removes those outside the beam.
///
/// The order is by more matched words, then fewer chunks, then less distance, then the earlier place in the
/// queue.
#[inline]
pub(super) fn rank<K: Copy + Ord>(keys: &mut Vec<K>, beam: usize) {
    if keys.len() > beam {
        keys.select_nth_unstable(beam);
        keys.truncate(beam);
    }
    keys.sort_unstable();
}
