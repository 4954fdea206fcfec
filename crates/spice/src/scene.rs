//! Scene graphs: what several captions say together, with like things merged.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::tuples::Tuple;

/// A dictionary of synonyms.
pub trait Synonyms {
    /// Replaces `synsets` with the numbers of the synonym sets of `word`, which is in lower case and has underscores
    /// for spaces.
    fn synsets(&self, word: &str, synsets: &mut Vec<u32>);
}

/// The conditions under which two words mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Likeness {
    /// If they are equal or share a synonym set; like things are merged.
    Synonyms,
    /// Only if they are equal.
    Words,
}

/// A word or phrase, together with others that were merged into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concept {
    /// The phrases, in the order in which they came.
    words: Vec<String>,
    /// Ascending.
    synsets: Vec<u32>,
}

impl Concept {
    /// The concept of a single phrase.
    pub fn new(phrase: &str, synonyms: &dyn Synonyms) -> Self {
        let key = phrase.trim_matches(|c| c <= ' ').to_lowercase().replace(' ', "_");
        let mut synsets = Vec::new();
        synonyms.synsets(&key, &mut synsets);
        synsets.sort_unstable();
        synsets.dedup();
        Self { words: vec![phrase.to_owned()], synsets }
    }

    /// Its phrases.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The only phrase, if there is one only.
    pub(crate) fn only(&self) -> Option<&str> {
        match self.words.as_slice() {
            [word] => Some(word),
            _ => None,
        }
    }

    /// Returns true if both consist of the same phrases and synonym sets.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        let same =
            self.words.len() == other.words.len() && self.words.iter().all(|word| other.words.contains(word));
        same && self.synsets == other.synsets
    }

    /// Returns true if they share a phrase or a synonym set.
    pub(crate) fn resembles(&self, other: &Self) -> bool {
        self.shares_word(other) || self.shared_synsets(other) > 0
    }

    /// 1 if they share a phrase, otherwise the part of their synonym sets that they share.
    fn similarity(&self, other: &Self) -> f32 {
        if self.shares_word(other) {
            return 1.0;
        }
        let shared = self.shared_synsets(other);
        let all = self.synsets.len() + other.synsets.len() - shared;
        if shared == 0 { 0.0 } else { shared as f32 / all as f32 }
    }

    fn shares_word(&self, other: &Self) -> bool {
        self.words.iter().any(|word| other.words.contains(word))
    }

    fn shared_synsets(&self, other: &Self) -> usize {
        let mut others = other.synsets.iter().peekable();
        let is_shared = |synset: &&u32| {
            while others.next_if(|other| *other < *synset).is_some() {}
            others.peek() == Some(synset)
        };
        self.synsets.iter().filter(is_shared).count()
    }

    fn merge(&mut self, other: Self) {
        for word in other.words {
            if !self.words.contains(&word) {
                self.words.push(word);
            }
        }
        self.synsets.extend(other.synsets);
        self.synsets.sort_unstable();
        self.synsets.dedup();
    }
}

/// A thing and its attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    object: Concept,
    attributes: Vec<Concept>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Link {
    source: usize,
    relation: Concept,
    target: usize,
}

/// Concepts that may merge with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Things,
    /// The attributes of a thing.
    AttributesOf(usize),
    /// The relations from one thing to another.
    Between(usize, usize),
}

/// The trait that two similar concepts share.
#[derive(Clone, Copy, Debug, Hash)]
enum Trait<'c> {
    Word(&'c str),
    Synset(u32),
}

/// The numbers of the concepts at each place that have a trait, by the hash of both. Without it, every concept would be
/// compared with all before it.
#[derive(Clone, Debug, Default)]
struct Index(HashTable<(u64, usize)>);

impl Index {
    /// The hashes of a concept's traits at a place.
    fn hashes(place: Place, concept: &Concept) -> impl Iterator<Item = u64> {
        let words = concept.words.iter().map(|word| Trait::Word(word));
        let traits = words.chain(concept.synsets.iter().map(|synset| Trait::Synset(*synset)));
        traits.map(move |one| FixedState::default().hash_one((place, one)))
    }

    /// The numbers under a hash.
    fn under(&self, hash: u64) -> impl Iterator<Item = usize> {
        self.0.iter_hash(hash).filter(move |(known, _)| *known == hash).map(|(_, number)| *number)
    }

    /// Adds the traits of a concept, which was added under this number or merged into it.
    fn add(&mut self, place: Place, concept: &Concept, number: usize) {
        for hash in Self::hashes(place, concept) {
            if self.under(hash).all(|known| known != number) {
                self.0.insert_unique(hash, (hash, number), |(hash, _)| *hash);
            }
        }
    }

