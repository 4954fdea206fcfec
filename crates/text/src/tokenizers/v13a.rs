//! `13a`: the tokenizer of mteval-v13a, sacreBLEU's default.
//!
//! Equal to sacreBLEU 2.6.0's `BLEU(tokenize="13a")`, which trims the end of a text before it tokenises it.
//! The text is first cleaned: `<skipped>`, and a hyphen together with the line break after it, are removed,
//! and the entities `&quot;`, `&amp;`, `&lt;`, `&gt;` become characters, in this order, so that `&amp;lt;`
//! becomes `<`. Then every ASCII punctuation mark except `'`, `-`, `.` and `,` stands alone, and points and
//! dashes follow the rules of [`super::mteval`]. Non-ASCII punctuation is never split off.

use super::Scratch;
use super::mteval::{self, Class, Rules};
use super::plain::is_python_space;

struct V13a;

impl Rules for V13a {
    const ASCII: [Class; 256] = mteval::WESTERN;
    const PADDED: bool = true;

    fn wide(c: char) -> Class {
        if is_python_space(c) { Class::Space } else { Class::Word }
    }
}

/// The strings to replace, with their replacements, in the order of the reference program.
const CLEANING: [(&str, &str); 6] =
    [("<skipped>", ""), ("-\n", ""), ("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")];

/// Calls `piece` with each piece of `text`.
#[inline]
pub(super) fn tokenize(text: &str, scratch: &mut Scratch, piece: &mut impl FnMut(&str)) {
    // Without an early exit this loop is vectorised, which makes it free for texts of caption length.
    let suspect = text.bytes().fold(false, |found, b| found | (b == b'&') | (b == b'<') | (b == b'\n'));
    if suspect && clean(text, &mut scratch.text) {
        mteval::split::<V13a>(&scratch.text, piece);
    } else {
        mteval::split::<V13a>(text, piece);
    }
}

/// Writes the cleaned text to `cleaned` and returns whether it differs from `text`.
#[cold]
fn clean(text: &str, cleaned: &mut String) -> bool {
    let text = text.trim_end_matches(is_python_space);
    let mut changed = false;
    cleaned.clear();
    cleaned.push_str(text);
    for (from, to) in CLEANING {
        if cleaned.contains(from) {
            *cleaned = cleaned.replace(from, to);
            changed = true;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use crate::Tokenizer;

    /// The expected pieces are sacreBLEU 2.6.0's: `BLEU(tokenize="13a")._preprocess_segment(text)`.
    fn check(text: &str, pieces: &str) {
        assert_eq!(Tokenizer::V13a.pieces(text).join(" "), pieces, "for {text:?}");
    }

    #[test]
    fn points_stay_within_numbers_only() {
        check("It cost $3.50, or 1,000.", "It cost $ 3.50 , or 1,000 .");
        check(".5 and 5. and a.b", ". 5 and 5 . and a . b");
        check("1.,2", "1 . , 2");
    }

    #[test]
    fn every_second_point_of_a_run_may_stay_with_the_digit_after_it() {
        check("..5", ". .5");
        check("...5", ". . . 5");
        check("a,.7", "a , .7");
    }

    #[test]
    fn a_dash_stands_alone_after_a_digit_only() {
        check("a 3-year-old, 1990--2000", "a 3 - year-old , 1990 - -2000");
    }

    #[test]
    fn apostrophes_are_not_split_off() {
        check("the dogs' dog's 'it'", "the dogs' dog's 'it'");
    }

    #[test]
    fn entities_are_decoded_in_order() {
        check("&quot;a&quot; &lt;b&gt; c&amp;d", "\" a \" < b > c & d");
        check("&amp;lt; &amp;quot;", "< & quot ;");
        check("&AMP;", "& AMP ;");
    }

    #[test]
    fn hyphens_at_line_breaks_join_words_but_not_at_the_end() {
        check("snow-\nboard", "snowboard");
        check("snow-<skipped>\nboard", "snowboard");
        check("snow-\n", "snow-");
        check("<skip<skipped>ped>", "< skipped >");
    }

    #[test]
    fn non_ascii_punctuation_stays_attached() {
        check("«a» “b” 你好。", "«a» “b” 你好。");
        check("a\u{a0}b\u{3000}c\u{85}d\u{1f}e\u{200b}f", "a b c d e\u{200b}f");
    }

    #[test]
    fn empty_texts_and_white_space_have_no_pieces() {
        for text in ["", " ", "\n", "<skipped>", " \u{2028} "] {
            check(text, "");
        }
    }
}
