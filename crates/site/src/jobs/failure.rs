//! The reason why a run of a job failed, and the chance that another succeeds.

use std::fmt::{Display, Formatter};

use crate::fault::Fault;
use crate::retryable::{is_retryable, lacks_space};

/// The reason why a run of a job failed.
#[derive(Clone, Debug)]
pub enum Failure {
    /// It may succeed another time.
    Passing(String),
    /// It would fail every time; the text is for its owner.
    Lasting(String),
    /// It may succeed once the disk has space again, however long that takes.
    Waiting(String),
}

impl Failure {
    /// The failure that an error means. The reason is in words.
    fn caused_by(error: &(dyn std::error::Error + 'static), reason: String) -> Self {
        match (lacks_space(error), is_retryable(error)) {
            (true, _) => Self::Waiting(reason),
            (false, true) => Self::Passing(reason),
            (false, false) => Self::Lasting(reason),
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (Self::Passing(reason) | Self::Lasting(reason) | Self::Waiting(reason)) = self;
        f.write_str(reason)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::caused_by(error.as_ref(), format!("{error:#}"))
    }
}

macro_rules! failures {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::caused_by(&error, format!("{error:#}"))
            }
        }
    )*};
}

failures!(
    crate::store::Error,
    serde_json::Error,
    std::io::Error,
    std::num::TryFromIntError,
    tokio::task::JoinError,
    Fault
);
