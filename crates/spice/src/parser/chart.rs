//! The inside scores of a sentence: for each span and state, the best score of any derivation.
//!
//! Spans are visited by their start, from the last to the first, then by their end. The scores of one state over all
//! spans with the same start lie in a row. Once the states of a span are known, each rule that one of them begins adds
//! the whole row of its other child, which starts where the span ends, and raises the row of its parent. So a rule is
//! looked up once for all ends, and the sums are those of vectors.

use crate::resources::{Grammar, Rule};

/// The numbers of a vector: what every processor adds at once.
const LANES: usize = 4;

/// How many rows the memory grows by.
const ROWS_AT_ONCE: usize = 512;

/// Scores of states over spans. A span is a pair of places between words: `start..end`.
#[derive(Default)]
pub(super) struct Chart {
    /// The number of words, with the boundary.
    length: usize,
    /// By start.
    rows: Vec<Rows>,
    /// The scores of all states over the current span.
    cell: Vec<f32>,
    /// The states of the current span, a bit each.
    live: Vec<u64>,
    /// The same with their scores, ascending.
    listed: Vec<(u16, f32)>,
    /// The rules that they begin, if the other child is known.
    begun: Vec<Begun>,
}

/// The scores over all spans with one start, a row for each state that covers any of them.
#[derive(Default)]
struct Rows {
    /// By state, one more than the number of its row; 0 if it has none.
    numbers: Vec<u16>,
    /// The states of the rows.
    states: Vec<u16>,
    /// Row after row, each by end, with negative infinity behind the last end.
    scores: Vec<f32>,
    width: usize,
    /// The number of ends.
    ends: usize,
}

/// A rule whose left child is known.
#[derive(Clone, Copy, Default)]
struct Begun {
    parent: u16,
    /// One more than the number of the right child's row.
    right: u16,
    /// The score of the rule and its left child.
    score: f32,
}

impl Rows {
    /// Forgets all rows. From now on rows have room for this many ends, and a vector that begins at any of them.
    fn clear(&mut self, states: usize, ends: usize) {
        for state in self.states.drain(..) {
            self.numbers[usize::from(state)] = 0;
        }
        self.numbers.resize(states, 0);
        self.scores.clear();
        self.ends = ends;
        self.width = (ends + LANES - 1).next_multiple_of(LANES);
    }

    /// The row of a state.
    fn get(&self, state: u16) -> Option<&[f32]> {
        let number = usize::from(*self.numbers.get(usize::from(state))?).checked_sub(1)?;
        self.scores.get(number * self.width..(number + 1) * self.width)
    }

    /// The row of a state, which is made if there is none.
    fn make(&mut self, state: u16) -> &mut [f32] {
        let number = &mut self.numbers[usize::from(state)];
        if *number == 0 {
            self.states.push(state);
            // Doubling would waste a quarter of the memory of long sentences.
            if self.scores.capacity() - self.scores.len() < self.width {
                self.scores.reserve_exact(ROWS_AT_ONCE * self.width);
            }
            self.scores.resize(self.scores.len() + self.width, f32::NEG_INFINITY);
            *number = self.states.len() as u16;
        }
        &mut self.scores[(usize::from(*number) - 1) * self.width..][..self.width]
    }
}

impl Chart {
    /// Computes all scores from those of the words' tags. The last word is the boundary, which only ends the whole
    /// sentence.
    pub(super) fn fill(&mut self, grammar: &Grammar, words: &[Vec<(u16, f32)>]) {
        let n = words.len();
        self.length = n;
        self.rows.resize_with(n.max(self.rows.len()), Rows::default);
        self.cell.resize(grammar.states(), f32::NEG_INFINITY);
        self.live.resize(grammar.states().div_ceil(64), 0);
        for (start, tags) in words.iter().enumerate().rev() {
            // Only what begins the sentence is followed by the boundary.
            let last = if start == 0 || start + 1 == n { n } else { n - 1 };
            self.rows[start].clear(grammar.states(), last - start);
            for end in start + 1..=last {
                self.finish(grammar, if end == start + 1 { tags } else { &[] }, start, end);
                if end < last {
                    self.extend(grammar, start, end);
                }
            }
        }
    }

