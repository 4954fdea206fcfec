//! Prepositions of several words: "next to", "in front of".

use super::net::{Label, Link, LinkId, Net};
use super::relations::Kind;
use super::sentence::Sentence;
use crate::WordId;

/// Prepositions of two words that both depend on the noun: "off of it".
const PAIRS: &str = "\
    across from, along with, alongside of, apart from, as for, as from, as of, as per, as to, aside from, \
    based on, close by, close to, contrary to, compared to, compared with, except for, exclusive of, \
    far from, followed by, inside of, irrespective of, next to, near to, off of, out of, outside of, \
    owing to, preliminary to, preparatory to, previous to, pursuant to, regardless of, subsequent to, \
    thanks to, together with";

/// Prepositions of two words of which the first may govern the noun: "away from it".
const GOVERNING_PAIRS: &str = "\
    apart from, as from, aside from, away from, close by, close to, contrary to, far from, next to, \
    near to, out of, outside of, pursuant to, regardless of, together with";

/// Prepositions of three words of which the second governs the noun: "in front of it".
const TRIPLES: &str = "\
    by means of, in accordance with, in addition to, in case of, in front of, in lieu of, in place of, \
    in spite of, on account of, on behalf of, on top of, with regard to, with respect to";

/// Relations that connect two clauses.
const CLAUSES: &[Kind] = &[
    Kind::Conj,
    Kind::Xcomp,
    Kind::Ccomp,
    Kind::Acl,
    Kind::Advcl,
    Kind::Relcl,
    Kind::Parataxis,
    Kind::Appos,
    Kind::List,
];

/// Returns true if a preposition may name the relation.
pub(super) fn is_case_marked(label: &Label) -> bool {
    label.is(Kind::Nmod) || label.is(Kind::Acl) || label.is(Kind::Advcl)
}

/// Prepositions of several words become one, headed by their first word.
pub(super) fn join_prepositions(net: &mut Net, sentence: &Sentence<'_>) {
    let mut words: Vec<WordId> = net.vertices().collect();
    words.sort_unstable();
    let texts: Vec<&str> = words.iter().map(|word| sentence.lower(net, *word)).collect();
    let places = |preposition: &str| -> Vec<WordId> {
        let parts: Vec<&str> = preposition.split(' ').collect();
        let starts = texts.windows(parts.len()).zip(&words).filter(|(window, _)| **window == parts[..]);
        let mut places: Vec<WordId> = starts.map(|(_, word)| *word).collect();
        places.sort_by_key(|word| (word + 1) % 16);
        // The words must also be neighbours in the sentence.
        places.retain(|word| (1..parts.len()).all(|next| words.binary_search(&(word + next)).is_ok()));
        places
    };
    let found = |list: &str| list.split(", ").flat_map(places).collect::<Vec<_>>();
    let (pairs, governing, triples) = (found(PAIRS), found(GOVERNING_PAIRS), found(TRIPLES));
    if pairs.is_empty() && governing.is_empty() && triples.is_empty() {
        return;
    }
    let order = net.topological();
    pairs.into_iter().for_each(|first| join_pair(net, &order, first));
    governing.into_iter().for_each(|first| join_governing_pair(net, first));
    triples.into_iter().for_each(|first| join_triple(net, first));
}

fn join_pair(net: &mut Net, order: &[WordId], first: WordId) {
    let second = first + 1;
    if !net.is_leaf(first) || !net.is_leaf(second) {
        return;
    }
    let marks = |label: &Label| label.is(Kind::Case) || label.is(Kind::Advmod);
    let governs = |noun: &WordId| {
        net.children(*noun, marks).any(|link| net.link(link).dependent == first)
            && net.by(*noun, Kind::Case).any(|word| word == second)
    };
    if let Some(noun) = order.iter().copied().find(governs) {
        join(net, noun, Kind::Case, &[first, second]);
    }
}

fn join_governing_pair(net: &mut Net, first: WordId) {
    let second = first + 1;
    let governs = |noun: &WordId| net.by(*noun, Kind::Case).any(|word| word == second);
    let noun = net.by(first, Kind::Nmod).find(governs).filter(|_| net.is_leaf(second));
    let Some((noun, link)) = noun.and_then(|noun| Some((noun, net.between(first, noun)?))) else { return };
    let label = net.link(link).label.clone();
    if net.is_root(first) {
        net.remove(link);
        net.remove_root(first);
        net.add_root(noun);
    } else {
        let Some(head) = net.heads(first).next() else { return };
        net.remove(link);
        let copular = net.by(first, Kind::Cop).next().is_some();
        let outer = net.between(head, first).map(|link| net.link(link).label.clone());
        let outer = outer.filter(|label| copular && label.is_plain() && CLAUSES.contains(&label.kind));
        net.add(Link { label: outer.unwrap_or(label), head, dependent: noun });
    }
    move_children(net, first, noun);
    join(net, noun, Kind::Case, &[first, second]);
}

fn join_triple(net: &mut Net, first: WordId) {
    let (second, third) = (first + 1, first + 2);
    let marks = |label: &Label| label.is(Kind::Case) || label.is(Kind::Mark);
    let governs = |noun: &WordId| net.children(*noun, marks).any(|link| net.link(link).dependent == third);
    let noun = net.children(second, is_case_marked).map(|link| net.link(link).dependent).find(governs);
    let fits =
        net.is_leaf(first) && net.is_leaf(third) && net.by(second, Kind::Case).any(|word| word == first);
    let Some((noun, link)) = noun.filter(|_| fits).and_then(|noun| Some((noun, net.between(second, noun)?)))
    else {
        return;
    };
    let inner = net.link(link).label.clone();
    let mut mark = Kind::Case;
    if net.is_root(second) {
        net.remove(link);
        net.remove_root(second);
        net.add_root(noun);
    } else {
        let Some(head) = net.heads(second).next() else { return };
        net.remove(link);
        let Some(outer) = net.between(head, second).map(|link| net.link(link).label.clone()) else { return };
        let clausal = outer.is(Kind::Nmod) && (inner.is(Kind::Acl) || inner.is(Kind::Advcl));
        if clausal {
            mark = Kind::Mark;
        }
        net.add(Link { label: if clausal { inner } else { outer }, head, dependent: noun });
    }
    move_children(net, second, noun);
    join(net, noun, mark, &[first, second, third]);
}

/// Makes all that depends on one word depend on another.
fn move_children(net: &mut Net, from: WordId, to: WordId) {
    let mut links: Vec<LinkId> = net.outgoing(from).collect();
    links.sort_by(|a, b| {
        let (a, b) = (net.link(*a), net.link(*b));
        net.place(a.dependent).cmp(&net.place(b.dependent)).then_with(|| a.label.name.cmp(&b.label.name))
    });
    let mut source = None;
    for link in links {
        let moved = Link { head: to, ..net.link(link).clone() };
        net.remove(link);
        let source = *source.get_or_insert(net.next_link());
        net.add_from(moved, source);
    }
}

/// Makes the words one expression that marks `head`.
fn join(net: &mut Net, head: WordId, mark: Kind, words: &[WordId]) {
    let Some(first) = words.first().copied() else { return };
    for word in words.iter().copied() {
        if let Some(link) = net.parent(word).and_then(|parent| net.between(parent, word)) {
            net.remove(link);
        }
        let (kind, head) = if word == first { (mark, head) } else { (Kind::Mwe, first) };
        net.add(Link { label: Label::new(kind), head, dependent: word });
    }
}
