//! Errors of language models, with their lines.

use std::fmt;
use std::io;

use capeval_choice::{Refusal, Remedy, system_words};

/// An error, with its line if it has one.
///
/// It displays as `line 7: expected a base-10 logarithm, found 'x'`: lower-case, without a full stop.
#[derive(Debug)]
pub struct Error {
    line: Option<u64>,
    refusal: Refusal,
}

impl Error {
    pub(crate) fn new(refusal: impl Into<Refusal>) -> Self {
        Self { line: None, refusal: refusal.into() }
    }

    /// The error that n-grams of up to `order` words cannot be counted.
    pub fn order(order: usize) -> Self {
        let most = super::ngram::MAX_ORDER;
        Self::new(format!("n-grams of {order} words cannot be counted"))
            .with_remedy(format!("give a number from 1 to {most}"))
    }

    pub(crate) fn on(line: u64, refusal: impl Into<Refusal>) -> Self {
        Self { line: Some(line), ..Self::new(refusal) }
    }

    pub(crate) fn with_remedy(self, remedy: impl Into<Remedy>) -> Self {
        Self { refusal: self.refusal.with_remedy(remedy), ..self }
    }

    /// The remedy, if known.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.refusal.remedy()
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
        self.refusal.fmt(f)
    }
}

impl std::error::Error for Error {}

impl From<Error> for Refusal {
    fn from(Error { line, refusal }: Error) -> Self {
        match line {
            Some(line) => refusal.at(format_args!("line {line}")),
            None => refusal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_is_quoted_without_its_numbers() {
        let error = Error::from(io::Error::from_raw_os_error(21));
        assert_eq!(error.to_string(), "could not be read: is a directory");
    }
}
