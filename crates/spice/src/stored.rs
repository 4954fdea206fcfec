//! Scene graphs as bytes: a hundred for a caption, where the graph takes thousands.
//!
//! Each thing follows with its attributes, then each relation. Concepts are their phrases; synonym sets and the index
//! are found again.

use crate::phrases::Phrases;
use crate::scene::{Concept, Link, Node, SceneGraph};

/// The bits of a number in one byte; the last one says that more follow.
const BITS: u32 = 7;

/// The bytes of a graph.
pub(crate) fn store(graph: &SceneGraph, phrases: &Phrases) -> Vec<u8> {
    let mut out = Vec::new();
    write_number(&mut out, graph.nodes().len());
    for Node { object, attributes } in graph.nodes() {
        write_concept(&mut out, object, phrases);
        write_number(&mut out, attributes.len());
        attributes.iter().for_each(|attribute| write_concept(&mut out, attribute, phrases));
    }
    for Link { source, relation, target } in graph.links() {
        write_number(&mut out, *source);
        write_number(&mut out, *target);
        write_concept(&mut out, relation, phrases);
    }
    out
}

/// Replaces a graph with the one in these bytes.
pub(crate) fn restore(graph: &mut SceneGraph, stored: &[u8], phrases: &mut Phrases) {
    let mut rest = stored;
    graph.clear();
    for _ in 0..read_number(&mut rest) {
        let object = read_concept(&mut rest, phrases);
        let attributes = (0..read_number(&mut rest)).map(|_| read_concept(&mut rest, phrases)).collect();
        graph.add_node(Node { object, attributes });
    }
    while !rest.is_empty() {
        let [source, target] = [(); 2].map(|()| read_number(&mut rest));
        graph.add_link(Link { source, relation: read_concept(&mut rest, phrases), target });
    }
}

fn write_number(out: &mut Vec<u8>, mut number: usize) {
    while number >> BITS != 0 {
        out.push(number as u8 | 1 << BITS);
        number >>= BITS;
    }
    out.push(number as u8);
}

fn write_concept(out: &mut Vec<u8>, concept: &Concept, phrases: &Phrases) {
    write_number(out, concept.phrases().len());
    for phrase in concept.phrases() {
        let text = phrases.text(*phrase);
        write_number(out, text.len());
        out.extend_from_slice(text.as_bytes());
    }
}

fn read_number(rest: &mut &[u8]) -> usize {
    let (mut number, mut shift) = (0, 0);
    while let Some((byte, after)) = rest.split_first() {
        *rest = after;
        number |= usize::from(byte & !(1 << BITS)) << shift;
        shift += BITS;
        if byte >> BITS == 0 {
            break;
        }
    }
    number
}

fn read_concept(rest: &mut &[u8], phrases: &mut Phrases) -> Concept {
    let count = read_number(rest);
    let read = |_| {
        let length = read_number(rest);
        let (text, after) = rest.split_at(length);
        *rest = after;
        phrases.number(std::str::from_utf8(text).expect("a phrase was written"))
    };
    let numbers: Vec<u32> = (0..count).map(read).collect();
    Concept::merged(numbers, phrases)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::scene::Likeness;
    use crate::scene::tests::Few;
    use crate::tuples::Tuple;

    proptest! {
        #[test]
        fn a_stored_graph_comes_back(
            lines in proptest::collection::vec(
                proptest::collection::vec("(car|auto|machine|gray|grey|in front of|dog|be near|日本|.{0,200})", 1..4),
                0..40,
            ),
        ) {
            let tuples: Vec<Tuple> = lines.iter().map(|words| match &words[..] {
                [object] => Tuple::Object(object.clone()),
                [object, attribute] => {
                    Tuple::Attribute { object: object.clone(), attribute: attribute.clone() }
                }
                words => Tuple::Relation {
                    subject: words[0].clone(),
                    predicate: words[1].clone(),
                    object: words[2].clone(),
                },
            }).collect();
            let mut phrases = Phrases::new(Arc::new(Few));
            for likeness in [Likeness::Synonyms, Likeness::Words] {
                let graph = SceneGraph::new(&tuples, &mut phrases, likeness);
                let mut restored = SceneGraph::default();
                restore(&mut restored, &store(&graph, &phrases), &mut phrases);
                prop_assert_eq!((restored.nodes(), restored.links()), (graph.nodes(), graph.links()));
                let facts = |graph: &SceneGraph| -> Vec<String> {
                    let matching = |fact| format!("{:?}", graph.matching(fact, likeness));
                    graph.facts().iter().map(matching).collect()
                };
                prop_assert_eq!(facts(&restored), facts(&graph));
            }
        }
    }
}
