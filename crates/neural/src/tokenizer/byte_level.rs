//! GPT-2's byte-level tokenizer, which RoBERTa has: words with the space before them, byte by byte.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::pairs::Pairs;

/// A byte-level tokenizer.
#[derive(Clone, Debug)]
pub(super) struct ByteLevel {
    pairs: Pairs,
    symbols: Vec<String>,
}

/// The letter that stands for each byte: itself if it can be seen, otherwise the next one after the first 256.
fn letters() -> [char; 256] {
    let mut next = 256_u32;
    std::array::from_fn(|byte| {
        let byte = byte as u8;
        match byte {
            b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF => char::from(byte),
            _ => {
                next += 1;
                char::from_u32(next - 1).unwrap_or('\u{FFFD}')
            }
        }
    })
}

/// The letter that stands for each byte, as text.
pub(super) fn symbols() -> Vec<String> {
    letters().iter().map(char::to_string).collect()
}

/// A token in the letters that its bytes are; `Ġ` becomes a space.
pub(super) fn readable(token: &str) -> String {
    let letters = letters();
    let bytes: Option<Vec<u8>> = token
        .chars()
        .map(|c| letters.iter().position(|letter| *letter == c).map(|byte| byte as u8))
        .collect();
    bytes.map_or_else(|| token.to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The class of a character in the patterns of these tokenizers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Letter,
    Number,
    Space,
    Other,
}

pub(super) fn class(c: char) -> Class {
    match c.general_category_group() {
        _ if c.is_whitespace() => Class::Space,
        GeneralCategoryGroup::Letter => Class::Letter,
        GeneralCategoryGroup::Number => Class::Number,
        _ => Class::Other,
    }
}

/// The length of an English ending such as `'s` at the beginning of a text; 0 without one.
pub(super) fn ending(text: &str) -> usize {
    ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"]
        .iter()
        .find(|ending| text.starts_with(**ending))
        .map_or(0, |e| e.len())
}

/// The length of the run of characters of a class at the beginning of a text.
pub(super) fn run(text: &str, wanted: Class) -> usize {
    text.char_indices().find(|(_, c)| class(*c) != wanted).map_or(text.len(), |(at, _)| at)
}

impl ByteLevel {
    pub fn new(pairs: Pairs) -> Self {
        Self { pairs, symbols: symbols() }
    }

    /// Adds the ids of a text.
    pub fn add(&self, text: &str, prefix_space: bool, ids: &mut Vec<u32>) {
        let with_space;
        let mut rest = match prefix_space && !text.is_empty() && !text.starts_with(char::is_whitespace) {
            true => {
                with_space = format!(" {text}");
                with_space.as_str()
            }
            false => text,
        };
        while !rest.is_empty() {
            let length = piece(rest).max(rest.chars().next().map_or(1, char::len_utf8));
            let (word, after) = rest.split_at(length);
            let symbols = word.bytes().filter_map(|byte| self.symbols.get(usize::from(byte)));
            self.pairs.add(symbols.map(String::as_str), ids);
            rest = after;
        }
    }
}

/// The length of the next piece: an ending, a run of letters, numbers or other signs with the space before it, or white
/// space, of which the last stays with what follows it.
fn piece(text: &str) -> usize {
    let ending = ending(text);
    if ending > 0 {
        return ending;
    }
    let space = usize::from(text.starts_with(' '));
    if let Some(first) = text[space..].chars().next() {
        let class = class(first);
        if class != Class::Space {
            return space + run(&text[space..], class);
        }
    }
    let spaces = run(text, Class::Space);
    match (text[..spaces].char_indices().next_back(), spaces == text.len()) {
        (_, true) | (None, _) => spaces,
        (Some((0, _)), false) => spaces,
        (Some((last, _)), false) => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_those_of_the_pattern_of_gpt_2() {
        let pieces = |mut text: &str| {
            let mut all = Vec::new();
            while !text.is_empty() {
                let (one, rest) = text.split_at(piece(text));
                all.push(one);
                text = rest;
            }
            all.join("|")
        };
        assert_eq!(pieces("A cat's 2nd  dog!! "), "A| cat|'s| 2|nd| | dog|!!| ");
        assert_eq!(pieces("  x\n\n y"), " | x|\n\n| y");
        assert_eq!(pieces("\n\nx"), "\n|\n|x");
        assert_eq!(pieces("we'll 'tis"), "we|'ll| '|tis");
    }

    #[test]
    fn tokens_can_be_read() {
        assert_eq!(readable("Ġcat"), " cat");
        assert_eq!(readable("Ã©"), "é");
    }
}
