//! Readers of captions, ratings, scores and pairs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod align;
mod evidence;
mod formats;
mod forms;
mod keys;
mod pairs;
#[cfg(feature = "parquet")]
mod parquet;
mod properties;
mod ratings;
mod real_data;
mod remedies;
mod sides;
mod tables;
mod understanding;
