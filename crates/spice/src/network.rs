//! Dependencies in the order in which the reference program visits them.
//!
//! The reference program keeps words in Java hash maps, and where several words fit, it takes the one that the map
//! gives first.

use std::collections::{HashSet, VecDeque};

use crate::graph::{DependencyGraph, Relation, Word, WordId};
use crate::hash_order::{HashOrder, hash};

/// The relations between one word and its neighbours on one side.
type Links = HashOrder<Vec<Relation>>;

/// A dependency graph with the reference program's order.
#[derive(Clone, Debug)]
pub(crate) struct Network<'g> {
    words: &'g [Word],
    /// The number of the sentence, from 0.
    sentence: usize,
    outgoing: HashOrder<Links>,
    incoming: HashOrder<Links>,
    roots: HashOrder<()>,
}

impl<'g> Network<'g> {
    /// The network of a graph of the given sentence.
    pub(crate) fn new(graph: &'g DependencyGraph, sentence: usize) -> Self {
        let mut network = Self::empty(graph.words(), sentence);
        let edges = graph.edges().iter().map(|edge| (edge.dependent, Some(edge)));
        let mut edges: Vec<_> = edges.chain(graph.roots().iter().map(|root| (*root, None))).collect();
        edges.sort_by_key(|(dependent, edge)| {
            (graph.place(*dependent), edge.map(|edge| (graph.place(edge.head), &edge.relation)))
        });
        for (dependent, edge) in edges {
            match edge {
                Some(edge) => network.add(edge.relation.clone(), edge.head, dependent),
                None => network.add_root(dependent),
            }
        }
        network
    }

    fn empty(words: &'g [Word], sentence: usize) -> Self {
        let (outgoing, incoming, roots) = Default::default();
        Self { words, sentence, outgoing, incoming, roots }
    }

    /// The network rebuilt from its edges, which may give another order. Words without edges are left out.
    pub(crate) fn remade(&self) -> Self {
        let mut network = Self::empty(self.words, self.sentence);
        if let Some(root) = self.first_root() {
            network.add_root(root);
        }
        for (head, links) in self.outgoing.iter() {
            for (dependent, relations) in links.iter() {
                relations.iter().for_each(|relation| network.add(relation.clone(), head, dependent));
            }
        }
        network
    }

