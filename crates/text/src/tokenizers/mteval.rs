//! The splitting rules of the mteval scripts, which `13a`, `zh` and `intl` share.
//!
//! The reference programs rewrite a string with four regular expressions, one after the other, and then split
//! it on white space. Each rule only adds spaces, so the result depends only on their positions, which follow
//! from the class of a character and those of its two neighbours:
//!
//! 1. some characters always stand alone;
//! 2. a *point* (a full stop, a comma; with `intl` any punctuation) stands alone after a character that is
//!    not a digit;
//! 3. a point stands alone before a character that is not a digit;
//! 4. a dash stands alone after a digit.
//!
//! Rule 2 consumes both characters of a match, so a point that it has just separated cannot be the character
//! before the next one: in `..5` the first point stands alone and the second stays with the 5.

/// The class of a character in the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// Part of a word.
    Word,
    /// Part of a word; points and dashes next to it may stay attached or be split off.
    Number,
    /// The first byte of a non-ASCII character, whose class [`Rules::wide`] returns.
    Wide,
    /// Between words.
    Space,
    /// Always a piece of its own.
    Alone,
    /// A piece of its own except between numbers.
    Point,
    /// A piece of its own after a number.
    Dash,
}

/// The classes of one tokenizer.
pub(super) trait Rules {
    /// The class of each ASCII character; [`Class::Wide`] for all other bytes.
    const ASCII: [Class; 256];
    /// Pad the text with spaces, so that points at its ends have a neighbour.
    const PADDED: bool;
    /// The class of a non-ASCII character.
    fn wide(c: char) -> Class;
}

/// The classes of the ASCII characters for `13a` and `zh`.
pub(super) const WESTERN: [Class; 256] = western();

const fn western() -> [Class; 256] {
    let mut classes = spaces_and_digits();
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_punctuation() {
            classes[byte] = match byte as u8 {
                b'.' | b',' => Class::Point,
                b'-' => Class::Dash,
                b'\'' => Class::Word,
                _ => Class::Alone,
            };
        }
        byte += 1;
    }
    classes
}

/// A table with white space and digits; all other ASCII characters belong to words.
pub(super) const fn spaces_and_digits() -> [Class; 256] {
    let mut classes = [Class::Word; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'\t'..=b'\r' | b' ' | 0x1c..=0x1f => Class::Space,
            b'0'..=b'9' => Class::Number,
            0x80.. => Class::Wide,
            _ => Class::Word,
        };
        byte += 1;
    }
    classes
}

/// Calls `piece` with each piece of `text` under the rules `R`.
#[inline]
pub(super) fn split<R: Rules>(text: &str, piece: &mut impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut word_start = 0;
    let mut position = 0;
    // The end of the point that rule 2 matched last.
    let mut consumed_until = usize::MAX;
    while let Some(&byte) = bytes.get(position) {
        let mut class = R::ASCII[usize::from(byte)];
        if matches!(class, Class::Word | Class::Number) {
            position += 1;
            continue;
        }
        let mut end = position + 1;
        if class == Class::Wide {
            let Some(c) = char_at(text, position) else { break };
            class = R::wide(c);
            end = position + c.len_utf8();
        }
        let alone = match class {
            Class::Word | Class::Number | Class::Wide => {
                position = end;
                continue;
            }
            Class::Space => false,
            Class::Alone => true,
            Class::Dash => {
                if !is_number::<R>(char_before(text, position)) {
                    position = end;
                    continue;
                }
                true
            }
            Class::Point => {
                let before = char_before(text, position);
                let has_neighbour = R::PADDED || before.is_some();
                let parts_left = has_neighbour && !is_number::<R>(before) && consumed_until != position;
                if parts_left {
                    consumed_until = end;
                } else {
                    let after = char_at(text, end);
                    let has_neighbour = R::PADDED || after.is_some();
                    if !has_neighbour || is_number::<R>(after) {
                        position = end;
                        continue;
                    }
                }
                true
            }
        };
        emit(text, word_start, position, piece);
        if alone {
            emit(text, position, end, piece);
        }
        word_start = end;
        position = end;
    }
    emit(text, word_start, bytes.len(), piece);
}

#[inline]
fn emit(text: &str, start: usize, end: usize, piece: &mut impl FnMut(&str)) {
    if start < end
        && let Some(found) = text.get(start..end)
    {
        piece(found);
    }
}

fn is_number<R: Rules>(c: Option<char>) -> bool {
    match c {
        Some(c) if c.is_ascii() => c.is_ascii_digit(),
        Some(c) => R::wide(c) == Class::Number,
        None => false,
    }
}

fn char_at(text: &str, position: usize) -> Option<char> {
    text.get(position..)?.chars().next()
}

fn char_before(text: &str, position: usize) -> Option<char> {
    text.get(..position)?.chars().next_back()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::Tokenizer;
    use crate::tokenizers::plain::is_python_space;

    proptest! {
        #[test]
        fn only_white_space_is_lost(text in "([.,0-9a -]|\\PC|\\s|[一-龥]|&quot;|<skipped>|-\n){0,40}") {
            let expected: String = text.chars().filter(|c| !is_python_space(*c)).collect();
            for tokenizer in [Tokenizer::Intl, Tokenizer::Zh, Tokenizer::Char] {
                prop_assert_eq!(tokenizer.pieces(&text).concat(), expected.as_str());
            }
        }

        #[test]
        fn pieces_are_never_empty_and_contain_no_white_space(text in "([.,0-9a&;<> -]|&amp;|\\PC|\\s|<skipped>|-\n){0,40}") {
            for tokenizer in [Tokenizer::V13a, Tokenizer::Intl, Tokenizer::Zh, Tokenizer::Char] {
                for piece in tokenizer.pieces(&text) {
                    prop_assert!(!piece.is_empty() && !piece.contains(is_python_space), "{:?}", piece);
                }
            }
        }
    }
}
