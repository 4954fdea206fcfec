//! The fast path, for plain words, small numbers and sentence punctuation that the rules can read in only one
//! way.
//!
//! A run of ASCII letters before a space is a word, whatever surrounds it: no rule that starts at a letter
//! reads past a space except to look ahead, and no rule that ends there prints anything else. Six words are
//! split, and some are abbreviations before a full stop; these, and everything that is not plain, are left to
//! the rules. A test compares both paths.

use super::Lexer;
use super::lexer::Source;
use super::post::Post;
use super::rules::{ABBREVIATION_LISTS, Form, MORE_ABBREVIATIONS};

/// Spaces to append to the text, so that eight bytes can be read at any position in it.
const PADDING: &str = "        ";

/// Calls `piece` with the tokens that pycocoevalcap produces for the text; `lower` is a buffer.
///
/// The loop is one long function because its arms share the position and the buffers, and most texts never leave it.
pub(super) fn tokenize(
    lexer: &mut Lexer,
    lower: &mut String,
    source: Source<'_, '_>,
    mut piece: impl FnMut(&str),
) {
    let text = source.text;
    lower.clear();
    lower.push_str(text);
    lower.make_ascii_lowercase();
    lower.push_str(PADDING);
    let bytes = lower.as_bytes();
    let Lexer { automaton, printed, post } = lexer;
    automaton.forget();
    let mut exact = |at: usize, post: &mut Post, piece: &mut _| {
        let token = source.token(automaton, at);
        match token.form {
            Form::Same => post.lowered(&lower[at..token.end], piece),
            Form::Nothing => {}
            Form::LineBreak => post.line_break(piece),
            form => {
                if let Some(token) = form.print(&text[at..token.end], printed) {
                    post.token(token, piece);
                }
            }
        }
        token.resume
    };
    let space_or_word =
        |at: usize| bytes[at] == b' ' && (at >= text.len() || bytes[at + 1].is_ascii_lowercase());

    let mut at = 0;
    while at < text.len() {
        let eight = load(bytes, at);
        let mut length = letters(eight);
        if length > 0 {
            let mut run = length;
            while run == 8 {
                run = letters(load(bytes, at + length));
                length += run;
            }
            let end = at + length;
            let plain = match bytes[end] {
                b' ' | b'"' | b'(' | b')' => true,
                b',' | b';' | b':' | b'!' | b'?' => bytes[end + 1] == b' ',
                b'.' => bytes[end + 1] == b' ' && !Abbreviations::ALL.may_have(eight, length),
                _ => false,
            };
            if plain && !is_split(eight, length) {
                piece(&lower[at..end]);
                at = end + usize::from(bytes[end] == b' ');
                continue;
            }
        } else {
            match bytes[at] {
                b' ' => {
                    at += 1;
                    continue;
                }
                b'.' | b',' | b';' | b':' | b'!' | b'?' if space_or_word(at + 1) => {
                    at += 2;
                    continue;
                }
                b'0'..=b'9' => {
                    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    if space_or_word(at + digits) {
                        piece(&lower[at..at + digits]);
                        at += digits + 1;
                        continue;
                    }
                }
                0x21..=0x7e => {}
                // White space other than a space is read from the first of the spaces before it.
                _ => {
                    let spaces = bytes[..at].iter().rev().take_while(|byte| **byte == b' ').count();
                    if spaces > 0 {
                        at = exact(at - spaces, post, &mut piece);
                    }
                    if at >= text.len() {
                        break;
                    }
                }
            }
        }
        at = exact(at, post, &mut piece);
        while post.holds() && at < text.len() {
            at = exact(at, post, &mut piece);
        }
    }
    post.line_break(&mut piece);
}

/// The eight bytes at `at` as a number, the first byte lowest; zeros past the end.
#[inline]
fn load(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok()) {
        Some(eight) => u64::from_le_bytes(eight),
        None => 0,
    }
}

/// The number of lower-case ASCII letters at the start of the eight bytes, from the lowest byte on.
#[inline]
fn letters(eight: u64) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    let low = eight & !HIGH;
    let from_a = low + (0x80 - b'a' as u64) * ONES;
    let after_z = low + (0x80 - b'z' as u64 - 1) * ONES;
    let other = !(from_a & !after_z & !eight) & HIGH;
    other.trailing_zeros() as usize / 8
}

