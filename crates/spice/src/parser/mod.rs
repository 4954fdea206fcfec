//! The parser: from the words of a sentence to the most probable tree, as CoreNLP 3.6.0 finds it.
//!
//! 1. [`Lexicon`](crate::resources::Lexicon): each word, in American spelling, gets the tags that it may have, with
//!    scores. A boundary is added.
//! 2. [`chart`]: bottom up, each span of words gets the best score of every state of the grammar that can cover it.
//!    Scores are 32-bit sums in the order of CoreNLP, since ties and near ties decide trees.
//!    States that cannot be part of the best parse are skipped.
//! 3. [`derivation`]: from the root down, the best rule of each state is found again, in 64 bits.
//! 4. If the root cannot be reached, every word is allowed to have any tag, unless that could take more memory than
//!    there is. If it still cannot, words hang under `X`.
//!
//! CoreNLP 3.6.0 sets no limit to the length of a sentence, but runs out of memory: with 8 GB between 504 and 588
//! words. Here, threads with long sentences share a budget of memory ([`budget`]).
//!
//! A rule adds the whole row of its right child at once. What surrounds a span is bounded by tables that are computed
//! when the grammar is compiled: for each state and each number of words to its left and right, up to 32 together, the
//! best score of any tree around it, whatever the words are (`resources/outlook.rs`). A state is kept if its exact
//! inside score and this bound together reach the score of a parse that a first, narrow search has found. The
//! potentials of the tags decide how tight the bounds are, and are fitted to captions by subgradients. Longer sentences
//! are parsed without bounds, and so are those that the first search does not parse; there, states are skipped that the
//! words before and after a span allow in no parse (`resources/neighbours.rs`).
//!
//! Tried and dropped: a smaller grammar parsed for each sentence, which took longer than it saved; tables for 60 words
//! (27 MB, and no faster from 40 words on); a first search by how probable states are before any word (it always finds
//! a parse, but a worse one); dropping states that another state can replace in every context at a known cost (a tenth
//! of the states, which is what finding them costs); leaving out what neighbours rule out up to 32 words, too (a fifth
//! of the states, but they begin hardly any rule, and the time is the same); listing rules there (slower).

mod americanize;
mod budget;
mod chart;
mod derivation;
mod items;

use std::cell::Cell;

use crate::resources::Grammar;
use crate::tree::Tree;
use americanize::americanize;
use budget::Share;
use chart::{Chart, Keep};

/// The word that ends every sentence inside the parser.
const BOUNDARY: &str = ".$.";
/// The score of a tag that the lexicon rules out, where it has to be allowed.
const FLOOD: f32 = -1000.0;
/// The distances below the best bound over each span at which the first search looks, and others if it finds no parse.
const DISTANCES: [f32; 3] = [4.0, 7.0, 12.0];
/// More than what rounding changes in the score of a parse and in its bounds: a hundred sums of numbers whose last
/// place is worth 0.0002.
const MARGIN: f32 = 0.25;
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

thread_local! {
    /// The memory of a thread between two parsers: mapping fresh memory takes as long as parsing a few captions.
    static IDLE: Cell<Chart> = Cell::default();
}

/// The greatest number of bytes of a chart that is kept.
const KEPT: usize = 64 << 20;

/// The states of a span: as many as any long sentence was seen to have on average, and more.
const STATES: usize = 1_500;

/// The bytes of a chart's rows for each word.
const BYTES_PER_WORD: usize = 300_000;

/// The number of words up to which every tag is tried, whatever the estimate of memory says, which is that of a chart
/// in which every state covers every span.
const ALWAYS_FLOODED: usize = 200;

/// The bytes of a chart over this many words, if so many states cover a span.
const fn bytes(words: usize, states: usize) -> usize {
    words * words / 2 * states * (size_of::<u16>() + size_of::<f32>()) + words * BYTES_PER_WORD
}

/// Parses sentences one after the other, reusing its memory.
pub struct Parser<'a> {
    grammar: &'a Grammar,
    chart: Chart,
}

