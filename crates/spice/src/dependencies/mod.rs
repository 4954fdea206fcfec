//! Universal Dependencies, version 1, of a parse, as Stanford CoreNLP 3.6.0 makes them.
//!
//! A parse is tidied ([`cleanup`]), the heads of its phrases are found ([`heads`]), patterns find the relations between
//! heads ([`relations`], [`pattern`]), which make one tree of dependencies ([`basic`]); then prepositions and
//! conjunctions become part of the names, and what conjuncts share is repeated ([`collapse`], [`prepositions`],
//! [`sharing`]).

mod basic;
mod cleanup;
mod collapse;
mod coordination;
mod head_rules;
mod heads;
mod labels;
mod net;
mod pattern;
mod phrases;
mod prepositions;
mod relations;
mod sentence;
mod sharing;

use net::{Link, Net};
use sentence::Sentence;

use crate::{DependencyGraph, NodeId, Tree, WordId};

/// The dependencies of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependencies {
    /// Each word depends on one other.
    pub basic: DependencyGraph,
    /// Prepositions and conjunctions are part of names, and conjuncts share what they have in common.
    pub collapsed: DependencyGraph,
}

impl Dependencies {
    /// The dependencies of a parse, whose leaves are the words of the sentence.
    ///
    /// `sentence` is the place of the sentence in its text, from 0, which decides the order in which the reference
    /// program finds some relations.
    pub fn new(tree: &Tree, sentence: usize) -> Self {
        let leaves: Vec<NodeId> = (0..tree.len()).filter(|node| tree.children(*node).is_empty()).collect();
        let texts: Vec<&str> = leaves.iter().map(|leaf| tree.label(*leaf)).collect();
        let tags = leaves.iter().map(|leaf| tree.parent(*leaf).map_or("", |tag| tree.label(tag))).collect();
        let lower = texts.iter().map(|text| text.to_lowercase()).collect();
        let words = Sentence { texts, tags, lower };

        let (mut links, root) = basic::find(tree);
        links.sort_by_key(|link| (link.dependent, link.head));
        let roots: Vec<WordId> = root.into_iter().collect();
        let fill = |links: &[Link], roots: &[WordId]| {
            let mut net = Net::new(leaves.len(), sentence);
            roots.iter().for_each(|root| net.add_root(*root));
            links.iter().for_each(|link| net.add(link.clone()));
            net
        };
        // As in the reference program, each step begins with a graph that is filled in the order of the words.
        let step = |links: &[Link], run: &dyn Fn(&mut Net)| {
            let mut net = fill(links, &roots);
            run(&mut net);
            net
        };
        let settled = step(&links, &|net| collapse::settle(net, &words)).sorted();
        let basic = step(&settled, &collapse::correct);
        let collapsed = step(&basic.sorted(), &|net| collapse::collapse(net, &words));
        Self { basic: words.graph(&basic), collapsed: words.graph(&collapsed) }
    }
}

impl Sentence<'_> {
    /// The graph as other stages see it, with links in the order in which they are printed.
    fn graph(&self, net: &Net) -> DependencyGraph {
        let mut graph = DependencyGraph::new(self.texts.iter().copied().zip(self.tags.iter().copied()));
        for (index, _) in net.places().iter().skip(self.texts.len()) {
            graph.copy_word(index - 1);
        }
        for link in net.sorted() {
            graph.push(link.label.name, link.head, link.dependent);
        }
        graph.set_roots(net.roots().collect());
        graph
    }
}
