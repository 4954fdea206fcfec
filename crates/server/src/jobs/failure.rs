//! Why a run of a job failed, and whether another may succeed.

use std::fmt::{Display, Formatter};

use crate::fault::Fault;
use crate::passing::passes;

/// Why a run of a job failed.
#[derive(Clone, Debug)]
pub enum Failure {
    /// It may succeed another time.
    Passing(String),
    /// It would fail every time; the text is for its owner.
    Lasting(String),
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (Self::Passing(reason) | Self::Lasting(reason)) = self;
        f.write_str(reason)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let reason = format!("{error:#}");
        if passes(error.as_ref()) { Self::Passing(reason) } else { Self::Lasting(reason) }
    }
}

macro_rules! failures {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                let reason = format!("{error:#}");
                if passes(&error) { Self::Passing(reason) } else { Self::Lasting(reason) }
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
