//! From the text of a caption to its tuples: all stages, one after the other.

use capeval_metric::Excess;
use capeval_text::Scratch;

use crate::dependencies::Dependencies;
use crate::graph::DependencyGraph;
use crate::parser::Parser;
use crate::resources::Grammar;
use crate::tokens::sentences;
use crate::tuples::{Tuple, tuples};

/// The number of tokens that any caption may have. A sentence of so many takes half a minute and 1.4 GB; with the 8 GB
/// that pycocoevalcap gives it, the reference program reads 504 tokens, and runs out of memory at 588.
pub(crate) const MOST_TOKENS: usize = 560;

/// The third powers of the lengths of a caption's sentences, in tokens, may add up to this: parsing takes time in
/// proportion to them.
const BUDGET: usize = MOST_TOKENS * MOST_TOKENS * MOST_TOKENS;

/// The budget in words.
const LIMIT: &str = "a sentence of up to 560 tokens, or several shorter ones that take no longer";

/// The number of words by which a sentence is known.
const OPENING: usize = 6;

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

/// The first sentence beyond the limit, if a caption has any.
pub(crate) fn excess(text: &str) -> Option<Excess> {
    let sentences = sentences(text, &mut Scratch::default());
    let read = n_affordable(&sentences);
    let words = sentences.get(read)?;
    let opening = words.iter().take(OPENING).map(String::as_str).collect::<Vec<_>>().join(" ");
    let scored = match read {
        0 => "no facts of this caption are scored".to_owned(),
        1 => "the sentence before it is scored alone".to_owned(),
        _ => format!("the {read} sentences before it are scored"),
    };
    let number = read + 1;
    let what = format!("its sentence {number}, \"{opening} …\", has {} tokens, and {scored}", words.len());
    Some(Excess { limit: LIMIT, what })
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
    /// budget, such as one of more than 560 tokens, it has none.
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
    fn a_sentence_of_more_than_560_tokens_has_no_facts() {
        let grammar = grammar(1);
        let mut reader = CaptionReader::new(&grammar);
        assert!(reader.tuples(&"dog ".repeat(561)).is_empty());
        assert!(reader.tuples(&"dog ".repeat(100_000)).is_empty());
        assert!(reader.tuples(&("dog ".repeat(561) + ". a dog .")).is_empty(), "nor do those behind it");
    }

    #[test]
    fn the_limit_counts_the_third_powers_of_all_sentences() {
        for (tokens, is_exceeded) in [
            (&[560][..], false),
            (&[561], true),
            (&[280; 8], false),
            (&[280, 280, 280, 280, 280, 280, 280, 280, 2], true),
            (&[], false),
        ] {
            let sentence = |tokens: &usize| "dog ".repeat(tokens - 1) + ".";
            let text: Vec<String> = tokens.iter().map(sentence).collect();
            assert_eq!(excess(&text.join(" ")).is_some(), is_exceeded, "{tokens:?}");
        }
    }

    #[test]
    fn the_sentence_beyond_the_limit_is_named_with_what_is_scored_instead() {
        let (long, what) = ("dog ".repeat(700), |text: &str| excess(text).unwrap().what);
        assert_eq!(
            what(&long),
            "its sentence 1, \"dog dog dog dog dog dog …\", has 700 tokens, and no facts of this caption are scored"
        );
        let second = what(&format!("a cat . {long} . a horse ."));
        assert!(second.starts_with("its sentence 2, ") && second.ends_with("is scored alone"), "{second}");
        assert!(what(&format!("a cat . a bird . {long}")).ends_with("the 2 sentences before it are scored"));
    }
}
