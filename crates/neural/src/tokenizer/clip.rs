//! CLIP's tokenizer: lower-cased words whose last symbol is marked.

use unicode_normalization::UnicodeNormalization;

use super::byte_level::{Class, class, ending, run, symbols};
use super::pairs::Pairs;

/// CLIP's tokenizer as Hugging Face has it: the text is composed, white space collapses, and letters are lower-cased.
/// OpenAI's own also mends damaged text (ftfy) and entities of HTML.
#[derive(Clone, Debug)]
pub(super) struct Clip {
    pairs: Pairs,
    symbols: Vec<String>,
    /// The symbols at the end of a word.
    last: Vec<String>,
}

impl Clip {
    pub fn new(pairs: Pairs) -> Self {
        let symbols = symbols();
        let last = symbols.iter().map(|symbol| format!("{symbol}</w>")).collect();
        Self { pairs, symbols, last }
    }

    /// Adds the ids of a text.
    pub fn add(&self, text: &str, ids: &mut Vec<u32>) {
        let text: String = text.nfc().flat_map(char::to_lowercase).collect();
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let length = match (ending(rest), class(first)) {
                (0, Class::Number) => first.len_utf8(),
                (0, class) => run(rest, class),
                (ending, _) => ending,
            };
            let (word, after) = rest.split_at(length.max(first.len_utf8()));
            rest = after;
            if class(first) == Class::Space {
                continue;
            }
            let n = word.len();
            let symbols = word.bytes().enumerate().filter_map(|(at, byte)| {
                let symbols = if at + 1 == n { &self.last } else { &self.symbols };
                symbols.get(usize::from(byte)).map(String::as_str)
            });
            self.pairs.add(symbols, ids);
        }
    }
}
