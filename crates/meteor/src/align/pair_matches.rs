//! All matches of a pair of sentences of any length: the words that they cover, and which of them are definite.

use capeval_text::Ends;

use super::choice::Candidate;
use super::matches::{Match, Paraphrase};
use super::phrases::{PhraseMatcher, RelatedPhrase};
use super::words::WordMatcher;
use crate::options::Matcher;
use crate::sentence::Sentence;
use crate::vocabulary::Vocabulary;

/// All matches of one pair, and the counts derived from them before any is chosen.
#[derive(Clone, Debug, Default)]
pub(super) struct PairMatches {
    /// For each reference word, the start of its row.
    pub(super) rows: Vec<u32>,
    /// The phrases of the reference that have paraphrases in the hypothesis, by position.
    pub(super) related: Vec<RelatedPhrase>,
    /// True if there are so many matches that they are listed only on demand, for one word at a time: their number
    /// grows with the product of the lengths if both texts are repetitive.
    pub(super) is_crowded: bool,
    /// All paraphrase matches, unless the pair is crowded.
    pub(super) paraphrases: Vec<Paraphrase>,
    /// For each reference word, the end of its paraphrase matches.
    pub(super) paraphrase_ends: Vec<u32>,
    /// For each reference word, the number of matches that cover it.
    pub(super) coverage: Vec<u32>,
    /// The hypothesis words covered by at least one match, and by at least two.
    pub(super) once: Vec<u64>,
    pub(super) twice: Vec<u64>,
    pub(super) fixed: Vec<Option<Match>>,
    pub(super) is_fixed: Vec<bool>,
    /// True if there are several ways to choose matches.
    pub(super) ambiguous: bool,
    /// The number of matchers that run.
    pub(super) n_matchers: usize,
}

/// A pair with more paraphrase matches than this is crowded.
pub(super) const CROWD: usize = 1 << 12;

/// The number of matchers that run on a pair: one if the sentences are identical, so that METEOR's beam search cannot
/// miss the perfect alignment, otherwise all.
pub(super) fn n_running(matchers: &[Matcher], identical: bool) -> usize {
    if identical { matchers.len().min(1) } else { matchers.len() }
}

impl PairMatches {
    /// Finds all matches with `reference` of the hypothesis that `words` and `phrases` have read.
    pub(super) fn find(
        &mut self,
        (words, phrases): (&mut WordMatcher, &PhraseMatcher),
        vocabulary: &Vocabulary,
        matchers: &[Matcher],
        reference: &Sentence<'_>,
    ) {
        let n_matchers = n_running(matchers, words.equal(vocabulary, reference));
        self.n_matchers = n_matchers;
        self.rows.clear();
        words.find(vocabulary, matchers, reference, &mut self.rows);
        self.paraphrases.clear();
        self.related.clear();
        self.is_crowded = false;
        if matchers[..n_matchers].contains(&Matcher::Paraphrase) {
            self.is_crowded = phrases.find(reference, &mut self.related) > CROWD;
            if !self.is_crowded {
                phrases.list(&self.related, &mut self.paraphrases);
            }
        }
        self.sort_out((words, phrases), &matchers[..n_matchers]);
    }

    /// Counts the matches, of which rows and paraphrases are known, and finds the definite ones.
    pub(super) fn sort_out(&mut self, pair: (&WordMatcher, &PhraseMatcher), matchers: &[Matcher]) {
        let reference_len = self.rows.len();
        self.index_paraphrases(reference_len);
        self.cover(pair, matchers, reference_len);
        self.ambiguous = self.fix(pair, matchers, reference_len);
    }

    fn index_paraphrases(&mut self, reference_len: usize) {
        self.paraphrase_ends.clear();
        let mut end = 0;
        for word in 0..reference_len {
            while self.paraphrases.get(end).is_some_and(|found| found.reference as usize <= word) {
                end += 1;
            }
            self.paraphrase_ends.push(end as u32);
        }
    }

