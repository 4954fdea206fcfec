//! All matches of a pair of sentences of up to 64 words each, that is, of nearly every pair: a set of words is one
//! machine word, so counting matches and finding the definite ones takes a few operations per word.

use std::ops::Range;

use super::matches::{Match, Paraphrase};
use super::pair_matches::{CROWD, n_running};
use super::phrases::{PhraseMatcher, RelatedPhrase};
use super::words::{EMPTY, WordMatcher};
use super::{MAX_PACKED_BEAM, Plan};
use crate::bound::{LONGEST, Prospects};
use crate::options::{MAX_MATCHERS, Matcher};
use crate::sentence::Sentence;
use crate::vocabulary::Vocabulary;

// A sentence is one machine word.
const _: () = assert!(LONGEST == u64::BITS as usize);

/// The matches of a pair, in the lists of [`PackedPairs`].
#[derive(Clone, Debug)]
pub(super) struct Pair {
    rows: Range<usize>,
    paraphrases: Range<usize>,
    /// The number of matchers that run.
    n_matchers: usize,
    /// The reference words that can be matched, and those in definite matches, which share no word with any other.
    covered: u64,
    fixed: u64,
}

/// The matches of a hypothesis with several references.
#[derive(Clone, Debug, Default)]
pub(super) struct PackedPairs {
    pairs: Vec<Option<Pair>>,
    /// For each reference word, the start of its row.
    rows: Vec<u32>,
    paraphrases: Vec<Paraphrase>,
    related: Vec<RelatedPhrase>,
}

/// The words of a sentence that are in at least one match, and in at least two.
#[derive(Clone, Copy, Default)]
struct Cover {
    once: u64,
    twice: u64,
}

impl Cover {
    fn add(&mut self, words: u64) {
        self.twice |= self.once & words;
        self.once |= words;
    }

    /// The words that are in one match only.
    fn lone(self) -> u64 {
        self.once & !self.twice
    }
}

/// `len` words from `start` on.
fn span(start: u32, len: u32) -> u64 {
    u64::MAX.checked_shr(64 - len.min(64)).unwrap_or(0) << (start % 64)
}

/// The positions of the bits of `set`, ascending.
pub(super) fn bits(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let at = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (at < 64).then_some(at)
    })
}

impl PackedPairs {
    /// Forgets the references of the previous hypothesis.
    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        self.rows.clear();
        self.paraphrases.clear();
    }

    /// The pair with reference `number`; `None` if it is too long, too repetitive, or the beam too wide.
    pub(super) fn get(&self, number: usize) -> Option<PackedPair<'_>> {
        let pair = self.pairs.get(number)?.as_ref()?;
        let (rows, paraphrases) =
            (&self.rows[pair.rows.clone()], &self.paraphrases[pair.paraphrases.clone()]);
        Some(PackedPair { pair, rows, paraphrases })
    }

    /// Finds all matches with the next reference, and the limits that they imply.
    pub(super) fn find(
        &mut self,
        (words, phrases): (&mut WordMatcher, &PhraseMatcher),
        vocabulary: &Vocabulary,
        plan: &Plan,
        hypothesis_function: u64,
        reference: &Sentence<'_>,
    ) -> Option<Prospects> {
        self.pairs.push(None);
        if words.words.len().max(reference.words.len()) > LONGEST || plan.beam > MAX_PACKED_BEAM {
            return None;
        }
        let n_matchers = n_running(&plan.matchers, words.equal(vocabulary, reference));
        let (first_row, first_paraphrase) = (self.rows.len(), self.paraphrases.len());
        words.find(vocabulary, &plan.matchers, reference, &mut self.rows);
        if plan.matchers[..n_matchers].contains(&Matcher::Paraphrase) {
            self.related.clear();
            if phrases.find(reference, &mut self.related) > CROWD {
                return None;
            }
            phrases.list(&self.related, &mut self.paraphrases);
        }
        let functions = (hypothesis_function, reference.function_words);
        let (pair, prospects) = self.join(words, plan, n_matchers, functions, (first_row, first_paraphrase));
        if let Some(place) = self.pairs.last_mut() {
            *place = Some(pair);
        }
        Some(prospects)
    }

    /// Counts the matches of the pair whose rows and paraphrases are the last ones, from `first_row` and
    /// `first_paraphrase` on.
    ///
    /// It is long because all counts come from the same masks, which are local to it.
    pub(super) fn join(
        &self,
        words: &WordMatcher,
        plan: &Plan,
        n_matchers: usize,
        functions: (u64, u64),
        (first_row, first_paraphrase): (usize, usize),
    ) -> (Pair, Prospects) {
        let (rows, paraphrases) = (&self.rows[first_row..], &self.paraphrases[first_paraphrase..]);
        let (mut hypothesis, mut reference) = (Cover::default(), Cover::default());
        // The words that each matcher matches, on either side.
        let mut by_matcher = [(0, 0); MAX_MATCHERS];
        // For each reference word, the hypothesis words where a match that begins there begins, and where one may
        // begin that continues a match that ends there.
        let (mut starts, mut ends) = ([0; LONGEST + 1], [0; LONGEST + 1]);
        for (at, row) in rows.iter().enumerate() {
            if *row == EMPTY {
                continue;
            }
            let bit = 1 << at;
            let mut matched = Cover::default();
            for (mask, by) in words.narrow_row(*row)[..n_matchers].iter().zip(&mut by_matcher) {
                matched.add(*mask);
                by.0 |= mask;
                by.1 |= if *mask == 0 { 0 } else { bit };
            }
            let Cover { once, twice } = matched;
            hypothesis.twice |= twice;
            hypothesis.add(once);
            let several = twice | once & once.wrapping_sub(1);
            reference.once |= if once == 0 { 0 } else { bit };
            reference.twice |= if several == 0 { 0 } else { bit };
            starts[at] = once;
            ends[at + 1] = once << 1;
        }
        let singles = reference.once;
        let (mut phrase_words, mut phrase_places) = (0u64, 0u64);
        let sides = |found: &Paraphrase| {
            (span(found.hypothesis, found.hypothesis_len), span(found.reference, found.reference_len))
        };
        let paraphraser =
            plan.matchers.iter().position(|matcher| *matcher == Matcher::Paraphrase).unwrap_or(0);
        for found in paraphrases {
            let (ours, theirs) = sides(found);
            hypothesis.add(ours);
            reference.add(theirs);
            by_matcher[paraphraser].0 |= ours;
            by_matcher[paraphraser].1 |= theirs;
            starts[found.reference as usize] |= 1 << found.hypothesis;
            let end = (found.hypothesis + found.hypothesis_len) as usize;
            if end < LONGEST {
                ends[(found.reference + found.reference_len) as usize] |= 1 << end;
            }
            if found.reference_len > 1 || found.hypothesis_len > 1 {
                phrase_words |= ours;
                phrase_places |= theirs;
            }
        }
        let mut fixed = 0;
        let (our_lone, their_lone) = (hypothesis.lone(), reference.lone());
        for at in bits(their_lone & singles) {
            fixed |= if starts[at as usize] & our_lone == 0 { 0 } else { 1 << at };
        }
        for found in paraphrases {
            let (ours, theirs) = sides(found);
            if ours & !our_lone == 0 && theirs & !their_lone == 0 {
                fixed |= theirs;
            }
        }
        let mut prospects = Prospects {
            in_phrases: phrase_words.count_ones() + phrase_places.count_ones(),
            complete: hypothesis.once == span(0, words.words.len() as u32)
                && reference.once == span(0, rows.len() as u32),
            ..Prospects::default()
        };
        for at in 1..rows.len() {
            prospects.continuations += u32::from(starts[at] & ends[at] != 0);
        }
        let (mut ours, mut theirs) = (hypothesis.once, reference.once);
        for (rank, matcher) in plan.ranks.iter().enumerate() {
            let by = by_matcher[usize::from(*matcher)];
            let sides = [
                (&mut ours, by.0, functions.0, &mut prospects.hypothesis),
                (&mut theirs, by.1, functions.1, &mut prospects.reference),
            ];
            for (rest, matched, function_words, classes) in sides {
                let mine = *rest & matched;
                if mine != 0 {
                    *rest &= !mine;
                    classes[rank] = (mine & !function_words).count_ones() as u8;
                    classes[rank + MAX_MATCHERS] = (mine & function_words).count_ones() as u8;
                }
            }
        }
        let pair = Pair {
            rows: first_row..self.rows.len(),
            paraphrases: first_paraphrase..self.paraphrases.len(),
            n_matchers,
            covered: reference.once,
            fixed,
        };
        (pair, prospects)
    }
}

