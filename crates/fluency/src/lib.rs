//! How likely are these words? Perplexity, and n-gram language models.
//!
//! - [`perplexity`]: from bits and tokens to a perplexity, for a segment and for a corpus;
//! - [`records`]: probabilities that some model gave to each token, read from JSON Lines;
//! - [`ngram`]: models with backoff, read from ARPA files, or estimated from captions;
//! - [`metric`]: the perplexity of captions under such a model, as a metric like any other.
//!
//! This crate opens no files; it reads from `Read` and writes to `Write`.

mod error;
pub mod metric;
pub mod ngram;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod perplexity;
pub mod records;

pub use error::Error;
pub use metric::{NgramPerplexity, UnknownWords};
pub use ngram::NgramModel;
pub use perplexity::{EndSymbol, Perplexity};
pub use records::{Base, Record};

/// The metrics of this family.
pub const KINDS: &[&capeval_metric::MetricKind] = &[&metric::KIND];
