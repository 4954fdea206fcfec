//! `zh`: each Chinese character is a piece, everything else as with `13a` without its cleaning.
//!
//! Equal to sacreBLEU 2.6.0's `BLEU(tokenize="zh")`. Quirks kept on purpose:
//!
//! - The reference writes the ranges of ideographs outside the Basic Multilingual Plane with four-digit
//!   escapes, so U+20000 to U+2A6D6 is read as U+2001 to U+2A6D: dashes, quotation marks, arrows and
//!   mathematical signs stand alone, but ideographs of Extension B and later stay attached.
//! - The ranges end where Unicode 4.1 ended, so later additions (such as U+9FBC to U+9FFF) stay attached, as
//!   do kana and hangul of normal width.
//! - The text is not padded with spaces, so a point between a number and either end of the text stays with
//!   the number.

use super::mteval::{self, Class, Rules};
use super::plain::is_python_space;

struct Zh;

impl Rules for Zh {
    const ASCII: [Class; 256] = mteval::WESTERN;
    const PADDED: bool = false;

    fn wide(c: char) -> Class {
        if is_python_space(c) {
            Class::Space
        } else if is_chinese(c) {
            Class::Alone
        } else {
            Class::Word
        }
    }
}

/// Returns true if the reference program treats `c` as a Chinese character.
fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{2001}'..='\u{2a6d}'
        | '\u{2e80}'..='\u{2fdf}'
        | '\u{2ff0}'..='\u{303f}'
        | '\u{3100}'..='\u{312f}'
        | '\u{31a0}'..='\u{31ef}'
        | '\u{3200}'..='\u{4db5}'
        | '\u{4e00}'..='\u{9fbb}'
        | '\u{f900}'..='\u{fa2d}'
        | '\u{fa30}'..='\u{fa6a}'
        | '\u{fa70}'..='\u{fad9}'
        | '\u{fe10}'..='\u{fe1f}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}')
}

/// Calls `piece` with each piece of `text`.
#[inline]
pub(super) fn tokenize(text: &str, piece: &mut impl FnMut(&str)) {
    mteval::split::<Zh>(text.trim_matches(is_python_space), piece);
}

#[cfg(test)]
mod tests {
    use crate::Tokenizer;

    /// The expected pieces are sacreBLEU 2.6.0's: `BLEU(tokenize="zh")._preprocess_segment(text)`.
    fn check(text: &str, pieces: &str) {
        assert_eq!(Tokenizer::Zh.pieces(text).join(" "), pieces, "for {text:?}");
    }

    #[test]
    fn each_chinese_character_stands_alone() {
        check("两只小狗在玩。", "两 只 小 狗 在 玩 。");
        check("穿T恤的人,3.5米", "穿 T 恤 的 人 , 3.5 米");
    }

    #[test]
    fn general_punctuation_counts_as_chinese_but_extension_b_does_not() {
        check("a—b “c” → ≤", "a — b “ c ” → ≤");
        check("a\u{20000}b \u{2a6d6}", "a\u{20000}b \u{2a6d6}");
    }

    #[test]
    fn characters_after_unicode_4_1_and_kana_stay_attached() {
        check("\u{9fbb}\u{9fbc}x \u{3042}\u{3044} 한국", "\u{9fbb} \u{9fbc}x \u{3042}\u{3044} 한국");
        check("ﾜﾀ", "ﾜ ﾀ");
    }

    #[test]
    fn points_at_the_ends_stay_with_a_number() {
        check(" 5. ", "5.");
        check(".5", ".5");
        check("5.狗", "5 . 狗");
        check("..", ". .");
        check(".a", ". a");
    }

    #[test]
    fn nothing_is_decoded() {
        check("&quot;<skipped>", "& quot ; < skipped >");
    }
}
