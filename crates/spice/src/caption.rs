//! From the text of a caption to its tuples: all stages, one after the other.

use capeval_text::Scratch;

use crate::dependencies::Dependencies;
use crate::graph::DependencyGraph;
use crate::parser::Parser;
use crate::resources::Grammar;
use crate::tokens::sentences;
use crate::tuples::{Tuple, tuples};

/// The third powers of the lengths of a caption's sentences, in tokens, may add up to this: parsing takes time in
/// proportion to them, and a sentence of 200 tokens eight seconds and 500 MB. The reference program runs out of memory
/// at such lengths.
const BUDGET: usize = MOST_TOKENS * MOST_TOKENS * MOST_TOKENS;

/// The number of tokens that any caption may have.
pub(crate) const MOST_TOKENS: usize = 200;

/// The budget in words.
const LIMIT: &str = "a sentence of up to 200 tokens, or several shorter ones that take no longer";

/// The number of sentences within the budget, from the first on.
fn n_affordable(sentences: &[Vec<String>]) -> usize {
    let mut left = BUDGET;
    let is_affordable = |words: &&Vec<String>| {
        let rest = words.len().checked_pow(3).and_then(|cost| left.checked_sub(cost));
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    sentences.iter().take_while(is_affordable).count()
}

/// The limit, if a caption has sentences beyond it.
pub(crate) fn exceeded_limit(text: &str) -> Option<&'static str> {
    let sentences = sentences(text, &mut Scratch::default());
    (n_affordable(&sentences) < sentences.len()).then_some(LIMIT)
}

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

    /// The tuples of a caption, which may have several sentences. From the sentence on with which it exceeds the
    /// budget, such as one of more than 200 tokens, it has none.
    pub fn tuples(&mut self, text: &str) -> Vec<Tuple> {
        let sentences = sentences(text, &mut self.scratch);
        let affordable = &sentences[..n_affordable(&sentences)];
        let graph = |(place, words): (usize, &Vec<String>)| -> DependencyGraph {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            Dependencies::new(&self.parser.parse(&words).tree, place).collapsed
        };
        let graphs: Vec<DependencyGraph> = affordable.iter().enumerate().map(graph).collect();
        tuples(&graphs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::grammar;

    #[test]
    fn a_sentence_of_more_than_200_tokens_has_no_facts() {
        let grammar = grammar(1);
        let mut reader = CaptionReader::new(&grammar);
        assert!(reader.tuples(&"dog ".repeat(201)).is_empty());
        assert!(reader.tuples(&"dog ".repeat(100_000)).is_empty());
        assert!(reader.tuples(&("dog ".repeat(201) + ". a dog .")).is_empty(), "nor do those behind it");
    }

    #[test]
    fn the_limit_counts_the_third_powers_of_all_sentences() {
        for (tokens, is_exceeded) in [
            (&[200][..], false),
            (&[201], true),
            (&[100; 8], false),
            (&[100, 100, 100, 100, 100, 100, 100, 100, 2], true),
            (&[], false),
        ] {
            let sentence = |tokens: &usize| "dog ".repeat(tokens - 1) + ".";
            let text: Vec<String> = tokens.iter().map(sentence).collect();
            assert_eq!(exceeded_limit(&text.join(" ")).is_some(), is_exceeded, "{tokens:?}");
        }
    }
}