    pub(crate) fn word(&self, id: WordId) -> &'g Word {
        &self.words[id]
    }

    /// The place of a word: its index, then the number of the copy.
    pub(crate) fn place(&self, id: WordId) -> (usize, usize) {
        (self.words[id].index, self.words[id].copy)
    }

    /// The hash code of a word, which is also that of its copies.
    pub(crate) fn hash(&self, id: WordId) -> usize {
        hash(self.sentence, self.words[id].index)
    }

    /// All words, in order.
    pub(crate) fn vertices(&self) -> Vec<WordId> {
        self.outgoing.iter().map(|(word, _)| word).collect()
    }

    /// The first word in the order of the map that has the given index.
    pub(crate) fn at_index(&self, index: usize) -> Option<WordId> {
        self.outgoing.iter().map(|(word, _)| word).find(|word| self.words[*word].index == index)
    }

    /// The edges from a word, in order: relations and dependents.
    pub(crate) fn dependents(&self, head: WordId) -> Vec<(&Relation, WordId)> {
        Self::flat(self.outgoing.get(head))
    }

    /// The edges to a word, in order: relations and heads.
    pub(crate) fn heads(&self, dependent: WordId) -> Vec<(&Relation, WordId)> {
        Self::flat(self.incoming.get(dependent))
    }

    fn flat(links: Option<&Links>) -> Vec<(&Relation, WordId)> {
        let links = links.into_iter().flat_map(HashOrder::iter);
        links.flat_map(|(word, relations)| relations.iter().map(move |relation| (relation, word))).collect()
    }

    /// The first dependent by exactly this relation.
    pub(crate) fn dependent_by(&self, head: WordId, relation: &str) -> Option<WordId> {
        self.dependents(head).into_iter().find(|(name, _)| *name == relation).map(|(_, word)| word)
    }

    /// The relation of the first edge between two words.
    pub(crate) fn relation(&self, head: WordId, dependent: WordId) -> Option<&Relation> {
        self.outgoing.get(head)?.get(dependent)?.first()
    }

    /// Adds an edge, even if there is an equal one.
    pub(crate) fn add(&mut self, relation: Relation, head: WordId, dependent: WordId) {
        self.add_vertex(head);
        self.add_vertex(dependent);
        let (head_hash, dependent_hash) = (self.hash(head), self.hash(dependent));
        let links = self.outgoing.entry(head, head_hash, Links::default);
        links.entry(dependent, dependent_hash, Vec::new).push(relation.clone());
        let links = self.incoming.entry(dependent, dependent_hash, Links::default);
        links.entry(head, head_hash, Vec::new).push(relation);
    }

    /// Removes the first edge with this relation between two words.
    pub(crate) fn remove(&mut self, relation: &str, head: WordId, dependent: WordId) {
        Self::unlink(&mut self.outgoing, relation, head, dependent);
        Self::unlink(&mut self.incoming, relation, dependent, head);
    }

    fn unlink(side: &mut HashOrder<Links>, relation: &str, from: WordId, to: WordId) {
        let Some(links) = side.get_mut(from) else { return };
        let Some(relations) = links.get_mut(to) else { return };
        if let Some(place) = relations.iter().position(|other| other == relation) {
            relations.remove(place);
        }
        if relations.is_empty() {
            links.remove(to);
        }
    }

    fn add_vertex(&mut self, word: WordId) {
        let hash = self.hash(word);
        self.outgoing.entry(word, hash, Links::default);
        self.incoming.entry(word, hash, Links::default);
    }

    /// Makes a word a root.
    pub(crate) fn add_root(&mut self, word: WordId) {
        self.add_vertex(word);
        let hash = self.hash(word);
        self.roots.entry(word, hash, || ());
    }

    /// Makes a word no longer a root.
    pub(crate) fn remove_root(&mut self, word: WordId) {
        self.roots.remove(word);
    }

    /// Returns true if a word is a root.
    pub(crate) fn is_root(&self, word: WordId) -> bool {
        self.roots.get(word).is_some()
    }

    pub(crate) fn first_root(&self) -> Option<WordId> {
        self.roots.iter().map(|(root, ())| root).next()
    }

    /// The first head, in the order of the sentence, on a path from a root to a word that is not a root itself.
    pub(crate) fn parent(&self, word: WordId) -> Option<WordId> {
        if self.is_root(word) {
            return None;
        }
        let mut heads: Vec<WordId> = self.heads(word).into_iter().map(|(_, head)| head).collect();
        heads.sort_by_key(|head| self.place(*head));
        heads.into_iter().filter(|head| *head != word).find(|head| self.reaches_root(*head, word))
    }

    /// Returns true if a path leads from a root to `start` without `except`.
    fn reaches_root(&self, start: WordId, except: WordId) -> bool {
        let mut seen = HashSet::from([start, except]);
        let mut open = vec![start];
        while let Some(word) = open.pop() {
            if self.is_root(word) {
                return true;
            }
            open.extend(self.heads(word).into_iter().map(|(_, head)| head).filter(|head| seen.insert(*head)));
        }
        false
    }

    /// The first word from the first root on, level by level in the order of the sentence, for which `fits` holds.
    pub(crate) fn nearest_to_root(&self, fits: impl Fn(&Word) -> bool) -> Option<WordId> {
        let root = self.first_root()?;
        let mut seen = HashSet::from([root]);
        let mut open = VecDeque::from([root]);
        while let Some(word) = open.pop_front() {
            if fits(self.word(word)) {
                return Some(word);
            }
            let mut below: Vec<WordId> = self.dependents(word).into_iter().map(|(_, word)| word).collect();
            below.sort_by_key(|word| self.place(*word));
            open.extend(below.into_iter().filter(|word| seen.insert(*word)));
        }
        None
    }

    /// All words, heads before their dependents; where there is a cycle, in the order of the map.
    pub(crate) fn sorted(&self) -> Vec<WordId> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            Unseen,
            Open,
            Done,
        }
        let mut states = vec![State::Unseen; self.words.len()];
        let mut sorted = Vec::new();
        let mut path: Vec<(WordId, std::vec::IntoIter<(&Relation, WordId)>)> = Vec::new();
        for vertex in self.vertices() {
            if states[vertex] == State::Unseen {
                states[vertex] = State::Open;
                path.push((vertex, self.dependents(vertex).into_iter()));
            }
            while let Some((word, dependents)) = path.last_mut() {
                match dependents.next().map(|(_, dependent)| (dependent, states[dependent])) {
                    Some((_, State::Done)) => {}
                    Some((_, State::Open)) => return self.vertices(),
                    Some((dependent, State::Unseen)) => {
                        states[dependent] = State::Open;
                        path.push((dependent, self.dependents(dependent).into_iter()));
                    }
                    None => {
                        states[*word] = State::Done;
                        sorted.push(*word);
                        path.pop();
                    }
                }
            }
        }
        sorted.reverse();
        sorted
    }
}
