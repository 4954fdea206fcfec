//! Methods as teams describe them: authors, links, tags, and the columns that hosts define.

mod columns;
mod method_form;

pub use columns::{Column, check};
pub use method_form::{About, Changes, CheckedMethod, MethodDetails};
