//! Errors that consist of a message and a remedy.

use std::error::Error;
use std::fmt;

use crate::{Remedy, UnknownName};

/// An error that says what is wrong, with a remedy as data.
///
/// ```
/// use capeval_choice::{Argument, Refusal, Remedy};
///
/// let refusal = Refusal::new("0 resamples cannot be drawn").with_remedy(Remedy::give(Argument::Resamples));
/// assert_eq!(refusal.to_string(), "0 resamples cannot be drawn");
/// assert_eq!(refusal.remedy().map(ToString::to_string).as_deref(), Some("set resamples"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    message: String,
    remedy: Option<Remedy>,
}

impl Refusal {
    /// A refusal with a message in lower case, without a full stop.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: None }
    }

    /// Adds the remedy.
    pub fn with_remedy(self, remedy: impl Into<Remedy>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// Puts the place of the error, such as `captions.csv`, in front of the message.
    pub fn at(self, place: impl fmt::Display) -> Self {
        Self { message: format!("{place}: {}", self.message), ..self }
    }

    /// The remedy, if known.
    pub fn remedy(&self) -> Option<&Remedy> {
        self.remedy.as_ref()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Refusal {}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&str> for Refusal {
    fn from(message: &str) -> Self {
        Self::new(message)
    }
}

impl From<UnknownName> for Refusal {
    fn from(unknown: UnknownName) -> Self {
        Self::new(unknown.to_string()).with_remedy(unknown.remedy())
    }
}
