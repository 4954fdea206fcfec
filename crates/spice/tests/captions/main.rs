//! The stages that work on words and graphs, compared with the reference program where its values are at hand.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic and say that it was skipped")]

mod dependencies;
mod morphology;
mod support;
mod tokens;
mod tuples;
