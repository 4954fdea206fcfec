//! Metrics whose scores the engine does not compute itself: by models that compare vectors, from lists of objects, by
//! language models, and by programs of users.

mod cards;
pub mod chair;
pub mod embeddings;
pub mod judges;
pub mod programs;

pub use cards::{card, cards, name, outside_settings};