    /// Adds tags and chains of unary rules to a span over which the binary rules are known.
    fn finish(&mut self, grammar: &Grammar, tags: &[(u16, f32)], start: usize, end: usize) {
        let Self { rows, cell, live, listed, .. } = self;
        let rows = &mut rows[start];
        let place = end - start - 1;
        let mut raise = |state: u16, score: f32| {
            let known = &mut cell[usize::from(state)];
            if score > *known {
                *known = score;
                live[usize::from(state) / 64] |= 1 << (state % 64);
            }
        };
        for (state, row) in rows.states.iter().zip(rows.scores.chunks_exact(rows.width)) {
            raise(*state, row[place]);
        }
        for (state, score) in tags {
            raise(*state, *score);
        }
        // States in ascending order, those that chains have added included.
        let chains = grammar.chains();
        for word in 0..live.len() {
            let mut done = 0_u64;
            loop {
                let open = live[word] & !done;
                if open == 0 {
                    break;
                }
                let bit = open.trailing_zeros();
                done |= u64::MAX >> (63 - bit);
                let state = word * 64 + bit as usize;
                let score = cell[state];
                for chain in chains.list(state) {
                    let chain = Rule::unpack(*chain);
                    let parent = usize::from(chain.first);
                    let total = score + chain.score;
                    if total > cell[parent] {
                        cell[parent] = total;
                        live[parent / 64] |= 1 << (parent % 64);
                    }
                }
            }
        }
        listed.clear();
        for (bits, word) in live.iter_mut().zip(0..) {
            while *bits != 0 {
                let state = word * 64 + bits.trailing_zeros() as u16;
                let score = std::mem::replace(&mut cell[usize::from(state)], f32::NEG_INFINITY);
                rows.make(state)[place] = score;
                listed.push((state, score));
                *bits &= *bits - 1;
            }
        }
    }

    /// Puts what follows a span behind it: raises the longer spans with the same start.
    fn extend(&mut self, grammar: &Grammar, start: usize, end: usize) {
        let Self { rows, listed, begun, .. } = self;
        let (rows, followers) = rows.split_at_mut(end);
        let (Some(rows), Some(right)) = (rows.get_mut(start), followers.first()) else { return };
        // Which rules have a right child is hard to predict, so they are collected without a jump.
        let by_left = grammar.by_left();
        let mut count = 0;
        for (left, score) in &*listed {
            let rules = by_left.list(usize::from(*left));
            if begun.len() < count + rules.len() {
                begun.resize(2 * (count + rules.len()), Begun::default());
            }
            for rule in rules {
                let rule = Rule::unpack(*rule);
                let right = right.numbers[usize::from(rule.second)];
                begun[count] = Begun { parent: rule.first, right, score: rule.score + *score };
                count += usize::from(right != 0);
            }
        }
        let lanes = right.ends.next_multiple_of(LANES);
        for &Begun { parent, right: number, score } in &begun[..count] {
            let others = &right.scores[(usize::from(number) - 1) * right.width..][..lanes];
            let (raised, _) = rows.make(parent)[end - start..].as_chunks_mut::<LANES>();
            let (others, _) = others.as_chunks::<LANES>();
            for (known, others) in raised.iter_mut().zip(others) {
                let sums = others.map(|other| score + other);
                *known = std::array::from_fn(|k| if sums[k] > known[k] { sums[k] } else { known[k] });
            }
        }
    }

    /// The number of words, with the boundary.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The scores of a state over all spans with a start, from the shortest on.
    pub(super) fn row(&self, state: u16, start: usize) -> Option<&[f32]> {
        self.rows.get(start)?.get(state)
    }

    /// The score of a state over a span; negative infinity if it cannot be derived.
    pub(super) fn score(&self, state: u16, start: usize, end: usize) -> f32 {
        let row = self.row(state, start).unwrap_or_default();
        row.get(end - start - 1).copied().unwrap_or(f32::NEG_INFINITY)
    }
}
