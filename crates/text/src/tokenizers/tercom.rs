//! `tercom`: the tokenizer of the translation edit rate, with its options.
//!
//! Equal to sacreBLEU 2.6.0's `TercomTokenizer` on text that the caller has lower-cased or not. Without any
//! option it splits on white space. The options are
//!
//! - normalising: line breaks and entities become characters, punctuation and `'s` stand alone, points and
//!   dashes stay within numbers;
//! - removing punctuation: `. , ? : ; ! " ( )`;
//! - Asian support: normalising then also separates Chinese characters, and removing punctuation also removes
//!   East Asian and full-width punctuation.
//!
//! Quirks kept on purpose:
//! - a line break *before* a hyphen is removed with the hyphen (`snow\n-board`), one after it is not;
//! - the range of enclosed letters and months ends at U+3F22 instead of U+32FF, so the first 2,851 ideographs
//!   of Extension A are covered twice, which makes no difference;
//! - the rules that should separate runs of kana match only a text that consists entirely of kana, but a
//!   normalised text begins with a space, so kana are never split.

use super::plain::is_python_space;

/// The options of the tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tercom {
    /// Splits on white space.
    Plain,
    /// Normalises.
    Norm,
    /// Normalises, with Asian support.
    NormAsian,
    /// Removes punctuation.
    NoPunct,
    /// Removes punctuation, with Asian support.
    NoPunctAsian,
    /// Normalises, then removes punctuation.
    NormNoPunct,
    /// Normalises, then removes punctuation, with Asian support.
    NormNoPunctAsian,
}

impl Tercom {
    fn options(self) -> (bool, bool, bool) {
        match self {
            Self::Plain => (false, false, false),
            Self::Norm => (true, false, false),
            Self::NormAsian => (true, false, true),
            Self::NoPunct => (false, true, false),
            Self::NoPunctAsian => (false, true, true),
            Self::NormNoPunct => (true, true, false),
            Self::NormNoPunctAsian => (true, true, true),
        }
    }
}

/// Calls `piece` with each piece of `text`.
pub(super) fn tokenize(tercom: Tercom, text: &str, piece: &mut impl FnMut(&str)) {
    if tercom == Tercom::Plain {
        return super::plain::whitespace(text, piece);
    }
    let (normalise, no_punct, asian) = tercom.options();
    let mut text = text.trim_end_matches(is_python_space).to_owned();
    if text.is_empty() {
        return;
    }
    if normalise {
        text = normalised(&text);
        if asian {
            text = apart(&text, |c| is_chinese(c) || is_asian_punctuation(c));
        }
    }
    if no_punct {
        text.retain(|c| !matches!(c, '.' | ',' | '?' | ':' | ';' | '!' | '"' | '(' | ')'));
        if asian {
            text.retain(|c| !is_asian_punctuation(c));
        }
    }
    super::plain::whitespace(&text, piece);
}

/// Applies the general and the Western part of the normalisation.
fn normalised(text: &str) -> String {
    let text = text
        .replace("\n-", "")
        .replace('\n', " ")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    let text = apart(&format!(" {text} "), |c| {
        c == ' ' || c.is_ascii_punctuation() && !matches!(c, '\'' | ',' | '-' | '.')
    });
    let text = text.replace("'s ", " 's ");
    let text = pairs(&text, |a, b| !a.is_ascii_digit() && is_point(b), ["", " ", " "]);
    let text = pairs(&text, |a, b| is_point(a) && !b.is_ascii_digit(), [" ", " ", ""]);
    pairs(&text, |a, b| a.is_ascii_digit() && b == '-', ["", " ", " "])
}

fn is_point(c: char) -> bool {
    matches!(c, '.' | ',')
}

/// Puts a space on both sides of each character for which `alone` is true.
fn apart(text: &str, alone: impl Fn(char) -> bool) -> String {
    let mut apart = String::with_capacity(2 * text.len());
    for c in text.chars() {
        if alone(c) {
            apart.extend([' ', c, ' ']);
        } else {
            apart.push(c);
        }
    }
    apart
}

/// Puts `before`, `between` and `after` around the characters of each matching pair; pairs are found from
/// left to right and do not overlap.
fn pairs(text: &str, matches: impl Fn(char, char) -> bool, [before, between, after]: [&str; 3]) -> String {
    let mut result = String::with_capacity(2 * text.len());
    let mut chars = text.chars().peekable();
    while let Some(a) = chars.next() {
        match chars.next_if(|b| matches(a, *b)) {
            Some(b) => {
                result.push_str(before);
                result.push(a);
                result.push_str(between);
                result.push(b);
                result.push_str(after);
            }
            None => result.push(a),
        }
    }
    result
}

/// Returns true if `c` is an ideograph, a stroke, a radical, a compatibility form, or an enclosed letter or month.
fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{2eff}'
        | '\u{31c0}'..='\u{31ef}'
        | '\u{3200}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}')
}

fn is_asian_punctuation(c: char) -> bool {
    matches!(c,
        '\u{3001}' | '\u{3002}'
        | '\u{3008}'..='\u{3011}'
        | '\u{3014}'..='\u{301f}'
        | '\u{30fb}'
        | '\u{ff61}'..='\u{ff65}'
        | '\u{ff01}' | '\u{ff02}' | '\u{ff08}' | '\u{ff09}' | '\u{ff0c}' | '\u{ff0e}' | '\u{ff1a}'
        | '\u{ff1b}' | '\u{ff1f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tokenizer;

    /// The expected pieces are sacreBLEU 2.6.0's: `TercomTokenizer(case_sensitive=True, ...)(text)`.
    fn check(tercom: Tercom, text: &str, pieces: &str) {
        assert_eq!(Tokenizer::Tercom(tercom).pieces(text).join(" "), pieces, "for {text:?}");
    }

    #[test]
    fn punctuation_and_possessives_stand_alone() {
        check(Tercom::Norm, "The dog's (3.5-m) leash, 1,000.", "The dog 's ( 3.5 - m ) leash , 1,000 .");
        check(
            Tercom::Norm,
            "dogs' it's a&amp;b &quot;x&quot; ..5 a-b 3-b",
            "dogs' it 's a & b \" x \" . .5 a-b 3 - b",
        );
    }

    #[test]
    fn a_line_break_before_a_hyphen_is_removed_with_it() {
        check(Tercom::Norm, "snow\n-board ice-\nhockey", "snowboard ice- hockey");
    }

    #[test]
    fn punctuation_is_removed_within_words_too() {
        check(Tercom::NoPunct, "U.S. (3:30) \"x\" don't 你好。", "US 330 x don't 你好。");
        check(Tercom::NoPunctAsian, "U.S. 你好。！「x」", "US 你好x");
    }

    #[test]
    fn asian_support_splits_chinese_but_never_kana() {
        check(
            Tercom::NormAsian,
            "两只狗。ひらがな カタカナ㈱x\u{20000}",
            "两 只 狗 。 ひらがな カタカナ ㈱ x\u{20000}",
        );
        check(Tercom::NormAsian, "ひらがな", "ひらがな");
    }

    #[test]
    fn punctuation_is_removed_after_normalising() {
        check(Tercom::NormNoPunct, "a,b. (c)", "a b c");
        check(Tercom::NormNoPunctAsian, "狗。a,b", "狗 a b");
    }
}
