//! Refusals of damaged resources and of sources that cannot be read.

use std::fmt;
use std::io;

use capeval_choice::{Refusal, Remedy, Task, system_words};

/// A file with a wrong checksum or another format version, or one that does not contain METEOR's resources.
pub(crate) fn damaged(message: impl Into<String>) -> Refusal {
    Refusal::new(message).with_remedy(Remedy::run(Task::Install("meteor")))
}

/// A failure to read a source or to write the compiled file.
pub(crate) fn unreadable(what: impl fmt::Display, error: &io::Error) -> Refusal {
    Refusal::new(system_words(error)).at(what)
}
