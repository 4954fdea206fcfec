//! UTF-16, which programs on Windows write.

use crate::Remedy;
use crate::error::{Error, ErrorKind, Position};

/// The order of the bytes of UTF-16, after a byte order mark.
#[derive(Clone, Copy)]
pub(crate) enum Utf16 {
    Little,
    Big,
}

impl Utf16 {
    /// The order that a byte order mark at the start of a file says.
    pub fn of(head: &[u8]) -> Option<Self> {
        match head {
            // The mark of UTF-32.
            [0xFF, 0xFE, 0, 0, ..] => None,
            [0xFF, 0xFE, ..] => Some(Self::Little),
            [0xFE, 0xFF, ..] => Some(Self::Big),
            _ => None,
        }
    }

    /// The text after the mark.
    pub fn to_utf8(self, bytes: &[u8], name: &str) -> Result<String, Error> {
        let wrong = |at: usize| {
            let byte = 2 * at as u64 + 2;
            Error::new(ErrorKind::Encoding, name, "invalid UTF-16")
                .with_remedy(Remedy::say("save the file as UTF-8"))
                .at(Position { byte: Some(byte), ..Position::default() })
        };
        let (units, odd) = bytes.get(2..).unwrap_or_default().as_chunks::<2>();
        if !odd.is_empty() {
            return Err(wrong(units.len()));
        }
        let units = units.iter().map(|unit| match self {
            Self::Little => u16::from_le_bytes(*unit),
            Self::Big => u16::from_be_bytes(*unit),
        });
        let (mut text, mut at) = (String::with_capacity(bytes.len()), 0);
        for character in char::decode_utf16(units) {
            let character = character.map_err(|_| wrong(at))?;
            at += character.len_utf16();
            text.push(character);
        }
        Ok(text)
    }
}

/// Returns true if these bytes look like UTF-16 without a byte order mark: most characters have a byte of zero, on one
/// side.
pub(crate) fn is_unmarked(head: &[u8]) -> bool {
    let zeros = |side: usize| head.iter().skip(side).step_by(2).filter(|byte| **byte == 0).count();
    let (first, second) = (zeros(0), zeros(1));
    head.len() >= 4 && first.min(second) == 0 && 5 * first.max(second) >= 2 * head.len()
}
