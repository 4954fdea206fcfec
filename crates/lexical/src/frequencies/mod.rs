//! In how many images does an n-gram occur? Saved tables of document frequencies.
//!
//! CIDEr weighs an n-gram by the number of images whose references hold it. A table of these numbers,
//! saved once, makes scores on few images comparable with those on many. Tables come from pickles of the
//! Python programs ([`pickle`]), from counts ([`Counts`]) or from capeval's
//! own files ([`mod@file`]), and go out as such files, as pickles or as JSON ([`export`]).
//!
//! A table knows neither tokenizers nor metrics: its words are what it is given.

mod counts;
mod error;
pub mod export;
pub mod file;
mod index;
pub mod pickle;
mod table;
mod words;

pub use counts::{Counts, Repeats};
pub use error::Error;
pub use index::Node;
pub use table::DocumentFrequencies;

/// The longest n-grams that a table may hold.
pub const MAX_ORDER: usize = 9;
