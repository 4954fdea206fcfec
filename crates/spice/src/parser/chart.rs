//! The inside scores of a sentence: for each span and state, the best score of any derivation.
//!
//! Spans are visited by their start, from the last to the first, then by their end. The scores of one state over all
//! spans with the same start lie in a row. Once the states of a span are known, each rule that one of them begins adds
//! the whole row of its other child, which starts where the span ends, and raises the row of its parent. So a rule is
//! looked up once for all ends, and the sums are those of vectors.
//!
//! States over spans that cannot be part of a parse with a certain score are skipped. Every part of a better parse has
//! a bound that is not below that score, so it is kept, with its exact score.

use crate::resources::{Grammar, Rule, SentenceOutlook, SpanOutlook};

/// The numbers of a block: those of one line of a processor's cache.
const LANES: usize = 16;

/// The number of rows by which the memory grows.
const ROWS_AT_ONCE: usize = 256;

const NONE: f32 = f32::NEG_INFINITY;

/// Scores over spans with the same start and neighbouring ends.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Block([f32; LANES]);

impl Block {
    const EMPTY: Self = Self([NONE; LANES]);
}

/// The states of a span to keep.
#[derive(Clone, Copy)]
pub(super) enum Keep<'a> {
    /// All.
    All,
    /// States whose bound lies at most this far below the best over the same span: enough for some parse in most cases.
    Near(&'a SentenceOutlook<'a>, f32),
    /// States whose bound is not below a score: all that can be part of such a parse.
    AtLeast(&'a SentenceOutlook<'a>, f32),
}

/// Scores of states over spans. A span is a pair of places between words: `start..end`.
#[derive(Default)]
pub(super) struct Chart {
    /// The number of the grammar's states.
    states: usize,
    /// The number of words, with the boundary.
    length: usize,
    /// The scores of finished spans, by start.
    rows: Vec<Rows>,
    /// The results of binary rules over longer spans with the current start.
    raised: RaisedRows,
    /// For each state a step of 0, where there is no outlook.
    level: Vec<u8>,
    /// The results of binary rules over the current span.
    found: Vec<(u16, f32)>,
    /// The scores of all states over the current span.
    cell: Vec<f32>,
    /// The states of the current span, a bit each.
    live: Vec<u64>,
    /// The same with their scores, ascending.
    listed: Vec<(u16, f32)>,
    /// The rules that they begin, if the other child is known.
    begun: Vec<BegunRule>,
}

/// The ends of spans with one start that have blocks: from the block of the first to that of the last.
#[derive(Clone, Copy, Default)]
struct Ends {
    first: usize,
    count: usize,
}

/// Scores over all spans with one start, a row for each state that covers any of them.
#[derive(Default)]
struct Rows {
    /// By state, one more than the number of its row; 0 if it has none.
    numbers: Vec<u16>,
    /// The states of the rows.
    states: Vec<u16>,
    /// By block of ends, then by row; with negative infinity where there is no score, and behind the last row.
    blocks: Vec<Vec<Block>>,
    ends: Ends,
}

/// The same while rules still raise them, with a row for every state of the grammar.
#[derive(Default)]
struct RaisedRows {
    /// The states that have been raised, a bit each.
    states: Vec<u64>,
    /// By block of ends, then by state; with negative infinity where there is no score.
    blocks: Vec<Vec<Block>>,
    ends: Ends,
}

/// A rule whose left child is known.
#[derive(Clone, Copy, Default)]
struct BegunRule {
    parent: u16,
    /// One more than the number of the right child's row.
    right: u16,
    /// The score of the rule and its left child.
    score: f32,
}

/// The numbers of the bits that are set, ascending.
fn bits(words: &[u64]) -> impl Iterator<Item = u16> {
    words.iter().zip(0..).flat_map(|(word, at): (&u64, u16)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as u16);
            rest &= rest.wrapping_sub(1);
            bit.map(|bit| at * 64 + bit)
        })
    })
}

/// Raises the rows of the rules' parents by what their right children add. This stands alone, so that the compiler
/// finds vectors whatever surrounds it.
#[inline(never)]
fn raise(raised: &mut [Block], others: &[Block], begun: &[BegunRule]) {
    for BegunRule { parent, right, score } in begun {
        let others = &others[usize::from(*right) - 1].0;
        for (known, other) in raised[usize::from(*parent)].0.iter_mut().zip(others) {
            let sum = score + other;
            *known = if sum > *known { sum } else { *known };
        }
    }
}

