//! Errors of benchmarks: those of their files, and those of the engine.

use capeval::choice::{Argument, Refusal, Remedy};
use capeval_files as files;

/// The arguments of a run, in one front end or all. The treatment of references and pairs is a rule of the benchmark,
/// so that errors and notices of the tasks that it is made of advise nothing else.
pub const ARGUMENTS: &[Argument] = &[
    Argument::Scores,
    Argument::ScoreIds,
    Argument::LowerIsBetter,
    Argument::Metrics,
    Argument::Tokenizer,
    Argument::Idf,
    Argument::DocumentFrequencies,
    Argument::DocumentFrequencyImages,
    Argument::LanguageModel,
    Argument::SpiceCache,
    Argument::MecabJapanese,
    Argument::MecabKorean,
    Argument::Resamples,
    Argument::Seed,
    Argument::Subset,
    Argument::Segments,
    Argument::Check,
    Argument::Threads,
    Argument::AllowNetwork,
];

/// The part of a remedy that can be applied to a run.
pub(crate) fn possible(remedy: &Remedy) -> Option<Remedy> {
    remedy.among(|argument| ARGUMENTS.contains(&argument))
}

/// The reason why metrics cannot be run on a benchmark.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file is not there, cannot be read, or is not what it should be.
    #[error(transparent)]
    Files(#[from] files::Error),
    /// The engine cannot fulfil the request.
    #[error(transparent)]
    Engine(capeval::Error),
}

impl Error {
    /// A refusal of `what` about a benchmark or a file.
    pub(crate) fn new(what: impl Into<String>, remedy: impl Into<Remedy>) -> Self {
        Self::Files(files::Error::Content(Refusal::new(what).with_remedy(remedy)))
    }

    /// The remedy, if known.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Files(error) => error.remedy(),
            Self::Engine(error) => error.remedy(),
        }
    }
}

impl From<capeval::corpus::Error> for Error {
    fn from(error: capeval::corpus::Error) -> Self {
        Self::Files(error.into())
    }
}

impl From<capeval::Error> for Error {
    fn from(error: capeval::Error) -> Self {
        let Some(advised) = error.remedy() else { return Self::Engine(error) };
        Self::Engine(match possible(&advised) {
            Some(possible) if possible == advised => error,
            Some(possible) => Refusal::new(error.to_string()).with_remedy(possible).into(),
            None => Refusal::new(error.to_string()).into(),
        })
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Files(refusal.into())
    }
}
