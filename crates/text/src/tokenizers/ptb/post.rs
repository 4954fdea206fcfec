//! What pycocoevalcap does with the tokens: small letters, no punctuation, no white space at the end.

use super::sigma;
use crate::tokenizers::plain::is_python_space;

/// Whether pycocoevalcap drops this token, which is in small letters by then.
///
/// Its list has `-LRB-` and its like in capitals, so brackets survive as `-lrb-`.
#[inline]
pub(super) fn is_punctuation(token: &str) -> bool {
    matches!(
        token.as_bytes(),
        [b'\'' | b'`' | b'.' | b'?' | b'!' | b',' | b':' | b'-' | b';'] | b"''" | b"``" | b"--" | b"..."
    )
}

/// The tokens of a line on their way to the caller.
#[derive(Debug, Default)]
pub(super) struct Post {
    lower: String,
    /// A token that ends in white space, which is cut off if no other token follows on its line.
    held: String,
}

impl Post {
    /// The next token of the line, in its own case.
    pub(super) fn token(&mut self, token: &str, piece: &mut impl FnMut(&str)) {
        self.release(piece);
        self.lower.clear();
        if token.is_ascii() {
            self.lower.push_str(token);
            self.lower.make_ascii_lowercase();
        } else if token.contains('\u{3a3}') {
            sigma::push_lower(token, &mut self.lower);
        } else {
            self.lower.extend(token.chars().flat_map(char::to_lowercase));
        }
        if self.lower.ends_with(is_python_space) {
            self.held.push_str(&self.lower);
        } else {
            deliver(&self.lower, piece);
        }
    }

    /// The next token of the line, whose ASCII letters are small already.
    #[inline]
    pub(super) fn lowered(&mut self, token: &str, piece: &mut impl FnMut(&str)) {
        let ends_plainly = token.bytes().last().is_some_and(|last| last > b' ');
        if ends_plainly && token.is_ascii() && !token.contains(' ') && self.held.is_empty() {
            if !is_punctuation(token) {
                piece(token);
            }
        } else {
            self.token(token, piece);
        }
    }

    /// Whether a token is held back.
    #[inline]
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// The end of a line: the text's own end, or a line break within it.
    pub(super) fn line_break(&mut self, piece: &mut impl FnMut(&str)) {
        let trimmed = self.held.trim_end_matches(is_python_space).len();
        self.held.truncate(trimmed);
        self.release(piece);
    }

    /// Hands over the token that was held back, if any.
    fn release(&mut self, piece: &mut impl FnMut(&str)) {
        if !self.held.is_empty() {
            deliver(&self.held, piece);
            self.held.clear();
        }
    }
}

/// One kind of smiley may hold blanks, at which pycocoevalcap splits the line like anywhere else.
fn deliver(token: &str, piece: &mut impl FnMut(&str)) {
    for part in token.split(' ').filter(|part| !is_punctuation(part)) {
        piece(part);
    }
}
