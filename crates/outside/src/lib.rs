//! Metrics whose scores the engine does not compute itself: those of models that compare vectors, of lists of objects,
//! of language models, and of users' programs.

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
