//! Tuples of a caption: objects, attributes and relations, read from its dependencies.
//!
//! Rules run one after the other, each over all words, heads before their dependents; equal tuples may come several
//! times. The order matters, since scene graphs merge what they are given one by one.

use crate::enhance::{QUANTIFIER, enhance};
use crate::graph::{DependencyGraph, WordId};
use crate::hash_order::HashOrder;
use crate::morphology::lemma;
use crate::network::Network;

/// A statement of a caption, in lemmas.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Tuple<W = String> {
    /// Something exists.
    Object(W),
    /// It has an attribute.
    Attribute {
        /// The object with the attribute.
        object: W,
        /// The attribute.
        attribute: W,
    },
    /// It is related to something.
    Relation {
        /// The subject of the relation.
        subject: W,
        /// The relation.
        predicate: W,
        /// The other end.
        object: W,
    },
}

/// Writes tuples as lines of words that tabs separate. No token has either of these; in other words they become spaces.
pub(crate) fn to_note<W: AsRef<str>>(tuples: &[Tuple<W>]) -> String {
    let mut note = String::new();
    for tuple in tuples {
        let words = match tuple {
            Tuple::Object(object) => vec![object],
            Tuple::Attribute { object, attribute } => vec![object, attribute],
            Tuple::Relation { subject, predicate, object } => vec![subject, predicate, object],
        };
        for (word, separator) in words.into_iter().zip(["", "\t", "\t"]) {
            note.push_str(separator);
            note.extend(word.as_ref().chars().map(|c| if matches!(c, '\t' | '\n') { ' ' } else { c }));
        }
        note.push('\n');
    }
    note
}

/// Reads what [`to_note`] wrote; `None` if it did not write this.
pub(crate) fn from_note<'n>(note: &'n str) -> Option<Vec<Tuple<&'n str>>> {
    if !note.is_empty() && !note.ends_with('\n') {
        return None;
    }
    let tuple = |line: &'n str| match line.split('\t').collect::<Vec<_>>()[..] {
        [object] => Some(Tuple::Object(object)),
        [object, attribute] => Some(Tuple::Attribute { object, attribute }),
        [subject, predicate, object] => Some(Tuple::Relation { subject, predicate, object }),
        _ => None,
    };
    note.split_terminator('\n').map(tuple).collect()
}

/// The tuples of the sentences of a caption, from their collapsed dependencies with conjunctions propagated.
pub fn tuples(sentences: &[DependencyGraph]) -> Vec<Tuple> {
    let mut tuples = Vec::new();
    for (number, graph) in sentences.iter().enumerate() {
        let mut network = Network::new(graph, number);
        enhance(&mut network);
        let lemmas = graph.words().iter().map(|word| lemma(&word.text, &word.tag)).collect();
        let order = network.sorted();
        Sentence { network, order, lemmas, tuples: &mut tuples }.read();
    }
    tuples
}

/// A sentence while its tuples are read.
struct Sentence<'g, 't> {
    network: Network<'g>,
    order: Vec<WordId>,
    lemmas: Vec<String>,
    tuples: &'t mut Vec<Tuple>,
}

impl Sentence<'_, '_> {
    fn read(mut self) {
        let order = std::mem::take(&mut self.order);
        let mut each = |rule: fn(&mut Self, WordId)| order.iter().for_each(|word| rule(&mut self, *word));
        each(Self::subject_and_object);
        each(Self::participle_and_object);
        each(Self::subject_without_object);
        each(Self::subject_of_copula);
        each(Self::adjectives);
        each(Self::subject_of_adjective);
        each(Self::modifiers);
        each(Self::possessors);
        each(Self::agent);
        each(Self::number_of_plural_subject_and_object);
        each(Self::number_of_plural_subject);
        each(Self::number_of_other_plural);
        let mut compounds = vec![false; self.lemmas.len()];
        for &word in &order {
            self.parts_of_compound(word, &mut compounds);
        }
        for &word in &order {
            if self.is_noun(word) && !compounds[word] {
                self.tuples.push(Tuple::Object(self.name(word)));
            }
        }
    }

    /// "a man rides a horse"
    fn subject_and_object(&mut self, verb: WordId) {
        if !self.has_copula(verb) {
            for subject in self.noun_subjects(verb) {
                self.relate_to_objects(subject, verb);
            }
        }
    }

    /// "a man riding a horse"
    fn participle_and_object(&mut self, subject: WordId) {
        for verb in self.dependents(subject, |relation| relation == "acl") {
            if self.tag(verb).starts_with('V') {
                self.relate_to_objects(subject, verb);
            }
        }
    }

    fn relate_to_objects(&mut self, subject: WordId, verb: WordId) {
        let predicate = self.predicate(verb);
        let objects = self.network.dependents(verb).into_iter();
        let relations: Vec<(String, WordId)> = objects
            .filter(|(relation, object)| is_object(relation) && self.is_noun(*object))
            .map(|(relation, object)| match preposition(relation) {
                Some(preposition) => (format!("{predicate} {preposition}"), object),
                None => (predicate.clone(), object),
            })
            .collect();
        for (predicate, object) in relations {
            self.relate(subject, predicate, object);
        }
    }

