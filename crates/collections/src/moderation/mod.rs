//! Moderation: the queue of what waits, and decisions about it.

pub(super) mod decisions;
mod pages;
pub mod queue;

pub(super) use pages::routes;
pub(super) use queue::waiting;
