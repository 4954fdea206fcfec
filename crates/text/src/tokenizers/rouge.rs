//! `rouge155` and `rouge-score`: runs of ASCII letters and digits.
//!
//! ROUGE-1.5.5 lower-cases A to Z, puts spaces around hyphens, replaces everything but letters, digits and
//! hyphens with spaces, and then keeps words that start with a letter or digit: in effect the runs of letters
//! and digits. Google's rouge_score 0.1.2 first applies Unicode lower-casing, which turns two non-ASCII
//! characters into ASCII letters: the Kelvin sign `K` becomes `k`, and `İ` becomes an `i` with a combining
//! dot, which is dropped.

use super::Scratch;

/// The runs of letters and digits in `text`, with A to Z in lower case.
#[inline]
pub(super) fn ascii(text: &str, scratch: &mut Scratch, piece: &mut impl FnMut(&str)) {
    let lower = &mut scratch.text;
    lower.clear();
    lower.push_str(text);
    lower.make_ascii_lowercase();
    runs(lower, piece);
}

/// The runs of letters and digits in `text` after Unicode lower-casing.
#[inline]
pub(super) fn unicode(text: &str, scratch: &mut Scratch, piece: &mut impl FnMut(&str)) {
    if text.is_ascii() || !text.contains(['\u{212a}', '\u{130}']) {
        return ascii(text, scratch, piece);
    }
    runs(&text.to_lowercase(), piece);
}

fn runs(text: &str, piece: &mut impl FnMut(&str)) {
    let is_word = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let end = at + bytes[at..].iter().position(|b| !is_word(b)).unwrap_or(bytes.len() - at);
        if end > at {
            // Both ends are next to ASCII characters.
            piece(&text[at..end]);
        }
        at = end + 1;
        // A multi-byte character is skipped as a whole.
        while at < bytes.len() && !text.is_char_boundary(at) {
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Tokenizer;

    #[test]
    fn only_ascii_letters_and_digits_are_words() {
        let text = "A well-known 3-year-old's $5 éa naïve_x 你好 A\u{a0}b.";
        let expected = "a well known 3 year old s 5 a na ve x a b";
        assert_eq!(Tokenizer::Rouge155.pieces(text).join(" "), expected);
        assert_eq!(Tokenizer::RougeScore.pieces(text).join(" "), expected);
        assert!(Tokenizer::Rouge155.pieces("你好").is_empty());
    }

    /// `rouge_score.tokenize.tokenize(text, None)` of rouge_score 0.1.2.
    #[test]
    fn rouge_score_lower_cases_by_unicode() {
        assert_eq!(Tokenizer::RougeScore.pieces("5\u{212a} \u{130}B É"), ["5k", "i", "b"]);
        assert_eq!(Tokenizer::Rouge155.pieces("5\u{212a} \u{130}B É"), ["5", "b"]);
    }
}
