//! The beam search among the matches of a packed pair: paths are small and contain their own rank.

use std::ops::Range;

use super::choice::rank;
use super::matches::Match;
use super::packed::PackedPair;
use super::words::WordMatcher;
use super::{MAX_PACKED_BEAM, Plan};
use crate::options::Matcher;
use crate::vocabulary::NONE;

// A rank contains everything that orders two paths; lower is better. It has 8 bits for the matched words, of which
// there are at most 128, counted down; 7 bits for as many chunks as there are words; 26 for the distance; and 23 for
// the place in the queue. Unless a pair is crowded, a word has fewer than 2^13 candidates; distances of less than 2^6
// each add up to less than 2^25, and a beam of up to 1000 paths fills fewer than 2^23 places.
const MATCHED: u32 = 56;
const CHUNKS: u32 = 49;
const DISTANCE: u32 = 23;
const _: () = assert!(MAX_PACKED_BEAM << 13 <= 1 << DISTANCE);
/// Means "no word".
const NO_WORD: u8 = u8::MAX;

/// A path of the search.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// The hypothesis words that are used.
    used: u64,
    /// Matched words, chunks and distance; the bits for the place are zero.
    rank: u64,
    /// The last choice recorded, or `NONE`.
    choice: u32,
    /// The option just chosen, not yet recorded, or `NONE`.
    pending: u32,
    /// The greatest number of METEOR's paths that this one may stand for, with itself.
    count: u32,
    /// True if METEOR's beam is certain to hold this path.
    certain: bool,
    end: End,
}

/// The end of a path: all that the next step needs to know about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    /// The end of the last match in the hypothesis, or `NO_WORD` if the previous reference word is not matched.
    hypothesis: u8,
    /// The reference word after the last match or skip.
    reference: u8,
}

impl Path {
    const START: Self = Self {
        used: 0,
        rank: 255 << MATCHED,
        choice: NONE,
        pending: NONE,
        count: 1,
        certain: true,
        end: End { hypothesis: NO_WORD, reference: 0 },
    };

    #[inline]
    fn take(&mut self, option: &Choosable) {
        let breaks = self.end.hypothesis != NO_WORD && self.end.hypothesis != option.start;
        self.rank = self.rank - option.gain + (u64::from(breaks) << CHUNKS);
        self.used |= option.mask;
        self.end = option.end;
    }

    #[inline]
    fn skip(&mut self) {
        self.rank += u64::from(self.end.hypothesis != NO_WORD) << CHUNKS;
        self.end.skip();
    }
}

impl End {
    fn skip(&mut self) {
        self.hypothesis = NO_WORD;
        self.reference += 1;
    }
}

/// A match that a path may choose.
#[derive(Clone, Copy, Debug)]
struct Choosable {
    found: Match,
    /// Its words in the hypothesis.
    mask: u64,
    /// The amount subtracted from the rank of a path that chooses the match, and the distance added to the
    /// rank of the path that it was offered to.
    gain: u64,
    distance: u64,
    /// The start in the hypothesis.
    start: u8,
    end: End,
}

impl Choosable {
    fn new(found: Match, matchers: &[Matcher]) -> Self {
        let words = u64::MAX >> (64 - found.hypothesis_len.clamp(1, 64));
        Self {
            found,
            mask: words << (found.hypothesis % 64),
            gain: u64::from(found.gain(matchers)) << MATCHED,
            distance: u64::from(found.distance()) << DISTANCE,
            start: found.hypothesis as u8,
            end: End { hypothesis: found.hypothesis_end() as u8, reference: found.reference_end() as u8 },
        }
    }
}

/// An option that a path has chosen, and its previous choice.
#[derive(Clone, Copy, Debug)]
struct Choice {
    parent: u32,
    option: u32,
}

