//! Errors in tables, with their positions.

use std::fmt;

use capeval_choice::{Refusal, Remedy};

/// The reason why bytes or counts are not a table of document frequencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    offset: Option<usize>,
    refusal: Refusal,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { offset: None, refusal: Refusal::new(message) }
    }

    pub(crate) fn at(offset: usize, message: impl Into<String>) -> Self {
        Self { offset: Some(offset), ..Self::new(message) }
    }

    pub(crate) fn with_remedy(self, remedy: impl Into<Remedy>) -> Self {
        Self { refusal: self.refusal.with_remedy(remedy), ..self }
    }

    /// The remedy, if known.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.refusal.remedy()
    }

    /// The byte offset of the error, from 0; `None` if it has no position.
    pub fn offset(&self) -> Option<usize> {
        self.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "byte {offset}: {}", self.refusal),
            None => self.refusal.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for Refusal {
    fn from(Error { offset, refusal }: Error) -> Self {
        match offset {
            Some(offset) => refusal.at(format_args!("byte {offset}")),
            None => refusal,
        }
    }
}
