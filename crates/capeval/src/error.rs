//! What can be wrong with a request.

use capeval_evaluate::registry::SettingError;

/// A request that cannot be fulfilled; the sentence says where and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Captions that cannot be read, or do not meet.
    #[error(transparent)]
    Corpus(#[from] capeval_corpus::Error),
    /// A metric or setting that does not exist.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Document frequencies that cannot be counted or read.
    #[error(transparent)]
    Frequencies(#[from] capeval_lexical::frequencies::Error),
    /// A language model that cannot be estimated.
    #[error(transparent)]
    Fluency(#[from] capeval_fluency::Error),
    /// A request that lacks something or contradicts itself.
    #[error("{0}")]
    Request(String),
}
