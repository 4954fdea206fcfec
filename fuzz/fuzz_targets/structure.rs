//! Changes of text by its structure: strings, numbers, words, lines, and all that brackets enclose move, repeat or go.

use std::ops::Range;

/// What readers may not expect in the place of something else.
const UNUSUAL: [&str; 20] = [
    "null", "true", "\"\"", "0", "-0", "-1", "1e999", "NaN", "9223372036854775808", "0.1", "[]", "{}", "[[[[]]]]",
    "\"\\ud800\"", "\"\\u0000\"", "{\"a\":[]}", "\u{feff}", "\u{2028}", "=1+1", "'",
];

/// A fixed sequence of numbers that look random.
pub struct Sequence(pub u64);

impl Sequence {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// The parts of a text: strings, runs of letters and digits, what brackets enclose, with them, and lines.
fn parts(text: &[u8]) -> Vec<Range<usize>> {
    let (mut parts, mut open, mut line, mut at) = (Vec::new(), Vec::new(), 0, 0);
    while at < text.len() && parts.len() < 4096 {
        let start = at;
        at += 1;
        match text[start] {
            b'"' => {
                while at < text.len() && text[at] != b'"' {
                    at += 1 + usize::from(text[at] == b'\\');
                }
                at = (at + 1).min(text.len());
                parts.push(start..at);
            }
            b'[' | b'{' | b'(' => open.push(start),
            b']' | b'}' | b')' => parts.extend(open.pop().map(|open| open..at)),
            b'\n' => {
                parts.push(line..at);
                line = at;
            }
            byte if byte.is_ascii_alphanumeric() || byte >= 0x80 => {
                let rest = text[at..].iter();
                at += rest.take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | 0x80..)).count();
                parts.push(start..at);
            }
            _ => {}
        }
    }
    parts
}

/// The text with one to three changes of its parts; `None` if it has none.
pub fn changed(text: &[u8], sequence: &mut Sequence) -> Option<Vec<u8>> {
    let mut text = text.to_vec();
    for _ in 0..=sequence.below(3) {
        let parts = parts(&text);
        let part = |sequence: &mut Sequence| parts.get(sequence.below(parts.len())).cloned();
        let (one, other) = (part(sequence)?, part(sequence)?);
        let copy = text[other.clone()].to_vec();
        match sequence.below(6) {
            0 => drop(text.drain(one)),
            1 => drop(text.splice(one, copy)),
            2 => {
                // With the separator that follows it, if there is one.
                let end = one.end + usize::from(matches!(text.get(one.end), Some(b',' | b';' | b'\t' | b' ')));
                let again = text[one.start..end].to_vec();
                drop(text.splice(one.start..one.start, again));
            }
            3 if one.end <= other.start => {
                let own = text[one.clone()].to_vec();
                text.splice(other, own);
                text.splice(one, copy);
            }
            4 => {
                let (before, after) = [(b'[', b']'), (b'{', b'}'), (b'"', b'"')][sequence.below(3)];
                text.insert(one.end, after);
                text.insert(one.start, before);
            }
            _ => drop(text.splice(one, UNUSUAL[sequence.below(UNUSUAL.len())].bytes())),
        }
    }
    Some(text)
}
