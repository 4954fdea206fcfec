//! The tree while it is tidied: labels with the tests they pass, and edits that keep parents and children in step.

use std::borrow::Cow;

use super::labels::{PassedTests, Tests, basic_category, includes, unite};
use crate::{NodeId, Tree};

#[derive(Clone, Debug)]
struct Node<'a> {
    label: Cow<'a, str>,
    passed: PassedTests,
    parent: Option<NodeId>,
    children: Vec<NodeId>,
    word: Option<usize>,
}

/// A tree that can be edited. Nodes that were cut off keep their numbers.
#[derive(Debug)]
pub(super) struct Phrases<'a> {
    nodes: Vec<Node<'a>>,
    root: NodeId,
    tests: &'static Tests,
    /// The tests that any label passes that is or was part of the tree.
    passed_by_any: PassedTests,
}

impl<'a> Phrases<'a> {
    /// A copy of a parse without the functions of its labels, apart from `-TMP` and `-ADV` of noun phrases, and without
    /// empty elements. There is none if nothing is left.
    pub(super) fn new(tree: &'a Tree, tests: &'static Tests) -> Option<Self> {
        if tree.is_empty() {
            return None;
        }
        let mut words = 0;
        let mut passed_by_any = PassedTests::default();
        let nodes = (0..tree.len()).map(|id| {
            let (children, label) = (tree.children(id), tree.label(id));
            words += usize::from(children.is_empty());
            let label = match children {
                [] => Cow::Borrowed(label),
                _ if id == 0 && label == "TOP" => Cow::Borrowed("ROOT"),
                _ => tidy_label(label),
            };
            let passed = tests.passed(&label);
            unite(&mut passed_by_any, &passed);
            let word = children.is_empty().then(|| words - 1);
            Node { label, passed, parent: tree.parent(id), children: children.to_vec(), word }
        });
        let nodes = nodes.collect();
        let mut phrases = Self { nodes, root: 0, tests, passed_by_any };
        let empty: Vec<NodeId> =
            phrases.preorder().into_iter().filter(|id| phrases.label(*id) == "-NONE-").collect();
        for node in empty {
            phrases.prune(node)?;
        }
        Some(phrases)
    }

    /// The top of the tree.
    pub(super) fn root(&self) -> NodeId {
        self.root
    }

    /// The number of nodes that exist or existed.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The category, tag or word of a node.
    pub(super) fn label(&self, node: NodeId) -> &str {
        &self.nodes[node].label
    }

    /// The tests that the label of a node passes.
    pub(super) fn passed(&self, node: NodeId) -> &PassedTests {
        &self.nodes[node].passed
    }

    /// Returns true if for each of the tests there may be a node that passes it.
    pub(super) fn may_pass(&self, tests: &PassedTests) -> bool {
        includes(&self.passed_by_any, tests)
    }

