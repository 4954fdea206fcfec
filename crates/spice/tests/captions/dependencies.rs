//! Dependencies of the reference program's trees: of all golden captions, and of a case for each pattern.

use capeval_spice::{Dependencies, Tree};
use capeval_testkit::ends;
use proptest::prelude::*;

use crate::graph::from_notation;
use crate::support;

#[test]
fn dependencies_equal_those_of_the_reference_program() {
    for caption in support::golden() {
        for (place, sentence) in caption.sentences.iter().enumerate() {
            let dependencies = Dependencies::new(&sentence.tree, place);
            assert_eq!(dependencies.basic.to_string(), sentence.basic.to_string(), "{}", caption.id);
            assert_eq!(dependencies.collapsed.to_string(), sentence.graph.to_string(), "{}", caption.id);
        }
    }
}

#[test]
fn each_pattern_matches_as_in_the_reference_program() {
    let lines = include_str!("dependencies.txt").lines().filter(|line| !line.starts_with('#'));
    let lines: Vec<&str> = lines.collect();
    for case in lines.chunks_exact(3) {
        let dependencies = Dependencies::new(&case[0].parse().unwrap(), 0);
        for (graph, expected) in [(dependencies.basic, case[1]), (dependencies.collapsed, case[2])] {
            let words = graph.words().iter().filter(|word| word.copy == 0);
            let words = words.map(|word| (word.text.as_str(), word.tag.as_str()));
            let expected = from_notation(words, expected.split(' ')).unwrap();
            assert_eq!(graph.to_string(), expected.to_string(), "{}", case[0]);
        }
    }
}

#[test]
fn a_tree_of_nothing_has_no_dependencies() {
    for text in ["", "(ROOT)", "(ROOT (-NONE- *))", "(-NONE- *)"] {
        let dependencies = Dependencies::new(&text.parse().unwrap_or_default(), 0);
        assert_eq!(dependencies.collapsed.edges().len(), 0, "{text}");
    }
    assert_eq!(Dependencies::new(&"(NN dog)".parse().unwrap(), 0).basic.to_string(), "root(0,1)");
}

/// Trees that a parser would not build take no time that explodes.
#[test]
fn deep_and_wide_trees_end() {
    let nested = |labels: &[&str], depth: usize| {
        let mut tree = Tree::default();
        let mut node = tree.add(None, "ROOT");
        for place in 0..depth {
            node = tree.add(Some(node), labels[place % labels.len()]);
            if labels.len() > 2 {
                let tag = tree.add(Some(node), "IN");
                tree.add(Some(tag), "on");
            }
        }
        tree.add(Some(node), "dog");
        tree
    };
    let flat = |phrase: &str, tags: &[(&str, &str)], width: usize| {
        let mut tree = Tree::default();
        let root = tree.add(None, "ROOT");
        let phrase = tree.add(Some(root), phrase);
        for (tag, word) in tags.iter().cycle().take(width) {
            let tag = tree.add(Some(phrase), tag);
            tree.add(Some(tag), word);
        }
        tree
    };
    let list = [("NN", "dog"), (",", ","), ("NN", "cat"), ("CC", "and"), ("RB", "not")];
    let trees = [
        nested(&["NP"], 2000),
        nested(&["NP", "VP"], 2000),
        nested(&["VP", "S", "PP", "SBAR"], 400),
        flat("NP", &list, 250),
        flat("S", &list, 250),
        flat("VP", &[("VBZ", "is"), ("NP", "dog"), ("S", "runs"), (",", ","), ("CC", "and")], 250),
        flat("QP", &[("CD", "5"), ("CC", "and"), ("$", "$")], 250),
        flat("FRAG", &[("NP", "dog"), (",", ","), ("S", "runs")], 250),
    ];
    for tree in trees {
        ends(move || drop(Dependencies::new(&tree, 0)));
    }
}

const LABELS: &str = "ROOT TOP S SBAR SBARQ SINV SQ ADJP ADVP CONJP FRAG INTJ NAC NP NP-TMP NP-ADV-1 NX PP PRN PRT QP RRC \
    UCP UCP-TMP VP WHADJP WHADVP WHNP WHPP X MWE -NONE- CC CD DT EX IN JJ MD NN NNS NNP PDT POS PRP PRP$ RB RP TO UH VB VBD \
    VBG VBN VBZ WDT WP WRB , . : '' `` -LRB- -RRB- $ # = @ - --PU Ünknown";
const WORDS: &str = "is be been 's not n't no that how by on next to out of in front and or but also as well , : ; / % dog \
    times day May etc himself Ünïcode -LRB- NP VP POS \u{301} 漢字";

/// A random tree, one node at a time: how many brackets to close, and a label or a word.
fn trees() -> impl Strategy<Value = Tree> {
    let labels: Vec<&str> = LABELS.split_ascii_whitespace().collect();
    let words: Vec<&str> = WORDS.split_ascii_whitespace().collect();
    let node = (0_usize..4, prop::sample::select(labels), prop::option::of(prop::sample::select(words)));
    prop::collection::vec(node, 1..60).prop_map(|nodes| {
        let mut tree = Tree::default();
        let mut open = vec![tree.add(None, "ROOT")];
        for (close, label, word) in nodes {
            open.truncate(open.len().saturating_sub(close).max(1));
            let node = tree.add(open.last().copied(), label);
            match word {
                Some(word) => {
                    tree.add(Some(node), word);
                }
                None => open.push(node),
            }
        }
        tree
    })
}

proptest! {
    #[test]
    fn any_tree_has_dependencies(tree in trees(), sentence in 0_usize..5) {
        let Dependencies { basic, collapsed } = Dependencies::new(&tree, sentence);
        prop_assert!(basic.words().iter().all(|word| word.copy == 0));
        for graph in [basic, collapsed] {
            prop_assert!(graph.edges().iter().all(|edge| edge.head.max(edge.dependent) < graph.words().len()));
            let words = graph.words().iter().filter(|word| word.copy == 0);
            let words = words.map(|word| (word.text.as_str(), word.tag.as_str()));
            let text = graph.to_string();
            let read = from_notation(words, text.split(' ').filter(|text| !text.is_empty()));
            prop_assert_eq!(read.map(|read| read.to_string()), Some(text));
        }
    }
}