    /// The concepts that share a word or a synonym set with this one, ascending, and any whose traits have the same
    /// hash.
    fn like(&self, place: Place, concept: &Concept) -> Vec<usize> {
        let mut numbers: Vec<usize> =
            Self::hashes(place, concept).flat_map(|hash| self.under(hash)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}

/// The scene that captions describe: things, their attributes and relations.
///
/// Tuples are merged one by one into what is most like them, so their order matters. The reference program visits
/// things and attributes in an order that differs from run to run; here it is the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct SceneGraph {
    nodes: Vec<Node>,
    links: Vec<Link>,
    /// The numbers are those of nodes, of attributes of one node, and of links.
    index: Index,
}

/// One statement of a scene graph.
#[derive(Clone, Copy, Debug)]
pub enum Fact<'g> {
    /// Something exists.
    Object(&'g Concept),
    /// It has an attribute.
    Attribute(&'g Concept, &'g Concept),
    /// It is related to something: source, relation, target.
    Relation(&'g Concept, &'g Concept, &'g Concept),
}

impl SceneGraph {
    /// The scene graph of tuples in their order.
    pub fn new<'t>(
        tuples: impl IntoIterator<Item = &'t Tuple>,
        synonyms: &dyn Synonyms,
        likeness: Likeness,
    ) -> Self {
        let mut graph = Self::default();
        for tuple in tuples {
            match tuple {
                Tuple::Object(object) => {
                    graph.node(Concept::new(object, synonyms), likeness);
                }
                Tuple::Attribute { object, attribute } => {
                    let node = graph.node(Concept::new(object, synonyms), likeness);
                    graph.attribute(node, Concept::new(attribute, synonyms), likeness);
                }
                Tuple::Relation { subject, predicate, object } => {
                    let source = graph.node(Concept::new(subject, synonyms), likeness);
                    let target = graph.node(Concept::new(object, synonyms), likeness);
                    let relation = Concept::new(predicate.strip_prefix("be ").unwrap_or(predicate), synonyms);
                    graph.link(source, relation, target, likeness);
                }
            }
        }
        graph
    }

    /// The thing with this concept: an equal one, or else the most similar one, into which it is merged, or else a new
    /// one.
    fn node(&mut self, concept: Concept, likeness: Likeness) -> usize {
        let mut most = (0.0, None);
        for number in self.index.like(Place::Things, &concept) {
            let object = &self.nodes[number].object;
            if object.equals(&concept) {
                return number;
            }
            let similarity = object.similarity(&concept);
            if likeness == Likeness::Synonyms && similarity > most.0 {
                most = (similarity, Some(number));
            }
        }
        let number = most.1.unwrap_or(self.nodes.len());
        self.index.add(Place::Things, &concept, number);
        match self.nodes.get_mut(number) {
            Some(node) => node.object.merge(concept),
            None => self.nodes.push(Node { object: concept, attributes: Vec::new() }),
        }
        number
    }

    fn attribute(&mut self, node: usize, concept: Concept, likeness: Likeness) {
        let attributes = &mut self.nodes[node].attributes;
        let place = Place::AttributesOf(node);
        let like = self.index.like(place, &concept);
        if like.iter().any(|number| attributes[*number].equals(&concept)) {
            return;
        }
        let resembling = |number: &usize| attributes[*number].resembles(&concept);
        let number = first_like(&like, resembling, likeness).unwrap_or(attributes.len());
        self.index.add(place, &concept, number);
        match attributes.get_mut(number) {
            Some(attribute) => attribute.merge(concept),
            None => attributes.push(concept),
        }
    }

    fn link(&mut self, source: usize, concept: Concept, target: usize, likeness: Likeness) {
        let place = Place::Between(source, target);
        let like = self.index.like(place, &concept);
        if like.iter().any(|number| self.links[*number].relation.equals(&concept)) {
            return;
        }
        let resembling = |number: &usize| self.links[*number].relation.resembles(&concept);
        let number = first_like(&like, resembling, likeness).unwrap_or(self.links.len());
        self.index.add(place, &concept, number);
        match self.links.get_mut(number) {
            Some(link) => link.relation.merge(concept),
            None => self.links.push(Link { source, relation: concept, target }),
        }
    }

    /// The statements that a fact of another graph matches, in the order of [`facts`](Self::facts).
    pub fn matching(&self, fact: &Fact<'_>, likeness: Likeness) -> Vec<Fact<'_>> {
        let things = |concept| self.index.like(Place::Things, concept);
        let possible: Vec<Fact<'_>> = match fact {
            Fact::Object(object) => things(object).into_iter().map(|number| self.object(number)).collect(),
            Fact::Attribute(object, attribute) => {
                let attributes = |node: usize| {
                    let like = self.index.like(Place::AttributesOf(node), attribute).into_iter();
                    let Node { object, attributes } = &self.nodes[node];
                    like.map(move |number| Fact::Attribute(object, &attributes[number]))
                };
                things(object).into_iter().flat_map(attributes).collect()
            }
            Fact::Relation(source, relation, target) => {
                let targets = things(target);
                let pairs = things(source);
                let pairs =
                    pairs.into_iter().flat_map(|source| targets.iter().map(move |target| (source, *target)));
                let places = pairs.map(|(source, target)| Place::Between(source, target));
                let mut links: Vec<usize> =
                    places.flat_map(|place| self.index.like(place, relation)).collect();
                links.sort_unstable();
                links.into_iter().map(|number| self.relation(&self.links[number])).collect()
            }
        };
        possible.into_iter().filter(|other| fact.matches(other, likeness)).collect()
    }

    fn object(&self, node: usize) -> Fact<'_> {
        Fact::Object(&self.nodes[node].object)
    }

