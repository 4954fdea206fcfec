//! What can still win: bounds of all parses through each class of states over each span.
//!
//! The grammar of [`Classes`] is run over the sentence bottom up (inside) and, under a threshold, top down (outside).
//! What is left are the applications of rules between classes that lie on some parse whose bound reaches the threshold.

use crate::resources::{ClassView, Classes, GROUPS, LEFT_TAGS, PHRASES, RIGHT_TAGS, Rule};

/// Where the span `start..end` lies among the cells of a chart. Spans that end together are neighbours.
pub(super) fn place(start: usize, end: usize) -> usize {
    end * (end - 1) / 2 + start
}

/// Whether a span can be part of a parse of `length` words: the last word only ends the whole.
pub(super) fn is_used(start: usize, end: usize, length: usize) -> bool {
    end < length || start == 0 || start + 1 == end
}

/// With more applications than this for each way to divide a span, the whole grammar is run instead, which is then
/// faster.
const MOST_EDGES: usize = 60;

/// A rule between classes, applied over a span.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) parent: u16,
    pub(super) left: u16,
    pub(super) right: u16,
    /// Where the span is divided.
    pub(super) split: u16,
    pub(super) rule: u32,
    pub(super) score: f32,
}

/// The bounds of one sentence.
#[derive(Default)]
pub(crate) struct Bounds {
    /// The number of words, with the boundary.
    pub(super) length: usize,
    /// The number of classes.
    pub(super) classes: usize,
    /// The best score of each class over each span, with potentials, cell by cell.
    pub(super) inside: Vec<f32>,
    /// The best score of what surrounds it.
    pub(super) outside: Vec<f32>,
    /// The classes over each span that have a score.
    live: Vec<Vec<(u16, f32)>>,
    /// The classes over each span that reach the threshold, ascending.
    pub(super) allowed: Vec<Vec<u16>>,
    /// By cell: a range of `edges`.
    pub(super) ranges: Vec<(usize, usize)>,
    pub(super) edges: Vec<Edge>,
    /// Of the classes of one cell, the scores before chains of unary rules.
    before: Vec<f32>,
    /// The rules that may be applied over one span, by group, each with its score and what surrounds the span.
    candidates: [Vec<(f32, Edge)>; GROUPS],
}

impl Bounds {
    /// Computes the scores of all classes over all spans from those of the words' tags. Returns the bound of the whole.
    ///
    /// With a mask, classes of which nothing is left in a coarser grammar get no score.
    pub(crate) fn fill_inside(
        &mut self,
        classes: &Classes,
        root: u16,
        words: &[Vec<(u16, f32)>],
        mask: Option<(&Self, &[Vec<u16>])>,
    ) -> f32 {
        let (view, n) = (classes.view(), words.len());
        let cells = n * (n + 1) / 2;
        (self.length, self.classes) = (n, classes.len());
        self.inside.clear();
        self.inside.resize(cells * self.classes, f32::NEG_INFINITY);
        self.live.iter_mut().for_each(Vec::clear);
        self.live.resize_with(cells.max(self.live.len()), Vec::new);
        for end in 1..=n {
            for start in (0..end).rev() {
                if is_used(start, end, n) {
                    self.fill_cell(view, words, mask, start, end);
                }
            }
        }
        self.score(view.class[usize::from(root)], 0, n)
    }

    fn fill_cell(
        &mut self,
        view: ClassView<'_>,
        words: &[Vec<(u16, f32)>],
        mask: Option<(&Self, &[Vec<u16>])>,
        start: usize,
        end: usize,
    ) {
        let (n, here) = (self.classes, place(start, end));
        // Spans with the same end and a later start come next.
        let (cell, later) = self.inside[here * n..].split_at_mut(n);
        if let Some((coarse, parts)) = mask {
            // No score exceeds infinity.
            cell.fill(f32::INFINITY);
            for class in coarse.allowed[here].iter().flat_map(|class| &parts[usize::from(*class)]) {
                cell[usize::from(*class)] = f32::NEG_INFINITY;
            }
        }
        if start + 1 == end {
            for (state, score) in &words[start] {
                let known = &mut cell[usize::from(view.class[usize::from(*state)])];
                *known = known.max(score + view.potentials[usize::from(*state)]);
            }
        }
        for split in start + 1..end {
            if !is_used(split, end, self.length) {
                continue;
            }
            let right = &later[(split - start - 1) * n..][..n];
            for (left, left_score) in &self.live[place(start, split)] {
                let mut apply = |rules: &[u64]| {
                    for rule in rules {
                        let Rule { first: parent, second, score } = Rule::unpack(*rule);
                        let sum = score + left_score + right[usize::from(second)];
                        let known = &mut cell[usize::from(parent)];
                        if sum > *known {
                            *known = sum;
                        }
                    }
                };
                apply(view.by_left.list(usize::from(*left)));
                if split + 1 == end {
                    apply(view.by_left_of_tag.list(usize::from(*left)));
                }
            }
        }
        self.before.clear();
        self.before.extend_from_slice(cell);
        for (score, class) in self.before.iter().zip(0..).filter(|(score, _)| score.is_finite()) {
            for chain in view.up.list(class) {
                let chain = Rule::unpack(*chain);
                let known = &mut cell[usize::from(chain.first)];
                *known = known.max(score + chain.score);
            }
        }
        for (score, class) in cell.iter_mut().zip(0..) {
            if score.is_finite() {
                self.live[here].push((class, *score));
            } else {
                *score = f32::NEG_INFINITY;
            }
        }
    }