/// The queues of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct NarrowBeam {
    queue: Vec<Path>,
    following: Vec<Path>,
    keys: Vec<u64>,
    /// The state that decides the future of each ranked path, with its place in the queue.
    states: Vec<((u64, End), usize)>,
    /// The matches that are not definite, by reference word.
    options: Vec<Choosable>,
    /// For each reference word, the end of its options, and the hypothesis words of these and all later ones.
    steps: Vec<(usize, u64)>,
    choices: Vec<Choice>,
}

impl NarrowBeam {
    /// Chooses among the matches of `pair` and appends the chosen ones to `matches`.
    pub(super) fn search(
        &mut self,
        pair: &PackedPair<'_>,
        words: &WordMatcher,
        plan: &Plan,
        matches: &mut Vec<Match>,
    ) {
        let matchers = &plan.matchers;
        self.options.clear();
        self.steps.clear();
        for word in 0..pair.len() {
            if pair.open() >> word & 1 == 1 {
                let options = &mut self.options;
                pair.for_each_at(words, matchers, word, |found| {
                    options.push(Choosable::new(found, matchers));
                });
            }
            self.steps.push((self.options.len(), 0));
        }
        let (mut end, mut rest) = (self.options.len(), 0);
        for word in (0..pair.len()).rev() {
            let start = if word == 0 { 0 } else { self.steps[word - 1].0 };
            rest = self.options[start..end].iter().fold(rest, |rest, option| rest | option.mask);
            (end, self.steps[word].1) = (start, rest);
        }
        // METEOR's choice is the best of all paths, unless its beam may have lost that one: then the beam must be
        // filled with the very paths of METEOR.
        let merged = self.walk(pair, words, plan, true).then(|| self.best()).flatten();
        let best = merged.filter(|best| best.certain).or_else(|| {
            self.walk(pair, words, plan, false);
            self.best()
        });
        let mut choice = best.map_or(NONE, |mut path| {
            self.record(&mut path);
            path.choice
        });
        pair.list_definite(words, matchers, matches);
        while let Some(step) = self.choices.get(choice as usize) {
            matches.push(self.options[step.option as usize].found);
            choice = step.parent;
        }
        matches.sort_unstable_by_key(|found| found.reference);
    }

    /// The best path after the last word.
    fn best(&self) -> Option<Path> {
        let mut best = None;
        for key in &self.keys {
            let mut path = self.queue[place(*key)];
            path.skip();
            if best.is_none_or(|best: Path| path.rank < best.rank) {
                best = Some(path);
            }
        }
        best
    }

    /// Walks along the reference; the queue and `keys` then hold the paths to its end.
    ///
    /// Only relative ranks matter. Where no option begins, and all paths end alike, a word changes all ranks by the
    /// same amount, and so not their order. Such words take no step, and neither do those after the last options.
    ///
    /// Paths that end alike, and differ in no hypothesis word that an option may still use, have the same future, so
    /// the best of them stays ahead of the others. With `merge` it stands for all of them and no path is lost, but each
    /// knows whether METEOR's beam is certain to hold it. Returns false if there are too many paths to go on.
    fn walk(&mut self, pair: &PackedPair<'_>, words: &WordMatcher, plan: &Plan, merge: bool) -> bool {
        let Plan { matchers, beam, .. } = plan;
        self.choices.clear();
        self.queue.clear();
        self.queue.push(Path::START);
        let mut common = Some(Path::START.end);
        // The reference word after the last one that a path may have matched.
        let mut horizon = 0;
        let mut start = 0;
        for word in 0..pair.len() {
            let (end, rest) = self.steps[word];
            let options = start..end;
            start = end;
            let here = || pair.definite(words, matchers, word).map(|found| Choosable::new(found, matchers));
            if let Some(common) = common.as_mut().filter(|_| options.is_empty()) {
                if rest == 0 {
                    break;
                }
                if word >= usize::from(common.reference) {
                    match here() {
                        Some(definite) => *common = definite.end,
                        None => common.skip(),
                    }
                }
                continue;
            }
            if let Some(end) = common.take() {
                self.queue.iter_mut().for_each(|path| path.end = end);
            }
            if !self.rank(*beam, merge) {
                return false;
            }
            let ends = self.options[options.clone()].iter().map(|option| usize::from(option.end.reference));
            horizon = ends.fold(horizon, usize::max);
            let definite = if options.is_empty() { here() } else { None };
            let settles = options.is_empty() && word >= horizon;
            self.step(word, options, definite.as_ref(), merge.then_some(rest));
            if settles {
                common = self.queue.first().map(|path| path.end);
            }
        }
        self.rank(*beam, merge)
    }

