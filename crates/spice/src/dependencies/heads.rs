//! The heads of the phrases of a tree.

use std::sync::LazyLock;

use super::phrases::Phrases;
use crate::NodeId;

/// The heads of a tree.
#[derive(Debug, Default)]
pub(super) struct Heads {
    pub(super) children: Vec<Option<NodeId>>,
    pub(super) words: Vec<Option<NodeId>>,
    pub(super) tops: Vec<NodeId>,
}

impl Heads {
    /// The child that is the head of a phrase for patterns, which do not look at what is around the phrase.
    pub(super) fn child(&self, node: NodeId) -> Option<NodeId> {
        self.children.get(node).copied().flatten()
    }

    /// The parent of a node, if the node is its head.
    pub(super) fn parent_of_head(&self, node: NodeId, phrases: &Phrases<'_>) -> Option<NodeId> {
        phrases.parent(node).filter(|parent| self.child(*parent) == Some(node))
    }

    /// The leaf that heads a node.
    pub(super) fn word(&self, node: NodeId) -> Option<NodeId> {
        self.words[node]
    }

    /// The highest phrase with the same head word.
    pub(super) fn top(&self, node: NodeId) -> NodeId {
        self.tops[node]
    }
}

/// No heads, for patterns that do not ask for them.
pub(super) static NO_HEADS: LazyLock<Heads> = LazyLock::new(Heads::default);