/// The matches of a pair among which to choose.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedPair<'p> {
    pair: &'p Pair,
    rows: &'p [u32],
    /// Ordered by reference word.
    paraphrases: &'p [Paraphrase],
}

impl PackedPair<'_> {
    /// The number of reference words.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The reference words in matches that are not definite.
    pub(super) fn open(&self) -> u64 {
        self.pair.covered & !self.pair.fixed
    }

    fn paraphrases_at(&self, word: usize) -> impl Iterator<Item = &Paraphrase> {
        let start = self.paraphrases.partition_point(|found| (found.reference as usize) < word);
        self.paraphrases[start..].iter().take_while(move |found| found.reference as usize == word)
    }

    /// Calls `each` with the matches that begin at a reference word, one matcher after another.
    pub(super) fn for_each_at(
        &self,
        words: &WordMatcher,
        matchers: &[Matcher],
        word: usize,
        mut each: impl FnMut(Match),
    ) {
        let row = words.narrow_row(self.rows[word]);
        for (module, (matcher, mask)) in matchers[..self.pair.n_matchers].iter().zip(row).enumerate() {
            if *matcher == Matcher::Paraphrase {
                self.paraphrases_at(word).for_each(|found| each(found.as_match(module)));
            }
            bits(mask).for_each(|at| each(Match::single(word, at, module)));
        }
    }

    /// The definite match that begins at a reference word.
    pub(super) fn definite(&self, words: &WordMatcher, matchers: &[Matcher], word: usize) -> Option<Match> {
        let mut definite = None;
        if self.pair.fixed >> word & 1 == 1 {
            self.for_each_at(words, matchers, word, |found| definite = Some(found));
        }
        definite
    }

    /// Appends the definite matches to `matches`.
    pub(super) fn list_definite(&self, words: &WordMatcher, matchers: &[Matcher], matches: &mut Vec<Match>) {
        matches
            .extend(bits(self.pair.fixed).filter_map(|word| self.definite(words, matchers, word as usize)));
    }
}

#[cfg(test)]
impl PackedPairs {
    /// A single pair.
    pub(super) fn of(words: &WordMatcher, plan: &Plan, rows: Vec<u32>, paraphrases: Vec<Paraphrase>) -> Self {
        let mut pairs = Self { rows, paraphrases, ..Self::default() };
        let (pair, _) = pairs.join(words, plan, plan.matchers.len(), (0, 0), (0, 0));
        pairs.pairs.push(Some(pair));
        pairs
    }
}
