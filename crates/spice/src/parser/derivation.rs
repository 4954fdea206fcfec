//! Reads the best tree off what is known of spans.
//!
//! CoreNLP 3.6.0 asks for a list of the best parses with one entry, and its search for that list decides ties. At a
//! state over a span the candidates are the word itself where the state is a tag, then for each place of division the
//! binary rules of the state in the order of the file, then its unary rules. A candidate's score is the sum of the
//! rule's score and those of its children, added in 64 bits; the first of the largest is taken. The score of the whole
//! parse is that sum at the root.

use super::items::Items;
use crate::resources::{Grammar, Rule, kind};
use crate::tree::Tree;

/// The largest number of steps of a derivation for each word. Unary rules are never repeated in a sound grammar.
const STEPS_PER_WORD: usize = 64;

/// A state over a span.
#[derive(Clone, Copy)]
struct Vertex {
    state: u16,
    start: usize,
    end: usize,
}

/// The best tree and its score; `None` if the sentence has no derivation.
pub(super) fn best(grammar: &Grammar, items: &Items, words: &[&str]) -> Option<(Tree, f64)> {
    let top = Vertex { state: grammar.root(), start: 0, end: items.length() };
    let (mut score, mut tree) = (None, Tree::default());
    let mut open = vec![(top, None)];
    for _ in 0..STEPS_PER_WORD * items.length() {
        let Some((vertex, parent)) = open.pop() else { return Some((tree, score?)) };
        let Vertex { state, start, end } = vertex;
        if grammar.is(state, kind::BOUNDARY) {
            continue;
        }
        let node = if grammar.is(state, kind::INTERMEDIATE) {
            parent
        } else {
            Some(tree.add(parent, grammar.label(state)))
        };
        if start + 1 == end && grammar.is(state, kind::TAG) {
            tree.add(node, words.get(start)?);
            continue;
        }
        let (sum, children) = choose(grammar, items, vertex)?;
        score = score.or(Some(sum));
        // The left child is opened first.
        open.extend(children.into_iter().flatten().rev().map(|child| (child, node)));
    }
    None
}

/// The best way to derive a state over a span from one or two others.
fn choose(grammar: &Grammar, items: &Items, vertex: Vertex) -> Option<(f64, [Option<Vertex>; 2])> {
    let Vertex { state, start, end } = vertex;
    let mut best = None;
    let mut largest = f64::NEG_INFINITY;
    let mut divided = 0;
    for rule in grammar.by_parent().list(usize::from(state)) {
        let rule = Rule::unpack(*rule);
        if !items.starts(rule.first, start) || !items.ends(rule.second, end) {
            continue;
        }
        for split in start + 1..end {
            let left = items.score(rule.first, start, split);
            if left == f32::NEG_INFINITY {
                continue;
            }
            let right = items.score(rule.second, split, end);
            let sum = f64::from(rule.score) + f64::from(left) + f64::from(right);
            // Of equal sums, the first place of division counts, and there the first rule.
            if sum > largest || (sum == largest && split < divided) {
                (largest, divided) = (sum, split);
                let left = Vertex { state: rule.first, start, end: split };
                let right = Vertex { state: rule.second, start: split, end };
                best = Some([Some(left), Some(right)]);
            }
        }
    }
    for rule in grammar.unaries().list(usize::from(state)) {
        let rule = Rule::unpack(*rule);
        let sum = f64::from(rule.score) + f64::from(items.score(rule.first, start, end));
        if sum > largest {
            largest = sum;
            best = Some([Some(Vertex { state: rule.first, start, end }), None]);
        }
    }
    best.map(|children| (largest, children))
}
