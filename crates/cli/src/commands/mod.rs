//! The commands, one file each.

pub mod metrics;
pub mod score;
pub mod tokenize;
