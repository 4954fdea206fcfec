//! The grammatical relations, and the patterns of trees in which they hold.

use std::sync::LazyLock;

use super::cleanup::Cleanup;
use super::head_rules::SpecialHeads;
use super::heads::Heads;
use super::labels::{Test, Tests};
use super::pattern::Pattern;
use super::phrases::Phrases;
use crate::NodeId;

/// A grammatical relation of Universal Dependencies, version 1, in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Acl,
    Relcl,
    Advcl,
    Advmod,
    Amod,
    Appos,
    Aux,
    Auxpass,
    Case,
    Cc,
    Preconj,
    Ccomp,
    Compound,
    Prt,
    Conj,
    Cop,
    Csubj,
    Csubjpass,
    Dep,
    Det,
    Predet,
    Discourse,
    Dobj,
    Expl,
    Goeswith,
    Iobj,
    List,
    Mark,
    Mwe,
    Neg,
    Nmod,
    Npmod,
    Poss,
    Tmod,
    Nsubj,
    Nsubjpass,
    Nummod,
    Parataxis,
    Prep,
    Punct,
    Rel,
    Xcomp,
}
use Kind::*;

const NAMES: [(Kind, &str); 42] = [
    (Acl, "acl"),
    (Relcl, "acl:relcl"),
    (Advcl, "advcl"),
    (Advmod, "advmod"),
    (Amod, "amod"),
    (Appos, "appos"),
    (Aux, "aux"),
    (Auxpass, "auxpass"),
    (Case, "case"),
    (Cc, "cc"),
    (Preconj, "cc:preconj"),
    (Ccomp, "ccomp"),
    (Compound, "compound"),
    (Prt, "compound:prt"),
    (Conj, "conj"),
    (Cop, "cop"),
    (Csubj, "csubj"),
    (Csubjpass, "csubjpass"),
    (Dep, "dep"),
    (Det, "det"),
    (Predet, "det:predet"),
    (Discourse, "discourse"),
    (Dobj, "dobj"),
    (Expl, "expl"),
    (Goeswith, "goeswith"),
    (Iobj, "iobj"),
    (List, "list"),
    (Mark, "mark"),
    (Mwe, "mwe"),
    (Neg, "neg"),
    (Nmod, "nmod"),
    (Npmod, "nmod:npmod"),
    (Poss, "nmod:poss"),
    (Tmod, "nmod:tmod"),
    (Nsubj, "nsubj"),
    (Nsubjpass, "nsubjpass"),
    (Nummod, "nummod"),
    (Parataxis, "parataxis"),
    (Prep, "prep"),
    (Punct, "punct"),
    (Rel, "rel"),
    (Xcomp, "xcomp"),
];

/// The phrases and patterns of each relation. `prep` and `rel` are replaced once all relations are known.
const PATTERNS: &str = include_str!("relations.txt");

impl Kind {
    /// The name of the relation.
    pub(super) fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// Returns true if the other relation is a kind of this one.
    pub(super) fn includes(self, other: Self) -> bool {
        let more_general = match other {
            Auxpass | Cop => Aux,
            Nsubjpass => Nsubj,
            Csubjpass => Csubj,
            Tmod => Nmod,
            Neg => Advmod,
            _ => Dep,
        };
        self == other || self == more_general || self == Dep
    }
}

/// Relations that hold between two nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kinds(u64);

impl Kinds {
    pub(super) fn add(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u64;
    }

    /// The one relation that stays: going through them by name, each that is a kind of the one before replaces it.
    pub(super) fn most_specific(self) -> Kind {
        let present = NAMES.iter().map(|(kind, _)| *kind).filter(|kind| self.0 >> *kind as u64 & 1 == 1);
        present.fold(Dep, |found, kind| if found.includes(kind) { kind } else { found })
    }
}

