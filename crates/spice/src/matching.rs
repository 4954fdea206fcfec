//! Counts the facts of a candidate that are among those of its references, in all and by subset.

use crate::phrases::Phrases;
use crate::scene::{Fact, Likeness, SceneGraph};

/// The facts that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subset {
    /// All.
    All,
    /// Things.
    Object,
    /// Attributes.
    Attribute,
    /// Relations.
    Relation,
    /// Attributes that are a number from one to ten.
    Cardinality,
    /// Attributes that are a colour.
    Color,
    /// Attributes that are a size.
    Size,
}

impl Subset {
    /// All subsets, in the order in which SPICE's paper lists them.
    pub const ALL: [Self; 7] = [
        Self::All,
        Self::Object,
        Self::Attribute,
        Self::Relation,
        Self::Cardinality,
        Self::Color,
        Self::Size,
    ];

    /// The name that the reference program gives it.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "All",
            Self::Object => "Object",
            Self::Attribute => "Attribute",
            Self::Relation => "Relation",
            Self::Cardinality => "Cardinality",
            Self::Color => "Color",
            Self::Size => "Size",
        }
    }

    /// The words of which one alone makes an attribute belong to it, if there is such a list.
    pub(crate) fn words(self) -> Option<&'static str> {
        match self {
            Self::All | Self::Object | Self::Attribute | Self::Relation => None,
            Self::Cardinality => Some(NUMBERS),
            Self::Color => Some(COLORS),
            Self::Size => Some(SIZES),
        }
    }

    /// Returns true if a fact belongs to it. An attribute into which others were merged is no number, colour or size.
    fn has(self, fact: &Fact<'_>, phrases: &Phrases) -> bool {
        match self {
            Self::All => true,
            Self::Object => matches!(fact, Fact::Object(_)),
            Self::Attribute => matches!(fact, Fact::Attribute(..)),
            Self::Relation => matches!(fact, Fact::Relation(..)),
            Self::Cardinality | Self::Color | Self::Size => match fact {
                Fact::Attribute(_, attribute) => {
                    attribute.only().is_some_and(|phrase| phrases.is_among(phrase, self))
                }
                Fact::Object(_) | Fact::Relation(..) => false,
            },
        }
    }
}

const NUMBERS: &str = "one two three four five six seven eight nine ten";
const COLORS: &str = "black brown blue red yellow pink gray grey green dark light white cream orange purple maroon beige violet";
const SIZES: &str = "baby beefy big bony boundless brawny broad bulky chunky colossal compact corpulent cosmic cubby \
    curvy elfin emaciated endless enormous epic expansive extensive fat fleshy full-size gargantuan gaunt giant gigantic \
    grand great heavy hefty huge hulking illimitable immeasurable immense infinitesimal lanky large lean life-size \
    limitless little mammoth massive meager measly microscopic mini miniature minuscule minute narrow obese outsized \
    oversize overweight paltry petite pint-size plump pocket-size portly pudgy puny rotund scanty scraggy scrawny short \
    sizable skeletal skimpy skinny slender slim small squat stocky stout strapping sturdy tall teensy teeny teeny-tiny \
    teeny-weeny thick thickset thin tiny titanic towering trifling trim tubby undersized underweight unlimited vast wee \
    whopping wide";

/// The counts from which precision and recall are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Facts of the candidate that match one of the references.
    pub matched: usize,
    /// Facts of the candidate.
    pub candidate: usize,
    /// Facts of the references.
    pub references: usize,
}

impl Counts {
    /// Compares the facts of each subset, in the order of [`Subset::ALL`]. Both graphs are of these phrases.
    pub fn by_subset(
        candidate: &SceneGraph,
        references: &SceneGraph,
        phrases: &Phrases,
        likeness: Likeness,
    ) -> [Self; Subset::ALL.len()] {
        let mut counts = Subset::ALL.map(|_| Self::default());
        for fact in references.facts() {
            for (counts, subset) in counts.iter_mut().zip(Subset::ALL) {
                counts.references += usize::from(subset.has(&fact, phrases));
            }
        }
        for fact in candidate.facts() {
            let matching = references.matching(&fact, likeness);
            let subsets = Subset::ALL.into_iter().zip(&mut counts);
            for (subset, counts) in subsets.filter(|(subset, _)| subset.has(&fact, phrases)) {
                counts.candidate += 1;
                counts.matched += usize::from(matching.iter().any(|other| subset.has(other, phrases)));
            }
        }
        counts
    }

    /// The part of the candidate's facts that match; 0 if there are none.
    pub fn precision(self) -> f64 {
        ratio(self.matched, self.candidate)
    }

    /// Matched facts by facts of the references; 0 if there are none. It exceeds 1 if several facts match the same one.
    pub fn recall(self) -> f64 {
        ratio(self.matched, self.references)
    }

