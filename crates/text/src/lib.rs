//! What is a word? Tokenizers, symbols and n-grams.
//!
//! This crate turns a text into words and words into numbers. It does no I/O and knows nothing of
//! captions, images or metrics.

pub mod tokenizers;

pub use tokenizers::{Scratch, Tokenizer, UnknownTokenizer};
