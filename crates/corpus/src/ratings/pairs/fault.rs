//! What is wrong with a row of pairs.

use crate::{Error, ErrorKind, Position, Remedy};

/// What is wrong, and what to do about it.
#[derive(Debug)]
pub(super) struct Fault {
    message: String,
    advice: Option<&'static str>,
}

impl Fault {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), advice: None }
    }

    /// The same with what to do about it.
    pub fn advise(self, advice: &'static str) -> Self {
        Self { advice: Some(advice), ..self }
    }

    /// The same about one column.
    pub fn of(self, column: &str) -> Self {
        Self { message: format!("{column}: {}", self.message), ..self }
    }

    /// The error about the row at that place of a file.
    pub fn error(self, kind: ErrorKind, source: &str, place: Position) -> Error {
        let error = Error::new(kind, source, self.message).at(place);
        self.advice.map(Remedy::say).into_iter().fold(error, Error::with_remedy)
    }
}
