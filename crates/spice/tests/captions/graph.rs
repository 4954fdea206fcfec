//! Dependency graphs as they are printed.

use capeval_spice::{DependencyGraph, WordId};

/// Reads words, and edges as [`DependencyGraph`] prints them.
pub fn from_notation<'a>(
    words: impl IntoIterator<Item = (&'a str, &'a str)>,
    dependencies: impl IntoIterator<Item = &'a str>,
) -> Option<DependencyGraph> {
    let mut graph = DependencyGraph::new(words);
    for dependency in dependencies {
        let (relation, pair) = dependency.strip_suffix(')')?.rsplit_once('(')?;
        let (head, dependent) = pair.split_once(',')?;
        let dependent = word(&mut graph, dependent)?;
        if head == "0" {
            graph.set_roots([graph.roots(), &[dependent]].concat());
        } else {
            let head = word(&mut graph, head)?;
            graph.push(relation.to_owned().into(), head, dependent);
        }
    }
    Some(graph)
}

/// The word that `2''` stands for; copies that are missing are made.
fn word(graph: &mut DependencyGraph, name: &str) -> Option<WordId> {
    let digits = name.trim_end_matches('\'');
    let place = (digits.parse().ok()?, name.len() - digits.len());
    loop {
        let original = graph.words().iter().position(|word| word.index == place.0)?;
        match (0..graph.words().len()).find(|word| graph.place(*word) == place) {
            Some(id) => return Some(id),
            None => graph.copy_word(original),
        };
    }
}

/// "men sit on chairs and on stools", collapsed.
fn graph() -> DependencyGraph {
    let words = ["men/NNS", "sit/VBP", "on/IN", "chairs/NNS", "and/CC", "on/IN", "stools/NNS"];
    let dependencies = "root(0,2) nsubj(2,1) nsubj(2',1) conj:and(2,2') nmod:on(2',7) case(7,6) \
                        nmod:on(2,4) case(4,3) cc(2,5)";
    let words = words.into_iter().filter_map(|word| word.split_once('/'));
    from_notation(words, dependencies.split(' ')).unwrap()
}

#[test]
fn dependencies_are_read_as_they_are_printed() {
    let graph = graph();
    assert_eq!(graph.to_string().split(' ').count(), 9);
    let again = from_notation(
        graph.words().iter().take(7).map(|word| (word.text.as_str(), word.tag.as_str())),
        graph.to_string().split(' '),
    );
    assert_eq!(again, Some(graph));
    for wrong in ["nsubj(2,9)", "nsubj(2,x)", "nsubj 2,1", "nsubj(2)"] {
        assert_eq!(from_notation([("a", "DT"), ("b", "NN")], [wrong]), None, "{wrong}");
    }
}

#[test]
fn children_follow_the_sentence_and_copies_their_original() {
    let graph = graph();
    let children: Vec<WordId> = graph.children(1).iter().map(|edge| edge.dependent).collect();
    assert_eq!(children, [0, 7, 3, 4]);
    assert_eq!((graph.word(7).text.as_str(), graph.place(7)), ("sit", (2, 1)));
}

#[test]
fn edges_are_added_once_and_removed() {
    let mut graph = graph();
    let edge = graph.incoming(3).next().cloned().unwrap();
    graph.add(edge.relation.clone(), edge.head, edge.dependent);
    assert_eq!(graph.edges().len(), 8);
    assert!(graph.remove(&edge) && !graph.remove(&edge));
    graph.retain(|edge| edge.relation != "case");
    assert!(!graph.contains(2) && graph.contains(1));
    assert_eq!(graph.copy_word(1), 8);
    assert_eq!(graph.place(8), (2, 2));
}
