//! Perplexity, and n-gram language models.
//!
//! - [`perplexity`]: computes perplexities from bits and tokens, for segments and corpora;
//! - [`ngram`]: models with backoff, read from ARPA files or estimated from captions;
//! - [`metric`]: the perplexity of captions under such a model, as a metric.

pub mod metric;
pub mod ngram;
pub mod perplexity;

pub use metric::{NgramPerplexity, UnknownWords};
pub use ngram::NgramModel;
pub use perplexity::{Base, EndSymbol, Perplexity};
