//! The rules of collections, as functions without a database.
//!
//! Rules for captions are a table (`rules/lint.toml`) that the server and the script of the page read; one file of
//! cases (`tests/data/lint.json`) tests both.

pub mod acceptance;
pub mod lint;
pub mod order;
pub mod quiz;
pub mod reports;
pub mod states;
pub mod text;
