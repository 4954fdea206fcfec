//! The inside scores of a sentence: for each span and state, the best score of any derivation.

use crate::resources::{Grammar, Rule};

/// Scores of states over spans. A span is a pair of places between words: `start..end`.
#[derive(Default)]
pub(super) struct Chart {
    /// The number of words, with the boundary.
    length: usize,
    /// Spans by their end, then by their start; each holds its states in ascending order.
    cells: Vec<Vec<(u16, f32)>>,
    /// The cells that end at the current place, by start, with a score for every state.
    column: Vec<Vec<f32>>,
    /// The states of the current cell, a bit each.
    live: Vec<u64>,
}

impl Chart {
    /// Computes all scores from those of the words' tags. The last word is the boundary, which only ends the whole
    /// sentence.
    pub(super) fn fill(&mut self, grammar: &Grammar, words: &[Vec<(u16, f32)>]) {
        let n = words.len();
        self.length = n;
        self.cells.iter_mut().for_each(Vec::clear);
        self.cells.resize_with(n * (n + 1) / 2, Vec::new);
        self.column.resize_with(n.max(self.column.len()), || vec![f32::NEG_INFINITY; grammar.states()]);
        self.live.resize(grammar.states().div_ceil(64), 0);
        for end in 1..=n {
            for start in (0..end).rev() {
                if end < n || start == 0 || start + 1 == end {
                    self.fill_cell(grammar, words, start, end);
                }
            }
            for start in 0..end {
                for (state, _) in &self.cells[place(start, end)] {
                    self.column[start][usize::from(*state)] = f32::NEG_INFINITY;
                }
            }
        }
    }

    fn fill_cell(&mut self, grammar: &Grammar, words: &[Vec<(u16, f32)>], start: usize, end: usize) {
        let (cell, rest) =
            self.column[start..].split_first_mut().expect("a column has a cell for every start");
        let live = &mut self.live;
        let mut raise = |cell: &mut [f32], state: u16, score: f32| {
            let known = &mut cell[usize::from(state)];
            if score > *known {
                *known = score;
                live[usize::from(state) / 64] |= 1 << (state % 64);
            }
        };
        if start + 1 == end {
            for (state, score) in &words[start] {
                raise(cell, *state, *score);
            }
        }
        let by_left = grammar.by_left();
        for (split, right) in (start + 1..end).zip(rest) {
            if self.cells[place(split, end)].is_empty() {
                continue;
            }
            for (left, score) in &self.cells[place(start, split)] {
                for rule in by_left.list(usize::from(*left)) {
                    let rule = Rule::unpack(*rule);
                    raise(cell, rule.first, rule.score + score + right[usize::from(rule.second)]);
                }
            }
        }
        // Chains of unary rules: states in ascending order, those that chains have added included.
        let chains = grammar.chains();
        let listed = &mut self.cells[place(start, end)];
        for word in 0..live.len() {
            let mut done = 0_u64;
            loop {
                let open = live[word] & !done;
                if open == 0 {
                    break;
                }
                let bit = open.trailing_zeros();
                done |= u64::MAX >> (63 - bit);
                let state = (word * 64) as u16 + bit as u16;
                let score = cell[usize::from(state)];
                for chain in chains.list(usize::from(state)) {
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
        for (bits, word) in live.iter_mut().zip(0..) {
            while *bits != 0 {
                let state = word * 64 + bits.trailing_zeros() as u16;
                listed.push((state, cell[usize::from(state)]));
                *bits &= *bits - 1;
            }
        }
    }

    /// The number of words, with the boundary.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// The score of a state over a span; negative infinity if it cannot be derived.
    pub(super) fn score(&self, state: u16, start: usize, end: usize) -> f32 {
        let cell = self.cells.get(place(start, end)).map_or(&[][..], Vec::as_slice);
        let at = cell.binary_search_by_key(&state, |(state, _)| *state).ok();
        at.map_or(f32::NEG_INFINITY, |at| cell[at].1)
    }
}

/// Where the span `start..end` lies among the cells.
fn place(start: usize, end: usize) -> usize {
    end * (end - 1) / 2 + start
}