    /// "a man sits", "a man in a hat"
    fn subject_without_object(&mut self, predicate: WordId) {
        let has_object =
            self.has(predicate, |sentence, relation, word| is_object(relation) && sentence.is_noun(word));
        if !has_object && !self.has_copula(predicate) {
            for subject in self.noun_subjects(predicate) {
                self.say_of(subject, predicate);
            }
        }
    }

    /// "the man is tall", "the man is on the bus"
    fn subject_of_copula(&mut self, predicate: WordId) {
        for subject in self.noun_subjects(predicate) {
            for _ in self.dependents(predicate, |relation| relation == "cop") {
                self.say_of(subject, predicate);
            }
        }
    }

    fn say_of(&mut self, subject: WordId, predicate: WordId) {
        if let Some(preposition) = self.network.dependent_by(predicate, "case") {
            let mut name = self.network.word(preposition).text.clone();
            let mut words = HashOrder::default();
            for word in self.dependents(preposition, |relation| relation == "mwe") {
                words.entry(word, self.network.hash(word), || ());
            }
            for (word, ()) in words.iter() {
                name.push(' ');
                name.push_str(&self.network.word(word).text);
            }
            self.relate(subject, name, predicate);
        } else if self.lemmas[predicate] != "be" {
            self.describe(subject, predicate);
        }
    }

    /// "a tall man"
    fn adjectives(&mut self, object: WordId) {
        for adjective in self.dependents(object, |relation| relation == "amod") {
            self.describe(object, adjective);
        }
    }

    /// "the man is tall" again, of any subject
    fn subject_of_adjective(&mut self, adjective: WordId) {
        if self.tag(adjective).starts_with('J') {
            for subject in self.dependents(adjective, |relation| relation == "nsubj") {
                self.describe(subject, adjective);
            }
        }
    }

    /// "a man in a hat"
    fn modifiers(&mut self, noun: WordId) {
        if self.is_noun(noun) {
            let modifiers = self.network.dependents(noun).into_iter();
            let modifiers: Vec<(String, WordId)> = modifiers
                .filter_map(|(relation, modifier)| Some((preposition(relation)?, modifier)))
                .collect();
            for (preposition, modifier) in modifiers {
                self.relate(noun, preposition, modifier);
            }
        }
    }

    /// "a man's hat"
    fn possessors(&mut self, noun: WordId) {
        if self.is_noun(noun) {
            for possessor in self.dependents(noun, |relation| relation == "nmod:poss") {
                if self.is_noun(possessor) {
                    self.relate(possessor, "have".to_owned(), noun);
                }
            }
        }
    }

    /// "a horse ridden by a man"
    fn agent(&mut self, verb: WordId) {
        if self.tag(verb).starts_with('V') {
            for agent in self.dependents(verb, |relation| relation == "nmod:agent") {
                for object in self.dependents(verb, |relation| relation == "nsubjpass") {
                    if self.is_noun(agent) && self.is_noun(object) {
                        self.relate(agent, self.predicate(verb), object);
                    }
                }
            }
        }
    }

    /// "two men ride three horses"
    fn number_of_plural_subject_and_object(&mut self, verb: WordId) {
        let subject = self
            .dependents(verb, |relation| relation == "nsubj")
            .into_iter()
            .find(|word| self.is_plural(*word));
        if let (Some(subject), Some(object)) = (subject, self.plural_object(verb)) {
            self.count(subject);
            self.count(object);
        }
    }

    /// "two men", "two men ride a horse"
    fn number_of_plural_subject(&mut self, subject: WordId) {
        let heads = self.network.heads(subject);
        let mut verbs = heads.into_iter().filter(|(relation, _)| *relation == "nsubj").map(|(_, verb)| verb);
        let is_alone = self.network.is_root(subject) || verbs.any(|verb| self.plural_object(verb).is_none());
        if self.is_plural(subject) && is_alone {
            self.count(subject);
        }
    }

    /// "a man with two dogs"
    fn number_of_other_plural(&mut self, word: WordId) {
        let heads = self.network.heads(word);
        let is_subject = heads.iter().any(|(relation, _)| *relation == "nsubj");
        let is_object_of_plural = heads.iter().any(|&(relation, head)| {
            let has_plural =
                |sentence: &Self, relation: &str, word| relation == "nsubj" && sentence.is_plural(word);
            (is_direct(relation) || relation.starts_with("nmod")) && self.has(head, has_plural)
        });
        let is_other = !self.network.is_root(word) && !is_subject && !is_object_of_plural;
        if self.is_plural(word) && is_other {
            self.count(word);
        }
    }

