//! Errors in requests.

use std::error::Error as StdError;

use capeval_choice::{Refusal, Remedy, UnknownName};

/// A request that cannot be fulfilled; the message says what is wrong and where, and [`remedy`](Self::remedy) what to
/// do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Captions that cannot be read or aligned.
    #[error(transparent)]
    Corpus(#[from] capeval_corpus::Error),
    /// A request that lacks something, contradicts itself or names what does not exist.
    #[error(transparent)]
    Request(#[from] Refusal),
}

impl Error {
    /// An error about a request, without a remedy.
    pub fn request(message: impl Into<String>) -> Self {
        Self::Request(Refusal::new(message))
    }

    /// An error about a request, with a remedy.
    pub(crate) fn with_remedy(message: impl Into<String>, remedy: impl Into<Remedy>) -> Self {
        Self::Request(Refusal::new(message).with_remedy(remedy))
    }

    /// The remedy, if known.
    pub fn remedy(&self) -> Option<Remedy> {
        remedy(self)
    }
}

/// The remedy of an error of any part of the engine, if known.
pub fn remedy(error: &(dyn StdError + 'static)) -> Option<Remedy> {
    if let Some(error) = error.downcast_ref::<Error>() {
        return match error {
            Error::Corpus(error) => remedy(error),
            Error::Request(error) => error.remedy().cloned(),
        };
    }
    if let Some(error) = error.downcast_ref::<UnknownName>() {
        return Some(error.remedy());
    }
    let refusal = error.downcast_ref::<Refusal>().map(Refusal::remedy);
    let corpus = error.downcast_ref::<capeval_corpus::Error>().map(capeval_corpus::Error::remedy);
    refusal.or(corpus).flatten().cloned()
}
