//! The graph while it is collapsed: multiple edges, visited in the order of the reference program's hash maps.
//!
//! Which of several matches is changed last decides some names (`nmod:X`), and the reference program finds matches in
//! the order of its hash maps.

use std::borrow::Cow;

use super::relations::Kind;
use crate::hash_order::{HashOrder, hash};
use crate::{Relation, WordId};

/// The name of an edge, and the relation that it is a case of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) kind: Kind,
    pub(super) name: Relation,
}

impl Label {
    /// A relation by its plain name.
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, name: Cow::Borrowed(kind.name()) }
    }

    /// A relation with the word that makes it specific: `nmod:on`. A few words make it another relation.
    pub(super) fn specific(kind: Kind, word: &str) -> Self {
        let kind = match (kind, word) {
            (Kind::Nmod, "npmod") => Kind::Npmod,
            (Kind::Nmod, "tmod") => Kind::Tmod,
            (Kind::Nmod, "poss") => Kind::Poss,
            (Kind::Acl, "relcl") => Kind::Relcl,
            _ => return Self { kind, name: Cow::Owned(format!("{}:{word}", kind.name())) },
        };
        Self::new(kind)
    }

    /// Returns true if the name is the plain one.
    pub(super) fn is(&self, kind: Kind) -> bool {
        self.kind == kind && self.is_plain()
    }

    /// Returns true if no word makes the relation specific.
    pub(super) fn is_plain(&self) -> bool {
        self.name == self.kind.name()
    }
}

/// A dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) label: Label,
    pub(super) head: WordId,
    pub(super) dependent: WordId,
}

/// The number of a link of a [`Net`].
pub(super) type LinkId = usize;

/// A graph with the words that its links connect.
///
/// The reference program has an object for the head of each link, and each object numbers the copies that are made of
/// it on its own, so two links may lead to the same copy. `sources` tells the objects apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Net {
    links: Vec<Link>,
    sources: Vec<usize>,
    copies: Vec<usize>,
    hashes: Vec<usize>,
    /// The indices of words and copies, which decide the order of parents.
    places: Vec<(usize, usize)>,
    vertices: HashOrder<()>,
    outgoing: Vec<HashOrder<Vec<LinkId>>>,
    incoming: Vec<HashOrder<Vec<LinkId>>>,
    roots: HashOrder<()>,
}

impl Net {
    /// A graph of the given words of one sentence of a text, without links.
    pub(super) fn new(words: usize, sentence: usize) -> Self {
        let mut net = Self::default();
        for word in 0..words {
            net.add_word(hash(sentence, word + 1), (word + 1, 0));
        }
        net
    }

    fn add_word(&mut self, hash: usize, place: (usize, usize)) -> WordId {
        self.hashes.push(hash);
        self.places.push(place);
        self.outgoing.push(HashOrder::default());
        self.incoming.push(HashOrder::default());
        self.hashes.len() - 1
    }

    /// The next copy of the head of a link, or of the word that the head was copied from, and its source.
    pub(super) fn copy_head(&mut self, link: LinkId) -> (WordId, usize) {
        let (head, source) = (self.links[link].head, self.sources[link]);
        if self.copies.len() <= source {
            self.copies.resize(source + 1, 0);
        }
        self.copies[source] += 1;
        let place = (self.places[head].0, self.copies[source]);
        let known = self.places.iter().position(|other| *other == place);
        (known.unwrap_or_else(|| self.add_word(self.hashes[head], place)), source)
    }

    /// The word that a copy was made of; other words are their own.
    pub(super) fn original(&self, word: WordId) -> WordId {
        // Words of the sentence come first, in their order.
        self.places[word].0 - 1
    }

    /// The index of a word in the sentence, from 1, and the number of the copy.
    pub(super) fn place(&self, word: WordId) -> (usize, usize) {
        self.places[word]
    }

    /// The words and copies of words.
    pub(super) fn places(&self) -> &[(usize, usize)] {
        &self.places
    }

    /// A copy with the same words and links and the first root only, whose order is that of a newly filled map.
    pub(super) fn snapshot(&self) -> Self {
        let (hashes, places) = (self.hashes.clone(), self.places.clone());
        let mut copy = Self { hashes, places, ..Self::default() };
        copy.outgoing.resize_with(self.hashes.len(), HashOrder::default);
        copy.incoming.resize_with(self.hashes.len(), HashOrder::default);
        for link in self.all() {
            copy.add(self.links[link].clone());
        }
        if let Some(root) = self.roots().next() {
            copy.roots.entry(root, self.hashes[root], || ());
        }
        copy
    }

    pub(super) fn link(&self, link: LinkId) -> &Link {
        &self.links[link]
    }

    pub(super) fn set_label(&mut self, link: LinkId, label: Label) {
        self.links[link].label = label;
    }

    pub(super) fn add(&mut self, link: Link) {
        self.add_from(link, self.links.len());
    }

    /// Adds a link whose head is the same object as that of other links.
    pub(super) fn add_from(&mut self, link: Link, source: usize) {
        let (head, dependent) = (link.head, link.dependent);
        self.sources.push(source);
        self.vertices.entry(head, self.hashes[head], || ());
        self.vertices.entry(dependent, self.hashes[dependent], || ());
        let id = self.links.len();
        self.links.push(link);
        self.outgoing[head].entry(dependent, self.hashes[dependent], Vec::new).push(id);
        self.incoming[dependent].entry(head, self.hashes[head], Vec::new).push(id);
    }