/// The relations of the table, with the test of the phrases and the texts of the patterns.
fn relations() -> Vec<(Kind, &'static str, Vec<&'static str>)> {
    let paragraphs = PATTERNS.split("\n\n").filter_map(|paragraph| {
        // A line with an example precedes the relation.
        let (first, patterns) = paragraph.split_once('\n')?.1.split_once('\n')?;
        let (name, phrases) = first.split_once(' ').filter(|_| !first.starts_with('#'))?;
        let (kind, _) = NAMES.iter().find(|(_, known)| *known == name)?;
        // A further line of a pattern is indented more than its first.
        let mut texts: Vec<&str> = Vec::new();
        let mut rest = patterns.trim();
        while !rest.is_empty() {
            let end = rest.match_indices("\n    ").find(|(at, _)| !rest[at + 5..].starts_with(' '));
            let (text, more) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
            texts.push(text);
            rest = more.trim_start();
        }
        Some((*kind, phrases, texts))
    });
    paragraphs.collect()
}

/// All rules of the conversion, ready to match.
#[derive(Debug)]
pub(super) struct Grammar {
    pub(super) tests: Tests,
    pub(super) cleanup: Cleanup,
    pub(super) heads: SpecialHeads,
    patterns: Vec<RelationPattern>,
}

/// A way in which a relation holds in some phrases.
#[derive(Debug)]
struct RelationPattern {
    kind: Kind,
    phrases: Test,
    pattern: Pattern,
}

/// The rules are the same for all trees.
pub(super) static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let mut tests = Tests::default();
    let cleanup = Cleanup::new(&mut tests);
    let heads = SpecialHeads::new(&mut tests);
    let mut patterns = Vec::new();
    for (kind, phrases, texts) in relations() {
        let phrases = tests.add(phrases);
        patterns.extend(texts.into_iter().map(|text| {
            let pattern = Pattern::new(text, &mut tests);
            RelationPattern { kind, phrases, pattern }
        }));
    }
    Grammar { tests: tests.finish(), cleanup, heads, patterns }
});

impl Grammar {
    /// Calls `found` for the relations between phrases and the nodes that depend on them, each phrase before those in
    /// it.
    pub(super) fn each_relation(
        &self,
        phrases: &Phrases<'_>,
        heads: &Heads,
        found: &mut dyn FnMut(NodeId, Kind, NodeId),
    ) {
        let candidates = self.patterns.iter().filter(|relation| relation.pattern.may_match(phrases));
        let candidates: Vec<&RelationPattern> = candidates.collect();
        for node in phrases.preorder().into_iter().filter(|node| phrases.is_phrase(*node)) {
            let passed = phrases.passed(node);
            for RelationPattern { kind, pattern, .. } in candidates.iter().filter(|relation| {
                relation.phrases.holds(passed) && relation.pattern.may_match_at(node, phrases)
            }) {
                pattern.each(node, phrases, heads, &mut |named| {
                    if let Some(dependent) = pattern.named("@", named) {
                        found(node, *kind, dependent);
                    }
                    false
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_all_relations() {
        let table = relations();
        assert!(NAMES.is_sorted_by_key(|(_, name)| *name) && NAMES.is_sorted_by_key(|(kind, _)| *kind));
        let found = NAMES.iter().filter(|(kind, _)| table.iter().any(|(known, ..)| known == kind));
        assert_eq!((found.count(), NAMES.len()), (41, 42), "only `dep` has no patterns");
        assert_eq!(table.iter().map(|(.., texts)| texts.len()).sum::<usize>(), 211);
        assert_eq!(GRAMMAR.patterns.len(), 211);
    }

    #[test]
    fn the_most_specific_relation_stays() {
        let stays = |kinds: &[Kind]| {
            let mut all = Kinds::default();
            kinds.iter().for_each(|kind| all.add(*kind));
            all.most_specific()
        };
        assert_eq!(stays(&[Neg, Advmod]), Neg);
        assert_eq!(stays(&[Nummod, Amod]), Amod);
        assert_eq!(stays(&[Aux, Cop, Auxpass]), Auxpass);
        assert_eq!(stays(&[]), Dep);
    }
}
