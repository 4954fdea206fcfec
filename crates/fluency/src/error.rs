//! What went wrong, and on which line.

use std::fmt;
use std::io;

/// An error, with its line where it has one.
///
/// It displays as `line 7: expected a base-10 logarithm, found 'x'`: lower-case, without a full stop.
#[derive(Debug)]
pub struct Error {
    line: Option<u64>,
    message: String,
    cause: Option<io::Error>,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into(), cause: None }
    }

    /// That n-grams of up to `order` words cannot be counted.
    #[must_use]
    pub fn order(order: usize) -> Self {
        let most = crate::ngram::MAX_ORDER;
        Self::new(format!("n-grams of {order} words cannot be counted; give a number from 1 to {most}"))
    }

    pub(crate) fn on(line: u64, message: impl Into<String>) -> Self {
        Self { line: Some(line), message: message.into(), cause: None }
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        self.line
    }
}

impl From<io::Error> for Error {
    fn from(cause: io::Error) -> Self {
        Self { line: None, message: format!("could not be read: {cause}"), cause: Some(cause) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}
