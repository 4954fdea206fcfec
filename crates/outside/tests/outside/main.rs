//! Judges and programs as they are asked, by real servers and processes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conversations;
mod judging;
