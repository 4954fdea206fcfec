//! Classes of characters as Python's strings and the patterns of NLTK know them.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// `\s` of Python's re, and what `str.split` and `str.strip` take for white space.
pub use crate::tokenizers::plain::is_python_space as is_space_of_re;

/// `\w` of the package regex, with which NLTK 3.10 compiles most patterns.
pub fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    let is_mark = || c.general_category_group() == GeneralCategoryGroup::Mark;
    let is_connector = || c.general_category() == GeneralCategory::ConnectorPunctuation;
    c.is_alphabetic() || is_decimal(c) || is_mark() || is_connector() || matches!(c, '\u{200c}' | '\u{200d}')
}

/// `\w` of Python's re, with which it compiles those of contractions.
pub fn is_word_of_re(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    matches!(c.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number)
}

/// `\d`.
pub fn is_decimal(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { c.general_category() == GeneralCategory::DecimalNumber }
}

/// `str.isdigit` of a character: decimal digits, and others that stand for one digit, such as `²`.
pub fn is_digit(c: char) -> bool {
    const OTHERS: [(u32, u32); 20] = [
        (0xb2, 0xb3),
        (0xb9, 0xb9),
        (0x1369, 0x1371),
        (0x19da, 0x19da),
        (0x2070, 0x2070),
        (0x2074, 0x2079),
        (0x2080, 0x2089),
        (0x2460, 0x2468),
        (0x2474, 0x247c),
        (0x2488, 0x2490),
        (0x24ea, 0x24ea),
        (0x24f5, 0x24fd),
        (0x24ff, 0x24ff),
        (0x2776, 0x277e),
        (0x2780, 0x2788),
        (0x278a, 0x2792),
        (0x10a40, 0x10a43),
        (0x10e60, 0x10e68),
        (0x11052, 0x1105a),
        (0x1f100, 0x1f10a),
    ];
    is_decimal(c) || OTHERS.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(c)))
}

/// `\s` of the package regex.
pub fn is_space(c: char) -> bool {
    c.is_whitespace()
}

/// Returns true if two characters are the same to a pattern that ignores case; the second is a small letter of ASCII.
pub fn is_same(c: char, small: char) -> bool {
    match c {
        'ſ' => small == 's',
        '\u{212a}' => small == 'k',
        c => c.to_ascii_lowercase() == small,
    }
}

/// Returns true if characters begin with a text, whatever their case.
pub fn begins(chars: &[char], small: &str) -> bool {
    let n = small.chars().count();
    chars.len() >= n && chars.iter().zip(small.chars()).all(|(c, small)| is_same(*c, small))
}
