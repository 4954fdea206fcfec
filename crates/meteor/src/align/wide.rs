//! The beam search for sentences of any length, reference word by reference word.

use super::choice::{Candidate, Choice, rank};
use super::matches::Match;
use super::pair_matches::PairMatches;
use super::phrases::PhraseMatcher;
use super::words::WordMatcher;
use crate::options::Matcher;
use crate::vocabulary::NONE;

/// A path of the search.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// Weighted number of words matched on both sides. As in METEOR, each addition is rounded down to an
    /// integer.
    matched: u32,
    chunks: u32,
    distance: u32,
    /// The end of the last match in the hypothesis; `NONE` if the previous reference word is not matched.
    last_end: u32,
    /// The reference word after the last match or skip.
    next: u32,
    /// The last choice recorded, or `NONE`.
    choice: u32,
    /// The candidate just chosen, not yet recorded, or `NONE`.
    pending: u32,
    /// The index of the set of words used before that candidate.
    set: u32,
}

impl Path {
    const START: Self = Self {
        matched: 0,
        chunks: 0,
        distance: 0,
        last_end: NONE,
        next: 0,
        choice: NONE,
        pending: NONE,
        set: 0,
    };

    fn take(&mut self, candidate: &Candidate) {
        let found = &candidate.found;
        self.matched += candidate.gain;
        if self.last_end != NONE && found.hypothesis != self.last_end {
            self.chunks += 1;
        }
        self.next = found.reference_end();
        self.last_end = found.hypothesis_end();
    }

    fn skip(&mut self) {
        if self.last_end != NONE {
            self.chunks += 1;
            self.last_end = NONE;
        }
        self.next += 1;
    }
}

/// The queues of the beam search.
#[derive(Clone, Debug, Default)]
pub(super) struct WideBeam {
    queue: Vec<Path>,
    next: Vec<Path>,
    /// The word sets of the paths within the beam, and those of their parents. Paths outside the beam never
    /// get one.
    sets: Vec<u64>,
    parent_sets: Vec<u64>,
    /// For each gain, the number of copies of a path that begin a new chunk, and of those that continue one.
    siblings: Vec<[usize; 2]>,
    /// The candidates of the current reference word, and of the previous one.
    candidates: Vec<Candidate>,
    previous: Vec<Candidate>,
    choices: Vec<Choice>,
    keys: Vec<u128>,
}

impl WideBeam {
    /// Chooses among the matches in `found` and appends the chosen ones to `matches`.
    pub(super) fn search(
        &mut self,
        (words, phrases, found): (&WordMatcher, &PhraseMatcher, &PairMatches),
        matchers: &[Matcher],
        beam: usize,
        matches: &mut Vec<Match>,
    ) {
        let reference_len = found.fixed.len();
        let width = words.width;
        self.choices.clear();
        self.next.clear();
        self.next.push(Path::START);
        self.sets.clear();
        self.sets.resize(width, 0);
        for word in 0..=reference_len {
            std::mem::swap(&mut self.queue, &mut self.next);
            self.next.clear();
            std::mem::swap(&mut self.sets, &mut self.parent_sets);
            self.sets.clear();
            std::mem::swap(&mut self.candidates, &mut self.previous);
            self.candidates.clear();
            let fixed = found.fixed.get(word).copied().flatten().map(|fixed| Candidate::new(fixed, matchers));
            if word < reference_len && !found.is_fixed[word] {
                found.list_candidates(&mut self.candidates, (words, phrases), matchers, word);
            }
            self.rank(beam);
            let keys = std::mem::take(&mut self.keys);
            for (place, key) in keys.iter().enumerate() {
                let mut path = self.queue[place_of(*key)];
                self.make_set(&mut path, place, width);
                if let Some(candidate) = self.previous.get(path.pending as usize) {
                    self.choices.push(Choice { parent: path.choice, chosen: candidate.found });
                    path.choice = self.choices.len() as u32 - 1;
                    path.pending = NONE;
                }
                if word == reference_len {
                    path.skip();
                } else if word as u32 >= path.next {
                    if let Some(fixed) = &fixed {
                        path.take(fixed);
                        path.distance += fixed.distance;
                    } else {
                        self.branch(&mut path, width, beam);
                        path.skip();
                    }
                }
                self.next.push(path);
            }
            self.keys = keys;
        }
        std::mem::swap(&mut self.queue, &mut self.next);
        self.rank(1);
        let best = self.keys.first().and_then(|key| self.queue.get(place_of(*key)));
        let mut choice = best.map_or(NONE, |path| path.choice);
        matches.extend(found.fixed.iter().flatten());
        while let Some(step) = self.choices.get(choice as usize) {
            matches.push(step.chosen);
            choice = step.parent;
        }
        matches.sort_unstable_by_key(|found| found.reference);
    }