    /// The inside score of a class over a span.
    pub(crate) fn score(&self, class: u16, start: usize, end: usize) -> f32 {
        self.inside[place(start, end) * self.classes + usize::from(class)]
    }

    /// Finds all classes over spans, and if asked for all applications of rules, that lie on a parse whose bound is not
    /// below `threshold`. Returns false if there are too many applications.
    pub(super) fn fill_outside(
        &mut self,
        classes: &Classes,
        root: u16,
        threshold: f32,
        with_edges: bool,
    ) -> bool {
        let (view, n) = (classes.view(), self.length);
        let cells = n * (n + 1) / 2;
        let most_edges = MOST_EDGES * n * n * n / 6;
        self.outside.clear();
        self.outside.resize(cells * self.classes, f32::NEG_INFINITY);
        self.edges.clear();
        self.ranges.clear();
        self.ranges.resize(cells, (0, 0));
        self.allowed.iter_mut().for_each(Vec::clear);
        self.allowed.resize_with(cells.max(self.allowed.len()), Vec::new);
        self.outside[place(0, n) * self.classes + usize::from(view.class[usize::from(root)])] = 0.0;
        for width in (1..=n).rev() {
            for start in 0..=n - width {
                if is_used(start, start + width, n) {
                    self.spread(view, threshold, with_edges, start, start + width);
                }
            }
            if self.edges.len() > most_edges {
                return false;
            }
        }
        true
    }

    /// Spreads the outside scores of one span to its parts.
    fn spread(&mut self, view: ClassView<'_>, threshold: f32, with_edges: bool, start: usize, end: usize) {
        let (n, here) = (self.classes, place(start, end));
        let inside = &self.inside[here * n..][..n];
        let outside = &mut self.outside[here * n..][..n];
        let reach = |inside: &[f32], outside: &[f32], allowed: &mut Vec<u16>| {
            allowed.clear();
            let sums = inside.iter().zip(outside).map(|(inside, outside)| inside + outside);
            allowed.extend(sums.zip(0..).filter(|(sum, _)| *sum >= threshold).map(|(_, class)| class));
        };
        let allowed = &mut self.allowed[here];
        reach(inside, outside, allowed);
        self.before.clear();
        self.before.extend(allowed.iter().map(|class| outside[usize::from(*class)]));
        for (parent, score) in allowed.iter().zip(&self.before) {
            for chain in view.down.list(usize::from(*parent)) {
                let chain = Rule::unpack(*chain);
                let known = &mut outside[usize::from(chain.first)];
                *known = known.max(score + chain.score);
            }
        }
        reach(inside, outside, allowed);
        // The rules of all allowed classes, group by group, with what surrounds them.
        self.candidates.iter_mut().for_each(Vec::clear);
        for parent in allowed.iter().filter(|_| start + 1 < end) {
            let above = outside[usize::from(*parent)];
            for (group, candidates) in self.candidates.iter_mut().enumerate() {
                let list = usize::from(*parent) * GROUPS + group;
                let rules = view.by_parent.range(list).zip(view.by_parent.list(list));
                candidates.extend(rules.map(|(number, rule)| {
                    let Rule { first: left, second: right, score } = Rule::unpack(*rule);
                    (
                        above + score,
                        Edge { parent: *parent, left, right, split: 0, rule: number as u32, score },
                    )
                }));
            }
        }
        let first = self.edges.len();
        for split in start + 1..end {
            if !is_used(split, end, self.length) {
                continue;
            }
            let (left, right) = (place(start, split) * n, place(split, end) * n);
            let (left_inside, right_inside) = (&self.inside[left..][..n], &self.inside[right..][..n]);
            let groups = [(PHRASES, true), (LEFT_TAGS, split == start + 1), (RIGHT_TAGS, split + 1 == end)];
            for (group, _) in groups.iter().filter(|(_, applies)| *applies) {
                for (above, edge) in &self.candidates[*group] {
                    let left_score = left_inside[usize::from(edge.left)];
                    let right_score = right_inside[usize::from(edge.right)];
                    if above + left_score + right_score >= threshold {
                        if with_edges {
                            self.edges.push(Edge { split: split as u16, ..*edge });
                        }
                        let known = &mut self.outside[left + usize::from(edge.left)];
                        *known = known.max(above + right_score);
                        let known = &mut self.outside[right + usize::from(edge.right)];
                        *known = known.max(above + left_score);
                    }
                }
            }
        }
        self.ranges[here] = (first, self.edges.len());
    }
}
