//! Errors with their positions and remedies.

use std::fmt;
use std::io;

use capeval_choice::{Remedy, system_words};

use crate::SegmentId;

/// An error with its position: file, line, column, byte or record, and the image id if known.
///
/// It displays as `captions.json:12:5 (byte 431): expected a comma or ']'`: lower-case, without a full stop.
/// Its [`remedy`](Self::remedy) says what to do about it.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    source: String,
    position: Position,
    id: Option<SegmentId>,
    message: String,
    remedy: Option<Remedy>,
    cause: Option<io::Error>,
}

/// The kind of an [`Error`], for programs that handle kinds differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The source could not be read or the target could not be written.
    Io,
    /// Compressed data are damaged, or of a kind that is not supported.
    Compression,
    /// Bytes that are not UTF-8, or an escape that is not a character.
    Encoding,
    /// The source is empty.
    Empty,
    /// The format cannot be detected, or is not the requested one.
    Format,
    /// More data, or a longer caption, than the limits allow.
    TooLarge,
    /// The text violates the rules of its format, or ends too early.
    Syntax,
    /// Well-formed text without the expected keys, columns or values.
    Shape,
    /// An id that is not an integer within 64 bits, nor a string.
    Id,
    /// A duplicate key or id where only one is allowed.
    Duplicate,
    /// Line-aligned files with different numbers of lines.
    LineCount,
    /// A split, or a key of records to leave out, that the file does not have.
    Split,
    /// Captions of moments of a video, where captions of the whole are meant.
    Moments,
    /// References without any captions.
    NoReferences,
    /// Images without a candidate.
    Missing,
    /// Candidates for images without a reference.
    Surplus,
    /// Candidates without any words.
    EmptyCandidate,
    /// Ids that are numbers in one file and strings in the other.
    MixedIds,
    /// No image is left to score.
    NothingLeft,
    /// A caption or id that the target format cannot represent.
    Unwritable,
}

/// A position in a source; unknown parts are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: Option<u64>,
    /// Column in characters, from 1.
    pub column: Option<u64>,
    /// Byte of the uncompressed source, from 0.
    pub byte: Option<u64>,
    /// Caption or row, from 1, if the format has no lines.
    pub record: Option<u64>,
}

impl Position {
    /// The position of byte `at` in `text`, which begins at byte `base` of its source.
    pub(crate) fn in_text(text: &str, at: usize, base: u64) -> Self {
        let at = at.min(text.len());
        let before = text.as_bytes().get(..at).unwrap_or_default();
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let line = memchr::memchr_iter(b'\n', before).count();
        let continuation = |byte: &&u8| (**byte & 0xC0) == 0x80;
        let in_line = before.get(line_start..).unwrap_or_default();
        let column = in_line.len() - in_line.iter().filter(continuation).count();
        Self {
            line: Some(line as u64 + 1),
            column: Some(column as u64 + 1),
            byte: Some(base + at as u64),
            record: None,
        }
    }
}

/// What the message of an error says if more text should follow.
pub(crate) const TRUNCATED: &str = "the file may be truncated";

impl Error {
    pub(crate) fn new(kind: ErrorKind, source: &str, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            source: source.into(),
            position: Position::default(),
            id: None,
            message: message.into(),
            remedy: None,
            cause: None,
        }))
    }

    pub(crate) fn at(mut self, position: Position) -> Self {
        self.0.position = position;
        self
    }

    pub(crate) fn about(mut self, id: SegmentId) -> Self {
        self.0.id = Some(id);
        self
    }

    pub(crate) fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    pub(crate) fn because(mut self, cause: io::Error) -> Self {
        self.0.cause = Some(cause);
        self
    }

    /// Adds a remedy to those that it has.
    pub(crate) fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.0.remedy = Some(match self.0.remedy.take() {
            Some(known) => known.or(remedy),
            None => remedy,
        });
        self
    }

    /// Adds a clause to the message.
    pub(crate) fn noting(mut self, clause: &str) -> Self {
        self.0.message.push_str("; ");
        self.0.message.push_str(clause);
        self
    }

    pub(crate) fn io(source: &str, what: &str, cause: io::Error) -> Self {
        Self::new(ErrorKind::Io, source, format!("{what}: {}", system_words(&cause))).because(cause)
    }

    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The display name of the source.
    pub fn source_name(&self) -> &str {
        &self.0.source
    }

    /// Returns true if the source ends too early.
    pub(crate) fn is_of_truncation(&self) -> bool {
        self.0.message.contains(TRUNCATED)
    }

    /// The position in the source.
    pub fn position(&self) -> Position {
        self.0.position
    }

    /// The id concerned; the first one if there are several.
    pub fn id(&self) -> Option<&SegmentId> {
        self.0.id.as_ref()
    }

    /// The message without the position.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The remedy, if known.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.0.remedy.as_ref()
    }

    /// The error of the operating system, which the message repeats.
    pub fn cause(&self) -> Option<&io::Error> {
        self.0.cause.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { source, position, message, .. } = &*self.0;
        f.write_str(source)?;
        if let Some(line) = position.line {
            write!(f, ":{line}")?;
            if let Some(column) = position.column {
                write!(f, ":{column}")?;
            }
        }
        match (position.byte, position.record) {
            (Some(byte), _) => write!(f, " (byte {byte})")?,
            (None, Some(record)) => write!(f, " (record {record})")?,
            (None, None) => {}
        }
        write!(f, ": {message}")
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_where() {
        let position = Position::in_text("ab\nçd\nef", 6, 3);
        assert_eq!(position, Position { line: Some(2), column: Some(3), byte: Some(9), record: None });
        let error = Error::new(ErrorKind::Syntax, "captions.json", "expected a comma").at(position);
        assert_eq!(error.to_string(), "captions.json:2:3 (byte 9): expected a comma");
    }

    #[test]
    fn an_operating_system_error_reads_as_a_sentence() {
        let error = Error::io("dir", "cannot read", io::Error::from_raw_os_error(21));
        assert_eq!(error.to_string(), "dir: cannot read: is a directory");
        assert!(error.cause().is_some());
    }
}
