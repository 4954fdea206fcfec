//! One's own contributions: what became of them, how to change, withdraw, export and delete them.

pub mod changes;
pub(super) mod own_data;
mod pages;

pub(super) use pages::routes;
