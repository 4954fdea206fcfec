//! Lists the requests that a run is about to send, and their cost.

use std::fmt;

use crate::judges::judge::Prices;
use crate::judges::pace::grouped;

/// The requests that a run is about to send.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the judge.
    pub judge: String,
    /// The model.
    pub model: String,
    /// The machine.
    pub host: String,
    /// The file that takes the answers.
    pub record: String,
    /// The number of questions that have no answer yet.
    pub n_questions: usize,
    /// The number of questions that have one.
    pub n_known: usize,
    /// About how many tokens questions and answers take.
    pub tokens: [u64; 2],
    pub(crate) prices: Option<Prices>,
}

impl Plan {
    /// The requests for so many files like this one.
    #[must_use]
    pub fn times(self, n: usize) -> Self {
        let tokens = self.tokens.map(|tokens| tokens.saturating_mul(n as u64));
        Self { n_questions: self.n_questions.saturating_mul(n), n_known: 0, tokens, ..self }
    }
}

/// In a sentence without a full stop.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { judge, model, host, record, n_questions, n_known, tokens, prices } = self;
        let n = grouped(*n_questions as u64);
        let questions = if *n_questions == 1 { "question" } else { "questions" };
        write!(f, "{judge} asks {model} at {host} {n} {questions}")?;
        if *n_known > 0 {
            write!(f, " ({} have answers in {record})", grouped(*n_known as u64))?;
        }
        write!(f, ", at most about {} tokens", grouped(tokens.iter().sum()))?;
        match prices {
            Some(prices) => write!(f, " or {}", prices.told(*tokens)),
            None => Ok(()),
        }
    }
}
