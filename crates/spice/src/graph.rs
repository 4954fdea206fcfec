//! Dependency graphs: words, named edges between them and roots, with the edits that collapsing and tuples need.

use std::borrow::Cow;
use std::fmt;

/// The number of a word within its graph: words of the sentence in their order, then copies in the order of their
/// making.
pub type WordId = usize;

/// The name of a grammatical relation: `nsubj`, `nmod:on`.
pub type Relation = Cow<'static, str>;

/// A word of a sentence, or a copy of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word as the sentence has it.
    pub text: String,
    /// Its part of speech.
    pub tag: String,
    /// Its place in the sentence, from 1.
    pub index: usize,
    /// 0 for the word itself, k for its k-th copy.
    pub copy: usize,
}

/// One dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The name of the relation.
    pub relation: Relation,
    /// The word that governs.
    pub head: WordId,
    /// The word that depends on it.
    pub dependent: WordId,
}

/// The dependencies of one sentence.
///
/// Edges keep the order in which they were added, since programs that look for "the first" child may depend on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DependencyGraph {
    words: Vec<Word>,
    edges: Vec<Edge>,
    roots: Vec<WordId>,
}

impl DependencyGraph {
    /// A graph of the given words and tags, in the order of the sentence, without edges and roots.
    pub fn new<'a>(words: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let words = words.into_iter().zip(1..).map(|((text, tag), index)| Word {
            text: text.to_owned(),
            tag: tag.to_owned(),
            index,
            copy: 0,
        });
        Self { words: words.collect(), ..Self::default() }
    }

    /// All words: those of the sentence, then copies.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// One word.
    pub fn word(&self, id: WordId) -> &Word {
        &self.words[id]
    }

    /// All edges, in the order in which they were added.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The roots, in their order.
    pub fn roots(&self) -> &[WordId] {
        &self.roots
    }

    /// Replaces the roots.
    pub fn set_roots(&mut self, roots: Vec<WordId>) {
        self.roots = roots;
    }

    /// Edges from a word to its dependents, in the order in which they were added.
    pub fn outgoing(&self, head: WordId) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.head == head)
    }

    /// Edges from a word's heads to it, in the order in which they were added.
    pub fn incoming(&self, dependent: WordId) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.dependent == dependent)
    }

    /// Edges from a word to its dependents, in the order of the sentence; a copy follows its original.
    pub fn children(&self, head: WordId) -> Vec<&Edge> {
        let mut children: Vec<&Edge> = self.outgoing(head).collect();
        children.sort_by_key(|edge| self.place(edge.dependent));
        children
    }

    /// The place of a word: its index, then the number of the copy.
    pub fn place(&self, id: WordId) -> (usize, usize) {
        (self.words[id].index, self.words[id].copy)
    }

    /// Returns true if a word is a root or takes part in an edge.
    pub fn contains(&self, id: WordId) -> bool {
        self.roots.contains(&id) || self.edges.iter().any(|edge| edge.head == id || edge.dependent == id)
    }

    /// Adds an edge, unless an equal one exists.
    pub fn add(&mut self, relation: impl Into<Relation>, head: WordId, dependent: WordId) {
        let edge = Edge { relation: relation.into(), head, dependent };
        if !self.edges.contains(&edge) {
            self.edges.push(edge);
        }
    }

    /// Adds an edge, even if an equal one exists.
    pub fn push(&mut self, relation: Relation, head: WordId, dependent: WordId) {
        self.edges.push(Edge { relation, head, dependent });
    }

    /// Removes the edge, and says whether it existed.
    pub fn remove(&mut self, edge: &Edge) -> bool {
        let place = self.edges.iter().position(|other| other == edge);
        place.map(|place| self.edges.remove(place)).is_some()
    }

    /// Keeps the edges for which `keep` holds.
    pub fn retain(&mut self, keep: impl FnMut(&Edge) -> bool) {
        self.edges.retain(keep);
    }

    /// Adds a copy of a word, without edges.
    pub fn copy_word(&mut self, id: WordId) -> WordId {
        let index = self.words[id].index;
        let copy = self.words.iter().filter(|word| word.index == index).count();
        self.words.push(Word { copy, ..self.words[id].clone() });
        self.words.len() - 1
    }
}

impl fmt::Display for DependencyGraph {
    /// Prints roots, then edges, separated by blanks: `det(2,1)` is an edge from the second word to the first,
    /// `root(0,2)` makes the second word a root, and `2'` is the first copy of the second word.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |id: WordId| format!("{}{}", self.words[id].index, "'".repeat(self.words[id].copy));
        let roots = self.roots.iter().map(|root| format!("root(0,{})", name(*root)));
        let edges = self.edges.iter();
        let edges =
            edges.map(|edge| format!("{}({},{})", edge.relation, name(edge.head), name(edge.dependent)));
        f.write_str(&roots.chain(edges).collect::<Vec<_>>().join(" "))
    }
}