    /// Removes the first link that equals this one.
    pub(super) fn remove(&mut self, link: LinkId) {
        let Link { head, dependent, .. } = self.links[link];
        let links = &self.links;
        for (map, key) in [(&mut self.outgoing[head], dependent), (&mut self.incoming[dependent], head)] {
            let Some(between) = map.get_mut(key) else { continue };
            if let Some(at) = between.iter().position(|other| links[*other] == links[link]) {
                between.remove(at);
            }
            if between.is_empty() {
                map.remove(key);
            }
        }
    }

    /// The number that the next link will get.
    pub(super) fn next_link(&self) -> LinkId {
        self.links.len()
    }

    /// Sorts the links between the same words by name, and keeps one of each name.
    pub(super) fn remove_duplicates(&mut self) {
        let links = &self.links;
        for maps in [&mut self.outgoing, &mut self.incoming] {
            let parallel = maps.iter_mut().flat_map(HashOrder::values_mut);
            for between in parallel.filter(|between| between.len() > 1) {
                between.sort_by(|a, b| links[*a].label.name.cmp(&links[*b].label.name));
                between.dedup_by(|a, b| links[*a].label == links[*b].label);
            }
        }
    }

    pub(super) fn add_root(&mut self, word: WordId) {
        self.vertices.entry(word, self.hashes[word], || ());
        self.roots.entry(word, self.hashes[word], || ());
    }

    pub(super) fn remove_root(&mut self, word: WordId) {
        self.roots.remove(word);
    }

    pub(super) fn is_root(&self, word: WordId) -> bool {
        self.roots.get(word).is_some()
    }

    pub(super) fn roots(&self) -> impl Iterator<Item = WordId> {
        self.roots.iter().map(|(word, ())| word)
    }

    pub(super) fn vertices(&self) -> impl Iterator<Item = WordId> {
        self.vertices.iter().map(|(word, ())| word)
    }

    /// Returns true if a word is a root or has links, or did before links were removed.
    pub(super) fn contains(&self, word: WordId) -> bool {
        self.vertices.get(word).is_some()
    }

    /// All links, by head and dependent.
    pub(super) fn all(&self) -> impl Iterator<Item = LinkId> {
        self.vertices().flat_map(|word| self.outgoing(word))
    }

    /// Returns true if there is a link of the plain relation.
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.all().any(|link| self.links[link].label.is(kind))
    }

    pub(super) fn outgoing(&self, head: WordId) -> impl Iterator<Item = LinkId> {
        self.outgoing[head].iter().flat_map(|(_, links)| links.iter().copied())
    }

    /// Links to dependents whose label passes a test.
    pub(super) fn children(
        &self,
        head: WordId,
        test: impl Fn(&Label) -> bool,
    ) -> impl Iterator<Item = LinkId> {
        self.outgoing(head).filter(move |link| test(&self.links[*link].label))
    }

    /// Links to dependents by the plain relation.
    pub(super) fn by(&self, head: WordId, kind: Kind) -> impl Iterator<Item = WordId> {
        self.children(head, move |label| label.is(kind)).map(|link| self.links[link].dependent)
    }

    pub(super) fn is_leaf(&self, word: WordId) -> bool {
        self.outgoing[word].is_empty()
    }

    /// The first link between two words.
    pub(super) fn between(&self, head: WordId, dependent: WordId) -> Option<LinkId> {
        self.outgoing[head].get(dependent).and_then(|links| links.first().copied())
    }

    /// The heads of a word.
    pub(super) fn heads(&self, word: WordId) -> impl Iterator<Item = WordId> {
        self.incoming[word].iter().map(|(head, _)| head)
    }

    /// The head on the path to a root that prefers the first words of the sentence. A root has none, nor has a word
    /// without a path.
    pub(super) fn parent(&self, word: WordId) -> Option<WordId> {
        let sorted_heads = |word: WordId| {
            let mut heads: Vec<WordId> = self.heads(word).collect();
            heads.sort_by_key(|head| std::cmp::Reverse(self.places[*head]));
            heads
        };
        if self.is_root(word) {
            return None;
        }
        let mut visited = vec![false; self.hashes.len()];
        visited[word] = true;
        for first in sorted_heads(word).into_iter().rev() {
            let mut open = vec![first];
            while let Some(next) = open.pop() {
                if self.is_root(next) {
                    return Some(first);
                }
                if !std::mem::replace(&mut visited[next], true) {
                    open.extend(sorted_heads(next));
                }
            }
        }
        None
    }

    /// Heads before dependents, or the order of the map if there is a cycle.
    pub(super) fn topological(&self) -> Vec<WordId> {
        let mut state = vec![0_u8; self.hashes.len()];
        let mut order = Vec::new();
        for word in self.vertices() {
            if state[word] != 0 {
                continue;
            }
            state[word] = 1;
            let mut open = vec![(word, self.outgoing(word))];
            while let Some((word, links)) = open.last_mut() {
                match links.next().map(|link| self.links[link].dependent) {
                    Some(next) if state[next] == 1 => return self.vertices().collect(),
                    Some(next) if state[next] == 0 => {
                        state[next] = 1;
                        let links = self.outgoing(next);
                        open.push((next, links));
                    }
                    Some(_) => {}
                    None => {
                        state[*word] = 2;
                        order.push(*word);
                        open.pop();
                    }
                }
            }
        }
        order.reverse();
        order
    }

    /// All links as they are printed: by dependent, head and name, copies in the order of the maps.
    pub(super) fn sorted(&self) -> Vec<Link> {
        let mut links: Vec<Link> = self.all().map(|link| self.links[link].clone()).collect();
        links.sort_by(|a, b| {
            let key = |link: &Link| (self.places[link.dependent].0, self.places[link.head].0);
            key(a).cmp(&key(b)).then_with(|| a.label.name.cmp(&b.label.name))
        });
        links
    }
}
