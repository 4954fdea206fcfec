//! The inside scores of a sentence: for each span and state, the best score of any derivation.
//!
//! Spans are visited by blocks of ends, from the first to the last; in a block by their start, from the last to the
//! first; then by their end. The scores of one state over the spans of a block with the same start lie in a row. Once
//! the states of a span are known, each rule that one of them begins adds the whole row of its other child, which
//! starts where the span ends, and raises the row of its parent. So a rule is looked up once for all ends of a block,
//! and the sums are those of vectors, near each other in memory.
//!
//! States over spans that cannot be part of a parse with a certain score are skipped. Every part of a better parse has
//! a bound that is not below that score, so it is kept, with its exact score.

use std::ops::RangeInclusive;

use super::items::Items;
use crate::resources::{Grammar, Rule, SentenceNeighbours, SentenceOutlook, SpanOutlook};

/// The numbers of a block: those of one line of a processor's cache.
const LANES: usize = 16;

/// The number of starts before a span from which on the rules that find a right child there are listed: looking for
/// them each time would take longer.
const STARTS_WORTH_LISTING: usize = 8;

const NONE: f32 = f32::NEG_INFINITY;

/// Scores over spans with the same start and neighbouring ends.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Row([f32; LANES]);

impl Row {
    const EMPTY: Self = Self([NONE; LANES]);
}

/// The states of a span to keep.
#[derive(Clone, Copy)]
pub(super) enum Keep<'a> {
    /// All.
    #[cfg(test)]
    All,
    /// States that can stand between the words around the span: all that can be part of a parse, and more.
    Fitting(&'a SentenceNeighbours),
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
    /// The scores of finished spans.
    items: Items,
    /// Those of the current block again, by start.
    rows: Vec<Rows>,
    /// By state, the results of binary rules over longer spans with the current start; with negative infinity where
    /// there is no score.
    raised: Vec<Row>,
    /// The states that have been raised, a bit each.
    is_raised: Vec<u64>,
    /// The states that may stand over the current span, a bit each.
    fitting: Vec<u64>,
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
    /// The rules that the states of a span begin, if the other child is known.
    begun: Vec<BegunRule>,
}

/// Scores over the spans of a block with one start, a row for each state that covers any of them and can be the right
/// child of a rule.
#[derive(Default)]
struct Rows {
    /// By state, one more than the number of its row; 0 if it has none.
    numbers: Vec<u16>,
    /// The states of the rows.
    states: Vec<u16>,
    /// With negative infinity where there is no score.
    rows: Vec<Row>,
    /// The rules whose right child has a row, by left child, if they are worth listing: the start of each list in
    /// `rules`, and the end of the last one.
    lists: Vec<u32>,
    rules: Vec<BegunRule>,
}

/// A rule whose right child has a row.
#[derive(Clone, Copy, Default)]
struct BegunRule {
    parent: u16,
    /// One more than the number of the right child's row.
    right: u16,
    /// The score of the rule, and of its left child once that is known.
    score: f32,
}