    /// The parent of a node; the root has none.
    pub(super) fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node].parent
    }

    /// The children of a node, from left to right.
    pub(super) fn children(&self, node: NodeId) -> &[NodeId] {
        &self.nodes[node].children
    }

    /// The number of the word, from 0, that a leaf is.
    pub(super) fn word(&self, node: NodeId) -> Option<usize> {
        self.nodes[node].word
    }

    /// Returns true if a node has no children.
    pub(super) fn is_leaf(&self, node: NodeId) -> bool {
        self.children(node).is_empty()
    }

    /// Returns true if a node is the tag of one word.
    pub(super) fn is_tag(&self, node: NodeId) -> bool {
        matches!(self.children(node), [only] if self.is_leaf(*only))
    }

    /// Returns true if a node is neither a word nor the tag of one.
    pub(super) fn is_phrase(&self, node: NodeId) -> bool {
        !self.is_leaf(node) && !self.is_tag(node)
    }

    /// The place of a node among its sisters.
    pub(super) fn place(&self, node: NodeId) -> Option<(NodeId, usize)> {
        let parent = self.parent(node)?;
        self.children(parent).iter().position(|child| *child == node).map(|place| (parent, place))
    }

    /// All nodes of the tree, each before its children.
    pub(super) fn preorder(&self) -> Vec<NodeId> {
        let mut order = Vec::with_capacity(self.len());
        let mut open = vec![self.root];
        while let Some(node) = open.pop() {
            order.push(node);
            open.extend(self.children(node).iter().rev());
        }
        order
    }

    /// Gives a node another label.
    pub(super) fn relabel(&mut self, node: NodeId, label: impl Into<Cow<'a, str>>) {
        let label = label.into();
        let passed = self.tests.passed(&label);
        unite(&mut self.passed_by_any, &passed);
        self.nodes[node].passed = passed;
        self.nodes[node].label = label;
    }

    /// Puts a new phrase around some sisters, from `first` to `last`.
    pub(super) fn wrap(&mut self, label: &'static str, first: NodeId, last: NodeId) -> Option<NodeId> {
        let (parent, from) = self.place(first)?;
        let (other, to) = self.place(last)?;
        let (from, to) = if from <= to { (from, to) } else { (to, from) };
        if parent != other {
            return None;
        }
        let inside: Vec<NodeId> = self.children(parent)[from..=to].to_vec();
        let phrase = self.add(label, inside);
        self.nodes[parent].children.splice(from..=to, [phrase]);
        self.nodes[phrase].parent = Some(parent);
        Some(phrase)
    }

    /// Adds a phrase that is not part of the tree yet, and makes it the parent of the given nodes.
    pub(super) fn add(&mut self, label: &'static str, children: Vec<NodeId>) -> NodeId {
        let phrase = self.len();
        let label = Cow::Borrowed(label);
        let passed = self.tests.passed(&label);
        unite(&mut self.passed_by_any, &passed);
        self.nodes.push(Node { label, passed, parent: None, children: Vec::new(), word: None });
        self.set_children(phrase, children);
        phrase
    }

    /// Replaces the children of a node.
    pub(super) fn set_children(&mut self, node: NodeId, children: Vec<NodeId>) {
        for child in &children {
            self.nodes[*child].parent = Some(node);
        }
        self.nodes[node].children = children;
    }

    /// Moves a node to the given place among the children of another.
    pub(super) fn move_into(&mut self, node: NodeId, parent: NodeId, place: usize) {
        self.detach(node);
        let place = place.min(self.children(parent).len());
        self.nodes[parent].children.insert(place, node);
        self.nodes[node].parent = Some(parent);
    }

    /// Moves a node to the place after another.
    pub(super) fn move_after(&mut self, node: NodeId, sister: NodeId) {
        if node != sister {
            self.detach(node);
            if let Some((parent, place)) = self.place(sister) {
                self.move_into(node, parent, place + 1);
            }
        }
    }

    /// Cuts a node off, with all below it.
    pub(super) fn detach(&mut self, node: NodeId) {
        if let Some((parent, place)) = self.place(node) {
            self.nodes[parent].children.remove(place);
        }
    }

    /// Puts the children of a node in its place. A root is only replaced by an only child.
    pub(super) fn dissolve(&mut self, node: NodeId) {
        let children = self.children(node).to_vec();
        if let Some((parent, place)) = self.place(node) {
            for child in &children {
                self.nodes[*child].parent = Some(parent);
            }
            self.nodes[parent].children.splice(place..=place, children);
        } else if let ([only], true) = (children.as_slice(), node == self.root) {
            self.nodes[*only].parent = None;
            self.root = *only;
        }
    }

    /// Cuts a node off, and its ancestors that are left without children. There is no result if that is the whole tree.
    fn prune(&mut self, mut node: NodeId) -> Option<()> {
        loop {
            let parent = self.parent(node)?;
            self.detach(node);
            if !self.is_leaf(parent) {
                return Some(());
            }
            node = parent;
        }
    }
}

/// A category, with the one function that dependencies look at.
fn tidy_label(label: &str) -> Cow<'_, str> {
    let basic = basic_category(label);
    let kept = label.starts_with("NP") || label.starts_with("UCP");
    match () {
        () if basic.len() == label.len() => Cow::Borrowed(label),
        () if kept && label.contains("-TMP") => Cow::Owned(format!("{basic}-TMP")),
        () if kept && label.contains("-ADV") => Cow::Owned(format!("{basic}-ADV")),
        () => Cow::Borrowed(basic),
    }
}
