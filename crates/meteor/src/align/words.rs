//! Finds the hypothesis words that each reference word matches, by equality, stem and synonymy.

use super::matches::Row;
use super::slots::Slots;
use crate::options::{MAX_MATCHERS, Matcher};
use crate::sentence::Sentence;
use crate::vocabulary::{Feature, Vocabulary};

/// The words of a hypothesis, indexed for matching with words of its references.
#[derive(Clone, Debug, Default)]
pub(super) struct WordMatcher {
    pub(super) words: Vec<u32>,
    /// The function words among the first 64 words, as a bit mask.
    pub(super) function_words: u64,
    /// The number of machine words per set of hypothesis words.
    pub(super) width: usize,
    feature_slots: Slots,
    /// A filter for the features of the hypothesis, by their last bits, so that most look-ups touch only the
    /// fastest cache.
    has_feature: FeatureBits,
    /// For each feature of the hypothesis, the words that have it.
    feature_masks: Vec<u64>,

    // For each distinct word of the references.
    word_slots: Slots,
    /// The hypothesis words it matches, for hypotheses of up to 64 words.
    rows: Vec<Row>,
    /// For each matcher, the hypothesis words it matches, for longer hypotheses.
    masks: Vec<u64>,
}

/// A set of features with possible false positives.
#[derive(Clone, Copy, Debug)]
struct FeatureBits([u64; 64]);

impl Default for FeatureBits {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl FeatureBits {
    fn set(&mut self, feature: Feature) {
        self.0[feature as usize / 64 % 64] |= 1 << (feature % 64);
    }

    #[inline]
    fn may_have(&self, feature: Feature) -> bool {
        self.0[feature as usize / 64 % 64] >> (feature % 64) & 1 == 1
    }
}

impl WordMatcher {
    /// Starts a new hypothesis.
    pub(super) fn set(&mut self, vocabulary: &Vocabulary, hypothesis: &Sentence<'_>) {
        self.words.clear();
        self.words.extend_from_slice(hypothesis.words);
        self.width = hypothesis.words.len().div_ceil(64).max(1);
        self.function_words = hypothesis
            .words
            .iter()
            .take(64)
            .enumerate()
            .filter(|(_, word)| vocabulary.word(**word).is_function)
            .fold(0, |set, (at, _)| set | 1 << at);
        self.feature_slots.clear(vocabulary.n_features());
        self.feature_masks.clear();
        self.has_feature = FeatureBits::default();
        let mut n_features = 0;
        for (at, word) in hypothesis.words.iter().enumerate() {
            let facts = vocabulary.word(*word);
            let synsets = vocabulary.synsets(facts).iter().copied();
            for feature in [facts.key, facts.stem].into_iter().chain(synsets) {
                let index = self.feature_slots.get(feature).unwrap_or_else(|| {
                    let index = n_features;
                    n_features += 1;
                    self.feature_slots.set(feature, index);
                    self.has_feature.set(feature);
                    self.feature_masks.resize(self.feature_masks.len() + self.width, 0);
                    index
                });
                self.feature_masks[index as usize * self.width + at / 64] |= 1 << (at % 64);
            }
        }
        self.word_slots.clear(vocabulary.n_words());
        self.masks.clear();
        self.rows.clear();
    }

    /// Looks up the hypothesis words that each reference word matches, for each matcher of single words.
    ///
    /// `mask_of` receives the index of the result for each reference word: the row or, in wide hypotheses,
    /// the first machine word.
    pub(super) fn find(
        &mut self,
        vocabulary: &Vocabulary,
        matchers: &[Matcher],
        reference: &Sentence<'_>,
        mask_of: &mut Vec<u32>,
    ) {
        mask_of.clear();
        for word in reference.words {
            if let Some(start) = self.word_slots.get(*word) {
                mask_of.push(start);
                continue;
            }
            if self.width == 1 {
                let row = self.read_row(vocabulary, matchers, *word);
                let number = self.rows.len() as u32;
                self.rows.push(row);
                self.word_slots.set(*word, number);
                mask_of.push(number);
                continue;
            }
            let start = self.masks.len();
            self.masks.resize(start + matchers.len() * self.width, 0);
            self.word_slots.set(*word, start as u32);
            mask_of.push(start as u32);
            let facts = vocabulary.word(*word);
            for (module, matcher) in matchers.iter().enumerate() {
                let start = start + module * self.width;
                let mask = &mut self.masks[start..start + self.width];
                let mut add = |feature: Feature| {
                    if let Some(from) = self.feature_slots.get(feature) {
                        let from = from as usize * self.width;
                        for (place, bits) in mask.iter_mut().zip(&self.feature_masks[from..from + self.width])
                        {
                            *place |= bits;
                        }
                    }
                };
                match matcher {
                    Matcher::Exact => add(facts.key),
                    Matcher::Stem => add(facts.stem),
                    Matcher::Synonym => vocabulary.synsets(facts).iter().copied().for_each(add),
                    Matcher::Paraphrase => {}
                }
                if let (Matcher::Stem | Matcher::Synonym, Some(same)) =
                    (matcher, self.feature_slots.get(facts.key))
                {
                    let same = same as usize * self.width;
                    for (place, bits) in mask.iter_mut().zip(&self.feature_masks[same..same + self.width]) {
                        *place &= !bits;
                    }
                }
            }
        }
    }

    /// The matches of a reference word, for each matcher of single words.
    fn read_row(&self, vocabulary: &Vocabulary, matchers: &[Matcher], word: u32) -> Row {
        let facts = vocabulary.word(word);
        let mask = |feature: Feature| {
            if !self.has_feature.may_have(feature) {
                return 0;
            }
            let index = self.feature_slots.get(feature);
            index.and_then(|index| self.feature_masks.get(index as usize)).copied().unwrap_or(0)
        };
        let same = mask(facts.key);
        let mut masks = [0; MAX_MATCHERS];
        for (place, matcher) in masks.iter_mut().zip(matchers) {
            *place = match matcher {
                Matcher::Exact => same,
                Matcher::Stem => mask(facts.stem) & !same,
                Matcher::Synonym => {
                    vocabulary.synsets(facts).iter().fold(0, |all, synset| all | mask(*synset)) & !same
                }
                Matcher::Paraphrase => 0,
            };
        }
        Row::new(masks)
    }

    /// Row `number`, for hypotheses of up to 64 words.
    #[inline]
    pub(super) fn row(&self, number: u32) -> Row {
        self.rows[number as usize]
    }

    /// The hypothesis words that matcher `module` matches with the word whose masks begin at `start`.
    pub(super) fn mask(&self, start: u32, module: usize) -> &[u64] {
        if self.width == 1 {
            return &self.rows[start as usize].masks[module..=module];
        }
        let start = start as usize + module * self.width;
        &self.masks[start..start + self.width]
    }

    /// The masks of all matchers for the word whose masks begin at `start`, in hypotheses of more than 64
    /// words.
    pub(super) fn masks(&self, start: u32, n_matchers: usize) -> &[u64] {
        &self.masks[start as usize..start as usize + n_matchers * self.width]
    }
}
