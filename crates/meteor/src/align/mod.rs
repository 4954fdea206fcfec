//! The aligner: finds all matches of two sentences and chooses the best set of them.

mod choice;
mod found;
mod matches;
mod narrow;
mod phrases;
mod prospects;
mod slots;
mod wide;
mod words;

use crate::bound::{self, Prospects};
use crate::explain::AlignedPhrase;
use crate::options::Matcher;
use crate::sentence::Sentence;
use crate::vocabulary::{NONE, Vocabulary};
use found::Found;
pub(crate) use matches::Match;
use narrow::NarrowBeam;
use phrases::PhraseMatcher;
use wide::WideBeam;
use words::WordMatcher;

/// The aligner and its buffers; once they have grown, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aligner {
    words: WordMatcher,
    phrases: PhraseMatcher,
    /// The matches of the pair processed last.
    found: Found,
    /// The matches of other pairs with the same hypothesis, kept for later.
    kept: Vec<Found>,
    narrow: NarrowBeam,
    wide: WideBeam,
    matches: Vec<Match>,

    /// The references of a hypothesis by descending bound; used by the caller that compares them.
    pub(crate) order: Vec<(f64, usize)>,
}

/// An alignment: the chosen matches in order of reference words, and the number of chunks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alignment<'a> {
    pub(crate) matches: &'a [Match],
    pub(crate) chunks: u32,
}

impl Aligner {
    /// Starts a new hypothesis; all alignments use it until the next call.
    pub(crate) fn set_hypothesis(&mut self, vocabulary: &Vocabulary, hypothesis: &Sentence<'_>) {
        self.words.set(vocabulary, hypothesis);
        self.phrases.set(vocabulary, hypothesis);
    }

    /// Finds all matches with `reference`; [`align`](Self::align) then chooses among them.
    ///
    /// Returns the input of the bound; `None` if a sentence is too long for it or there is nothing to choose.
    pub(crate) fn find(
        &mut self,
        vocabulary: &Vocabulary,
        matchers: &[Matcher],
        ranks: &[u8],
        reference: &Sentence<'_>,
    ) -> Option<Prospects> {
        self.found.find((&mut self.words, &mut self.phrases), vocabulary, matchers, reference);
        let short = self.words.words.len().max(reference.words.len()) <= bound::LONGEST;
        let short = short && !self.found.is_crowded;
        short.then(|| self.found.prospects(&self.words, vocabulary, ranks, reference))
    }

    /// Stores the current matches under `number`.
    pub(crate) fn keep(&mut self, number: usize) {
        if self.kept.len() <= number {
            self.kept.resize_with(number + 1, Found::default);
        }
        std::mem::swap(&mut self.found, &mut self.kept[number]);
    }

    /// Makes matches stored since [`set_hypothesis`](Self::set_hypothesis) current again.
    pub(crate) fn recall(&mut self, number: usize) {
        if let Some(kept) = self.kept.get_mut(number) {
            std::mem::swap(&mut self.found, kept);
        }
    }

    /// Chooses the best set of the current matches.
    pub(crate) fn align(&mut self, matchers: &[Matcher], beam: usize) -> Alignment<'_> {
        self.matches.clear();
        if self.found.ambiguous {
            let matchers = &matchers[..self.found.n_matchers];
            let pair = (&self.words, &self.phrases, &self.found);
            if narrow::has_room(&self.words, &self.found, beam) {
                self.narrow.search(pair, matchers, beam, &mut self.matches);
            } else {
                self.wide.search(pair, matchers, beam, &mut self.matches);
            }
        } else {
            self.matches.extend(self.found.fixed.iter().flatten());
        }
        let chunks = self.count_chunks();
        Alignment { matches: &self.matches, chunks }
    }

    fn count_chunks(&self) -> u32 {
        self.begin_chunks().fold(0, |chunks, begins| chunks + u32::from(begins))
    }

    /// For each chosen match, whether it begins a chunk.
    fn begin_chunks(&self) -> impl Iterator<Item = bool> {
        let (mut next, mut last_end) = (0, NONE);
        self.matches.iter().map(move |found| {
            let continues = found.reference == next && found.hypothesis == last_end;
            next = found.reference_end();
            last_end = found.hypothesis_end();
            !continues
        })
    }

    /// The matches of the last alignment, with their chunks.
    pub(crate) fn aligned(&self, matchers: &[Matcher]) -> Vec<AlignedPhrase> {
        let mut n_chunks = 0;
        let range = |start: u32, len: u32| start as usize..(start + len) as usize;
        self.matches
            .iter()
            .zip(self.begin_chunks())
            .map(|(found, begins)| {
                n_chunks += usize::from(begins);
                AlignedPhrase {
                    matcher: matchers.get(usize::from(found.module)).copied().unwrap_or(Matcher::Exact),
                    hypothesis: range(found.hypothesis, found.hypothesis_len),
                    reference: range(found.reference, found.reference_len),
                    chunk: n_chunks - 1,
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::matches::Paraphrase;
    use super::*;
    use proptest::prelude::*;

    const N_WORDS: usize = 16;

    /// Phrases of up to four words on either side, as the matches among which a search chooses.
    fn found(phrases: &[[u32; 4]]) -> Found {
        let mut found =
            Found { fixed: vec![None; N_WORDS], is_fixed: vec![false; N_WORDS], ..Found::default() };
        found.paraphrases.extend(phrases.iter().zip(0..).map(
            |([reference, reference_len, hypothesis, hypothesis_len], place)| Paraphrase {
                reference: *reference,
                source_in_hypothesis: false,
                order: [*reference_len, place, *hypothesis],
                reference_len: *reference_len,
                hypothesis: *hypothesis,
                hypothesis_len: *hypothesis_len,
            },
        ));
        found.paraphrases.sort_unstable();
        found.index_paraphrases(N_WORDS);
        found
    }

    proptest! {
        #[test]
        fn narrow_and_wide_searches_choose_the_same_matches(
            phrases in proptest::collection::vec([0u32..12, 1u32..5, 0u32..12, 1u32..5], 1..80),
            beam in 1usize..50,
        ) {
            let mut words = WordMatcher::default();
            (words.words, words.width) = (vec![0; N_WORDS], 1);
            let found = found(&phrases);
            let phrases = PhraseMatcher::default();
            prop_assert!(narrow::has_room(&words, &found, beam));
            let (mut narrow, mut wide) = (Vec::new(), Vec::new());
            NarrowBeam::default().search((&words, &phrases, &found), &[Matcher::Paraphrase], beam, &mut narrow);
            WideBeam::default().search((&words, &phrases, &found), &[Matcher::Paraphrase], beam, &mut wide);
            prop_assert_eq!(narrow, wide);
        }
    }
}
