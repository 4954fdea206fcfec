//! `intl`: the tokenizer of mteval-v14 with its international option.
//!
//! Equal to sacreBLEU 2.6.0's `BLEU(tokenize="intl")`, which trims the end of a text before it tokenises it.
//! Symbols (Unicode `S`) stand alone, and so does punctuation (`P`) except between numbers (`N`). Entities
//! are not decoded.
//!
//! Quirk kept on purpose: the text is not padded with spaces, so punctuation between a number and the end (or
//! between the start and a number) stays with the number, as in the original script.
//!
//! The properties are those of Unicode 18. sacreBLEU uses Python's `regex` module, which has its own tables:
//! release 2026.11.15 agrees for all 1,112,064 characters; older releases know fewer characters.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::mteval::{self, Class, Rules};
use super::plain::is_python_space;

struct Intl;

impl Rules for Intl {
    const ASCII: [Class; 256] = ascii();
    const PADDED: bool = false;

    fn wide(c: char) -> Class {
        match c.general_category_group() {
            GeneralCategoryGroup::Number => Class::Number,
            GeneralCategoryGroup::Punctuation => Class::Point,
            GeneralCategoryGroup::Symbol => Class::Alone,
            _ if is_python_space(c) => Class::Space,
            _ => Class::Word,
        }
    }
}

const fn ascii() -> [Class; 256] {
    let mut classes = mteval::spaces_and_digits();
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_punctuation() {
            classes[byte] = match byte as u8 {
                b'$' | b'+' | b'<' | b'=' | b'>' | b'^' | b'`' | b'|' | b'~' => Class::Alone,
                _ => Class::Point,
            };
        }
        byte += 1;
    }
    classes
}

/// Calls `piece` with each piece of `text`.
#[inline]
pub(super) fn tokenize(text: &str, piece: &mut impl FnMut(&str)) {
    mteval::split::<Intl>(text.trim_end_matches(is_python_space), piece);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tokenizer;

    /// The expected pieces are sacreBLEU 2.6.0's: `BLEU(tokenize="intl")._preprocess_segment(text)`.
    fn check(text: &str, pieces: &str) {
        assert_eq!(Tokenizer::Intl.pieces(text).join(" "), pieces, "for {text:?}");
    }

    #[test]
    fn punctuation_and_symbols_stand_alone() {
        check("a dog-sled, «très» cher: 5€!", "a dog - sled , « très » cher : 5 € !");
        check("don't &amp; 你好。", "don ' t & amp ; 你好 。");
    }

    #[test]
    fn punctuation_between_numbers_stays() {
        check("1,000.5 of 3-4 at 5:30", "1,000.5 of 3-4 at 5:30");
        check("٣٫٤ ½-¼", "٣٫٤ ½-¼");
    }

    #[test]
    fn a_point_between_a_number_and_the_end_stays() {
        check("in 1990.", "in 1990.");
        check("in 1990. \n", "in 1990.");
        check("in 1990. x", "in 1990 . x");
        check(".5 x", ".5 x");
        check("..5", ". . 5");
        check("(5) ", "(5)");
    }

    #[test]
    fn the_classes_are_those_of_the_reference() {
        // FNV-1a over one letter per character; the expected hash was computed with the reference's `regex`
        // module (2026.11.15): oracle/tokenizing.py --classes.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for c in '\0'..=char::MAX {
            let letter = match c.general_category_group() {
                GeneralCategoryGroup::Number => b'N',
                GeneralCategoryGroup::Punctuation => b'P',
                GeneralCategoryGroup::Symbol => b'S',
                _ => b'X',
            };
            hash = (hash ^ u64::from(letter)).wrapping_mul(0x0100_0000_01b3);
        }
        assert_eq!(hash, 0x7b9f_8caa_0989_4519);
    }

    #[test]
    fn the_ascii_table_agrees_with_the_properties() {
        for byte in 0..128_u8 {
            assert_eq!(Intl::ASCII[usize::from(byte)], Intl::wide(char::from(byte)), "for byte {byte}");
        }
    }
}
