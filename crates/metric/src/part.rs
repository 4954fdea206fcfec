//! The numbers that a metric yields, described.

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// More is better: BLEU, CIDEr.
    HigherIsBetter,
    /// Less is better: edit rates, perplexity.
    LowerIsBetter,
}

/// One of a metric's numbers: `bleu-3` of BLEU.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The key in files and programs: lower case, stable.
    pub key: String,
    /// What tables show.
    pub label: String,
    /// Which way is better.
    pub direction: Direction,
    /// The lowest possible value.
    pub min: f64,
    /// The highest possible value; may be infinite.
    pub max: f64,
}
