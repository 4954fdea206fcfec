//! `char`: each character is a piece.
//!
//! Equal to sacreBLEU 2.6.0's `BLEU(tokenize="char")`: it splits into code points, not grapheme clusters, so
//! a letter and its combining accent are two pieces. White space is dropped.

use super::plain::is_python_space;

/// Calls `piece` with each character of `text` that is not white space.
#[inline]
pub(super) fn tokenize(text: &str, piece: &mut impl FnMut(&str)) {
    let mut buffer = [0; 4];
    for c in text.chars().filter(|c| !is_python_space(*c)) {
        piece(c.encode_utf8(&mut buffer));
    }
}

#[cfg(test)]
mod tests {
    use crate::Tokenizer;

    #[test]
    fn each_code_point_is_a_piece_and_white_space_is_dropped() {
        assert_eq!(Tokenizer::Char.pieces(" 我 a\u{301}\u{3000}吃."), ["我", "a", "\u{301}", "吃", "."]);
        assert!(Tokenizer::Char.pieces(" \n").is_empty());
    }
}
