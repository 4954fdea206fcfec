//! Edits of dependency graphs before tuples are read: quantifiers become modifiers, pronouns become their nouns.

use std::borrow::Cow;

use crate::graph::{Relation, Word, WordId};
use crate::hash_order::HashOrder;
use crate::network::Network;

/// The relation from a noun to the first word of its quantifier.
pub(crate) const QUANTIFIER: &str = "det:qmod";

/// Words that quantify after an article and before "of".
const AFTER_ARTICLE: &str = "lot assortment number couple bunch handful litany sheaf slew dozen series variety \
    multitude wad clutch wave mountain array spate string ton range plethora heap sort form kind type version bit pair \
    triple total";
/// Words that quantify before "of".
const ALONE: &str = "lots many several plenty tons dozens multitudes mountains loads pairs tens hundreds thousands \
    millions billions trillions";
/// Words that quantify before "of" with a pronoun, or with an article and a noun.
const BEFORE_ARTICLE: &str = "some all both neither everyone nobody one two three four five six seven eight nine ten \
    hundred thousand million billion trillion";
/// Pronouns that stand for one; others may also stand for several.
const SINGULAR: [&str; 20] = [
    "i", "me", "myself", "mine", "my", "yourself", "he", "him", "himself", "his", "she", "her", "herself",
    "hers", "it", "itself", "its", "one", "oneself", "one's",
];

/// Makes nouns the heads of their quantifiers, then moves the edges of pronouns to nouns.
pub(crate) fn enhance(network: &mut Network<'_>) {
    for find in [after_article, alone, before_article] {
        if !promote(network, find) {
            break;
        }
    }
    resolve_pronouns(network);
}

/// A quantifier that was found.
struct Quantification {
    /// The word that quantifies.
    quantifier: WordId,
    /// The quantified noun.
    noun: WordId,
    /// The other words of the quantifier.
    others: Vec<WordId>,
    /// The relation by which children of the quantifier to its left also belong to it; `None` for all.
    left: Option<&'static str>,
}

/// Applies one pattern to all words. Returns whether the next pattern is to follow.
fn promote(network: &mut Network<'_>, find: fn(&Network<'_>, WordId) -> Option<Quantification>) -> bool {
    let before = network.remade();
    for found in before.sorted().into_iter().filter_map(|word| find(&before, word)) {
        let Quantification { quantifier, noun, mut others, left } = found;
        if network.is_root(quantifier) {
            network.remove_root(quantifier);
            network.add_root(noun);
        } else {
            let Some(parent) = network.parent(quantifier) else { return false };
            if let Some(relation) = network.relation(parent, quantifier).cloned() {
                network.remove(&relation, parent, quantifier);
                network.add(relation, parent, noun);
            }
        }
        let Some(relation) = network.relation(quantifier, noun).cloned() else { return false };
        network.remove(&relation, quantifier, noun);
        others.push(quantifier);
        let mut children: Vec<WordId> = Vec::new();
        for (name, child) in network.dependents(quantifier) {
            let belongs =
                left.is_none_or(|left| name == left) && index(network, child) < index(network, quantifier);
            if belongs && !children.contains(&child) {
                children.push(child);
            }
        }
        others.extend(children);
        others.sort_by_key(|word| network.place(*word));
        attach(network, noun, &others);
    }
    true
}

fn index(network: &Network<'_>, word: WordId) -> usize {
    network.word(word).index
}

/// Makes the first word depend on the noun, and the others on the first.
fn attach(network: &mut Network<'_>, noun: WordId, words: &[WordId]) {
    for word in words {
        let heads: Vec<(Relation, WordId)> =
            network.heads(*word).into_iter().map(|(relation, head)| (relation.clone(), head)).collect();
        for (relation, head) in heads {
            network.remove(&relation, head, *word);
        }
        if Some(word) == words.first() {
            network.add(Cow::Borrowed(QUANTIFIER), noun, *word);
        } else {
            network.add(Cow::Borrowed("mwe"), words[0], *word);
        }
    }
}

/// "a lot of dogs"
fn after_article(network: &Network<'_>, quantifier: WordId) -> Option<Quantification> {
    if !is_among(network.word(quantifier), AFTER_ARTICLE) {
        return None;
    }
    let is_article = |word: WordId| is_among(network.word(word), "a an");
    let mut articles = network.dependents(quantifier).into_iter();
    let (_, article) = articles.find(|(relation, word)| *relation == "det" && is_article(*word))?;
    let (noun, of) = nouns(network, quantifier)
        .find(|(noun, _)| is_noun(network.word(*noun)) || is_pronoun(network.word(*noun)))?;
    Some(Quantification { quantifier, noun, others: vec![article, of], left: Some("amod") })
}

