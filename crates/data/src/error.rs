//! What can go wrong with data of others.

use std::io;
use std::path::{Path, PathBuf};

/// Why data cannot be read or kept: the file or folder it is about, and what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {message}", path.display())]
pub struct Error {
    path: PathBuf,
    message: String,
    cause: Option<io::Error>,
}

impl Error {
    pub(crate) fn new(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), message: message.into(), cause: None }
    }

    /// The operating system refuses to `verb` the file or folder.
    pub(crate) fn io(verb: &str, path: &Path, cause: io::Error) -> Self {
        let why = cause.to_string();
        // Without Rust's own number, and as part of a sentence.
        let why = why.split(" (os error").next().unwrap_or_default();
        let mut letters = why.chars();
        let why: String =
            letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect());
        Self { path: path.to_owned(), message: format!("cannot {verb}: {why}"), cause: Some(cause) }
    }

    /// The file or folder it is about.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the operating system said, if it was asked.
    #[must_use]
    pub fn cause(&self) -> Option<&io::Error> {
        self.cause.as_ref()
    }
}
