//! Upper limits derived from the matches of a pair, for the bound that saves searches.

use super::found::Found;
use super::words::WordMatcher;
use crate::bound::{self, Prospects};
use crate::options::MAX_MATCHERS;
use crate::sentence::Sentence;
use crate::vocabulary::Vocabulary;

impl Found {
    /// The upper limits that the matches imply; for sentences of up to 64 words.
    pub(super) fn prospects(
        &self,
        words: &WordMatcher,
        vocabulary: &Vocabulary,
        ranks: &[u8],
        reference: &Sentence<'_>,
    ) -> Prospects {
        let mut prospects = Prospects::default();
        let mut rest = self.once[0];
        let covered = rest.count_ones() as usize;
        for (rank, matcher) in ranks.iter().enumerate() {
            let mine = rest & self.by_matcher[usize::from(*matcher)];
            rest &= !mine;
            let function = (mine & words.function_words).count_ones() as u8;
            prospects.hypothesis[rank] = mine.count_ones() as u8 - function;
            prospects.hypothesis[rank + MAX_MATCHERS] = function;
        }
        let paraphraser = self.paraphraser;
        let (mut phrase_words, mut phrase_places) = (0u64, 0u64);
        let mut paraphrased = 0u64;
        let mut ends = [0u64; bound::LONGEST + 1];
        let mut starts = [0u64; bound::LONGEST + 1];
        for found in &self.paraphrases {
            let span = |start: u32, len: u32| (u64::MAX >> (64 - len.clamp(1, 64))) << start;
            let places = span(found.reference, found.reference_len);
            paraphrased |= places;
            starts[found.reference as usize] |= 1 << found.hypothesis;
            let end = found.hypothesis + found.hypothesis_len;
            if end < 64 {
                ends[(found.reference + found.reference_len) as usize] |= 1 << end;
            }
            if found.reference_len > 1 || found.hypothesis_len > 1 {
                phrase_words |= span(found.hypothesis, found.hypothesis_len);
                phrase_places |= places;
            }
        }
        let mut n_covered = 0;
        for (at, word) in reference.words.iter().enumerate() {
            let row = self.row_at(words, at);
            starts[at] |= row.any;
            ends[at + 1] |= row.any << 1;
            if starts[at] & ends[at] != 0 && at > 0 {
                prospects.continuations += 1;
            }
            if self.coverage[at] == 0 {
                continue;
            }
            n_covered += 1;
            let has = |matcher: u8| {
                if Some(matcher) == paraphraser {
                    paraphrased >> at & 1 == 1
                } else {
                    row.masks[usize::from(matcher)] != 0
                }
            };
            let rank = ranks.iter().position(|matcher| has(*matcher)).unwrap_or(0);
            let offset = if vocabulary.word(*word).is_function { MAX_MATCHERS } else { 0 };
            prospects.reference[rank + offset] += 1;
        }
        prospects.in_phrases = phrase_words.count_ones() + phrase_places.count_ones();
        prospects.complete = covered == words.words.len() && n_covered == reference.words.len();
        prospects
    }
}
