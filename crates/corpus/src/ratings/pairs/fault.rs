//! Errors in rows of pairs.

use crate::{Error, ErrorKind, Position, Remedy};

/// A fault of a row, with a remedy.
#[derive(Debug)]
pub(super) struct Fault {
    message: String,
    advice: Option<&'static str>,
}

impl Fault {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), advice: None }
    }

    /// Sets what to do about it.
    pub fn advise(self, advice: &'static str) -> Self {
        Self { advice: Some(advice), ..self }
    }

    /// Puts the name of a column in front of the message.
    pub fn of(self, column: &str) -> Self {
        Self { message: format!("{column}: {}", self.message), ..self }
    }

    /// The error for the row at `place`.
    pub fn error(self, kind: ErrorKind, source: &str, place: Position) -> Error {
        let error = Error::new(kind, source, self.message).at(place);
        self.advice.map(Remedy::say).into_iter().fold(error, Error::with_remedy)
    }
}
