//! The crate's error type.

use std::io;

use capeval_choice::{Remedy, Task, system_words};

/// The reason why METEOR could not be set up; scoring itself cannot fail.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Kind);

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error("{0}")]
    Option(String),
    #[error("{0}")]
    Damaged(String),
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Source(String),
    #[error("{what}: {}", system_words(error))]
    Io { what: String, error: io::Error },
}

impl Error {
    /// A setting that METEOR does not have, or that contradicts another setting.
    pub(crate) fn option(message: impl Into<String>) -> Self {
        Self(Kind::Option(message.into()))
    }

    /// A file with a wrong checksum or another format version, or one that does not contain METEOR's
    /// resources.
    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self(Kind::Damaged(message.into()))
    }

    /// Resources that the options need but the file lacks.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self(Kind::Missing(message.into()))
    }

    /// An invalid wheel, jar or paraphrase table.
    pub(crate) fn source(message: impl Into<String>) -> Self {
        Self(Kind::Source(message.into()))
    }

    /// A failure to read a source or to write the compiled file.
    pub(crate) fn io(what: impl Into<String>, error: io::Error) -> Self {
        Self(Kind::Io { what: what.into(), error })
    }

    /// How to fix the problem, if there is a known way.
    pub fn remedy(&self) -> Option<Remedy> {
        matches!(self.0, Kind::Damaged(_)).then(|| Remedy::run(Task::Install("meteor")))
    }
}
