//! Errors of benchmarks: those of their files, and those of the engine.

use capeval::choice::{Refusal, Remedy};
use capeval_files as files;

/// Why metrics cannot be run on a benchmark.
#[derive(Debug)]
pub enum Error {
    /// A file is not there, cannot be read, or is not what it should be.
    Files(files::Error),
    /// The engine cannot fulfil the request.
    Engine(capeval::Error),
}

impl Error {
    /// A refusal of `what` about a benchmark or a file.
    pub(crate) fn new(what: impl Into<String>, remedy: impl Into<Remedy>) -> Self {
        Self::Files(files::Error::Content(Refusal::new(what).with_remedy(remedy)))
    }

    /// What to do about it, if known.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Files(error) => error.remedy(),
            Self::Engine(error) => error.remedy(),
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Files(error) => error.fmt(f),
            Self::Engine(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        Self::Files(error)
    }
}

impl From<capeval::corpus::Error> for Error {
    fn from(error: capeval::corpus::Error) -> Self {
        Self::Files(error.into())
    }
}

impl From<capeval::Error> for Error {
    fn from(error: capeval::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Files(refusal.into())
    }
}
