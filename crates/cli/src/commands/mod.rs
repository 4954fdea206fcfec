//! The commands, one file each.

pub mod compare;
pub mod convert;
pub mod correlate;
pub mod data;
pub mod df;
pub mod diversity;
pub mod lm;
pub mod metrics;
pub mod perplexity;
pub mod prefer;
pub mod prepare;
pub mod score;
pub mod tokenize;
