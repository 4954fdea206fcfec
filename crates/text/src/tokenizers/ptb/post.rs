//! pycocoevalcap's treatment of the tokens: lower case, no punctuation, no white space at the end.

use super::sigma;
use crate::tokenizers::plain::is_python_space;

/// Returns true if pycocoevalcap drops this token, which has been lower-cased.
///
/// Its list has `-LRB-` and similar tokens in upper case, so brackets survive as `-lrb-`.
#[inline]
pub(super) fn is_punctuation(token: &str) -> bool {
    matches!(
        token.as_bytes(),
        [b'\'' | b'`' | b'.' | b'?' | b'!' | b',' | b':' | b'-' | b';'] | b"''" | b"``" | b"--" | b"..."
    )
}

/// Finishes the tokens of a line and passes them to the caller.
#[derive(Debug, Default)]
pub(super) struct Post {
    lower: String,
    /// A token that ends in white space, which is removed unless another token follows on the line.
    held: String,
}

impl Post {
    /// Adds the next token of the line, in its original case.
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

    /// Adds the next token of the line, whose ASCII letters are already in lower case.
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

    /// Returns true if a token is held back.
    #[inline]
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Ends a line, at the end of the text or at a line break in it.
    pub(super) fn line_break(&mut self, piece: &mut impl FnMut(&str)) {
        let trimmed = self.held.trim_end_matches(is_python_space).len();
        self.held.truncate(trimmed);
        self.release(piece);
    }

    /// Passes on the token that was held back, if any.
    fn release(&mut self, piece: &mut impl FnMut(&str)) {
        if !self.held.is_empty() {
            deliver(&self.held, piece);
            self.held.clear();
        }
    }
}

/// Delivers a token. One kind of smiley may contain spaces, at which pycocoevalcap splits the line as
/// anywhere else.
fn deliver(token: &str, piece: &mut impl FnMut(&str)) {
    for part in token.split(' ').filter(|part| !is_punctuation(part)) {
        piece(part);
    }
}
