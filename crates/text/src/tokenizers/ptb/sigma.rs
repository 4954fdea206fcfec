//! Lower-casing of tokens with a capital sigma, whose lower-case form depends on its neighbours.
//!
//! Java writes the final form if the sigma has a cased letter before it and none after it within the same
//! word; word boundaries are Java's own, which are older than Unicode's.

use super::classes;

/// Appends `token` to `lower` in lower case.
pub(super) fn push_lower(token: &str, lower: &mut String) {
    let mut rest = token;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(word_end(rest));
        rest = after;
        let mut cased_before = false;
        for (at, c) in word.char_indices() {
            if c == '\u{3a3}' {
                let cased_after = word[at + c.len_utf8()..].chars().any(is_cased);
                lower.push(if cased_before && !cased_after { '\u{3c2}' } else { '\u{3c3}' });
            } else {
                lower.extend(c.to_lowercase());
            }
            cased_before |= is_cased(c);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Digit,
    Mark,
    Other,
}

fn kind(c: char) -> Kind {
    match c {
        '\u{3005}' | '\u{3041}'..='\u{3094}' | '\u{3099}'..='\u{30fe}' => Kind::Other,
        '\u{4e00}'..='\u{9fa5}' | '\u{f900}'..='\u{fa2d}' => Kind::Other,
        c if c.is_numeric() => Kind::Digit,
        c if c.is_alphabetic() => Kind::Letter,
        c if classes::MARKS_ONLY.has(classes::of(c)) => Kind::Mark,
        _ => Kind::Other,
    }
}

fn is_cased(c: char) -> bool {
    c.is_uppercase() || c.is_lowercase()
}

/// Returns true if `c` joins two letters of a word: dashes, underscores, straight quotes and full stops.
fn joins_letters(c: char) -> bool {
    matches!(c, '-' | '_' | '"' | '\'' | '.' | '\u{ad}' | '\u{58a}' | '\u{2010}'..='\u{2015}' | '\u{2027}')
        || matches!(c, '\u{203f}' | '\u{2040}')
}

/// Returns true if `c` joins two digits of a number.
fn joins_digits(c: char) -> bool {
    matches!(c, '"' | '\'' | ',' | '.' | '\u{66b}')
}

/// The length in bytes of the first word of `text`: letters and digits with single joiners between them, or
/// one other character.
fn word_end(text: &str) -> usize {
    let mut end = 0;
    let mut last = Kind::Other;
    let mut joiner = None;
    for (at, c) in text.char_indices() {
        let mut kind = kind(c);
        if kind == Kind::Mark && joiner.is_none() {
            kind = last;
        }
        let goes_on = match (last, kind, joiner) {
            (_, Kind::Letter | Kind::Digit, None) => end == 0 || last != Kind::Other,
            (Kind::Letter, Kind::Letter, Some(joiner)) => joins_letters(joiner),
            (Kind::Digit, Kind::Digit, Some(joiner)) => joins_digits(joiner),
            _ => false,
        };
        if goes_on {
            (last, joiner, end) = (kind, None, at + c.len_utf8());
        } else if end == 0 {
            return c.len_utf8();
        } else if joiner.is_none() && (joins_letters(c) || joins_digits(c)) {
            joiner = Some(c);
        } else {
            break;
        }
    }
    end
}
