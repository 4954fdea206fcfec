//! Tests of METEOR's public interface: comparison with the jar, quirks, damaged files, and properties.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(clippy::print_stderr, reason = "skipped tests print a message")]

mod damage;
mod fixtures;
mod laws;
mod quirks;
mod support;
