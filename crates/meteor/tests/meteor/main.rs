//! Tests of METEOR's public interface: comparison with the jar, quirks, damaged files, and properties.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

mod damage;
mod fixtures;
mod laws;
mod quirks;
mod support;
