//! What teams say about their methods: authors, links, tags, and what hosts ask in columns of their own.

mod columns;
mod said;

pub use columns::{Column, check};
pub use said::{About, Changes, Checked, Said};
