//! The real grammar, run over what can still win.
//!
//! Only the applications of rules that [`Bounds`] has left are refined, and of these only those that the scores found
//! so far leave above the threshold. Every sum is the one that the whole grammar would form. So where the best parse
//! found reaches the threshold, nothing that could win or tie was skipped, and scores and ties are those of the whole.

use super::bounds::{Bounds, is_used, place};
use super::derivation::Scores;
use crate::resources::{ClassView, Grammar, Refinement, Rule, View};

/// How far the threshold lies under the bound of the best parse at first, in logarithms, and by how much it is lowered
/// while no parse is found. What is left to do doubles or so with each step.
const STEP: f32 = 2.5;
/// The same for the coarse classes.
const COARSE_STEP: f32 = 18.0;
/// Further down, the whole grammar is run instead.
const LARGEST_SLACK: f32 = 100.0;
/// What rounding can add to the difference of two sums over a sentence: for each word and unit of score, and at least.
const ROUNDING: f32 = 2e-6;
const LEAST_MARGIN: f32 = 0.01;
/// The slot of a class that cannot be part of the best parse.
const NOWHERE: u32 = u32::MAX;
/// The slot of a class that can, but has no score yet.
const EMPTY: u32 = u32::MAX - 1;

/// What became of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The scores hold the best parse.
    Found,
    /// There is no parse.
    Impossible,
    /// The bounds are too loose; the whole grammar is needed.
    Unsure,
}

/// A class over a span.
#[derive(Clone, Copy)]
struct Item {
    class: u16,
    /// Where the scores of its members start.
    start: usize,
    /// The largest of them, with potentials.
    best: f32,
}

/// The scores of the states that can be part of the best parse.
pub(super) struct Pruned<'a> {
    grammar: &'a Grammar,
    view: ClassView<'a>,
    coarse: Bounds,
    /// The classes into which each coarse class is divided.
    parts: Vec<Vec<u16>>,
    bounds: Bounds,
    /// The item of each class over each span.
    slots: Vec<u32>,
    items: Vec<Item>,
    scores: Vec<f32>,
    cell: Cell,
}

/// The scores over one span while they are computed.
#[derive(Default)]
struct Cell {
    /// The number of the first item, and the place of its first score.
    first_item: usize,
    first_score: usize,
    scores: Vec<f32>,
    /// The states that have a score, a bit each.
    live: Vec<u64>,
}

impl Cell {
    /// The place of the first score of a class among those of the cell; `None` if the class is not allowed.
    fn place(
        &mut self,
        view: ClassView<'_>,
        slot: &mut u32,
        items: &mut Vec<Item>,
        class: u16,
    ) -> Option<usize> {
        match *slot {
            NOWHERE => None,
            EMPTY => {
                *slot = items.len() as u32;
                let start = self.scores.len();
                items.push(Item { class, start: self.first_score + start, best: f32::NEG_INFINITY });
                self.scores.resize(start + view.members.list(usize::from(class)).len(), f32::NEG_INFINITY);
                Some(start)
            }
            item => items.get(item as usize).map(|item| item.start - self.first_score),
        }
    }
}

impl<'a> Pruned<'a> {
    pub(super) fn new(grammar: &'a Grammar) -> Self {
        let cell = Cell { live: vec![0; grammar.states().div_ceil(64)], ..Cell::default() };
        let (view, coarse) = (grammar.classes().view(), grammar.coarse_classes().view());
        let mut parts = vec![Vec::new(); grammar.coarse_classes().len()];
        for class in 0..grammar.classes().len() {
            for state in view.members.list(class).iter().take(1) {
                parts[usize::from(coarse.class[usize::from(*state)])].push(class as u16);
            }
        }
        Self {
            grammar,
            view,
            coarse: Bounds::default(),
            parts,
            bounds: Bounds::default(),
            slots: Vec::new(),
            items: Vec::new(),
            scores: Vec::new(),
            cell,
        }
    }

    /// Computes the scores, lowering the thresholds until the parse found proves itself.
    pub(super) fn fill(&mut self, words: &[Vec<(u16, f32)>]) -> Outcome {
        let (coarse, classes, root) =
            (self.grammar.coarse_classes(), self.grammar.classes(), self.grammar.root());
        let coarse_bound = self.coarse.fill_inside(coarse, root, words, None);
        if coarse_bound == f32::NEG_INFINITY {
            return Outcome::Impossible;
        }
        let margin = |score: f32| LEAST_MARGIN + ROUNDING * words.len() as f32 * (score.abs() + 100.0);
        // Below a threshold, and below a parse that was found.
        let lower = |threshold: f32, step: f32, score: f32| {
            (threshold - step).max(score - 2.0 * margin(score)).min(threshold.next_down())
        };
        let mut least = coarse_bound - COARSE_STEP;
        loop {
            self.coarse.fill_outside(coarse, root, least, false);
            let bound = self.bounds.fill_inside(classes, root, words, Some((&self.coarse, &self.parts)));
            let mut score = f32::NEG_INFINITY;
            let mut threshold = bound;
            while threshold > least {
                threshold = lower(threshold, STEP, score).max(least);
                if !self.bounds.fill_outside(classes, root, threshold, true) {
                    return Outcome::Unsure;
                }
                self.refine(words, threshold);
                score = self.score(root, 0, words.len());
                if score >= threshold + margin(score) {
                    return Outcome::Found;
                }
            }
            if coarse_bound - least > LARGEST_SLACK {
                return Outcome::Unsure;
            }
            least = lower(least, COARSE_STEP, score);
        }
    }

