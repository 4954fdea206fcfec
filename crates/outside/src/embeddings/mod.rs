//! Metrics that compare vectors: CLIPScore, PAC-S, BERTScore, sentence similarity, retrieval.
//!
//! Vectors come from a user's files, or from models in a user's folders. Like a user's programs, these metrics are
//! computed before any other is measured.

mod baselines;
mod cache;
mod embed;
mod folder;
mod hash;
mod known_hashes;
mod metrics;
mod models;
pub mod names;
mod role;
pub(crate) mod space;
#[cfg(test)]
pub(crate) mod testing;
mod vectors;

pub use cache::kept_vectors;
pub use embed::NamedVectors;
pub(crate) use metrics::{KINDS, MODEL_SETTINGS};
pub use models::OpenModel;
pub(crate) use role::Purpose;
pub use role::{Crop, Role};
pub use vectors::{Vectors, write};
