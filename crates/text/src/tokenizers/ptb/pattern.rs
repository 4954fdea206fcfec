//! Regular patterns over character classes, and their position automaton.

use std::ops::{Add, BitOr};

use super::classes::{CLASSES, Set};

/// A regular pattern: `a + b` is `a` followed by `b`, `a | b` is either.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    One(Set),
    Sequence(Vec<Pattern>),
    Either(Vec<Pattern>),
    Optional(Box<Pattern>),
    Repeated(Box<Pattern>),
}

/// One character of `set`.
pub(super) fn one(set: Set) -> Pattern {
    Pattern::One(set)
}

/// One of the given ASCII characters, case-sensitive.
pub(super) fn among(ascii: &str) -> Pattern {
    Pattern::One(Set::of(ascii))
}

/// The given ASCII text, case-insensitive.
pub(super) fn text(ascii: &str) -> Pattern {
    Pattern::Sequence(ascii.bytes().map(|c| Pattern::One(Set::caseless(c))).collect())
}

/// Any of the words in `list`, case-insensitive.
pub(super) fn words(list: &str) -> Pattern {
    Pattern::Either(list.split_ascii_whitespace().map(text).collect())
}

/// Any of the words in `list`; only the first letter is case-sensitive.
pub(super) fn names(list: &str) -> Pattern {
    let name = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        among(first) + text(rest)
    };
    Pattern::Either(list.split_ascii_whitespace().map(name).collect())
}

impl Pattern {
    /// The pattern or nothing.
    pub(super) fn maybe(self) -> Self {
        Self::Optional(Box::new(self))
    }

    /// The pattern one or more times.
    pub(super) fn many(self) -> Self {
        Self::Repeated(Box::new(self))
    }

    /// The pattern zero or more times.
    pub(super) fn any(self) -> Self {
        self.many().maybe()
    }

    /// The pattern from `least` to `most` times.
    pub(super) fn times(self, least: usize, most: usize) -> Self {
        let must = std::iter::repeat_n(self.clone(), least);
        let may = std::iter::repeat_n(self.maybe(), most.saturating_sub(least));
        Self::Sequence(must.chain(may).collect())
    }
}

impl Add for Pattern {
    type Output = Self;

    fn add(self, next: Self) -> Self {
        match self {
            Self::Sequence(mut parts) => {
                parts.push(next);
                Self::Sequence(parts)
            }
            first => Self::Sequence(vec![first, next]),
        }
    }
}

impl BitOr for Pattern {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        match self {
            Self::Either(mut choices) => {
                choices.push(other);
                Self::Either(choices)
            }
            first => Self::Either(vec![first, other]),
        }
    }
}

/// A position in a pattern at which one character is read.
pub(super) type Position = u16;

/// The rule number of a position at which no rule ends.
pub(super) const NO_RULE: u8 = u8::MAX;

/// The position automaton of a list of patterns (Glushkov 1961): one state for each position at which a
/// character is read, and no empty transitions. Position 0 is the start.
#[derive(Debug)]
pub(super) struct Positions {
    /// The set of classes that each position reads.
    pub(super) reads: Vec<u128>,
    /// The positions that may follow each position.
    pub(super) follow: Vec<Vec<Position>>,
    /// The first rule that ends at each position, or [`NO_RULE`].
    pub(super) ends: Vec<u8>,
}

struct Part {
    empty: bool,
    first: Vec<Position>,
    last: Vec<Position>,
}

impl Positions {
    /// The automaton of all `rules`; rule `k` is the k-th pattern.
    pub(super) fn of<'p>(rules: impl Iterator<Item = &'p Pattern>) -> Self {
        const { assert!(CLASSES == u128::BITS as usize) };
        let mut positions = Self { reads: vec![0], follow: vec![Vec::new()], ends: vec![NO_RULE] };
        for (rule, pattern) in (0..NO_RULE).zip(rules) {
            let part = positions.add(pattern);
            positions.follow[0].extend_from_slice(&part.first);
            for last in part.last {
                let end = &mut positions.ends[usize::from(last)];
                *end = rule.min(*end);
            }
        }
        for follow in &mut positions.follow {
            follow.sort_unstable();
            follow.dedup();
        }
        positions
    }

    fn add(&mut self, pattern: &Pattern) -> Part {
        match pattern {
            Pattern::One(set) => {
                // There are a few thousand positions; a test counts them.
                let here = Position::try_from(self.reads.len()).unwrap_or(Position::MAX);
                self.reads.push(set.bits());
                self.follow.push(Vec::new());
                self.ends.push(NO_RULE);
                Part { empty: false, first: vec![here], last: vec![here] }
            }
            Pattern::Sequence(parts) => {
                let mut whole = Part { empty: true, first: Vec::new(), last: Vec::new() };
                for part in parts {
                    let part = self.add(part);
                    self.join(&whole.last, &part.first);
                    if whole.empty {
                        whole.first.extend_from_slice(&part.first);
                    }
                    if !part.empty {
                        whole.last.clear();
                    }
                    whole.last.extend(part.last);
                    whole.empty &= part.empty;
                }
                whole
            }
            Pattern::Either(choices) => {
                let mut whole = Part { empty: false, first: Vec::new(), last: Vec::new() };
                for choice in choices {
                    let choice = self.add(choice);
                    whole.first.extend(choice.first);
                    whole.last.extend(choice.last);
                    whole.empty |= choice.empty;
                }
                whole
            }
            Pattern::Optional(part) => Part { empty: true, ..self.add(part) },
            Pattern::Repeated(part) => {
                let part = self.add(part);
                self.join(&part.last, &part.first);
                part
            }
        }
    }

    fn join(&mut self, last: &[Position], first: &[Position]) {
        for &from in last {
            self.follow[usize::from(from)].extend_from_slice(first);
        }
    }
}
