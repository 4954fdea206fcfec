//! SPICE on any text with made-up grammars: every token has its place in the tree, and the facts that match are those
//! that a comparison of all with all finds.

use std::sync::{Arc, OnceLock};

use capeval_spice::{
    CaptionReader, Grammar, Likeness, Parser, Phrases, SceneGraph, Synonyms, sentences, testing,
};
use capeval_text::Scratch;

use crate::words;

/// Words of one length share a set with those one letter longer.
struct ByLength;

impl Synonyms for ByLength {
    fn synsets(&self, word: &str, synsets: &mut Vec<u32>) {
        let length = word.len() as u32;
        *synsets = vec![length, length + 1];
    }
}

/// The words of the made-up grammars and of quantities, so that a few bytes produce sentences; other bytes are text.
const WORDS: [&str; 24] = [
    "a",
    "dog",
    "cat",
    "runs",
    "sits",
    "on",
    "red",
    "sofa",
    "a group of",
    "dogs",
    "his",
    "her",
    "two",
    "and",
    "which",
    "is",
    "not",
    "in front of",
    ".",
    "!",
    "lot of",
    "man",
    "with",
    "it",
];

pub fn check(data: &[u8]) {
    static GRAMMARS: OnceLock<Vec<Grammar>> = OnceLock::new();
    let grammars = GRAMMARS.get_or_init(|| (0..8).map(testing::grammar).collect());
    let Some((seed, texts)) = data.split_first() else { return };
    let grammar = &grammars[usize::from(*seed) % grammars.len()];
    let texts: Vec<String> =
        texts.split(|byte| *byte == 255).take(6).map(|bytes| words::text(&WORDS, bytes)).collect();

    let mut parser = Parser::new(grammar);
    for words in texts.iter().flat_map(|text| sentences(text, &mut Scratch::default())) {
        let words: Vec<&str> = words.iter().map(String::as_str).take(40).collect();
        let tree = parser.parse(&words).tree;
        let leaves = (0..tree.len()).filter(|node| tree.children(*node).is_empty());
        assert!(leaves.map(|leaf| tree.label(leaf)).eq(words));
    }

    let mut reader = CaptionReader::new(grammar);
    let tuples: Vec<_> = texts.iter().map(|text| reader.tuples(text)).collect();
    let Some((candidate, references)) = tuples.split_first() else { return };
    for likeness in [Likeness::Synonyms, Likeness::Words] {
        let mut phrases = Phrases::new(Arc::new(ByLength));
        let candidate = SceneGraph::new(candidate, &mut phrases, likeness);
        let references = SceneGraph::new(references.iter().flatten(), &mut phrases, likeness);
        for fact in candidate.facts() {
            let found = references.matching(&fact, likeness);
            let all = references.facts();
            let expected = all.iter().filter(|other| fact.matches(other, likeness));
            assert_eq!(format!("{found:?}"), format!("{:?}", expected.collect::<Vec<_>>()));
        }
    }
}