impl Drop for Parser<'_> {
    fn drop(&mut self) {
        let chart = std::mem::take(&mut self.chart);
        // A chart that a panic left half filled is not used again, and a thread that ends keeps none.
        if !std::thread::panicking() {
            let _ = IDLE.try_with(|idle| idle.set(chart));
        }
    }
}

impl<'a> Parser<'a> {
    /// A parser without any sentence.
    pub fn new(grammar: &'a Grammar) -> Self {
        Self { grammar, chart: IDLE.try_with(Cell::take).unwrap_or_default() }
    }

    /// Parses the tokens of a sentence.
    pub fn parse(&mut self, words: &[&str]) -> Parse {
        let parse = self.search(words);
        if self.chart.bytes() > KEPT {
            self.chart = Chart::default();
        }
        parse
    }

    fn search(&mut self, words: &[&str]) -> Parse {
        for (is_flooded, states) in [(false, STATES), (true, self.grammar.states())] {
            let bytes = bytes(words.len(), states);
            if is_flooded && bytes > budget::BYTES && words.len() > ALWAYS_FLOODED {
                break;
            }
            let _share = (bytes > KEPT).then(|| Share::wait(bytes));
            let tags = self.tags(words, is_flooded);
            self.fill(&tags, is_flooded);
            if let Some((tree, score)) = derivation::best(self.grammar, self.chart.items(), words) {
                return Parse { tree, score: Some(score % MODULUS) };
            }
        }
        Parse { tree: fallback(words), score: None }
    }

    /// Fills the chart with all that can be part of the best parse: with what a parse needs that is as good as one
    /// found in a first search, if there are bounds and the search finds one.
    fn fill(&mut self, tags: &[Vec<(u16, f32)>], is_flooded: bool) {
        let Self { grammar, chart } = self;
        // The scores of flooded words are too large for the margin.
        let outlook = grammar.outlook().sentence(tags).filter(|_| !is_flooded);
        if let Some(outlook) = outlook {
            for distance in DISTANCES {
                chart.fill(grammar, tags, Keep::Near(&outlook, distance));
                let found = chart.items().score(grammar.root(), 0, tags.len());
                if found > f32::NEG_INFINITY {
                    return chart.fill(grammar, tags, Keep::AtLeast(&outlook, found - MARGIN));
                }
            }
        }
        chart.fill(grammar, tags, Keep::Fitting(&grammar.neighbours().sentence(tags)));
    }

    /// The tags of each word with their scores, and those of the boundary. When flooded, every word may have any tag.
    fn tags(&self, words: &[&str], is_flooded: bool) -> Vec<Vec<(u16, f32)>> {
        let lexicon = self.grammar.lexicon();
        let words = words.iter().copied().chain([BOUNDARY]).enumerate();
        let tags = words.map(|(place, word)| {
            let found = lexicon.word(&americanize(word), place == 0);
            if !is_flooded || word == BOUNDARY {
                return found.taggings();
            }
            let mut tags = found.all_taggings();
            tags.extend(lexicon.tags().map(|tag| (tag, FLOOD)));
            tags
        });
        tags.collect()
    }
}

/// The tree that CoreNLP returns where there is no parse.
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
        fn what_is_skipped_changes_no_tree(seed in 0_u64..100, picks in proptest::collection::vec(0_usize..8, 1..12)) {
            let grammar = grammar(seed);
            let words: Vec<&str> = picks.iter().map(|pick| WORDS[*pick]).collect();
            let mut parser = Parser::new(&grammar);
            let tags = parser.tags(&words, false);
            parser.fill(&tags, false);
            let found = derivation::best(&grammar, parser.chart.items(), &words);
            parser.chart.fill(&grammar, &tags, Keep::Fitting(&grammar.neighbours().sentence(&tags)));
            let fitting = derivation::best(&grammar, parser.chart.items(), &words);
            parser.chart.fill(&grammar, &tags, Keep::All);
            prop_assert_eq!(&found, &fitting);
            prop_assert_eq!(found, derivation::best(&grammar, parser.chart.items(), &words));
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
