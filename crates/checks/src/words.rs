//! Texts of a few words, so that a few bytes make sentences with matches.

/// A text: a byte from 128 on is a word of `words`, another byte is itself.
pub fn text(words: &[&str], bytes: &[u8]) -> String {
    let pieces = bytes.iter().map(|byte| match words.get(usize::from(byte.wrapping_sub(128))) {
        Some(word) => format!(" {word} "),
        None => char::from(*byte).to_string(),
    });
    pieces.collect()
}
