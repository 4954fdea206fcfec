//! Tuples compared with those of SPICE 1.0, in their order.

use capeval_spice::{DependencyGraph, Tuple, tuples};
use proptest::prelude::*;

use crate::support;

fn strings(tuple: Tuple) -> Vec<String> {
    match tuple {
        Tuple::Object(object) => vec![object],
        Tuple::Attribute { object, attribute } => vec![object, attribute],
        Tuple::Relation { subject, predicate, object } => vec![subject, object, predicate],
    }
}

#[test]
fn captions_have_the_tuples_of_the_reference_program_in_their_order() {
    let captions = support::golden();
    let mut different = Vec::new();
    for caption in &captions {
        let graphs: Vec<DependencyGraph> =
            caption.sentences.iter().map(|sentence| sentence.graph.clone()).collect();
        let found: Vec<Vec<String>> = tuples(&graphs).into_iter().map(strings).collect();
        if found != caption.tuples {
            let (id, text) = (&caption.id, &caption.text);
            different.push(format!("{id} {text:?}\n   {found:?}\n   expected {:?}", caption.tuples));
        }
    }
    println!("{} captions, {} differ", captions.len(), different.len());
    assert!(different.is_empty(), "{}", different[..different.len().min(12)].join("\n"));
}

proptest! {
    /// Cycles, several heads, copies and missing roots are all read.
    #[test]
    fn any_graph_has_tuples(
        words in proptest::collection::vec(("[a-z]{1,3}|of|a|lot|some|him", "NNS?|PRP|DT|IN|JJ|VBZ|CD"), 1..12),
        edges in proptest::collection::vec((0..8_usize, 0..12_usize, 0..12_usize), 0..30),
    ) {
        let relations = ["nsubj", "dobj", "nmod:of", "case", "det", "compound", "amod", "cop"];
        let mut graph = DependencyGraph::new(words.iter().map(|(word, tag)| (word.as_str(), tag.as_str())));
        let mut count = words.len();
        for (relation, head, dependent) in edges {
            if head == dependent {
                graph.copy_word(head % count);
                count += 1;
            }
            graph.add(relations[relation], head % count, dependent % count);
        }
        graph.set_roots(vec![0]);
        tuples(&[graph]);
    }
}
