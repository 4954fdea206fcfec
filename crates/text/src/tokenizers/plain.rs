//! `whitespace` and `none`: tokenizers without rules.

/// White space as defined by Python's `str.split()` and `str.isspace()`.
///
/// This is Unicode's `White_Space` property plus the four information separators U+001C to U+001F.
pub fn is_python_space(c: char) -> bool {
    matches!(c, '\u{1c}'..='\u{1f}') || c.is_whitespace()
}

/// The words of `text` between runs of white space.
pub(super) fn whitespace(text: &str, piece: &mut impl FnMut(&str)) {
    for word in text.split(is_python_space).filter(|word| !word.is_empty()) {
        piece(word);
    }
}

/// The parts of `text` between single spaces, including empty parts, so that joining them restores the text.
pub(super) fn none(text: &str, piece: &mut impl FnMut(&str)) {
    for part in text.split(' ') {
        piece(part);
    }
}
