//! Finds phrases of a hypothesis that are paraphrases of phrases in its references.

use std::ops::Range;

use super::matches::Paraphrase;
use super::slots::Slots;
use crate::sentence::Sentence;
use crate::vocabulary::{Filter, NONE, Probe, Vocabulary};

/// A paraphrase relation between a phrase of a reference and a phrase of the hypothesis.
#[derive(Clone, Copy, Debug)]
struct Relation {
    /// Index into the distinct phrases of the hypothesis.
    hypothesis_phrase: u32,
    source_in_hypothesis: bool,
    /// The position of the target among the targets of the source.
    place: u32,
}

/// A distinct phrase of the hypothesis.
#[derive(Clone, Copy, Debug)]
struct HypothesisPhrase {
    phrase: u32,
    len: u32,
    /// The first position of the phrase, and the last one so far.
    first: u32,
    last: u32,
    /// The number of positions.
    count: u32,
}

/// A phrase at a position in a reference, with its relations.
#[derive(Clone, Debug)]
pub(super) struct Related {
    pub(super) reference: u32,
    reference_len: u32,
    relations: Range<usize>,
}

/// The phrases of a hypothesis, indexed for matching with phrases of its references.
#[derive(Clone, Debug, Default)]
pub(super) struct PhraseMatcher {
    phrases: Vec<HypothesisPhrase>,
    /// For each distinct phrase, the probe for other phrases' filters.
    probes: Vec<Probe>,
    /// The distinct phrases that have paraphrases, with the filters of those paraphrases.
    filters: Vec<(u32, Filter)>,
    /// The start in the hypothesis, and the next position of the same phrase.
    places: Vec<(u32, u32)>,
    phrase_slots: Slots,

    // For each distinct phrase of the references.
    relation_slots: Slots,
    relation_ranges: Vec<Range<usize>>,
    relations: Vec<Relation>,
}

impl PhraseMatcher {
    /// Starts a new hypothesis.
    pub(super) fn set(&mut self, vocabulary: &Vocabulary, hypothesis: &Sentence<'_>) {
        self.phrases.clear();
        self.probes.clear();
        self.filters.clear();
        self.places.clear();
        self.phrase_slots.clear(vocabulary.n_phrases());
        for span in hypothesis.spans {
            let place = self.places.len() as u32;
            match self.phrase_slots.get(span.phrase) {
                // The positions of a phrase form a list; the new one is appended, to keep them ascending.
                Some(index) => {
                    let known = &mut self.phrases[index as usize];
                    known.count += 1;
                    let last = std::mem::replace(&mut known.last, place);
                    self.places[last as usize].1 = place;
                }
                None => {
                    let index = self.phrases.len() as u32;
                    let facts = vocabulary.phrase(span.phrase);
                    self.phrase_slots.set(span.phrase, index);
                    self.probes.push(facts.probe());
                    self.filters.extend(facts.filter().map(|filter| (index, filter)));
                    self.phrases.push(HypothesisPhrase {
                        phrase: span.phrase,
                        len: span.len,
                        first: place,
                        last: place,
                        count: 1,
                    });
                }
            }
            self.places.push((span.start, NONE));
        }
        self.relation_slots.clear(vocabulary.n_phrases());
        self.relation_ranges.clear();
        self.relations.clear();
    }

    /// Relates the phrases of a reference to those of the hypothesis; returns the number of matches.
    pub(super) fn find(
        &mut self,
        vocabulary: &Vocabulary,
        reference: &Sentence<'_>,
        related: &mut Vec<Related>,
    ) -> usize {
        let mut n_matches = 0usize;
        for span in reference.spans {
            let relations = match self.relation_slots.get(span.phrase) {
                Some(index) => self.relation_ranges[index as usize].clone(),
                None => self.relate(vocabulary, span.phrase),
            };
            for relation in &self.relations[relations.clone()] {
                let count = self.phrases[relation.hypothesis_phrase as usize].count;
                n_matches = n_matches.saturating_add(count as usize);
            }
            if !relations.is_empty() {
                related.push(Related { reference: span.start, reference_len: span.len, relations });
            }
        }
        n_matches
    }

