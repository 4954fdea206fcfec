//! The beam search for the best set of matches, reference word by reference word.

use super::found::Found;
use super::matches::Match;
use super::path::{Candidate, Choice, NARROW_BEAM, Path, SortKey, rank};
use super::words::WordMatcher;
use crate::options::Matcher;
use crate::vocabulary::NONE;

/// The queues of the beam search.
#[derive(Clone, Debug, Default)]
pub(super) struct Beam {
    queue: Vec<Path>,
    next: Vec<Path>,
    /// For hypotheses of more than 64 words, the sets of words that the paths within the beam use, and those
    /// that their parents used. Paths that fall out of the beam never get one.
    sets: Vec<u64>,
    parent_sets: Vec<u64>,
    /// Per gain, how many copies of a path there are that begin a chunk less or more.
    siblings: Vec<[usize; 2]>,
    /// The candidates of the reference word at hand, and of the one before.
    candidates: Vec<Candidate>,
    previous: Vec<Candidate>,
    choices: Vec<Choice>,
    narrow_keys: Vec<u64>,
    wide_keys: Vec<u128>,
}

impl Beam {
    /// Chooses among the matches that were found, and appends those that are chosen to `matches`.
    pub(super) fn search(
        &mut self,
        (words, found): (&WordMatcher, &Found),
        matchers: &[Matcher],
        beam: usize,
        matches: &mut Vec<Match>,
    ) {
        if words.words.len().max(found.fixed.len()) <= 64 && beam <= NARROW_BEAM {
            let mut keys = std::mem::take(&mut self.narrow_keys);
            self.search_with::<u64, false>(&mut keys, (words, found), matchers, beam, matches);
            self.narrow_keys = keys;
        } else {
            let mut keys = std::mem::take(&mut self.wide_keys);
            self.search_with::<u128, true>(&mut keys, (words, found), matchers, beam, matches);
            self.wide_keys = keys;
        }
    }

    /// The beam search over the reference, word by word.
    fn search_with<K: SortKey, const WIDE: bool>(
        &mut self,
        keys: &mut Vec<K>,
        (words, found): (&WordMatcher, &Found),
        matchers: &[Matcher],
        beam: usize,
        matches: &mut Vec<Match>,
    ) {
        let reference_len = found.fixed.len();
        let width = if WIDE { words.width } else { 0 };
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
                found.list_candidates(&mut self.candidates, words, matchers, word);
            }
            rank(keys, &self.queue, beam);
            for (place, key) in keys.iter().enumerate() {
                let mut path = self.queue[key.place()];
                if WIDE {
                    self.make_set(&mut path, place, width);
                }
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
                        if WIDE {
                            self.branch_wide(&mut path, width, beam);
                        } else {
                            self.branch(&mut path);
                        }
                        path.skip();
                    }
                }
                self.next.push(path);
            }
        }
        rank(keys, &self.next, 1);
        let best = keys.first().and_then(|key| self.next.get(key.place()));
        let mut choice = best.map_or(NONE, |path| path.choice);
        matches.extend(found.fixed.iter().flatten());
        while let Some(step) = self.choices.get(choice as usize) {
            matches.push(step.chosen);
            choice = step.parent;
        }
        matches.sort_unstable_by_key(|found| found.reference);
    }

    /// Adds a copy of `path` for every candidate whose hypothesis words are free.
    ///
    /// Its reference words always are: those of earlier matches lie before, and definite matches share no word
    /// with a candidate.
    ///
    /// METEOR adds the distance of each match to the path it copied *from*, after copying. So a copy lacks
    /// its own distance but has those of the matches before it, and the path that skips the word has all.
    fn branch(&mut self, path: &mut Path) {
        for (index, candidate) in self.candidates.iter().enumerate() {
            if path.used & candidate.mask != 0 {
                continue;
            }
            let mut copy = *path;
            copy.used |= candidate.mask;
            copy.take(candidate);
            copy.pending = index as u32;
            self.next.push(copy);
            path.distance = path.distance.saturating_add(candidate.distance);
        }
    }

    /// The same for hypotheses of more than 64 words.
    ///
    /// Copies of one path with equal matches and chunks are made by growing distance, so that of these no more
    /// than the first `beam` can survive the next ranking. The others are counted, but not made.
    fn branch_wide(&mut self, path: &mut Path, width: usize, beam: usize) {
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

    /// Makes the set of words that a path within the beam uses: those of its parent and of the match it took.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths that the next ranking keeps, the one that goes on, and how many were made.
    fn branched(candidates: &[Candidate], used: &[u64], limit: usize) -> (Vec<String>, Path, usize) {
        let mut queues = Beam { candidates: candidates.to_vec(), sets: used.to_vec(), ..Beam::default() };
        let mut path = Path { last_end: 1234, matched: 7, chunks: 3, distance: 11, ..Path::START };
        queues.branch_wide(&mut path, used.len(), limit);
        let mut keys: Vec<u128> = Vec::new();
        rank(&mut keys, &queues.next, 40);
        let kept = keys.iter().map(|key| format!("{:?}", queues.next[key.place()])).collect();
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
