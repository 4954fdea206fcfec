//! The stages that work on words and graphs, compared with the reference program where its values are at hand.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod dependencies;
mod graph;
mod morphology;
mod support;
mod tokens;
mod tuples;