/// "lots of dogs"
fn alone(network: &Network<'_>, quantifier: WordId) -> Option<Quantification> {
    let word = network.word(quantifier);
    if !is_among(word, ALONE) && !word.text.strip_suffix(['s', 'S']).is_some_and(is_number) {
        return None;
    }
    let (noun, of) = nouns(network, quantifier)
        .find(|(noun, _)| is_noun(network.word(*noun)) || is_pronoun(network.word(*noun)))?;
    Some(Quantification { quantifier, noun, others: vec![of], left: None })
}

/// "some of the dogs", "two of them"
fn before_article(network: &Network<'_>, quantifier: WordId) -> Option<Quantification> {
    let word = network.word(quantifier);
    if !is_among(word, BEFORE_ARTICLE) && !is_number(&word.text) {
        return None;
    }
    let has_article = |noun: WordId| {
        let dependents = network.dependents(noun).into_iter();
        dependents
            .into_iter()
            .any(|(relation, article)| relation == "det" && index(network, article) == word.index + 2)
    };
    let with_article = |(noun, _): &(WordId, WordId)| is_noun(network.word(*noun)) && has_article(*noun);
    let found = nouns(network, quantifier).find(with_article);
    let (noun, of) =
        found.or_else(|| nouns(network, quantifier).find(|(noun, _)| is_pronoun(network.word(*noun))))?;
    Some(Quantification { quantifier, noun, others: vec![of], left: None })
}

/// The words that depend on a quantifier by an "of" immediately after it, each with this "of".
fn nouns(network: &Network<'_>, quantifier: WordId) -> impl Iterator<Item = (WordId, WordId)> {
    let next = index(network, quantifier) + 1;
    let modifiers =
        network.dependents(quantifier).into_iter().filter(|(relation, _)| relation.starts_with("nmod"));
    modifiers.flat_map(move |(_, noun)| {
        let cases = network.dependents(noun).into_iter().filter(|(relation, _)| *relation == "case");
        let of = move |of: &WordId| is_among(network.word(*of), "of") && index(network, *of) == next;
        cases.map(|(_, of)| of).filter(of).map(move |of| (noun, of))
    })
}

fn is_among(word: &Word, list: &str) -> bool {
    list.split(' ').any(|other| word.text.eq_ignore_ascii_case(other))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

fn is_noun(word: &Word) -> bool {
    word.tag.starts_with("NN")
}

fn is_pronoun(word: &Word) -> bool {
    word.tag.starts_with("PRP")
}

/// Moves the edges of each pronoun to the noun that is nearest to the root, if that stands before it.
fn resolve_pronouns(network: &mut Network<'_>) {
    let mut words = network.vertices();
    words.sort_by_key(|word| network.place(*word));
    let mut resolved: HashOrder<WordId> = HashOrder::with_buckets(1);
    for word in words {
        let index = index(network, word);
        let Some(pronoun) = network.at_index(index) else { continue };
        if index < 2 || !is_pronoun(network.word(word)) || network.parent(pronoun).is_none() {
            continue;
        }
        let is_singular = SINGULAR.contains(&network.word(word).text.as_str());
        let fits = |word: &Word| match word.tag.as_str() {
            "NN" | "NNP" => true,
            "NNS" | "NNPS" => !is_singular,
            _ => false,
        };
        let noun = network.nearest_to_root(fits).and_then(|noun| network.at_index(network.word(noun).index));
        if let Some(noun) = noun.filter(|noun| network.word(*noun).index < index) {
            *resolved.entry(pronoun, index, || noun) = noun;
        }
    }
    let resolved: Vec<(WordId, WordId)> = resolved.iter().map(|(pronoun, noun)| (pronoun, *noun)).collect();
    for (pronoun, noun) in resolved {
        move_edges(network, pronoun, noun);
    }
}

fn move_edges(network: &mut Network<'_>, pronoun: WordId, noun: WordId) {
    let sorted = |network: &Network<'_>, edges: Vec<(&Relation, WordId)>| {
        let mut edges: Vec<_> =
            edges.into_iter().map(|(relation, word)| (network.place(word), relation.clone(), word)).collect();
        edges.sort();
        edges
    };
    for (_, relation, head) in sorted(network, network.heads(pronoun)) {
        network.remove(&relation, head, pronoun);
        network.add(relation, head, noun);
    }
    for (_, relation, dependent) in sorted(network, network.dependents(pronoun)) {
        network.remove(&relation, pronoun, dependent);
        network.add(relation, noun, dependent);
    }
}
