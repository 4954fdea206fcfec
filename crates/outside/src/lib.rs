//! Metrics whose scores the engine does not compute itself: by models that compare vectors, from lists of objects, by
//! language models, and by programs of users.

pub mod chair;
pub mod embeddings;
pub mod judges;
pub mod programs;
