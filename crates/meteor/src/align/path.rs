//! Paths of the beam search, what they may choose, and which of them are better.

use super::matches::Match;
use crate::options::Matcher;
use crate::vocabulary::NONE;

/// A path of the beam search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// The first 64 hypothesis words that are used; longer hypotheses have their sets in [`Beam::sets`].
    pub(super) used: u64,
    /// Weighted words matched on both sides. METEOR keeps whole numbers and drops the rest of each addition.
    pub(super) matched: u32,
    pub(super) chunks: u32,
    pub(super) distance: u32,
    /// Where the last match ends in the hypothesis; `NONE` if the word before is not matched.
    pub(super) last_end: u32,
    /// The reference word after the last match or skip.
    pub(super) next: u32,
    /// The last choice recorded, or `NONE`.
    pub(super) choice: u32,
    /// The candidate just chosen, not yet recorded, or `NONE`.
    pub(super) pending: u32,
    /// In wide searches, the place of the set of words used before that candidate.
    pub(super) set: u32,
}

impl Path {
    pub(super) const START: Self = Self {
        used: 0,
        matched: 0,
        chunks: 0,
        distance: 0,
        last_end: NONE,
        next: 0,
        choice: NONE,
        pending: NONE,
        set: 0,
    };

    pub(super) fn take(&mut self, candidate: &Candidate) {
        let found = &candidate.found;
        self.matched += candidate.gain;
        if self.last_end != NONE && found.hypothesis != self.last_end {
            self.chunks += 1;
        }
        self.next = found.reference_end();
        self.last_end = found.hypothesis_end();
    }

    pub(super) fn skip(&mut self) {
        if self.last_end != NONE {
            self.chunks += 1;
            self.last_end = NONE;
        }
        self.next += 1;
    }
}

/// A match that a path may choose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) found: Match,
    /// The words of `found` in the hypothesis, if that has no more than 64.
    pub(super) mask: u64,
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
        let words = 1u64.checked_shl(found.hypothesis_len).unwrap_or(0).wrapping_sub(1);
        let mask = words.checked_shl(found.hypothesis).unwrap_or(0);
        Self { found, mask, gain, distance: found.distance() }
    }
}

/// A match that a path has chosen, after those of its parent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) parent: u32,
    pub(super) chosen: Match,
}

/// A sort key that holds all that decides between paths, and the place in the queue.
pub(super) trait SortKey: Copy + Ord {
    fn new(path: &Path, place: usize) -> Self;
    fn place(self) -> usize;
}

/// For up to 64 words on either side and a beam of up to [`NARROW_BEAM`].
///
/// Then 128 words match at most, in 64 chunks; a word has less than 2^13 candidates and a distance less than
/// 2^6 to each, so distances stay below 2^25 and places below 2^23.
impl SortKey for u64 {
    fn new(path: &Path, place: usize) -> Self {
        Self::from(255 - path.matched) << 56
            | Self::from(path.chunks) << 49
            | Self::from(path.distance.min((1 << 26) - 1)) << 23
            | place as Self
    }

    fn place(self) -> usize {
        (self & ((1 << 23) - 1)) as usize
    }
}

pub(super) const NARROW_BEAM: usize = 1000;

impl SortKey for u128 {
    fn new(path: &Path, place: usize) -> Self {
        Self::from(u32::MAX - path.matched) << 96
            | Self::from(path.chunks) << 64
            | Self::from(path.distance) << 32
            | place as Self
    }

    fn place(self) -> usize {
        (self & 0xFFFF_FFFF) as usize
    }
}

/// Sorts the paths, best first, and drops what is beyond the beam.
///
/// More matched words win, then fewer chunks, then less distance, then the earlier place in the queue.
pub(super) fn rank<K: SortKey>(keys: &mut Vec<K>, paths: &[Path], beam: usize) {
    keys.clear();
    keys.extend(paths.iter().enumerate().map(|(place, path)| K::new(path, place)));
    if keys.len() > beam {
        keys.select_nth_unstable(beam);
        keys.truncate(beam);
    }
    keys.sort_unstable();
}