/// Returns true if the word of `length` letters at the start of `eight` is one of those that are split in two.
#[inline]
fn is_split(eight: u64, length: usize) -> bool {
    const FIVE: [u64; 5] = [
        u64::from_le_bytes(*b"gonna\0\0\0"),
        u64::from_le_bytes(*b"gotta\0\0\0"),
        u64::from_le_bytes(*b"lemme\0\0\0"),
        u64::from_le_bytes(*b"gimme\0\0\0"),
        u64::from_le_bytes(*b"wanna\0\0\0"),
    ];
    const SIX: u64 = u64::from_le_bytes(*b"cannot\0\0");
    match length {
        5 => FIVE.contains(&(eight & 0xff_ffff_ffff)),
        6 => eight & 0xffff_ffff_ffff == SIX,
        _ => false,
    }
}

/// A set of words of up to seven letters with possible false positives, as in a Bloom filter.
#[derive(Debug)]
struct Abbreviations([u64; 64]);

impl Abbreviations {
    /// All abbreviations in the rules that consist of letters only.
    const ALL: Self = {
        let mut bits = [0; 64];
        let mut k = 0;
        while k < ABBREVIATION_LISTS.len() {
            add_words(&mut bits, ABBREVIATION_LISTS[k].as_bytes());
            k += 1;
        }
        add_words(&mut bits, MORE_ABBREVIATIONS.as_bytes());
        Self(bits)
    };

    /// Returns true if the word of `length` letters at the start of `eight` may be an abbreviation. This is always true
    /// for a single letter, and never for a word of more than seven letters.
    #[inline]
    fn may_have(&self, eight: u64, length: usize) -> bool {
        if !(2..=7).contains(&length) {
            return length < 2;
        }
        let slot = slot(eight & ((1 << (8 * length)) - 1));
        self.0[slot / 64] >> (slot % 64) & 1 == 1
    }
}

const fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize
}

/// Adds the words of `list` that are short enough; words with a full stop inside are never looked up.
const fn add_words(bits: &mut [u64; 64], list: &[u8]) {
    let mut key = 0;
    let mut length = 0;
    let mut k = 0;
    while k <= list.len() {
        if k == list.len() || list[k] == b' ' || list[k] == b'\n' {
            if length > 0 && length < 8 {
                bits[slot(key) / 64] |= 1 << (slot(key) % 64);
            }
            (key, length) = (0, 0);
        } else {
            if length < 8 {
                key |= (list[k].to_ascii_lowercase() as u64) << (8 * length);
            }
            length += 1;
        }
        k += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted_from_the_lowest_byte() {
        for (text, count) in [
            (b"man and ", 3),
            (b" man and", 0),
            (b"sitting ", 7),
            (b"sittings", 8),
            (b"caf\xc3\xa9 a ", 3),
            (b"`az{ab  ", 0),
            (b"az{ab   ", 2),
            (b"\xe1az     ", 0),
        ] {
            assert_eq!(letters(u64::from_le_bytes(*text)), count);
        }
        for byte in 0..=u8::MAX {
            let eight = u64::from_le_bytes([b'a', byte, b'a', b'z', b'm', b'n', b'o', b'p']);
            assert_eq!(letters(eight), if byte.is_ascii_lowercase() { 8 } else { 1 });
        }
    }

    #[test]
    fn the_filter_contains_all_abbreviations_and_few_other_words() {
        let may_have = |word: &str| {
            Abbreviations::ALL.may_have(load(format!("{word}{PADDING}").as_bytes(), 0), word.len())
        };
        let lists = ABBREVIATION_LISTS.iter().flat_map(|list| list.split_ascii_whitespace());
        for word in
            lists.chain(MORE_ABBREVIATIONS.split_ascii_whitespace()).filter(|word| !word.contains('.'))
        {
            assert!(may_have(&word.to_lowercase()), "{word}");
        }
        let plain =
            "street field table water grass train court plate room beach road cake other sky board tree";
        assert!(plain.split(' ').filter(|word| may_have(word)).count() < 3);
    }
}