    /// The paraphrase matches of a reference word; `space` is a buffer for crowded pairs.
    fn paraphrases_at<'f>(
        &'f self,
        phrases: &PhraseMatcher,
        word: usize,
        space: &'f mut Vec<Paraphrase>,
    ) -> &'f [Paraphrase] {
        if self.is_crowded {
            let start = self.related.partition_point(|related| (related.reference as usize) < word);
            let end = self.related.partition_point(|related| related.reference as usize <= word);
            space.clear();
            phrases.list(&self.related[start..end], space);
            return space;
        }
        &self.paraphrases[Ends(&self.paraphrase_ends).range(word)]
    }

    /// Counts the matches that cover each word.
    fn cover(
        &mut self,
        (words, phrases): (&WordMatcher, &PhraseMatcher),
        matchers: &[Matcher],
        reference_len: usize,
    ) {
        self.coverage.clear();
        self.coverage.resize(reference_len, 0);
        self.once.clear();
        self.once.resize(words.width, 0);
        self.twice.clear();
        self.twice.resize(words.width, 0);
        for word in 0..reference_len {
            for module in 0..matchers.len() {
                let mask = words.mask(self.rows[word], module);
                for ((once, twice), bits) in self.once.iter_mut().zip(&mut self.twice).zip(mask) {
                    self.coverage[word] += bits.count_ones();
                    *twice |= *once & bits;
                    *once |= bits;
                }
            }
        }
        let mut paraphrases = std::mem::take(&mut self.paraphrases);
        self.cover_with(&paraphrases);
        if self.is_crowded {
            let related = std::mem::take(&mut self.related);
            for of_one_word in related.chunk_by(|a, b| a.reference == b.reference) {
                paraphrases.clear();
                phrases.list(of_one_word, &mut paraphrases);
                self.cover_with(&paraphrases);
            }
            self.related = related;
            paraphrases.clear();
        }
        self.paraphrases = paraphrases;
    }

    fn cover_with(&mut self, paraphrases: &[Paraphrase]) {
        for found in paraphrases {
            for word in found.reference..found.reference + found.reference_len {
                self.coverage[word as usize] += 1;
            }
            for word in found.hypothesis..found.hypothesis + found.hypothesis_len {
                let (place, bit) = (word as usize / 64, 1u64 << (word % 64));
                self.twice[place] |= self.once[place] & bit;
                self.once[place] |= bit;
            }
        }
    }

    fn is_covered_once(&self, hypothesis_word: u32) -> bool {
        let (place, bit) = (hypothesis_word as usize / 64, 1u64 << (hypothesis_word % 64));
        self.once[place] & !self.twice[place] & bit != 0
    }

    /// Finds the definite matches, which share no word with any other; returns whether other matches remain.
    fn fix(
        &mut self,
        (words, phrases): (&WordMatcher, &PhraseMatcher),
        matchers: &[Matcher],
        reference_len: usize,
    ) -> bool {
        self.fixed.clear();
        self.fixed.resize(reference_len, None);
        self.is_fixed.clear();
        self.is_fixed.resize(reference_len, false);
        let mut ambiguous = false;
        let mut space = Vec::new();
        for word in 0..reference_len {
            let only = if self.coverage[word] != 1 {
                ambiguous |= self.coverage[word] > 1;
                None
            } else if let [found] = self.paraphrases_at(phrases, word, &mut space) {
                let module = matchers.iter().position(|matcher| *matcher == Matcher::Paraphrase).unwrap_or(0);
                Some(found.as_match(module))
            } else {
                (0..matchers.len()).find_map(|module| {
                    let mask = words.mask(self.rows[word], module);
                    let place = mask.iter().position(|bits| *bits != 0)?;
                    Some(Match::single(word, 64 * place as u32 + mask[place].trailing_zeros(), module))
                })
            };
            let Some(only) = only else { continue };
            let definite = (only.reference..only.reference_end())
                .all(|word| self.coverage[word as usize] == 1)
                && (only.hypothesis..only.hypothesis_end()).all(|word| self.is_covered_once(word));
            if definite {
                self.fixed[word] = Some(only);
                self.is_fixed[word..only.reference_end() as usize].fill(true);
            } else {
                ambiguous = true;
            }
        }
        ambiguous
    }

    /// Lists the matches that begin at a reference word, one matcher after another.
    pub(super) fn list_candidates(
        &self,
        candidates: &mut Vec<Candidate>,
        (words, phrases): (&WordMatcher, &PhraseMatcher),
        matchers: &[Matcher],
        word: usize,
    ) {
        for (module, matcher) in matchers.iter().enumerate() {
            if *matcher == Matcher::Paraphrase {
                let mut space = Vec::new();
                let paraphrases = self.paraphrases_at(phrases, word, &mut space);
                candidates
                    .extend(paraphrases.iter().map(|found| Candidate::new(found.as_match(module), matchers)));
                continue;
            }
            for (place, bits) in words.mask(self.rows[word], module).iter().enumerate() {
                let mut rest = *bits;
                while rest != 0 {
                    let found = Match::single(word, 64 * place as u32 + rest.trailing_zeros(), module);
                    candidates.push(Candidate::new(found, matchers));
                    rest &= rest - 1;
                }
            }
        }
    }
}