fn set(words: &mut [u64], state: u16) {
    words[usize::from(state) / 64] |= 1 << (state % 64);
}

impl Rows {
    /// Forgets all rows. From now on they have room for these ends.
    fn clear(&mut self, states: usize, ends: Ends) {
        let (used, room) = (self.states.len(), self.blocks.first().map_or(0, Vec::len));
        for block in &mut self.blocks[..self.ends.count] {
            block[..used].fill(Block::EMPTY);
        }
        for state in self.states.drain(..) {
            self.numbers[usize::from(state)] = 0;
        }
        self.numbers.resize(states, 0);
        self.ends = ends;
        self.blocks.resize_with(ends.count.max(self.blocks.len()), || vec![Block::EMPTY; room]);
    }

    /// The number of a state's row.
    fn number(&self, state: u16) -> Option<usize> {
        usize::from(*self.numbers.get(usize::from(state))?).checked_sub(1)
    }

    /// The number of a state's row, which is made if there is none.
    fn make(&mut self, state: u16) -> usize {
        let number = &mut self.numbers[usize::from(state)];
        if *number == 0 {
            self.states.push(state);
            *number = self.states.len() as u16;
            if self.blocks.first().is_some_and(|block| block.len() < self.states.len()) {
                for block in &mut self.blocks {
                    // Doubling would waste a quarter of the memory of long sentences.
                    block.reserve_exact(ROWS_AT_ONCE);
                    block.resize(block.len() + ROWS_AT_ONCE, Block::EMPTY);
                }
            }
        }
        usize::from(*number) - 1
    }
}

impl RaisedRows {
    /// Forgets all scores. From now on there is room for these ends.
    fn clear(&mut self, states: usize, ends: Ends) {
        for state in bits(&self.states) {
            for block in &mut self.blocks[..self.ends.count] {
                block[usize::from(state)] = Block::EMPTY;
            }
        }
        self.states.clear();
        self.states.resize(states.div_ceil(64), 0);
        self.ends = ends;
        self.blocks.resize_with(ends.count.max(self.blocks.len()), || vec![Block::EMPTY; states]);
    }
}

impl Chart {
    /// Computes the scores of what is kept from those of the words' tags. The last word is the boundary, which only
    /// ends the whole sentence.
    pub(super) fn fill(&mut self, grammar: &Grammar, words: &[Vec<(u16, f32)>], keep: Keep) {
        let (n, states) = (words.len(), grammar.states());
        if self.states != states {
            *self = Self { states, ..Self::default() };
        }
        self.length = n;
        self.rows.resize_with(n.max(self.rows.len()), Rows::default);
        self.level.resize(states, 0);
        self.cell.resize(states, NONE);
        self.live.resize(states.div_ceil(64), 0);
        self.found.resize(states + 1, Default::default());
        // Each rule has one left child, and may find that it has no right child in the place behind the last.
        self.begun.resize(grammar.by_left().items() + 1, BegunRule::default());
        for (start, tags) in words.iter().enumerate().rev() {
            // Only what begins the sentence is followed by the boundary.
            let last = if start == 0 || start + 1 == n { n } else { n - 1 };
            let (first_block, last_block) = (self.place(start + 1).0, self.place(last).0);
            let ends = Ends { first: first_block, count: last_block + 1 - first_block };
            self.rows[start].clear(states, ends);
            self.raised.clear(states, ends);
            for end in start + 1..=last {
                self.finish(grammar, if end == start + 1 { tags } else { &[] }, start, end, keep);
                if end < last {
                    self.extend(grammar, end);
                }
            }
        }
    }

    /// The block of an end, and its place there. The last end before the boundary is the last of its block, so the
    /// blocks of most starts are full.
    fn place(&self, end: usize) -> (usize, usize) {
        let place = end + 2 * LANES - self.length % LANES;
        (place / LANES, place % LANES)
    }

