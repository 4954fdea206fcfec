//! The deterministic automaton of all rules, whose states are built on demand.
//!
//! Building all states would take ten milliseconds; captions need only a few of them.

use std::sync::OnceLock;

use hashbrown::{HashMap, HashSet};

use super::Version;
use super::classes::CLASSES;
use super::pattern::{NO_RULE, Position, Positions};
use super::rules::{Rule, rules};

/// A state of the automaton.
pub(super) type State = u16;
/// The state in which no match is possible any more.
pub(super) const DEAD: State = 0;
/// The state before the first character of a token.
pub(super) const START: State = 1;
/// A transition that has not been computed yet.
const UNKNOWN: State = State::MAX;

/// The rules and their position automaton, built once.
#[derive(Debug)]
pub(super) struct Grammar {
    pub(super) rules: Vec<Rule>,
    positions: Positions,
}

impl Grammar {
    /// The shared instance of a version.
    pub(super) fn get(version: Version) -> &'static Self {
        static V341: OnceLock<Grammar> = OnceLock::new();
        static V360: OnceLock<Grammar> = OnceLock::new();
        let grammar = match version {
            Version::V341 => &V341,
            Version::V360 => &V360,
        };
        grammar.get_or_init(|| {
            let rules = rules(version);
            let positions = Positions::of(rules.iter().map(|rule| &rule.pattern));
            Self { rules, positions }
        })
    }
}

/// The states built so far. Each thread has its own; only the grammar is shared.
#[derive(Debug)]
pub(super) struct Automaton {
    grammar: &'static Grammar,
    /// `CLASSES` successors of each state.
    moves: Vec<State>,
    /// The rule that ends at each state, or [`NO_RULE`].
    ends: Vec<u8>,
    /// The positions of each state, as a range of `members`.
    spans: Vec<(u32, u32)>,
    members: Vec<Position>,
    known: HashMap<Box<[Position]>, State, foldhash::fast::FixedState>,
    /// Marks the positions that are already in the set under construction.
    seen: Vec<bool>,
    /// Positions in the current text, each with the state there, from which no match is possible.
    pub(super) hopeless: HashSet<(usize, State), foldhash::fast::FixedState>,
    /// Positions that the current match has passed since its last complete match.
    pub(super) passed: Vec<(usize, State)>,
    /// True if the tokens of the current text may depend on what follows it.
    pub(super) is_open: bool,
}

impl Automaton {
    pub(super) fn new(version: Version) -> Self {
        let grammar = Grammar::get(version);
        let mut automaton = Self {
            grammar,
            moves: Vec::new(),
            ends: Vec::new(),
            spans: Vec::new(),
            members: Vec::new(),
            known: HashMap::default(),
            seen: vec![false; grammar.positions.reads.len()],
            hopeless: HashSet::default(),
            passed: Vec::new(),
            is_open: false,
        };
        automaton.push(&[]);
        automaton.push(&[0]);
        automaton.moves[..CLASSES].fill(DEAD);
        automaton
    }

    /// Prepares for another text.
    #[inline]
    pub(super) fn forget(&mut self) {
        if !self.hopeless.is_empty() {
            self.hopeless.clear();
        }
        self.is_open = false;
    }

    pub(super) fn rules(&self) -> &'static [Rule] {
        &self.grammar.rules
    }

    /// The rule that ends at `state`, or [`NO_RULE`].
    #[inline]
    pub(super) fn end(&self, state: State) -> u8 {
        self.ends[usize::from(state)]
    }

    /// The state after reading a character of `class` at `state`.
    #[inline]
    pub(super) fn step(&mut self, state: State, class: u8) -> State {
        let next = self.moves[usize::from(state) * CLASSES + usize::from(class)];
        if next == UNKNOWN { self.make(state, class) } else { next }
    }

    #[cold]
    fn make(&mut self, state: State, class: u8) -> State {
        let grammar = self.grammar;
        let (from, to) = self.spans[usize::from(state)];
        let mut set = Vec::new();
        for &position in &self.members[from as usize..to as usize] {
            for &next in &grammar.positions.follow[usize::from(position)] {
                let next_index = usize::from(next);
                if grammar.positions.reads[next_index] >> class & 1 == 1 && !self.seen[next_index] {
                    self.seen[next_index] = true;
                    set.push(next);
                }
            }
        }
        for &position in &set {
            self.seen[usize::from(position)] = false;
        }
        set.sort_unstable();
        let next = match self.known.get(set.as_slice()) {
            Some(&next) => next,
            None => self.push(&set),
        };
        self.moves[usize::from(state) * CLASSES + usize::from(class)] = next;
        next
    }

    /// Adds the state for `set`. There are a few thousand states in total (a test counts them), far below the
    /// limit of [`State`]; beyond it the result would be [`DEAD`].
    fn push(&mut self, set: &[Position]) -> State {
        let Some(state) = State::try_from(self.ends.len()).ok().filter(|&state| state != UNKNOWN) else {
            return DEAD;
        };
        let start = self.members.len() as u32;
        self.members.extend_from_slice(set);
        self.spans.push((start, self.members.len() as u32));
        self.moves.resize(self.moves.len() + CLASSES, UNKNOWN);
        let ends = &self.grammar.positions.ends;
        self.ends.push(set.iter().map(|&position| ends[usize::from(position)]).min().unwrap_or(NO_RULE));
        self.known.insert(set.into(), state);
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_states_are_far_from_the_limit() {
        for version in [Version::V341, Version::V360] {
            states_are_far_from_the_limit(version);
        }
    }

    fn states_are_far_from_the_limit(version: Version) {
        let mut automaton = Automaton::new(version);
        assert!(automaton.rules().len() < usize::from(NO_RULE));
        assert!(automaton.grammar.positions.reads.len() < 8000);
        let mut state = 0;
        while usize::from(state) < automaton.ends.len() {
            for class in 0..CLASSES as u8 {
                automaton.step(state, class);
            }
            state += 1;
        }
        println!("{} positions, {state} states", automaton.grammar.positions.reads.len());
        assert!(state < 16_000, "{state} states");
    }
}