    /// Lists the paraphrase matches of these phrases of a reference; for each reference word in METEOR's
    /// order.
    pub(super) fn list(&self, related: &[Related], paraphrases: &mut Vec<Paraphrase>) {
        for Related { reference, reference_len, relations } in related {
            for relation in &self.relations[relations.clone()] {
                let HypothesisPhrase { len: hypothesis_len, first, .. } =
                    self.phrases[relation.hypothesis_phrase as usize];
                let mut place = first;
                while let Some((hypothesis, next)) = self.places.get(place as usize).copied() {
                    let order = if relation.source_in_hypothesis {
                        [hypothesis, hypothesis_len, relation.place]
                    } else {
                        [*reference_len, relation.place, hypothesis]
                    };
                    paraphrases.push(Paraphrase {
                        reference: *reference,
                        source_in_hypothesis: relation.source_in_hypothesis,
                        order,
                        reference_len: *reference_len,
                        hypothesis,
                        hypothesis_len,
                    });
                    place = next;
                }
            }
        }
        paraphrases.sort_unstable();
    }

    /// Relates a phrase of a reference to the phrases of the hypothesis.
    fn relate(&mut self, vocabulary: &Vocabulary, phrase: u32) -> Range<usize> {
        let start = self.relations.len();
        let facts = vocabulary.phrase(phrase);
        if let Some(filter) = facts.filter() {
            let hits = |probe: &Probe| vocabulary.may_paraphrase(filter, *probe);
            for index in places_of(&self.probes, hits) {
                let target = vocabulary.phrase(self.phrases[index].phrase);
                self.relations.extend(vocabulary.paraphrase_places(facts, target).map(|place| Relation {
                    hypothesis_phrase: index as u32,
                    source_in_hypothesis: false,
                    place,
                }));
            }
        }
        let probe = facts.probe();
        let hits = |(_, filter): &(u32, Filter)| vocabulary.may_paraphrase(*filter, probe);
        for at in places_of(&self.filters, hits) {
            let (index, _) = self.filters[at];
            let source = vocabulary.phrase(self.phrases[index as usize].phrase);
            self.relations.extend(vocabulary.paraphrase_places(source, facts).map(|place| Relation {
                hypothesis_phrase: index,
                source_in_hypothesis: true,
                place,
            }));
        }
        let range = start..self.relations.len();
        self.relation_slots.set(phrase, self.relation_ranges.len() as u32);
        self.relation_ranges.push(range.clone());
        range
    }
}

/// The positions of the items that are wanted, expected to be few; tests each item without a branch.
#[inline]
fn places_of<T>(items: &[T], is_wanted: impl Fn(&T) -> bool) -> impl Iterator<Item = usize> {
    items.chunks(64).enumerate().flat_map(move |(block, items)| {
        let mut wanted = items.iter().rev().fold(0u64, |set, item| set << 1 | u64::from(is_wanted(item)));
        std::iter::from_fn(move || {
            let place = wanted.trailing_zeros() as usize;
            wanted &= wanted.wrapping_sub(1);
            (place < 64).then_some(64 * block + place)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn matches_listed_word_by_word_equal_those_listed_at_once(
            n_places in proptest::collection::vec(1u32..6, 1..6),
            relations in proptest::collection::vec((0usize..6, any::<bool>(), 0u32..9), 1..30),
            spans in proptest::collection::vec((0u32..9, 1u32..4, 0usize..30, 0usize..30), 1..30),
        ) {
            let mut matcher = PhraseMatcher::default();
            for (phrase, count) in (0..).zip(&n_places) {
                let first = matcher.places.len() as u32;
                let last = first + count - 1;
                let next = |place| if place == last { NONE } else { place + 1 };
                matcher.places.extend((first..=last).map(|place| (place * 3 % 7, next(place))));
                matcher.phrases.push(HypothesisPhrase { phrase, len: 1 + phrase % 3, first, last, count: *count });
            }
            matcher.relations.extend(relations.iter().map(|(phrase, source_in_hypothesis, place)| Relation {
                hypothesis_phrase: (phrase % n_places.len()) as u32,
                source_in_hypothesis: *source_in_hypothesis,
                place: *place,
            }));
            let n = relations.len();
            let mut related: Vec<Related> = spans
                .iter()
                .map(|(reference, reference_len, a, b)| Related {
                    reference: *reference,
                    reference_len: *reference_len,
                    relations: (a % n).min(b % n)..(a % n).max(b % n) + 1,
                })
                .collect();
            related.sort_by_key(|related| related.reference);
            let (mut all, mut by_word) = (Vec::new(), Vec::new());
            matcher.list(&related, &mut all);
            for of_one_word in related.chunk_by(|a, b| a.reference == b.reference) {
                let mut listed = Vec::new();
                matcher.list(of_one_word, &mut listed);
                by_word.extend(listed);
            }
            prop_assert_eq!(all, by_word);
        }
    }
}