/// The numbers of the bits that are set, ascending.
fn bits(words: impl Iterator<Item = u64>) -> impl Iterator<Item = u16> {
    words.zip(0..).flat_map(|(word, at): (u64, u16)| {
        let mut rest = word;
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
fn raise(raised: &mut [Row], others: &[Row], begun: &[BegunRule]) {
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

fn has(words: &[u64], state: u16) -> bool {
    words[usize::from(state) / 64] >> (state % 64) & 1 == 1
}

impl Rows {
    /// Forgets all rows.
    fn clear(&mut self, states: usize) {
        for state in self.states.drain(..) {
            self.numbers[usize::from(state)] = 0;
        }
        self.rows.clear();
        self.lists.clear();
        self.rules.clear();
        self.numbers.resize(states, 0);
    }

    /// Lists the rules whose right child has a row, if its left child may end here.
    fn list(&mut self, grammar: &Grammar, may_end: impl Fn(u16) -> bool, room: &mut [BegunRule]) {
        let by_left = grammar.by_left();
        let mut count = 0;
        for left in 0..grammar.states() as u16 {
            self.lists.push(count as u32);
            if may_end(left) {
                for rule in by_left.list(usize::from(left)) {
                    let Rule { first, second, score } = Rule::unpack(*rule);
                    let right = self.numbers[usize::from(second)];
                    room[count] = BegunRule { parent: first, right, score };
                    count += usize::from(right != 0);
                }
            }
        }
        self.lists.push(count as u32);
        self.rules.extend_from_slice(&room[..count]);
    }

    /// The row of a state, which is made if there is none.
    fn row(&mut self, state: u16) -> &mut [f32; LANES] {
        let number = &mut self.numbers[usize::from(state)];
        if *number == 0 {
            self.states.push(state);
            self.rows.push(Row::EMPTY);
            *number = self.states.len() as u16;
        }
        &mut self.rows[usize::from(*number) - 1].0
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
        self.items.clear(n, states);
        self.rows.resize_with(n.max(self.rows.len()), Rows::default);
        self.raised.resize(states, Row::EMPTY);
        self.is_raised.resize(states.div_ceil(64), 0);
        self.level.resize(states, 0);
        self.cell.resize(states, NONE);
        self.live.resize(states.div_ceil(64), 0);
        self.fitting = vec![u64::MAX; states.div_ceil(64)];
        self.found.resize(states + 1, Default::default());
        // Each rule has one left child, and may find that it has no right child in the place behind the last.
        self.begun.resize(grammar.by_left().items() + 1, BegunRule::default());
        let mut first = 1;
        while first < n {
            // The last block is full.
            let last = first + (n - 1 - first) % LANES;
            for start in (0..last).rev() {
                self.visit(grammar, words, start, first..=last, keep);
            }
            first = last + 1;
        }
        // Only what begins the sentence is followed by the boundary.
        self.visit(grammar, words, n - 1, n..=n, keep);
        if n > 1 {
            self.visit(grammar, words, 0, n..=n, keep);
        }
    }

    /// Finds the scores over the spans with a start and the ends of a block.
    fn visit(
        &mut self,
        grammar: &Grammar,
        words: &[Vec<(u16, f32)>],
        start: usize,
        ends: RangeInclusive<usize>,
        keep: Keep,
    ) {
        let (first, last) = ends.into_inner();
        self.rows[start].clear(self.states);
        for state in bits(self.is_raised.iter().copied()) {
            self.raised[usize::from(state)] = Row::EMPTY;
        }
        self.is_raised.fill(0);
        // The boundary alone stands before its own end.
        let splits = if last == words.len() { last - 1..first } else { start + 1..first };
        for split in splits.filter(|split| *split > start) {
            self.extend(grammar, start, split);
        }
        for end in first.max(start + 1)..=last {
            let tags = if end == start + 1 { &words[start][..] } else { &[] };
            self.finish(grammar, tags, (start, end), end - first, keep);
            if end < last {
                self.extend(grammar, start, end);
            }
        }
        if start >= STARTS_WORTH_LISTING && matches!(keep, Keep::Fitting(_)) {
            let is_complete = start < first;
            let may_end = |state| !is_complete || self.items.ends(state, start);
            self.rows[start].list(grammar, may_end, &mut self.begun);
        }
    }

    /// Adds tags and chains of unary rules to a span over which the binary rules are known.
    fn finish(
        &mut self,
        grammar: &Grammar,
        tags: &[(u16, f32)],
        (start, end): (usize, usize),
        lane: usize,
        keep: Keep,
    ) {
        let Self { items, rows, raised, is_raised, fitting, level, found, cell, live, listed, .. } = self;
        if let Keep::Fitting(neighbours) = keep {
            neighbours.write(start, end, fitting);
        }
        // Which states have scores is hard to predict, so they are collected without a jump.
        let mut count = 0;
        for state in bits(is_raised.iter().zip(&*fitting).map(|(raised, fitting)| raised & fitting)) {
            let score = raised[usize::from(state)].0[lane];
            found[count] = (state, score);
            count += usize::from(score > NONE);
        }
        let found = found[..count].iter().chain(tags.iter().filter(|(tag, _)| has(fitting, *tag)));
        // A state is kept if its score, reduced by how much worse its surroundings are than the best, is large enough.
        let outlook = match keep {
            Keep::Near(outlook, _) | Keep::AtLeast(outlook, _) => outlook.span(start, end),
            _ => None,
        };
        let bounds = outlook.unwrap_or(SpanOutlook::level(level));
        let reduced = |state, score| bounds.reduced(state, score);
        let least = match (keep, outlook) {
            (Keep::AtLeast(_, score), Some(outlook)) => score - outlook.top,
            (Keep::Near(_, distance), Some(_)) => {
                let scores = found.clone().map(|(state, score)| reduced(*state, *score));
                scores.fold(f32::MIN, f32::max) - distance
            }
            _ => f32::MIN,
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
                    if total > *known && has(fitting, chain.first) && reduced(chain.first, total) >= least {
                        *known = total;
                        set(live, chain.first);
                    }
                }
            }
        }
        listed.clear();
        let rows = &mut rows[start];
        for state in bits(live.iter().copied()) {
            let score = std::mem::replace(&mut cell[usize::from(state)], NONE);
            if grammar.is_right(state) {
                rows.row(state)[lane] = score;
            }
            listed.push((state, score));
        }
        items.keep(start, end, live, listed);
        live.fill(0);
    }

    /// Puts what follows a span behind it: raises the longer spans with the same start.
    fn extend(&mut self, grammar: &Grammar, start: usize, end: usize) {
        let Self { items, rows, raised, is_raised, begun, .. } = self;
        let right = &rows[end];
        let (states, scores) = items.over(start, end);
        let lefts = states.iter().zip(scores);
        let mut count = 0;
        if right.lists.is_empty() {
            // As above, without a jump.
            let by_left = grammar.by_left();
            let (numbers, room) = (&right.numbers[..], &mut begun[..]);
            for (left, score) in lefts {
                for rule in by_left.list(usize::from(*left)) {
                    let rule = Rule::unpack(*rule);
                    let right = numbers[usize::from(rule.second)];
                    room[count] = BegunRule { parent: rule.first, right, score: rule.score + *score };
                    count += usize::from(right != 0);
                }
            }
        } else {
            for (left, score) in lefts {
                let bounds = [0, 1].map(|next| right.lists[usize::from(*left) + next] as usize);
                for rule in &right.rules[bounds[0]..bounds[1]] {
                    begun[count] = BegunRule { score: rule.score + *score, ..*rule };
                    count += 1;
                }
            }
        }
        let begun = &begun[..count];
        for rule in begun {
            set(is_raised, rule.parent);
        }
        raise(raised, &right.rows, begun);
    }

    /// The scores of all spans.
    pub(super) fn items(&self) -> &Items {
        &self.items
    }

    /// The bytes that grow with the length of sentences.
    pub(super) fn bytes(&self) -> usize {
        let rows = self.rows.iter().map(|rows| {
            rows.rows.capacity() * size_of::<Row>()
                + rows.rules.capacity() * size_of::<BegunRule>()
                + rows.lists.capacity() * size_of::<u32>()
        });
        self.items.bytes() + rows.sum::<usize>()
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
                    prop_assert_eq!(chart.items.score(state, start, end), score, "{} over {}..{}", state, start, end);
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
            prop_assert_eq!(chart.items.score(grammar.root(), 0, words.len()), *best);
            for ((start, end), scores) in scores {
                for (state, score) in scores {
                    let kept = chart.items.score(state, start, end);
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
                let n = words.len();
                let spans = (0..n).flat_map(|start| (start + 1..=n).map(move |end| (start, end)));
                let found = spans.map(|(start, end)| chart.items.over(start, end).0.len()).sum::<usize>();
                (found, chart.items.score(grammar.root(), 0, words.len()))
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
