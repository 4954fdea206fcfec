//! Metrics that compare vectors: CLIPScore, PAC-S, BERTScore, sentence similarity, retrieval.
//!
//! Vectors come from files that a user brings, or from models in folders of a user. Each metric is computed before
//! anything else is measured, like a program of the user's.

mod baselines;
mod cache;
mod embed;
mod folder;
mod given;
mod hash;
mod kind;
mod known_hashes;
mod metrics;
mod models;
pub mod names;
mod open;
mod space;
#[cfg(test)]
mod testing;
mod vectors;

pub use cache::kept_vectors;
pub use embed::Said;
pub use given::{Crop, Given, Role};
pub use kind::{EmbeddingKind, KINDS, build, engine_names, kind};
pub use models::OpenModel;
pub use open::{Named, models_in, read, read_in, read_with};
pub use vectors::{Vectors, write};
