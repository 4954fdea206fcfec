//! Collections: people upload pictures, several others describe each, others rate the captions, and releases come of it.
//!
//! `rules` decides without a database; `slots` keeps the counters of pictures, on which all else relies.

pub mod records;
pub mod rules;
pub mod slots;

use crate::web::Route;

/// The routes of collections.
pub fn routes() -> Vec<Route> {
    Vec::new()
}