    /// Adds tags and chains of unary rules to a span over which the binary rules are known.
    fn finish(&mut self, grammar: &Grammar, tags: &[(u16, f32)], start: usize, end: usize, keep: Keep) {
        let (block, lane) = self.place(end);
        let Self { rows, raised, level, found, cell, live, listed, .. } = self;
        let rows = &mut rows[start];
        let block = block - rows.ends.first;
        // Which states have scores is hard to predict, so they are collected without a jump.
        let scores = &raised.blocks[block][..];
        let mut count = 0;
        for state in bits(&raised.states) {
            let score = scores[usize::from(state)].0[lane];
            found[count] = (state, score);
            count += usize::from(score > NONE);
        }
        let found = found[..count].iter().chain(tags);
        // A state is kept if its score, reduced by how much worse its surroundings are than the best, is large enough.
        let outlook = match keep {
            Keep::All => None,
            Keep::Near(outlook, _) | Keep::AtLeast(outlook, _) => outlook.span(start, end),
        };
        let (keep, outlook) = match outlook {
            Some(outlook) => (keep, outlook),
            None => (Keep::All, SpanOutlook::level(level)),
        };
        let reduced = |state, score| outlook.reduced(state, score);
        let least = match keep {
            Keep::All => f32::MIN,
            Keep::AtLeast(_, score) => score - outlook.top,
            Keep::Near(_, distance) => {
                let scores = found.clone().map(|(state, score)| reduced(*state, *score));
                scores.fold(f32::MIN, f32::max) - distance
            }
        };
        for &(state, score) in found {
            let known = &mut cell[usize::from(state)];
            if reduced(state, score) >= least && score > *known {
                *known = score;
                set(live, state);
            }
        }
        // States in ascending order, those that chains have added included.
        let chains = grammar.chains();
        for (word, chained) in grammar.chained().iter().enumerate() {
            let mut done = 0_u64;
            loop {
                let open = live[word] & chained & !done;
                if open == 0 {
                    break;
                }
                let bit = open.trailing_zeros();
                done |= u64::MAX >> (63 - bit);
                let state = word * 64 + bit as usize;
                let score = cell[state];
                for chain in chains.list(state) {
                    let chain = Rule::unpack(*chain);
                    let known = &mut cell[usize::from(chain.first)];
                    let total = score + chain.score;
                    if total > *known && reduced(chain.first, total) >= least {
                        *known = total;
                        set(live, chain.first);
                    }
                }
            }
        }
        listed.clear();
        for state in bits(live) {
            let score = std::mem::replace(&mut cell[usize::from(state)], NONE);
            let number = rows.make(state);
            rows.blocks[block][number].0[lane] = score;
            listed.push((state, score));
        }
        live.fill(0);
    }

    /// Puts what follows a span behind it: raises the longer spans with the same start.
    fn extend(&mut self, grammar: &Grammar, end: usize) {
        let Self { rows, raised, listed, begun, .. } = self;
        let right = &rows[end];
        // As above, without a jump.
        let by_left = grammar.by_left();
        let (numbers, room) = (&right.numbers[..], &mut begun[..]);
        let mut count = 0;
        for (left, score) in &*listed {
            for rule in by_left.list(usize::from(*left)) {
                let rule = Rule::unpack(*rule);
                let right = numbers[usize::from(rule.second)];
                room[count] = BegunRule { parent: rule.first, right, score: rule.score + *score };
                count += usize::from(right != 0);
            }
        }
        let begun = &begun[..count];
        for rule in begun {
            set(&mut raised.states, rule.parent);
        }
        let Ends { first, count } = right.ends;
        for (block, others) in (first - raised.ends.first..).zip(&right.blocks[..count]) {
            raise(&mut raised.blocks[block], others, begun);
        }
    }

    /// The number of words for which there is memory.
    pub(super) fn capacity(&self) -> usize {
        self.rows.len()
    }

    /// The number of words, with the boundary.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Returns true if a state covers any span with a start.
    pub(super) fn starts(&self, state: u16, start: usize) -> bool {
        self.rows.get(start).is_some_and(|rows| rows.number(state).is_some())
    }

