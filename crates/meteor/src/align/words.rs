//! Finds the hypothesis words that each reference word matches, by equality, stem and synonymy.

use super::slots::{Sieve, Slots};
use crate::options::{MAX_MATCHERS, Matcher};
use crate::sentence::Sentence;
use crate::vocabulary::Vocabulary;

/// The words of a hypothesis, indexed for matching with words of its references.
///
/// Sets of hypothesis words are masks of `width` machine words each.
#[derive(Clone, Debug, Default)]
pub(super) struct WordMatcher {
    pub(super) words: Vec<u32>,
    pub(super) width: usize,
    /// By class, the start of the mask of the words in it.
    classes: Slots,
    /// The words of the references, and for each of these the start of the mask of its synonyms.
    wanted: Sieve,
    synonyms: Slots,
    masks: Vec<u64>,
    /// By word of the references, the start of its row.
    word_slots: Slots,
    /// For each distinct word of the references, a mask per matcher. The first row is empty.
    rows: Vec<u64>,
}

/// The start of the row of words that match nothing.
pub(super) const EMPTY: u32 = 0;

impl WordMatcher {
    /// Starts a new hypothesis, which is going to be matched with words of `references`.
    pub(super) fn set<'s>(
        &mut self,
        vocabulary: &Vocabulary,
        hypothesis: &Sentence<'_>,
        references: impl Iterator<Item = Sentence<'s>>,
    ) {
        let Self { words, width, classes, wanted, synonyms, masks, word_slots, rows } = self;
        wanted.clear();
        references.flat_map(|reference| reference.words).for_each(|word| wanted.insert(*word));
        words.clear();
        words.extend_from_slice(hypothesis.words);
        *width = words.len().div_ceil(64).max(1);
        classes.clear(vocabulary.n_classes());
        synonyms.clear(vocabulary.n_words());
        masks.clear();
        let mut mark = |slots: &mut Slots, index: u32, at: usize| {
            let start = slots.get(index).unwrap_or_else(|| {
                let start = masks.len() as u32;
                masks.resize(masks.len() + *width, 0);
                slots.set(index, start);
                start
            });
            masks[start as usize + at / 64] |= 1 << (at % 64);
        };
        for (at, word) in words.iter().enumerate() {
            let facts = vocabulary.word(*word);
            mark(classes, facts.key, at);
            mark(classes, facts.stem, at);
            for synonym in vocabulary.synonyms(*word).iter().filter(|word| wanted.may_contain(**word)) {
                mark(synonyms, *synonym, at);
            }
        }
        word_slots.clear(vocabulary.n_words());
        rows.clear();
        rows.resize(MAX_MATCHERS * *width, 0);
    }

    /// Appends the start of the row of each reference word to `starts`.
    pub(super) fn find(
        &mut self,
        vocabulary: &Vocabulary,
        matchers: &[Matcher],
        reference: &Sentence<'_>,
        starts: &mut Vec<u32>,
    ) {
        for word in reference.words {
            let start = self.word_slots.get(*word).unwrap_or_else(|| {
                let start = self.read(vocabulary, matchers, *word);
                self.word_slots.set(*word, start);
                start
            });
            starts.push(start);
        }
    }

    /// Adds the row of a reference word.
    fn read(&mut self, vocabulary: &Vocabulary, matchers: &[Matcher], word: u32) -> u32 {
        let facts = vocabulary.word(word);
        let same = self.classes.get(facts.key);
        let (stem, synonym) = (self.classes.get(facts.stem), self.synonyms.get(word));
        if same.or(stem).or(synonym).is_none() {
            return EMPTY;
        }
        let width = self.width;
        let mask = |start: u32| &self.masks[start as usize..start as usize + width];
        let row = self.rows.len();
        self.rows.resize(row + MAX_MATCHERS * width, 0);
        for (matcher, place) in matchers.iter().zip(self.rows[row..].chunks_exact_mut(width)) {
            let (found, except) = match matcher {
                Matcher::Exact => (same, None),
                Matcher::Stem => (stem, same),
                Matcher::Synonym => (synonym, same),
                Matcher::Paraphrase => (None, None),
            };
            if let Some(found) = found {
                place.copy_from_slice(mask(found));
            }
            if let Some(except) = except {
                place.iter_mut().zip(mask(except)).for_each(|(bits, same)| *bits &= !same);
            }
        }
        row as u32
    }

    /// The words that matcher `module` matches with the word whose row begins at `row`.
    pub(super) fn mask(&self, row: u32, module: usize) -> &[u64] {
        let start = row as usize + module * self.width;
        &self.rows[start..start + self.width]
    }

    /// The words that each matcher matches with the word whose row begins at `row`, in hypotheses of up to 64 words.
    #[inline]
    pub(super) fn narrow_row(&self, row: u32) -> [u64; MAX_MATCHERS] {
        let row = &self.rows[row as usize..row as usize + MAX_MATCHERS];
        row.try_into().expect("a row has a mask per matcher")
    }

    /// Returns true if all words are equal to those of `reference`.
    pub(super) fn equal(&self, vocabulary: &Vocabulary, reference: &Sentence<'_>) -> bool {
        let key = |word: &u32| vocabulary.word(*word).key;
        self.words.len() == reference.words.len()
            && self.words.iter().zip(reference.words).all(|(a, b)| a == b || key(a) == key(b))
    }
}

#[cfg(test)]
impl WordMatcher {
    /// A matcher of `n_words` different words that has read all references.
    pub(super) fn of_rows(n_words: usize, rows: &[u64]) -> Self {
        Self { words: vec![0; n_words], width: 1, rows: rows.to_vec(), ..Self::default() }
    }
}
