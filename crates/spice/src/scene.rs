//! Scene graphs: what several captions say together, with like things merged.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::phrases::Phrases;
use crate::tuples::Tuple;

/// The conditions under which two phrases mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Likeness {
    /// If they are equal or share a synonym set; like things are merged.
    Synonyms,
    /// Only if they are equal.
    Words,
}

/// A phrase, together with others that were merged into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concept {
    /// The numbers of the phrases, in the order in which they came.
    phrases: Vec<u32>,
    /// Those of all phrases, ascending.
    synsets: Vec<u32>,
}

impl Concept {
    /// The concept of a single phrase.
    fn new(phrase: u32, phrases: &Phrases) -> Self {
        Self { phrases: vec![phrase], synsets: phrases.synsets(phrase).to_vec() }
    }

    /// The concept of several phrases, which were merged in this order.
    pub(crate) fn merged(all: impl IntoIterator<Item = u32>, phrases: &Phrases) -> Self {
        let mut concept = Self { phrases: Vec::new(), synsets: Vec::new() };
        all.into_iter().for_each(|phrase| concept.merge(phrase, phrases));
        concept
    }

    /// The numbers of its phrases.
    pub(crate) fn phrases(&self) -> &[u32] {
        &self.phrases
    }

    /// The only phrase, if there is one only.
    pub(crate) fn only(&self) -> Option<u32> {
        match self.phrases[..] {
            [phrase] => Some(phrase),
            _ => None,
        }
    }

    /// Returns true if both consist of the same phrases, and so of the same synonym sets.
    fn equals(&self, other: &Self) -> bool {
        self.phrases.len() == other.phrases.len()
            && self.phrases.iter().all(|phrase| other.phrases.contains(phrase))
    }

    /// Returns true if they share a phrase or a synonym set.
    fn resembles(&self, other: &Self) -> bool {
        self.phrases.iter().any(|phrase| other.phrases.contains(phrase))
            || n_shared(&self.synsets, &other.synsets) > 0
    }

    /// Returns true if a phrase is one of its own, or shares a synonym set.
    fn resembles_phrase(&self, phrase: u32, phrases: &Phrases) -> bool {
        self.similarity(phrase, phrases) > 0.0
    }

    /// 1 if a phrase is one of its own, otherwise the part of the synonym sets that they share.
    fn similarity(&self, phrase: u32, phrases: &Phrases) -> f32 {
        if self.phrases.contains(&phrase) {
            return 1.0;
        }
        let synsets = phrases.synsets(phrase);
        let shared = n_shared(&self.synsets, synsets);
        let all = self.synsets.len() + synsets.len() - shared;
        if shared == 0 { 0.0 } else { shared as f32 / all as f32 }
    }

    fn merge(&mut self, phrase: u32, phrases: &Phrases) {
        if !self.phrases.contains(&phrase) {
            self.phrases.push(phrase);
            self.synsets.extend(phrases.synsets(phrase));
            self.synsets.sort_unstable();
            self.synsets.dedup();
        }
    }
}

/// The number of numbers that are in both of two ascending lists.
fn n_shared(ours: &[u32], theirs: &[u32]) -> usize {
    let mut theirs = theirs.iter().peekable();
    let is_shared = |synset: &&u32| {
        while theirs.next_if(|other| *other < *synset).is_some() {}
        theirs.peek() == Some(synset)
    };
    ours.iter().filter(is_shared).count()
}

/// A thing and its attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) object: Concept,
    pub(crate) attributes: Vec<Concept>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) source: usize,
    pub(crate) relation: Concept,
    pub(crate) target: usize,
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
enum Trait {
    Phrase(u32),
    Synset(u32),
}

/// The numbers of the concepts at each place that have a trait, by the hash of both. Without it, every concept would be
/// compared with all before it.
#[derive(Clone, Debug, Default)]
struct Index(HashTable<(u64, usize)>);

impl Index {
    /// The hashes of traits at a place.
    fn hashes(place: Place, phrases: &[u32], synsets: &[u32]) -> impl Iterator<Item = u64> {
        let phrases = phrases.iter().map(|phrase| Trait::Phrase(*phrase));
        let traits = phrases.chain(synsets.iter().map(|synset| Trait::Synset(*synset)));
        traits.map(move |one| FixedState::default().hash_one((place, one)))
    }

    /// The numbers under a hash.
    fn under(&self, hash: u64) -> impl Iterator<Item = usize> {
        self.0.iter_hash(hash).filter(move |(known, _)| *known == hash).map(|(_, number)| *number)
    }

    /// Adds the traits of a concept, or of a phrase that was merged into it, under its number.
    fn add(&mut self, place: Place, phrases: &[u32], synsets: &[u32], number: usize) {
        for hash in Self::hashes(place, phrases, synsets) {
            if self.under(hash).all(|known| known != number) {
                self.0.insert_unique(hash, (hash, number), |(hash, _)| *hash);
            }
        }
    }

