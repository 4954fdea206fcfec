//! Basic dependencies: each word depends on one other, by the most specific relation that a pattern finds.

use std::collections::HashMap;

use super::heads::Heads;
use super::net::{Label, Link};
use super::phrases::Phrases;
use super::relations::{GRAMMAR, Kind, Kinds};
use crate::{NodeId, Tree, WordId};

/// The dependencies of a tree and its root, not yet corrected.
pub(super) fn find(tree: &Tree) -> (Vec<Link>, Option<WordId>) {
    let grammar = &*GRAMMAR;
    let Some(mut phrases) = Phrases::new(tree, &grammar.tests) else { return (Vec::new(), None) };
    grammar.cleanup.run(&mut phrases);
    let heads = Heads::find(&phrases, &grammar.heads);
    let mut forest = Forest::new(phrases.len());
    grammar.each_relation(&phrases, &heads, &mut |node, kind, dependent| {
        forest.add(heads.top(node), heads.top(dependent), kind);
    });
    // What no pattern found depends on the phrase around it.
    for node in phrases.preorder().into_iter().filter(|node| !phrases.is_leaf(*node)) {
        if let Some(parent) = phrases.parent(node).filter(|parent| heads.word(*parent) != heads.word(node)) {
            forest.attach(heads.top(parent), node, phrases.root());
        }
    }

    let word = |node: NodeId| heads.word(node).and_then(|leaf| phrases.word(leaf));
    let links = forest.edges.iter().filter_map(|edge| {
        let label = Label::new(edge.kinds.most_specific());
        Some(Link { label, head: word(edge.head)?, dependent: word(edge.dependent)? })
    });
    (links.collect(), word(phrases.root()))
}

struct Edge {
    head: NodeId,
    dependent: NodeId,
    kinds: Kinds,
}

/// Edges between phrases, each the highest of its head word. No phrase gets two heads, and no cycle is closed.
struct Forest {
    edges: Vec<Edge>,
    by_dependent: HashMap<NodeId, usize>,
    /// For each node one that it is connected with; a node that stands for its component is its own.
    connected: Vec<NodeId>,
}

impl Forest {
    fn new(len: usize) -> Self {
        Self { edges: Vec::new(), by_dependent: HashMap::new(), connected: (0..len).collect() }
    }

    fn add(&mut self, head: NodeId, dependent: NodeId, kind: Kind) {
        if let Some(edge) = self.by_dependent.get(&dependent) {
            if let Some(edge) = self.edges.get_mut(*edge).filter(|edge| edge.head == head) {
                edge.kinds.add(kind);
            }
        } else if !self.is_above(dependent, head) {
            self.push(head, dependent, kind);
        }
    }

    fn push(&mut self, head: NodeId, dependent: NodeId, kind: Kind) {
        let mut kinds = Kinds::default();
        kinds.add(kind);
        self.by_dependent.insert(dependent, self.edges.len());
        self.edges.push(Edge { head, dependent, kinds });
        let (from, to) = (self.component(dependent), self.component(head));
        self.connected[from] = to;
    }

    /// Returns true if `node` is `above`, or depends on it directly or through others.
    fn is_above(&self, above: NodeId, node: NodeId) -> bool {
        let head = |node: &NodeId| {
            self.by_dependent.get(node).and_then(|edge| self.edges.get(*edge)).map(|edge| edge.head)
        };
        std::iter::successors(Some(node), head).any(|node| node == above)
    }

    fn component(&mut self, mut node: NodeId) -> NodeId {
        while self.connected[node] != node {
            self.connected[node] = self.connected[self.connected[node]];
            node = self.connected[node];
        }
        node
    }

    /// Makes a node that is not connected with the root depend on `head`.
    fn attach(&mut self, head: NodeId, node: NodeId, root: NodeId) {
        let stranded = self.component(node) != self.component(root);
        if stranded && !self.edges.iter().any(|edge| edge.head == head && edge.dependent == node) {
            self.push(head, node, Kind::Dep);
        }
    }
}