    /// Continues every ranked path at a reference word. `rest` are the hypothesis words that options may still use, if
    /// paths are to be merged.
    fn step(&mut self, word: usize, options: Range<usize>, definite: Option<&Choosable>, rest: Option<u64>) {
        if let Some(rest) = rest {
            self.merge(rest);
        }
        self.following.clear();
        for at in 0..self.keys.len() {
            let mut path = self.queue[place(self.keys[at])];
            self.record(&mut path);
            if word >= usize::from(path.end.reference) {
                match definite {
                    Some(definite) => {
                        path.take(definite);
                        path.rank += definite.distance;
                    }
                    None => {
                        self.branch(&mut path, options.clone());
                        path.skip();
                    }
                }
            }
            self.following.push(path);
        }
        std::mem::swap(&mut self.queue, &mut self.following);
    }

    /// Removes the keys of paths that have the same future as a better one, which counts them.
    fn merge(&mut self, rest: u64) {
        let Self { queue, keys, states, .. } = self;
        states.clear();
        keys.retain(|key| {
            let Path { used, end, count, .. } = queue[place(*key)];
            let state = (used & rest, end);
            let better = states.iter().find(|better| better.0 == state).map(|better| better.1);
            match better {
                Some(better) => queue[better].count += count,
                None => states.push((state, place(*key))),
            }
            better.is_none()
        });
    }

    /// Ranks the queue; `keys` then lists the paths within the beam, or with `merge` all, best first. Returns false if
    /// these are too many.
    fn rank(&mut self, beam: usize, merge: bool) -> bool {
        self.keys.clear();
        self.keys.extend(self.queue.iter().enumerate().map(|(place, path)| path.rank | place as u64));
        if !merge {
            rank(&mut self.keys, beam);
            return true;
        }
        self.keys.sort_unstable();
        // At most this many of METEOR's paths are ahead of the next one; a beam holds no more of those merged into one.
        let mut ahead = 0;
        for key in &self.keys {
            let path = &mut self.queue[place(*key)];
            path.certain &= ahead < beam;
            path.count = path.count.min(beam as u32);
            ahead += path.count as usize;
        }
        self.keys.len() <= MAX_PACKED_BEAM.min(4 * beam)
    }

    /// Records the choice that a path within the beam has just made.
    #[inline]
    fn record(&mut self, path: &mut Path) {
        if path.pending != NONE {
            self.choices.push(Choice { parent: path.choice, option: path.pending });
            path.choice = self.choices.len() as u32 - 1;
            path.pending = NONE;
        }
    }

    /// Adds a copy of `path` for every option whose hypothesis words are free.
    ///
    /// Its reference words are always free: those of earlier matches come before them, and definite matches share
    /// no word with an option.
    ///
    /// METEOR adds the distance of each match to the path it copied *from*, after copying. Therefore a copy lacks
    /// its own distance but includes those of the matches before it, and the path that skips the word includes
    /// all.
    #[inline]
    fn branch(&mut self, path: &mut Path, options: Range<usize>) {
        for (index, option) in options.clone().zip(&self.options[options]) {
            if path.used & option.mask == 0 {
                let mut copy = *path;
                copy.take(option);
                copy.pending = index as u32;
                self.following.push(copy);
                path.rank += option.distance;
            }
        }
    }
}

/// The place in the queue that a key contains.
#[inline]
fn place(key: u64) -> usize {
    (key & ((1 << DISTANCE) - 1)) as usize
}
