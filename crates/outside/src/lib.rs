//! Metrics whose scores the engine does not compute itself: by models that compare vectors, from lists of objects, by
//! language models, and by programs of users.

mod cards;
pub mod chair;
pub mod embeddings;
pub mod judges;
mod kind;
mod metrics;
pub mod programs;
mod sources;

pub use cards::{card, cards, engine_names, family, find, outside_settings};
pub use metrics::models_in;
pub use sources::Sources;
