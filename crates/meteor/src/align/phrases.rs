//! Finds phrases of a hypothesis that are paraphrases of phrases in its references.

use super::matches::Paraphrase;
use super::slots::{Sieve, Slots};
use crate::sentence::Sentence;
use crate::vocabulary::{NONE, Vocabulary};

/// An entry of the paraphrase table that pairs a phrase of a reference with a phrase of the hypothesis.
#[derive(Clone, Copy, Debug)]
struct Relation {
    /// Index into the distinct phrases of the hypothesis.
    hypothesis_phrase: u32,
    source_in_hypothesis: bool,
    /// The position of the target among the targets of the source.
    place: u32,
    /// The next relation of the same phrase of a reference, or `NONE`.
    next: u32,
}

/// A distinct phrase of the hypothesis.
#[derive(Clone, Copy, Debug)]
struct HypothesisPhrase {
    len: u32,
    /// The first position of the phrase, and the last one so far.
    first: u32,
    last: u32,
    /// The number of positions.
    count: u32,
}

/// A phrase at a position in a reference, with its relations.
#[derive(Clone, Copy, Debug)]
pub(super) struct RelatedPhrase {
    pub(super) reference: u32,
    reference_len: u32,
    relation: u32,
}

/// The phrases of a hypothesis, indexed for matching with phrases of its references.
#[derive(Clone, Debug, Default)]
pub(super) struct PhraseMatcher {
    phrases: Vec<HypothesisPhrase>,
    /// The start in the hypothesis, and the next position of the same phrase.
    places: Vec<(u32, u32)>,
    phrase_slots: Slots,
    /// The phrases of the references, and for each of these the first of its relations.
    wanted: Sieve,
    relation_slots: Slots,
    relations: Vec<Relation>,
}

impl PhraseMatcher {
    /// Starts a new hypothesis, which is going to be matched with phrases of `references`.
    pub(super) fn set<'s>(
        &mut self,
        vocabulary: &Vocabulary,
        hypothesis: &Sentence<'_>,
        references: impl Iterator<Item = Sentence<'s>>,
    ) {
        self.wanted.clear();
        references.flat_map(|reference| reference.spans).for_each(|span| self.wanted.insert(span.phrase));
        self.phrases.clear();
        self.places.clear();
        self.phrase_slots.clear(vocabulary.n_phrases());
        self.relation_slots.clear(vocabulary.n_phrases());
        self.relations.clear();
        for span in hypothesis.spans {
            let place = self.places.len() as u32;
            self.places.push((span.start, NONE));
            // The positions of a phrase form a list; the new one is appended, to keep them ascending.
            if let Some(index) = self.phrase_slots.get(span.phrase) {
                let known = &mut self.phrases[index as usize];
                known.count += 1;
                let last = std::mem::replace(&mut known.last, place);
                self.places[last as usize].1 = place;
                continue;
            }
            let index = self.phrases.len() as u32;
            self.phrase_slots.set(span.phrase, index);
            self.phrases.push(HypothesisPhrase { len: span.len, first: place, last: place, count: 1 });
            for entry in vocabulary.paraphrases(span.phrase) {
                if !self.wanted.may_contain(entry.other) {
                    continue;
                }
                let next = self.relation_slots.get(entry.other).unwrap_or(NONE);
                self.relation_slots.set(entry.other, self.relations.len() as u32);
                self.relations.push(Relation {
                    hypothesis_phrase: index,
                    source_in_hypothesis: entry.is_source,
                    place: entry.place,
                    next,
                });
            }
        }
    }

    /// The relations of a phrase of a reference, from the first one.
    fn relations(&self, first: u32) -> impl Iterator<Item = &Relation> {
        let get = |place: u32| self.relations.get(place as usize);
        std::iter::successors(get(first), move |relation| get(relation.next))
    }

    /// Relates the phrases of a reference to those of the hypothesis; returns the number of matches.
    pub(super) fn find(&self, reference: &Sentence<'_>, related: &mut Vec<RelatedPhrase>) -> usize {
        let mut n_matches = 0usize;
        for span in reference.spans {
            let Some(relation) = self.relation_slots.get(span.phrase) else { continue };
            for relation in self.relations(relation) {
                let count = self.phrases[relation.hypothesis_phrase as usize].count;
                n_matches = n_matches.saturating_add(count as usize);
            }
            related.push(RelatedPhrase { reference: span.start, reference_len: span.len, relation });
        }
        n_matches
    }

    /// Appends the paraphrase matches of these phrases of a reference, by reference word and then in METEOR's order.
    pub(super) fn list(&self, related: &[RelatedPhrase], paraphrases: &mut Vec<Paraphrase>) {
        let start = paraphrases.len();
        for RelatedPhrase { reference, reference_len, relation } in related {
            for relation in self.relations(*relation) {
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
        paraphrases[start..].sort_unstable();
    }
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
            spans in proptest::collection::vec((0u32..9, 1u32..4, 0usize..30), 1..30),
        ) {
            let mut matcher = PhraseMatcher::default();
            for (phrase, count) in (0u32..).zip(&n_places) {
                let first = matcher.places.len() as u32;
                let last = first + count - 1;
                let next = |place| if place == last { NONE } else { place + 1 };
                matcher.places.extend((first..=last).map(|place| (place * 3 % 7, next(place))));
                matcher.phrases.push(HypothesisPhrase { len: 1 + phrase % 3, first, last, count: *count });
            }
            matcher.relations.extend(relations.iter().zip(1..).map(|((phrase, source_in_hypothesis, place), next)| {
                Relation {
                    hypothesis_phrase: (phrase % n_places.len()) as u32,
                    source_in_hypothesis: *source_in_hypothesis,
                    place: *place,
                    next: if place % 3 == 0 { NONE } else { next },
                }
            }));
            let n = relations.len();
            let mut related: Vec<RelatedPhrase> = spans
                .iter()
                .map(|(reference, reference_len, first)| RelatedPhrase {
                    reference: *reference,
                    reference_len: *reference_len,
                    relation: (first % n) as u32,
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
