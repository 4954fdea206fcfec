//! The aligner: finds all matches of two sentences and chooses the best set of them.

mod choice;
mod matches;
mod narrow;
mod packed;
mod pair_matches;
mod phrases;
mod slots;
mod wide;
mod words;

use std::ops::Range;

use crate::bound::Prospects;
use crate::options::Matcher;
use crate::sentence::{Sentence, SentenceList};
use crate::vocabulary::{NONE, Vocabulary};
pub(crate) use matches::Match;
use narrow::NarrowBeam;
use packed::PackedPairs;
use pair_matches::PairMatches;
use phrases::PhraseMatcher;
use wide::WideBeam;
use words::WordMatcher;

/// The widest beam with which packed pairs are searched; wider ones leave no room for ranks.
const MAX_PACKED_BEAM: usize = 1000;

/// Words of the hypothesis matched with words of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlignedPhrase {
    /// The matcher that found the match.
    pub matcher: Matcher,
    /// The range of words in the hypothesis.
    pub hypothesis: Range<usize>,
    /// The range of words in the reference.
    pub reference: Range<usize>,
    /// The number of the chunk, from 0; a chunk is a run of matches that is contiguous in both sentences.
    pub chunk: usize,
}

/// The way to align sentences.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The matchers in the order in which they run.
    pub(crate) matchers: Vec<Matcher>,
    /// The positions of the matchers by descending weight.
    pub(crate) ranks: Vec<u8>,
    /// The number of paths kept per word.
    pub(crate) beam: usize,
}

/// The aligner and its buffers; once they have grown, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aligner {
    words: WordMatcher,
    phrases: PhraseMatcher,
    /// The function words among the first 64 words of the hypothesis.
    function_words: u64,
    pairs: PackedPairs,
    narrow: NarrowBeam,
    /// The matches of the last pair that does not fit into machine words.
    found: PairMatches,
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
    /// Starts a new hypothesis, the first of `sentences`, whose references are the others.
    pub(crate) fn set_hypothesis(&mut self, vocabulary: &Vocabulary, sentences: &SentenceList) {
        let hypothesis = sentences.get(0);
        let references = || (1..sentences.len()).map(|index| sentences.get(index));
        self.words.set(vocabulary, &hypothesis, references());
        self.phrases.set(vocabulary, &hypothesis, references());
        self.function_words = hypothesis.function_words;
        self.pairs.clear();
    }

    /// Finds all matches with the next reference.
    ///
    /// Returns the input of the bound; `None` if the pair is not packed, and its matches are found when it is aligned.
    pub(crate) fn find(
        &mut self,
        vocabulary: &Vocabulary,
        plan: &Plan,
        reference: &Sentence<'_>,
    ) -> Option<Prospects> {
        let Self { words, phrases, pairs, .. } = self;
        pairs.find((words, phrases), vocabulary, plan, self.function_words, reference)
    }

    /// Chooses the best set of matches with a reference that was the `number`th to be found, from 0.
    pub(crate) fn align(
        &mut self,
        vocabulary: &Vocabulary,
        plan: &Plan,
        number: usize,
        reference: &Sentence<'_>,
    ) -> Alignment<'_> {
        let Self { words, phrases, pairs, narrow, found, wide, matches, .. } = self;
        matches.clear();
        if let Some(pair) = pairs.get(number) {
            if pair.open() == 0 {
                pair.list_definite(words, &plan.matchers, matches);
            } else {
                narrow.search(&pair, words, plan, matches);
            }
        } else {
            found.find((words, phrases), vocabulary, &plan.matchers, reference);
            if found.ambiguous {
                let matchers = &plan.matchers[..found.n_matchers];
                wide.search((words, phrases, found), matchers, plan.beam, matches);
            } else {
                matches.extend(found.fixed.iter().flatten());
            }
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
    use crate::options::MAX_MATCHERS;
    use proptest::prelude::*;

    /// The longest sentence of these tests.
    const N_WORDS: u32 = 64;

    /// Phrases of up to four words on either side, within sentences of these lengths.
    fn paraphrases(phrases: &[[u32; 4]], (n_words, n_places): (u32, u32)) -> Vec<Paraphrase> {
        let mut paraphrases: Vec<Paraphrase> = phrases
            .iter()
            .zip(0..)
            .map(|([reference, reference_len, hypothesis, hypothesis_len], place)| Paraphrase {
                reference: reference % (n_places - 3),
                source_in_hypothesis: false,
                order: [*reference_len, place, hypothesis % (n_words - 3)],
                reference_len: *reference_len,
                hypothesis: hypothesis % (n_words - 3),
                hypothesis_len: *hypothesis_len,
            })
            .collect();
        paraphrases.sort_unstable();
        paraphrases
    }

    proptest! {
        /// Both kinds of aligning receive the same matches of words and phrases.
        #[test]
        fn packed_pairs_are_aligned_as_pairs_of_any_length(
            (n_words, n_places) in (4..=N_WORDS, 4..=N_WORDS),
            singles in proptest::collection::vec((0..N_WORDS, 0..N_WORDS, 0usize..3), 0..60),
            phrases in proptest::collection::vec([0..N_WORDS, 1u32..5, 0..N_WORDS, 1u32..5], 0..40),
            beam in prop_oneof![20 => 1usize..50, 1 => Just(MAX_PACKED_BEAM)],
            spread in 1..=N_WORDS,
        ) {
            let matchers = vec![Matcher::Exact, Matcher::Stem, Matcher::Synonym, Matcher::Paraphrase];
            let plan = Plan { matchers, ranks: vec![0, 2, 1, 3], beam };
            let mut masks = vec![[0; MAX_MATCHERS]; n_places as usize + 1];
            for (reference, hypothesis, module) in singles {
                let (reference, hypothesis) = (reference % spread % n_places, hypothesis % n_words);
                masks[reference as usize + 1][module] |= 1 << hypothesis;
            }
            let words = WordMatcher::of_rows(n_words as usize, masks.as_flattened());
            let rows: Vec<u32> = (1..=n_places).map(|row| row * MAX_MATCHERS as u32).collect();
            let paraphrases = paraphrases(&phrases, (n_words, n_places));

            let mut general = Vec::new();
            let pair = (&words, &PhraseMatcher::default());
            let mut found = PairMatches { rows: rows.clone(), paraphrases: paraphrases.clone(), ..PairMatches::default() };
            found.sort_out(pair, &plan.matchers);
            WideBeam::default().search((&words, pair.1, &found), &plan.matchers, beam, &mut general);

            let mut packed = Vec::new();
            let pairs = PackedPairs::of(&words, &plan, rows, paraphrases);
            let pair = pairs.get(0).unwrap();
            NarrowBeam::default().search(&pair, &words, &plan, &mut packed);
            prop_assert_eq!(&packed, &general);
            prop_assert_eq!(pair.open() != 0, found.ambiguous);
            if !found.ambiguous {
                packed.clear();
                pair.list_definite(&words, &plan.matchers, &mut packed);
                prop_assert_eq!(&packed, &general);
            }
        }
    }
}