    fn relation<'g>(&'g self, link: &'g Link) -> Fact<'g> {
        Fact::Relation(&self.nodes[link.source].object, &link.relation, &self.nodes[link.target].object)
    }

    /// All statements: each thing with its attributes, then the relations.
    pub fn facts(&self) -> Vec<Fact<'_>> {
        let things = self.nodes.iter().flat_map(|node| {
            let attributes = node.attributes.iter().map(|attribute| Fact::Attribute(&node.object, attribute));
            std::iter::once(Fact::Object(&node.object)).chain(attributes)
        });
        things.chain(self.links.iter().map(|link| self.relation(link))).collect()
    }
}

/// The first of the concepts that resemble a new one, if it is to be merged.
fn first_like(like: &[usize], resembling: impl Fn(&usize) -> bool, likeness: Likeness) -> Option<usize> {
    like.iter().copied().find(resembling).filter(|_| likeness == Likeness::Synonyms)
}

impl Fact<'_> {
    /// Returns true if a fact of the candidate matches one of the references.
    pub fn matches(&self, other: &Self, likeness: Likeness) -> bool {
        let alike = |one: &Concept, other: &Concept| match likeness {
            Likeness::Synonyms => one.resembles(other),
            Likeness::Words => one.equals(other),
        };
        match (self, other) {
            (Self::Object(object), Self::Object(other)) => alike(object, other),
            (Self::Attribute(object, attribute), Self::Attribute(other, its)) => {
                alike(object, other) && alike(attribute, its)
            }
            (Self::Relation(source, relation, target), Self::Relation(from, by, to)) => {
                alike(source, from) && alike(relation, by) && alike(target, to)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "car", "auto" and "machine" share sets, as do "gray" and "grey".
    pub(crate) struct Few;

    impl Synonyms for Few {
        fn synsets(&self, word: &str, synsets: &mut Vec<u32>) {
            *synsets = Vec::from(match word {
                "car" => &[1, 2][..],
                "auto" => &[1],
                "machine" => &[3, 2, 4],
                "gray" | "grey" => &[7],
                "in_front_of" => &[9],
                _ => &[],
            });
        }
    }

    fn object(name: &str) -> Tuple {
        Tuple::Object(name.to_owned())
    }

    fn attribute(object: &str, attribute: &str) -> Tuple {
        Tuple::Attribute { object: object.to_owned(), attribute: attribute.to_owned() }
    }

    fn relation(subject: &str, predicate: &str, object: &str) -> Tuple {
        let [subject, predicate, object] = [subject, predicate, object].map(str::to_owned);
        Tuple::Relation { subject, predicate, object }
    }

    fn printed(tuples: &[Tuple], likeness: Likeness) -> Vec<String> {
        let graph = SceneGraph::new(tuples, &Few, likeness);
        let name = |concept: &Concept| concept.words().join("/");
        let facts = graph.facts().into_iter().map(|fact| match fact {
            Fact::Object(object) => name(object),
            Fact::Attribute(object, attribute) => format!("{} is {}", name(object), name(attribute)),
            Fact::Relation(source, relation, target) => {
                format!("{} {} {}", name(source), name(relation), name(target))
            }
        });
        facts.collect()
    }

    #[test]
    fn like_things_are_merged_into_the_most_similar_one() {
        let tuples = [
            object("auto"),
            object("machine"),
            attribute("car", "gray"),
            attribute("auto", "grey"),
            relation("car", "be near", "house"),
            relation("machine", "near", "house"),
            relation("car", "near", "house"),
        ];
        let expected = [
            "auto/car",
            "auto/car is gray/grey",
            "machine",
            "house",
            "auto/car near house",
            "machine near house",
        ];
        assert_eq!(printed(&tuples, Likeness::Synonyms), expected);
        let words = printed(&tuples, Likeness::Words);
        assert_eq!(words.len(), 4 + 2 + 2, "{words:?}");
    }

    #[test]
    fn phrases_are_looked_up_with_underscores() {
        assert_eq!(Concept::new(" In front of ", &Few).synsets, [9]);
    }
}
