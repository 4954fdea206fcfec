//! Saved tables of document frequencies, the numbers of images in which n-grams occur.
//!
//! CIDEr weights an n-gram by the number of images whose references contain it. A saved table of these numbers makes
//! scores on a few images comparable with those on many. Tables are read from pickles of the Python programs
//! ([`pickle`]), counts ([`Counts`]) or capeval's own files ([`mod@file`]), and written as such files, pickles or JSON
//! ([`export`]). Many machines count one table in parts ([`Tally`]).
//!
//! A table does not depend on tokenizers or metrics: it contains whatever words it is given.

use capeval_choice::Refusal;

mod counts;
mod encoding;
pub mod export;
pub mod file;
mod index;
pub mod pickle;
mod table;
mod tally;
mod words;

pub use counts::Counts;
pub use export::TableFormat;
pub use index::Node;
pub use table::DocumentFrequencies;
pub use tally::Tally;

/// The refusal of the byte at `offset`, from 0.
fn refusal_at(offset: usize, message: impl Into<String>) -> Refusal {
    Refusal::new(message).at(format_args!("byte {offset}"))
}

/// The maximum length of n-grams in a table.
pub const MAX_ORDER: usize = 9;
