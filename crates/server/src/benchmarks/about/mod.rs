//! Methods as teams describe them: authors, links, tags, and the columns that hosts define.

mod columns;
mod said;

pub use columns::{Column, check};
pub use said::{About, Changes, Checked, Said};
