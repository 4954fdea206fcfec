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
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let end = at + run(&bytes[at..]);
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

/// The number of letters a to z and digits with which `bytes` begin. Eight are looked at together: most words end
/// there, and where a loop over bytes would end cannot be foretold by the processor.
#[inline]
fn run(bytes: &[u8]) -> usize {
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let (eights, rest) = bytes.as_chunks::<8>();
    for (k, eight) in eights.iter().enumerate() {
        let eight = u64::from_le_bytes(*eight);
        let low = eight & !HIGH;
        // The high bit of each byte that is at least `byte`.
        let from = |byte: u8| low + u64::from_ne_bytes([0x80 - byte; 8]);
        let word = (from(b'a') & !from(b'z' + 1) | from(b'0') & !from(b'9' + 1)) & !eight & HIGH;
        if word != HIGH {
            return 8 * k + ((word ^ HIGH).trailing_zeros() / 8) as usize;
        }
    }
    let is_word = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    bytes.len() - rest.len() + rest.iter().take_while(|byte| is_word(byte)).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::run;
    use crate::Tokenizer;

    proptest! {
        #[test]
        fn eight_bytes_end_where_one_by_one_does(text in "[a-z0-9]{0,20}.{0,12}", bytes: Vec<u8>) {
            let is_word = |byte: &&u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            for bytes in [text.as_bytes(), &bytes] {
                prop_assert_eq!(run(bytes), bytes.iter().take_while(is_word).count());
            }
        }

        #[test]
        fn every_byte_ends_a_run_or_not(byte: u8, before in 0..20_usize) {
            let bytes = [vec![b'a'; before], vec![byte], vec![b'z'; 9]].concat();
            let is_word = byte.is_ascii_lowercase() || byte.is_ascii_digit();
            prop_assert_eq!(run(&bytes), if is_word { before + 10 } else { before });
        }
    }

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