    /// The score of a state over a span; negative infinity if it cannot be derived, or was skipped.
    pub(super) fn score(&self, state: u16, start: usize, end: usize) -> f32 {
        let (block, lane) = self.place(end);
        let score = || {
            let rows = self.rows.get(start)?;
            Some(rows.blocks.get(block - rows.ends.first)?.get(rows.number(state)?)?.0[lane])
        };
        score().unwrap_or(NONE)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::testing::{WORDS, grammar};
    use proptest::prelude::*;

    /// The scores of all states over all spans, rule by rule and division by division.
    fn scores_one_by_one(
        grammar: &Grammar,
        words: &[Vec<(u16, f32)>],
    ) -> BTreeMap<(usize, usize), BTreeMap<u16, f32>> {
        fn raise(scores: &mut BTreeMap<u16, f32>, state: u16, score: f32) {
            let known = scores.entry(state).or_insert(NONE);
            *known = known.max(score);
        }
        let n = words.len();
        let mut all: BTreeMap<(usize, usize), BTreeMap<u16, f32>> = BTreeMap::new();
        for length in 1..=n {
            for start in 0..=n - length {
                let end = start + length;
                let mut scores = BTreeMap::new();
                if length == 1 {
                    words[start].iter().for_each(|(tag, score)| raise(&mut scores, *tag, *score));
                }
                for split in start + 1..end {
                    for (left, score) in &all[&(start, split)] {
                        for rule in grammar.by_left().list(usize::from(*left)) {
                            let rule = Rule::unpack(*rule);
                            if let Some(other) = all[&(split, end)].get(&rule.second) {
                                raise(&mut scores, rule.first, rule.score + score + other);
                            }
                        }
                    }
                }
                for child in 0..grammar.states() as u16 {
                    let Some(score) = scores.get(&child).copied() else { continue };
                    for chain in grammar.chains().list(usize::from(child)) {
                        let chain = Rule::unpack(*chain);
                        raise(&mut scores, chain.first, score + chain.score);
                    }
                }
                // Only what begins the sentence is followed by the boundary.
                let is_used = end < n || start == 0 || length == 1;
                all.insert((start, end), if is_used { scores } else { BTreeMap::new() });
            }
        }
        all
    }

    fn tags(grammar: &Grammar, picks: &[usize]) -> Vec<Vec<(u16, f32)>> {
        let words = picks.iter().map(|pick| WORDS[*pick]).chain([".$."]).enumerate();
        words.map(|(place, word)| grammar.lexicon().word(word, place == 0).taggings()).collect()
    }

    proptest! {
        #[test]
        fn rows_hold_the_scores_that_are_found_one_by_one(
            seed in 0_u64..100,
            picks in proptest::collection::vec(0_usize..8, 1..12),
        ) {
            let grammar = grammar(seed);
            let words = tags(&grammar, &picks);
            let mut chart = Chart::default();
            chart.fill(&grammar, &words, Keep::All);
            for ((start, end), scores) in scores_one_by_one(&grammar, &words) {
                for state in 0..grammar.states() as u16 {
                    let score = scores.get(&state).copied().unwrap_or(NONE);
                    prop_assert_eq!(chart.score(state, start, end), score, "{} over {}..{}", state, start, end);
                }
            }
        }

        #[test]
        fn what_is_kept_has_exact_scores_and_includes_the_best_parse(
            seed in 0_u64..100,
            picks in proptest::collection::vec(0_usize..8, 1..12),
        ) {
            let grammar = grammar(seed);
            let words = tags(&grammar, &picks);
            let scores = scores_one_by_one(&grammar, &words);
            let Some(best) = scores[&(0, words.len())].get(&grammar.root()) else { return Ok(()) };
            let outlook = grammar.outlook().sentence(&words).unwrap();
            let mut chart = Chart::default();
            chart.fill(&grammar, &words, Keep::AtLeast(&outlook, best - 0.01));
            prop_assert_eq!(chart.score(grammar.root(), 0, words.len()), *best);
            for ((start, end), scores) in scores {
                for (state, score) in scores {
                    let kept = chart.score(state, start, end);
                    prop_assert!(kept <= score, "{} over {}..{}: {} of {}", state, start, end, kept, score);
                }
            }
        }
    }

    #[test]
    fn states_are_skipped() {
        let (mut kept, mut all) = (0, 0);
        for seed in 0..20 {
            let grammar = grammar(seed);
            let words = tags(&grammar, &[0, 1, 3, 5, 0, 6, 7]);
            let mut chart = Chart::default();
            let mut count = |keep| {
                chart.fill(&grammar, &words, keep);
                let blocks = chart.rows.iter().flat_map(|rows| &rows.blocks).flatten();
                let found = blocks.flat_map(|block| block.0).filter(|score| *score > NONE).count();
                (found, chart.score(grammar.root(), 0, words.len()))
            };
            let (found, best) = count(Keep::All);
            if best > NONE {
                let outlook = grammar.outlook().sentence(&words).unwrap();
                all += found;
                kept += count(Keep::AtLeast(&outlook, best)).0;
            }
        }
        assert!(kept > 0 && kept * 4 < all * 3, "{kept} of {all}");
    }
}
