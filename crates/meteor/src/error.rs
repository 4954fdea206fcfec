//! The crate's error type.

use std::io;

/// Why METEOR could not be set up; scoring itself cannot fail.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] Kind);

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error("{0}")]
    Option(String),
    #[error("{0}; install METEOR's resources anew")]
    Damaged(String),
    #[error("{0}; install METEOR's resources anew")]
    Version(String),
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Source(String),
    #[error("{what}: {error}")]
    Io { what: String, error: io::Error },
}

impl Error {
    /// A setting that METEOR does not have, or that contradicts another.
    pub(crate) fn option(message: impl Into<String>) -> Self {
        Self(Kind::Option(message.into()))
    }

    /// A compiled resource file that is not what its checksums say.
    pub(crate) fn damaged(message: impl Into<String>) -> Self {
        Self(Kind::Damaged(message.into()))
    }

    /// A compiled resource file of another format version.
    pub(crate) fn version(message: impl Into<String>) -> Self {
        Self(Kind::Version(message.into()))
    }

    /// Resources that the options need and the file does not hold.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self(Kind::Missing(message.into()))
    }

    /// A wheel, jar or paraphrase table that is not one.
    pub(crate) fn source(message: impl Into<String>) -> Self {
        Self(Kind::Source(message.into()))
    }

    /// A failure to read a source or to write the compiled file.
    pub(crate) fn io(what: impl Into<String>, error: io::Error) -> Self {
        Self(Kind::Io { what: what.into(), error })
    }

    /// Whether the compiled resource file is damaged or of another version, so that installing it anew helps.
    #[must_use]
    pub fn asks_for_reinstall(&self) -> bool {
        matches!(self.0, Kind::Damaged(_) | Kind::Version(_))
    }
}