    /// The first plural object of a verb, if not the first plural noun with a preposition that is not its agent.
    fn plural_object(&self, verb: WordId) -> Option<WordId> {
        let plurals = || self.network.dependents(verb).into_iter().filter(|(_, word)| self.is_plural(*word));
        let object = plurals().find(|(relation, _)| is_direct(relation));
        let is_oblique =
            |relation: &str| relation.strip_prefix("nmod:").is_some_and(|name| !name.contains("agent"));
        let has_case = |word| self.network.dependent_by(word, "case").is_some();
        let oblique = || plurals().find(|(relation, word)| is_oblique(relation) && has_case(*word));
        object.or_else(oblique).map(|(_, word)| word)
    }

    /// Makes the number of a noun its attribute.
    fn count(&mut self, noun: WordId) {
        if let Some(number) = self.network.dependent_by(noun, "nummod") {
            // "number 5" is no number of numbers.
            if self.network.word(number).index < self.network.word(noun).index {
                self.describe(noun, number);
            }
        } else if let Some(quantifier) = self.network.dependent_by(noun, QUANTIFIER) {
            self.describe(noun, quantifier);
        }
    }

    /// "tennis ball"
    fn parts_of_compound(&mut self, noun: WordId, compounds: &mut [bool]) {
        if self.is_noun(noun) {
            for part in self.dependents(noun, |relation| relation == "compound") {
                if self.is_noun(part) {
                    compounds[noun] = true;
                    compounds[part] = true;
                    self.describe(noun, part);
                }
            }
        }
    }

    fn relate(&mut self, subject: WordId, predicate: String, object: WordId) {
        self.tuples.push(Tuple::Relation {
            subject: self.name(subject),
            predicate,
            object: self.name(object),
        });
    }

    fn describe(&mut self, object: WordId, attribute: WordId) {
        self.tuples.push(Tuple::Attribute { object: self.name(object), attribute: self.name(attribute) });
    }

    /// The lemma of a word in lower case.
    fn name(&self, word: WordId) -> String {
        self.lemmas[word].trim_matches(|c| c <= ' ').to_lowercase()
    }

    /// The lemma of a verb with its particle, or of "be" the particle alone after a space.
    fn predicate(&self, verb: WordId) -> String {
        let lemma = self.lemmas[verb].as_str();
        match self.network.dependent_by(verb, "compound:prt") {
            Some(particle) => {
                format!("{} {}", if lemma == "be" { "" } else { lemma }, self.network.word(particle).text)
            }
            None => lemma.to_owned(),
        }
    }

    /// The words that depend on `head` by a relation for which `fits` holds, in order.
    fn dependents(&self, head: WordId, fits: impl Fn(&str) -> bool) -> Vec<WordId> {
        let edges = self.network.dependents(head).into_iter();
        edges.filter(|(relation, _)| fits(relation)).map(|(_, word)| word).collect()
    }

    fn noun_subjects(&self, verb: WordId) -> Vec<WordId> {
        let mut subjects = self.dependents(verb, |relation| relation == "nsubj");
        subjects.retain(|subject| self.is_noun(*subject));
        subjects
    }

    fn has(&self, head: WordId, fits: impl Fn(&Self, &str, WordId) -> bool) -> bool {
        self.network.dependents(head).into_iter().any(|(relation, word)| fits(self, relation, word))
    }

    fn has_copula(&self, head: WordId) -> bool {
        self.network.dependent_by(head, "cop").is_some()
    }

    fn tag(&self, word: WordId) -> &str {
        &self.network.word(word).tag
    }

    fn is_noun(&self, word: WordId) -> bool {
        matches!(self.tag(word), "NN" | "NNS" | "NNP" | "NNPS")
    }

    fn is_plural(&self, word: WordId) -> bool {
        matches!(self.tag(word), "NNS" | "NNPS")
    }
}

/// Returns true if a relation leads to an object, direct, indirect or with a preposition.
fn is_object(relation: &str) -> bool {
    matches!(relation, "iobj" | "dobj") || relation.starts_with("nmod:")
}

/// Returns true if a relation is that of an object without a preposition.
fn is_direct(relation: &str) -> bool {
    relation.strip_suffix("obj").is_some_and(|kind| kind.chars().count() == 1)
}

/// The preposition in the name of a relation: "in front of" of `nmod:in_front_of`.
fn preposition(relation: &str) -> Option<String> {
    let name = relation.strip_prefix("nmod:")?;
    (name != "poss" && name != "agent").then(|| name.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_hold_tuples() {
        let attribute = Tuple::Attribute { object: "dog", attribute: "3 1/2" };
        let relation = Tuple::Relation { subject: "dog", predicate: "on", object: "sofa" };
        let tuples = [Tuple::Object(""), attribute, relation];
        for tuples in [&tuples[..0], &tuples[..1], &tuples] {
            assert_eq!(from_note(&to_note(tuples)).unwrap(), tuples);
        }
        assert_eq!(to_note(&[Tuple::Object("a\tb\nc")]), "a b c\n");
        assert!(from_note("dog").is_none() && from_note("a\tb\tc\td\n").is_none());
    }
}
