//! The beam search for sentences of up to 64 words, that is, nearly all; paths are small and contain their
//! own rank.

use super::choice::{Candidate, Choice, rank};
use super::found::Found;
use super::matches::Match;
use super::phrases::PhraseMatcher;
use super::words::WordMatcher;
use crate::options::Matcher;
use crate::vocabulary::NONE;

/// Whether the ranks of paths have room for the counts of this pair.
///
/// A rank contains everything that orders two paths; lower is better. It has 8 bits for the matched words, of
/// which there are at most 128, counted down; 7 bits for as many chunks as there are words; 26 for the
/// distance; and 23 for the place in the queue. Unless a pair is crowded, a word has fewer than 2^13
/// candidates; distances of less than 2^6 each add up to less than 2^25, and a beam of up to 1000 paths fills
/// fewer than 2^23 places.
pub(super) fn has_room(words: &WordMatcher, found: &Found, beam: usize) -> bool {
    words.words.len().max(found.fixed.len()) <= 64 && beam <= 1000 && !found.is_crowded
}

const MATCHED: u32 = 56;
const CHUNKS: u32 = 49;
const DISTANCE: u32 = 23;
/// Values that mean "no word" and "no candidate".
const NO_WORD: u8 = u8::MAX;
const NO_CANDIDATE: u16 = u16::MAX;

/// A path of the search.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// The hypothesis words that are used.
    used: u64,
    /// Matched words, chunks and distance; the bits for the place are zero.
    rank: u64,
    /// The last choice recorded, or `NONE`.
    choice: u32,
    /// The candidate just chosen, not yet recorded.
    pending: u16,
    /// The end of the last match in the hypothesis, or `NO_WORD` if the previous reference word is not
    /// matched.
    last_end: u8,
    /// The reference word after the last match or skip.
    next: u8,
}

impl Path {
    const START: Self = Self {
        used: 0,
        rank: 255 << MATCHED,
        choice: NONE,
        pending: NO_CANDIDATE,
        last_end: NO_WORD,
        next: 0,
    };

    #[inline]
    fn take(&mut self, option: &Choosable) {
        let breaks = self.last_end != NO_WORD && self.last_end != option.start;
        self.rank = self.rank - option.gain + (u64::from(breaks) << CHUNKS);
        self.used |= option.mask;
        self.next = option.next;
        self.last_end = option.end;
    }

    #[inline]
    fn skip(&mut self) {
        self.rank += u64::from(self.last_end != NO_WORD) << CHUNKS;
        self.last_end = NO_WORD;
        self.next += 1;
    }
}

/// A match that a path may choose.
#[derive(Clone, Copy, Debug)]
struct Choosable {
    /// Its words in the hypothesis.
    mask: u64,
    /// The amount subtracted from the rank of a path that chooses the match, and the distance added to the
    /// rank of the path that it was offered to.
    gain: u64,
    distance: u64,
    /// The start and the end in the hypothesis, and the end in the reference.
    start: u8,
    end: u8,
    next: u8,
}

impl Choosable {
    fn new(candidate: &Candidate) -> Self {
        let Candidate { found, gain, distance } = candidate;
        let words = u64::MAX >> (64 - found.hypothesis_len.clamp(1, 64));
        Self {
            mask: words << (found.hypothesis % 64),
            gain: u64::from(*gain) << MATCHED,
            distance: u64::from(*distance) << DISTANCE,
            start: found.hypothesis as u8,
            end: found.hypothesis_end() as u8,
            next: found.reference_end() as u8,
        }
    }
}

/// The queues of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct NarrowBeam {
    queue: Vec<Path>,
    following: Vec<Path>,
    keys: Vec<u64>,
    /// The candidates of the current reference word, and of the previous one.
    candidates: Vec<Candidate>,
    previous: Vec<Candidate>,
    options: Vec<Choosable>,
    choices: Vec<Choice>,
}

impl NarrowBeam {
    /// Chooses among the matches in `found` and appends the chosen ones to `matches`.
    pub(super) fn search(
        &mut self,
        (words, phrases, found): (&WordMatcher, &PhraseMatcher, &Found),
        matchers: &[Matcher],
        beam: usize,
        matches: &mut Vec<Match>,
    ) {
        self.choices.clear();
        self.candidates.clear();
        self.queue.clear();
        self.queue.push(Path::START);
        for (word, fixed) in found.fixed.iter().enumerate() {
            std::mem::swap(&mut self.candidates, &mut self.previous);
            self.candidates.clear();
            self.options.clear();
            if !found.is_fixed[word] {
                found.list_candidates(&mut self.candidates, (words, phrases), matchers, word);
                self.options.extend(self.candidates.iter().map(Choosable::new));
            }
            let fixed = fixed.map(|fixed| Choosable::new(&Candidate::new(fixed, matchers)));
            self.rank(beam);
            self.following.clear();
            for key in &self.keys {
                let mut path = self.queue[place(*key)];
                record(&mut path, &self.previous, &mut self.choices);
                if word >= usize::from(path.next) {
                    match &fixed {
                        Some(fixed) => {
                            path.take(fixed);
                            path.rank += fixed.distance;
                        }
                        None => {
                            branch(&mut path, &self.options, &mut self.following);
                            path.skip();
                        }
                    }
                }
                self.following.push(path);
            }
            std::mem::swap(&mut self.queue, &mut self.following);
        }
        self.rank(beam);
        let mut best = None;
        for key in &self.keys {
            let mut path = self.queue[place(*key)];
            path.skip();
            if best.is_none_or(|best: Path| path.rank < best.rank) {
                best = Some(path);
            }
        }
        let mut choice = best.map_or(NONE, |mut path| {
            record(&mut path, &self.candidates, &mut self.choices);
            path.choice
        });
        matches.extend(found.fixed.iter().flatten());
        while let Some(step) = self.choices.get(choice as usize) {
            matches.push(step.chosen);
            choice = step.parent;
        }
        matches.sort_unstable_by_key(|found| found.reference);
    }

    /// Ranks the queue; `keys` then lists the paths within the beam, best first.
    fn rank(&mut self, beam: usize) {
        self.keys.clear();
        self.keys.extend(self.queue.iter().enumerate().map(|(place, path)| path.rank | place as u64));
        rank(&mut self.keys, beam);
    }
}

/// The place in the queue that a key contains.
#[inline]
fn place(key: u64) -> usize {
    (key & ((1 << DISTANCE) - 1)) as usize
}

/// Records the choice that a path within the beam has just made.
#[inline]
fn record(path: &mut Path, candidates: &[Candidate], choices: &mut Vec<Choice>) {
    if path.pending == NO_CANDIDATE {
        return;
    }
    if let Some(candidate) = candidates.get(usize::from(path.pending)) {
        choices.push(Choice { parent: path.choice, chosen: candidate.found });
        path.choice = choices.len() as u32 - 1;
    }
    path.pending = NO_CANDIDATE;
}

/// Adds a copy of `path` for every candidate whose hypothesis words are free.
///
/// Its reference words are always free: those of earlier matches come before them, and definite matches share
/// no word with a candidate.
///
/// METEOR adds the distance of each match to the path it copied *from*, after copying. Therefore a copy lacks
/// its own distance but includes those of the matches before it, and the path that skips the word includes
/// all.
#[inline]
fn branch(path: &mut Path, options: &[Choosable], following: &mut Vec<Path>) {
    for (index, option) in options.iter().enumerate() {
        if path.used & option.mask == 0 {
            let mut copy = *path;
            copy.take(option);
            copy.pending = index as u16;
            following.push(copy);
            path.rank += option.distance;
        }
    }
}
