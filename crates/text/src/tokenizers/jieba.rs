//! `jieba`: Chinese words from jieba's dictionary, and unknown words from its hidden Markov model.
//!
//! This equals `jieba.lcut(text)` of the Python package 0.42.1 with its own dictionary and default settings,
//! without the white space between words. The crate `jieba-rs` knows more ideographs than the package and
//! joins more ASCII (`U.S`, `5-year`). Therefore the text is first cut into the package's blocks, and runs of
//! ASCII are afterwards cut by the package's rule. The dictionary is loaded on first use.

use std::sync::LazyLock;

use jieba_rs::Jieba;

use super::plain::is_python_space;

static JIEBA: LazyLock<Jieba> = LazyLock::new(Jieba::new);

/// Calls `piece` with each word of `text`.
pub(super) fn tokenize(text: &str, piece: &mut impl FnMut(&str)) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if is_in_block(first) {
            rest.find(|c| !is_in_block(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (block, after) = rest.split_at(end);
        rest = after;
        if is_in_block(first) {
            for token in JIEBA.cut(block, true) {
                if token.word.contains(['.', '_', '-']) && !JIEBA.has_word(token.word) {
                    split_ascii(token.word, piece);
                } else {
                    piece(token.word);
                }
            }
        } else if !is_python_space(first) {
            piece(block);
        }
    }
}

/// Returns true if the package looks for words in runs of such characters; every other character is a word by itself.
fn is_in_block(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '\u{4e00}'..='\u{9fd5}' | '+' | '#' | '&' | '.' | '_' | '%' | '-')
}

/// Cuts an unknown word into runs of ASCII letters and digits, each with the decimals and the percent sign
/// that follow it, and the text between them.
fn split_ascii(word: &str, piece: &mut impl FnMut(&str)) {
    let mut rest = word;
    while !rest.is_empty() {
        let run = alphanumeric_len(rest);
        let end =
            if run > 0 { run } else { rest.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(rest.len()) };
        let (found, after) = rest.split_at(end);
        piece(found);
        rest = after;
    }
}

/// The length in bytes of the match of `[a-zA-Z0-9]+(\.[0-9]+)?%?` at the start of `text`, or 0.
fn alphanumeric_len(text: &str) -> usize {
    let count = |from: usize, matches: fn(&u8) -> bool| {
        text.as_bytes().iter().skip(from).take_while(|byte| matches(byte)).count()
    };
    let mut end = count(0, u8::is_ascii_alphanumeric);
    if end == 0 {
        return 0;
    }
    if text.as_bytes().get(end) == Some(&b'.') {
        let n_decimals = count(end + 1, u8::is_ascii_digit);
        if n_decimals > 0 {
            end += 1 + n_decimals;
        }
    }
    end + usize::from(text.as_bytes().get(end) == Some(&b'%'))
}