    /// The concepts that share one of the traits, ascending, and any whose traits have the same hash.
    fn like(&self, place: Place, phrases: &[u32], synsets: &[u32]) -> Vec<usize> {
        let mut numbers: Vec<usize> =
            Self::hashes(place, phrases, synsets).flat_map(|hash| self.under(hash)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Those that share a trait with a concept.
    fn like_concept(&self, place: Place, concept: &Concept) -> Vec<usize> {
        self.like(place, &concept.phrases, &concept.synsets)
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
    pub fn new<'t, W: AsRef<str> + 't>(
        tuples: impl IntoIterator<Item = &'t Tuple<W>>,
        phrases: &mut Phrases,
        likeness: Likeness,
    ) -> Self {
        let mut graph = Self::default();
        tuples.into_iter().for_each(|tuple| graph.add(tuple, phrases, likeness));
        graph
    }

    /// Forgets everything but the memory.
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.links.clear();
        self.index.0.clear();
    }

    /// Adds what a tuple says.
    pub(crate) fn add<W: AsRef<str>>(&mut self, tuple: &Tuple<W>, phrases: &mut Phrases, likeness: Likeness) {
        let mut number = |phrase: &W| phrases.number(phrase.as_ref());
        match tuple {
            Tuple::Object(object) => {
                let object = number(object);
                self.node(object, phrases, likeness);
            }
            Tuple::Attribute { object, attribute } => {
                let [object, attribute] = [object, attribute].map(number);
                let node = self.node(object, phrases, likeness);
                self.attribute(node, attribute, phrases, likeness);
            }
            Tuple::Relation { subject, predicate, object } => {
                let [subject, object] = [subject, object].map(number);
                let predicate = predicate.as_ref();
                let relation = phrases.number(predicate.strip_prefix("be ").unwrap_or(predicate));
                let source = self.node(subject, phrases, likeness);
                let target = self.node(object, phrases, likeness);
                self.link((source, target), relation, phrases, likeness);
            }
        }
    }

    /// The thing with this phrase: that of this phrase only, or else the most similar one, into which it is merged, or
    /// else a new one.
    fn node(&mut self, phrase: u32, phrases: &Phrases, likeness: Likeness) -> usize {
        let (place, synsets) = (Place::Things, phrases.synsets(phrase));
        let mut most = (0.0, None);
        for number in self.index.like(place, &[phrase], synsets) {
            let object = &self.nodes[number].object;
            if object.only() == Some(phrase) {
                return number;
            }
            let similarity = object.similarity(phrase, phrases);
            if likeness == Likeness::Synonyms && similarity > most.0 {
                most = (similarity, Some(number));
            }
        }
        let number = most.1.unwrap_or(self.nodes.len());
        self.index.add(place, &[phrase], synsets, number);
        match self.nodes.get_mut(number) {
            Some(node) => node.object.merge(phrase, phrases),
            None => self.nodes.push(Node { object: Concept::new(phrase, phrases), attributes: Vec::new() }),
        }
        number
    }

    fn attribute(&mut self, node: usize, phrase: u32, phrases: &Phrases, likeness: Likeness) {
        let (place, synsets) = (Place::AttributesOf(node), phrases.synsets(phrase));
        let attributes = &mut self.nodes[node].attributes;
        let like = self.index.like(place, &[phrase], synsets);
        if like.iter().any(|number| attributes[*number].only() == Some(phrase)) {
            return;
        }
        let resembling = |number: &usize| attributes[*number].resembles_phrase(phrase, phrases);
        let number = first_like(&like, resembling, likeness).unwrap_or(attributes.len());
        self.index.add(place, &[phrase], synsets, number);
        match attributes.get_mut(number) {
            Some(attribute) => attribute.merge(phrase, phrases),
            None => attributes.push(Concept::new(phrase, phrases)),
        }
    }

    fn link(&mut self, ends: (usize, usize), phrase: u32, phrases: &Phrases, likeness: Likeness) {
        let (source, target) = ends;
        let (place, synsets) = (Place::Between(source, target), phrases.synsets(phrase));
        let like = self.index.like(place, &[phrase], synsets);
        if like.iter().any(|number| self.links[*number].relation.only() == Some(phrase)) {
            return;
        }
        let resembling = |number: &usize| self.links[*number].relation.resembles_phrase(phrase, phrases);
        let number = first_like(&like, resembling, likeness).unwrap_or(self.links.len());
        self.index.add(place, &[phrase], synsets, number);
        match self.links.get_mut(number) {
            Some(link) => link.relation.merge(phrase, phrases),
            None => self.links.push(Link { source, relation: Concept::new(phrase, phrases), target }),
        }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    /// Adds a thing as it was in another graph.
    pub(crate) fn add_node(&mut self, node: Node) {
        let number = self.nodes.len();
        let mut add = |place, Concept { phrases, synsets }: &Concept, number| {
            self.index.add(place, phrases, synsets, number);
        };
        add(Place::Things, &node.object, number);
        for (attribute, at) in node.attributes.iter().zip(0..) {
            add(Place::AttributesOf(number), attribute, at);
        }
        self.nodes.push(node);
    }

    /// Adds a relation as it was in another graph.
    pub(crate) fn add_link(&mut self, link: Link) {
        let Concept { phrases, synsets } = &link.relation;
        self.index.add(Place::Between(link.source, link.target), phrases, synsets, self.links.len());
        self.links.push(link);
    }

    /// The statements that a fact of another graph matches, in the order of [`facts`](Self::facts). Both graphs number
    /// phrases alike.
    pub fn matching(&self, fact: &Fact<'_>, likeness: Likeness) -> Vec<Fact<'_>> {
        let things = |concept| self.index.like_concept(Place::Things, concept);
        let possible: Vec<Fact<'_>> = match fact {
            Fact::Object(object) => things(object).into_iter().map(|number| self.object(number)).collect(),
            Fact::Attribute(object, attribute) => {
                let attributes = |node: usize| {
                    let like = self.index.like_concept(Place::AttributesOf(node), attribute).into_iter();
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
                    places.flat_map(|place| self.index.like_concept(place, relation)).collect();
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
pub(crate) mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::phrases::Synonyms;

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
        let mut phrases = Phrases::new(Arc::new(Few));
        let graph = SceneGraph::new(tuples, &mut phrases, likeness);
        let name = |concept: &Concept| phrases.texts(concept).join("/");
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
        let mut phrases = Phrases::new(Arc::new(Few));
        let number = phrases.number(" In front of ");
        assert_eq!(phrases.synsets(number), [9]);
    }
}
