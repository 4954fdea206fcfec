//! Constituency trees, as the parser builds them and as CoreNLP prints them.

use std::fmt;
use std::str::FromStr;

/// The number of a node within its tree: its place in the order of the opening brackets.
pub type NodeId = usize;

/// A constituency tree. Leaves are words; the parent of a word is its tag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    label: String,
    parent: Option<NodeId>,
    children: Vec<NodeId>,
}

impl Tree {
    /// Adds a node as the last child of `parent`, or the root if there is no parent. Nodes are added in the order of
    /// their opening brackets.
    pub fn add(&mut self, parent: Option<NodeId>, label: &str) -> NodeId {
        let node = self.nodes.len();
        if let Some(siblings) = parent.and_then(|parent| self.nodes.get_mut(parent)) {
            siblings.children.push(node);
        }
        self.nodes.push(Node { label: label.to_owned(), parent, children: Vec::new() });
        node
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if the tree has no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The category, tag or word of a node.
    pub fn label(&self, node: NodeId) -> &str {
        &self.nodes[node].label
    }

    /// The parent of a node; the root has none.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node].parent
    }

    /// The children of a node, from left to right.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        &self.nodes[node].children
    }
}

impl fmt::Display for Tree {
    /// Prints brackets on one line: `(ROOT (NP (DT a) (NN dog)))`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut open: Vec<NodeId> = Vec::new();
        for (id, node) in self.nodes.iter().enumerate() {
            while open.last().is_some_and(|last| Some(*last) != node.parent) {
                open.pop();
                f.write_str(")")?;
            }
            if id > 0 {
                f.write_str(" ")?;
            }
            if node.children.is_empty() {
                f.write_str(&node.label)?;
            } else {
                write!(f, "({}", node.label)?;
                open.push(id);
            }
        }
        open.iter().try_for_each(|_| f.write_str(")"))
    }
}

impl FromStr for Tree {
    type Err = &'static str;

    /// Reads what [`Display`](fmt::Display) prints.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut tree = Self::default();
        let mut open = Vec::new();
        for token in text.split(' ') {
            if let Some(label) = token.strip_prefix('(') {
                open.push(tree.add(open.last().copied(), label));
            } else {
                let word = token.trim_end_matches(')');
                tree.add(Some(*open.last().ok_or("a word outside brackets")?), word);
                for _ in word.len()..token.len() {
                    open.pop().ok_or("a bracket closes that was never opened")?;
                }
            }
        }
        if open.is_empty() { Ok(tree) } else { Err("a bracket is never closed") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_read_as_they_are_printed() {
        let text = "(ROOT (NP (NP (DT a) (NN dog)) (PP (IN on) (NP (DT a) (NN sofa)))))";
        let tree: Tree = text.parse().unwrap();
        assert_eq!(tree.to_string(), text);
        assert_eq!((tree.label(3), tree.parent(3), tree.children(1).len()), ("DT", Some(2), 2));
        for wrong in ["dog", "(ROOT dog", "(ROOT dog))"] {
            assert!(wrong.parse::<Tree>().is_err());
        }
    }
}