    /// Adds a copy of `path` for every candidate whose hypothesis words are free, as the narrow search does.
    ///
    /// Copies of one path with equal matches and chunks are made in order of distance, so at most the first
    /// `beam` of them can survive the next ranking. The others contribute their distance, but are not built.
    fn branch(&mut self, path: &mut Path, width: usize, beam: usize) {
        let used = &self.sets[path.set as usize * width..][..width];
        self.siblings.fill([0; 2]);
        for (index, candidate) in self.candidates.iter().enumerate() {
            let Match { hypothesis, hypothesis_len, .. } = candidate.found;
            let mut words = hypothesis..hypothesis + hypothesis_len;
            if words.any(|word| used[word as usize / 64] >> (word % 64) & 1 == 1) {
                continue;
            }
            let gain = candidate.gain as usize;
            if self.siblings.len() <= gain {
                self.siblings.resize(gain + 1, [0; 2]);
            }
            let siblings = &mut self.siblings[gain][usize::from(hypothesis == path.last_end)];
            if *siblings < beam {
                *siblings += 1;
                let mut copy = *path;
                copy.take(candidate);
                copy.pending = index as u32;
                self.next.push(copy);
            }
            path.distance = path.distance.saturating_add(candidate.distance);
        }
    }

    /// Ranks the queue; `keys` then lists the paths within the beam, best first.
    fn rank(&mut self, beam: usize) {
        self.keys.clear();
        self.keys.extend(self.queue.iter().enumerate().map(|(place, path)| key(path, place)));
        rank(&mut self.keys, beam);
    }

    /// Makes the word set of a path within the beam: the words of its parent and of the match it chose.
    fn make_set(&mut self, path: &mut Path, place: usize, width: usize) {
        let start = self.sets.len();
        self.sets.extend_from_slice(&self.parent_sets[path.set as usize * width..][..width]);
        if let Some(Candidate { found, .. }) = self.previous.get(path.pending as usize) {
            for word in found.hypothesis..found.hypothesis_end() {
                self.sets[start + word as usize / 64] |= 1 << (word % 64);
            }
        }
        path.set = place as u32;
    }
}

/// Everything that orders paths, and the place in the queue.
fn key(path: &Path, place: usize) -> u128 {
    u128::from(u32::MAX - path.matched) << 96
        | u128::from(path.chunks) << 64
        | u128::from(path.distance) << 32
        | place as u128
}

fn place_of(key: u128) -> usize {
    (key & 0xFFFF_FFFF) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths that the next ranking keeps, the path that skips the word, and the number of copies made.
    fn branched(candidates: &[Candidate], used: &[u64], limit: usize) -> (Vec<String>, Path, usize) {
        let mut queues =
            WideBeam { candidates: candidates.to_vec(), sets: used.to_vec(), ..WideBeam::default() };
        let mut path = Path { last_end: 1234, matched: 7, chunks: 3, distance: 11, ..Path::START };
        queues.branch(&mut path, used.len(), limit);
        queues.queue = queues.next.clone();
        queues.rank(40);
        let kept = queues.keys.iter().map(|key| format!("{:?}", queues.queue[place_of(*key)])).collect();
        (kept, path, queues.next.len())
    }

    #[test]
    fn a_path_makes_no_more_copies_than_the_beam_can_keep() {
        let matchers = [Matcher::Exact, Matcher::Stem];
        let mut candidates = Vec::new();
        for module in 0..2 {
            let words = (0..3000).filter(|word| (word / 3) % 2 == module as u32);
            candidates.extend(words.map(|word| Candidate::new(Match::single(1500, word, module), &matchers)));
        }
        let used: Vec<u64> = (0..47u64).map(|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1).collect();
        let (all, after_all, n_all) = branched(&candidates, &used, usize::MAX);
        let (kept, after, n) = branched(&candidates, &used, 40);
        assert_eq!(kept, all);
        assert_eq!(format!("{after:?}"), format!("{after_all:?}"));
        assert!(n_all > 1000 && n <= 3 * 40, "{n} of {n_all} copies");
    }
}
