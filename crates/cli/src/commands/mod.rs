//! The commands, one file each.

pub mod convert;
pub mod data;
pub mod df;
pub mod metrics;
pub mod prepare;
pub mod score;
pub mod tokenize;
