//! The rules of collections, as functions without a database.

pub mod acceptance;
pub mod lint;
pub mod order;
pub mod quiz;
pub mod reports;
pub mod states;
pub mod text;
