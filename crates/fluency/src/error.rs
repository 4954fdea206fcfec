//! What went wrong, and on which line.

use std::fmt;
use std::io;

use capeval_choice::{Remedy, system_words};

/// An error, with its line where it has one.
///
/// It displays as `line 7: expected a base-10 logarithm, found 'x'`: lower-case, without a full stop.
#[derive(Debug)]
pub struct Error {
    line: Option<u64>,
    message: String,
    remedy: Option<Remedy>,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into(), remedy: None }
    }

    /// That n-grams of up to `order` words cannot be counted.
    pub fn order(order: usize) -> Self {
        let most = crate::ngram::MAX_ORDER;
        Self::new(format!("n-grams of {order} words cannot be counted"))
            .with_remedy(format!("give a number from 1 to {most}"))
    }

    pub(crate) fn on(line: u64, message: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::new(message) }
    }

    pub(crate) fn with_remedy(mut self, remedy: impl Into<Remedy>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// What to do about it.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.remedy.as_ref()
    }

    /// The line, from 1.
    pub fn line(&self) -> Option<u64> {
        self.line
    }
}

impl From<io::Error> for Error {
    fn from(cause: io::Error) -> Self {
        Self::new(format!("could not be read: {}", system_words(&cause)))
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

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_is_quoted_without_its_numbers() {
        let error = Error::from(io::Error::from_raw_os_error(21));
        assert_eq!(error.to_string(), "could not be read: is a directory");
    }
}