    /// The harmonic mean of precision and recall.
    pub fn f(self) -> f64 {
        let (precision, recall) = (self.precision(), self.recall());
        if self.matched == 0 { 0.0 } else { 2.0 * (precision * recall) / (precision + recall) }
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Synonyms, Tuple};

    /// "car" shares sets with "auto" and with "machine", which share none; "gray" and "grey" share one.
    struct Few;

    impl Synonyms for Few {
        fn synsets(&self, word: &str, synsets: &mut Vec<u32>) {
            *synsets = Vec::from(match word {
                "car" => &[1, 2][..],
                "auto" => &[1],
                "machine" => &[2, 3],
                "gray" | "grey" => &[7],
                _ => &[],
            });
        }
    }

    fn graph<'s>(statements: &[&'s str], phrases: &mut Phrases) -> SceneGraph {
        let tuple = |statement: &&'s str| match statement.split(' ').collect::<Vec<_>>()[..] {
            [subject, predicate, object] => Tuple::Relation { subject, predicate, object },
            [object, attribute] => Tuple::Attribute { object, attribute },
            _ => Tuple::Object(*statement),
        };
        let tuples: Vec<Tuple<&str>> = statements.iter().map(tuple).collect();
        SceneGraph::new(&tuples, phrases, Likeness::Synonyms)
    }

    fn counts(candidate: &[&str], references: &[&str]) -> [Counts; 7] {
        let mut phrases = Phrases::new(Arc::new(Few));
        let [candidate, references] =
            [candidate, references].map(|statements| graph(statements, &mut phrases));
        Counts::by_subset(&candidate, &references, &phrases, Likeness::Synonyms)
    }

    #[test]
    fn facts_are_counted_by_subset() {
        let candidate = ["dog brown", "dog two", "dog on grass", "cat"];
        let references = ["dog brown", "dog small", "dog on sofa", "sofa"];
        let found = counts(&candidate, &references)
            .map(|Counts { matched, candidate, references }| [matched, candidate, references]);
        assert_eq!(found, [[2, 6, 5], [1, 3, 2], [1, 2, 2], [0, 1, 1], [0, 1, 0], [1, 1, 1], [0, 0, 1]]);
        let all = Counts { matched: 2, candidate: 6, references: 5 };
        assert_eq!((all.precision(), all.recall()), (2.0 / 6.0, 0.4));
        assert!((all.f() - 4.0 / 11.0).abs() < 1e-15);
    }

    #[test]
    fn nothing_scores_nothing() {
        let (empty, dog) = (&[][..], &["dog"][..]);
        for (candidate, references) in [(empty, dog), (dog, empty), (empty, empty)] {
            let [counts, ..] = counts(candidate, references);
            assert_eq!((counts.precision(), counts.recall(), counts.f()), (0.0, 0.0, 0.0));
        }
    }

    fn count(candidate: &[&str], references: &[&str], subset: Subset) -> Counts {
        counts(candidate, references)[subset as usize]
    }

    #[test]
    fn several_facts_may_match_the_same_one_so_recall_may_exceed_1() {
        let counts = count(&["auto", "machine"], &["car"], Subset::All);
        assert_eq!((counts.precision(), counts.recall()), (1.0, 2.0));
        assert!((counts.f() - 4.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn an_attribute_into_which_another_was_merged_is_no_colour() {
        let counts = |references: &[&str]| count(&["dog gray"], references, Subset::Color);
        let found = [&["dog gray"][..], &["dog grey"], &["dog gray", "dog grey"]].map(counts);
        assert_eq!(found.map(|counts| (counts.matched, counts.references)), [(1, 1), (1, 1), (0, 0)]);
        assert_eq!(count(&["dog gray"], &["dog gray", "dog grey"], Subset::Attribute).matched, 1);
    }

    #[test]
    fn relations_match_between_things_that_are_alike() {
        let references = ["car near dog", "auto in cat", "machine near dog", "car on dog"];
        let matched = |statement| count(&[statement], &references, Subset::Relation).matched;
        assert_eq!(
            ["auto near dog", "machine near dog", "dog near car", "car in dog"].map(matched),
            [1, 1, 0, 0]
        );
    }

    #[test]
    fn many_facts_are_not_compared_with_each_other() {
        let things = |n: usize| (0..n).map(move |k| format!("thing-{k}"));
        let statements: Vec<String> =
            things(30_000).chain(things(30_000).map(|thing| format!("dog {thing}"))).collect();
        let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
        // Comparing each fact with all others would take minutes.
        let counts = count(&statements, &statements, Subset::All);
        assert_eq!((counts.matched, counts.references), (60_001, 60_001));
    }
}
