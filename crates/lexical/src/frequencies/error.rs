//! What went wrong with a table, and where in its bytes.

use std::fmt;

use capeval_choice::Remedy;

/// Why bytes or counts are not a table of document frequencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    offset: Option<usize>,
    message: String,
    remedy: Option<Remedy>,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { offset: None, message: message.into(), remedy: None }
    }

    pub(crate) fn at(offset: usize, message: impl Into<String>) -> Self {
        Self { offset: Some(offset), ..Self::new(message) }
    }

    pub(crate) fn with_remedy(mut self, remedy: impl Into<Remedy>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// What to do about it.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.remedy.as_ref()
    }

    /// Where in the bytes it happened, from 0; `None` if it is no matter of one place.
    pub fn offset(&self) -> Option<usize> {
        self.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "byte {offset}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}
