//! Tokenizers, symbols and n-grams.
//!
//! This crate splits texts into words and numbers the words. It does no I/O and does not depend on captions,
//! images or metrics.

pub mod classes;
mod ends;
pub mod looks;
pub mod ngrams;
pub mod sentences;
pub mod stemmer;
pub mod stop_words;
pub mod texts;
pub mod tokenizers;
pub mod vocabulary;
pub mod wordnet;

pub use ends::Ends;
pub use looks::Looks;
pub use sentences::{LINE_BREAK, Sentences};
pub use stemmer::{Exceptions, Stemmer};
pub use stop_words::StopWords;
pub use texts::Texts;
pub use tokenizers::{Following, Scratch, Tokenizer};
pub use vocabulary::{Symbol, Vocabulary};
