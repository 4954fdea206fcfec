//! The parser: from the words of a sentence to the most probable tree, as CoreNLP 3.6.0 finds it.
//!
//! 1. [`lexicon`]: each word, in American spelling, gets the tags that it may have, with scores. A boundary is added.
//! 2. [`bounds`]: the sentence is parsed with classes of states instead of states, which bounds every parse from above;
//!    first with coarse classes, then with finer ones where the coarse ones leave anything.
//! 3. [`pruned`]: bottom up, each span of words gets the best score of every state that can still be part of the best
//!    parse. Scores are 32-bit sums in the order of CoreNLP, since ties and near ties decide trees. If the parse found
//!    is not as good as what was left out could be, more is let in. Pruning never changes a digit.
//! 4. [`chart`]: where bounds are too loose or the sentence is long, all states are tried instead.
//! 5. [`derivation`]: from the root down, the best rule of each state is found again, in 64 bits.
//! 6. If the root cannot be reached, every word is allowed to have any tag. If it still cannot, words hang under `X`.
//!
//! CoreNLP 3.6.0 sets no limit to the length of a sentence. Here, time grows with the third power of the length and
//! memory with the second.

mod americanize;
mod bounds;
mod chart;
mod derivation;
mod lexicon;
mod pruned;
mod signature;

use crate::resources::Grammar;
use crate::tree::Tree;
pub(crate) use bounds::Bounds;
use chart::Chart;
pub(crate) use lexicon::{Lexicon, TagCounts, Taggings};
use pruned::{Outcome, Pruned};

/// Longer sentences are not pruned. None is at present: the bounds take 14 ms a caption, and all states 10.5.
const LONGEST_PRUNED: usize = 0;
/// CoreNLP shows scores modulo this number, to hide what it adds for unknown words.
const MODULUS: f64 = -10000.0;

/// A tree and its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Parse {
    /// The tree, from which the annotations of the grammar have been removed.
    pub tree: Tree,
    /// The logarithm of the probability; `None` if the sentence has no derivation, and the tree therefore only holds
    /// the words under `X`, each tagged `XX`.
    pub score: Option<f64>,
}

/// Parses sentences one after the other, reusing its memory.
pub struct Parser<'a> {
    grammar: &'a Grammar,
    pruned: Pruned<'a>,
    chart: Chart,
}

impl<'a> Parser<'a> {
    /// A parser with an empty chart.
    pub fn new(grammar: &'a Grammar) -> Self {
        Self { grammar, pruned: Pruned::new(grammar), chart: Chart::default() }
    }

    /// Parses the tokens of a sentence.
    pub fn parse(&mut self, words: &[&str]) -> Parse {
        for is_flooded in [false, true] {
            let tags = self.grammar.lexicon().tag(words, is_flooded);
            let outcome = if tags.len() > LONGEST_PRUNED { Outcome::Unsure } else { self.pruned.fill(&tags) };
            let best = match outcome {
                Outcome::Found => derivation::best(self.grammar, &self.pruned, words),
                Outcome::Impossible => None,
                Outcome::Unsure => {
                    self.chart.fill(self.grammar, &tags);
                    derivation::best(self.grammar, &self.chart, words)
                }
            };
            if let Some((tree, score)) = best {
                return Parse { tree, score: Some(score % MODULUS) };
            }
        }
        Parse { tree: fallback(words), score: None }
    }
}

/// What CoreNLP gives where there is no parse.
fn fallback(words: &[&str]) -> Tree {
    let mut tree = Tree::default();
    let root = tree.add(None, "X");
    for word in words {
        let tag = tree.add(Some(root), "XX");
        tree.add(Some(tag), word);
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{WORDS, grammar};
    use proptest::prelude::*;

    #[test]
    fn without_a_derivation_words_hang_under_x() {
        let grammar = grammar(1);
        // The boundary's own word has no other tag, even when any tag is allowed.
        let parse = Parser::new(&grammar).parse(&[".$.", "dog"]);
        assert_eq!((parse.tree.to_string().as_str(), parse.score), ("(X (XX .$.) (XX dog))", None));
        let parse = Parser::new(&grammar).parse(&[]);
        assert_eq!((parse.tree.to_string().as_str(), parse.score), ("X", None));
    }

    proptest! {
        #[test]
        fn any_words_have_a_tree_over_them(seed in 0_u64..50, words in proptest::collection::vec(".{0,6}", 1..8)) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let parse = Parser::new(&grammar(seed)).parse(&words);
            let leaves = (0..parse.tree.len()).filter(|node| parse.tree.children(*node).is_empty());
            prop_assert_eq!(leaves.map(|leaf| parse.tree.label(leaf)).collect::<Vec<_>>(), words);
        }

        #[test]
        fn what_is_pruned_cannot_win(seed in 0_u64..200, picks in proptest::collection::vec(0_usize..8, 1..10)) {
            let grammar = grammar(seed);
            let words: Vec<&str> = picks.iter().map(|pick| WORDS[*pick]).collect();
            for is_flooded in [false, true] {
                let tags = grammar.lexicon().tag(&words, is_flooded);
                let mut chart = Chart::default();
                chart.fill(&grammar, &tags);
                let whole = derivation::best(&grammar, &chart, &words);
                let mut pruned = Pruned::new(&grammar);
                match pruned.fill(&tags) {
                    Outcome::Found => prop_assert_eq!(derivation::best(&grammar, &pruned, &words), whole),
                    Outcome::Impossible => prop_assert!(whole.is_none()),
                    Outcome::Unsure => {}
                }
            }
        }

        #[test]
        fn a_parser_forgets_the_last_sentence(seed in 0_u64..20, picks in proptest::collection::vec(0_usize..8, 1..9)) {
            let grammar = grammar(seed);
            let words: Vec<&str> = picks.iter().map(|pick| WORDS[*pick]).collect();
            let mut parser = Parser::new(&grammar);
            parser.parse(&WORDS);
            prop_assert_eq!(parser.parse(&words), Parser::new(&grammar).parse(&words));
        }
    }
}