    fn refine(&mut self, words: &[Vec<(u16, f32)>], threshold: f32) {
        self.slots.clear();
        self.slots.resize(self.bounds.outside.len(), NOWHERE);
        self.items.clear();
        self.scores.clear();
        let chains = self.grammar.chains();
        for end in 1..=words.len() {
            for start in (0..end).rev() {
                if is_used(start, end, words.len()) && !self.bounds.allowed[place(start, end)].is_empty() {
                    self.refine_cell(chains, words, threshold, start, end);
                }
            }
        }
    }

    fn refine_cell(
        &mut self,
        chains: View<'_, u64>,
        words: &[Vec<(u16, f32)>],
        threshold: f32,
        start: usize,
        end: usize,
    ) {
        let Self { view, bounds, slots, items, scores, cell, .. } = self;
        let (n, here) = (bounds.classes, place(start, end));
        (cell.first_item, cell.first_score) = (items.len(), scores.len());
        cell.scores.clear();
        for class in &bounds.allowed[here] {
            slots[here * n + usize::from(*class)] = EMPTY;
        }
        if start + 1 == end {
            for (state, score) in &words[start] {
                let class = view.class[usize::from(*state)];
                if let Some(at) = cell.place(*view, &mut slots[here * n + usize::from(class)], items, class) {
                    let known = &mut cell.scores[at + usize::from(view.rank[usize::from(*state)])];
                    *known = known.max(*score);
                }
            }
        }
        let (from, to) = bounds.ranges[here];
        for edge in &bounds.edges[from..to] {
            let split = usize::from(edge.split);
            let left = slots[place(start, split) * n + usize::from(edge.left)];
            let right = slots[place(split, end) * n + usize::from(edge.right)];
            let (Some(left), Some(right)) = (items.get(left as usize), items.get(right as usize)) else {
                continue;
            };
            let (left, right) = (*left, *right);
            let parent = here * n + usize::from(edge.parent);
            if bounds.outside[parent] + edge.score + left.best + right.best < threshold {
                continue;
            }
            let Some(parent) = cell.place(*view, &mut slots[parent], items, edge.parent) else { continue };
            let (left, right) = (&scores[left.start..], &scores[right.start..]);
            let parent = &mut cell.scores[parent..];
            for refinement in view.refinements.list(edge.rule as usize) {
                let refinement = Refinement::unpack(*refinement);
                let sum = refinement.score + left[refinement.left] + right[refinement.right];
                let known = &mut parent[refinement.parent];
                if sum > *known {
                    *known = sum;
                }
            }
        }
        for item in &items[cell.first_item..] {
            let members = view.members.list(usize::from(item.class));
            for (state, score) in members.iter().zip(&cell.scores[item.start - cell.first_score..]) {
                if *score > f32::NEG_INFINITY {
                    cell.live[usize::from(*state) / 64] |= 1 << (state % 64);
                }
            }
        }
        // As in the whole grammar: states in ascending order, those that chains have added included.
        for word in 0..cell.live.len() {
            while cell.live[word] != 0 {
                let bit = cell.live[word].trailing_zeros();
                cell.live[word] &= cell.live[word] - 1;
                let state = word * 64 + bit as usize;
                let class = view.class[state];
                let at = cell.place(*view, &mut slots[here * n + usize::from(class)], items, class);
                let Some(score) = at.map(|at| cell.scores[at + usize::from(view.rank[state])]) else {
                    continue;
                };
                for chain in chains.list(state) {
                    let chain = Rule::unpack(*chain);
                    let parent = usize::from(chain.first);
                    let (class, sum) = (view.class[parent], score + chain.score);
                    let slot = here * n + usize::from(class);
                    if bounds.outside[slot] + sum + view.potentials[parent] < threshold {
                        continue;
                    }
                    let Some(at) = cell.place(*view, &mut slots[slot], items, class) else { continue };
                    let known = &mut cell.scores[at + usize::from(view.rank[parent])];
                    if sum > *known {
                        *known = sum;
                        if parent > state {
                            cell.live[parent / 64] |= 1 << (parent % 64);
                        }
                    }
                }
            }
        }
        for item in &mut items[cell.first_item..] {
            let members = view.members.list(usize::from(item.class));
            for (state, score) in members.iter().zip(&cell.scores[item.start - cell.first_score..]) {
                item.best = item.best.max(score + view.potentials[usize::from(*state)]);
            }
        }
        scores.extend_from_slice(&cell.scores);
    }
}

impl Scores for Pruned<'_> {
    fn length(&self) -> usize {
        self.bounds.length
    }

    fn score(&self, state: u16, start: usize, end: usize) -> f32 {
        let class = usize::from(self.view.class[usize::from(state)]);
        let slot = self.slots.get(place(start, end) * self.bounds.classes + class);
        let item = slot.and_then(|slot| self.items.get(*slot as usize));
        let score = item
            .and_then(|item| self.scores.get(item.start + usize::from(self.view.rank[usize::from(state)])));
        score.copied().unwrap_or(f32::NEG_INFINITY)
    }
}
