//! From the text of a caption to its tuples: all stages, one after the other.

use capeval_text::Scratch;

use crate::dependencies::Dependencies;
use crate::graph::DependencyGraph;
use crate::parser::Parser;
use crate::resources::Grammar;
use crate::tokens::sentences;
use crate::tuples::{Tuple, tuples};

/// Reads captions one after the other, reusing its memory.
pub struct CaptionReader<'g> {
    parser: Parser<'g>,
    scratch: Scratch,
}

impl<'g> CaptionReader<'g> {
    /// A reader with this grammar.
    pub fn new(grammar: &'g Grammar) -> Self {
        Self { parser: Parser::new(grammar), scratch: Scratch::default() }
    }

    /// The tuples of a caption, which may have several sentences.
    pub fn tuples(&mut self, text: &str) -> Vec<Tuple> {
        let sentences = sentences(text, &mut self.scratch);
        let graph = |(place, words): (usize, &Vec<String>)| -> DependencyGraph {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            Dependencies::new(&self.parser.parse(&words).tree, place).collapsed
        };
        let graphs: Vec<DependencyGraph> = sentences.iter().enumerate().map(graph).collect();
        tuples(&graphs)
    }
}
