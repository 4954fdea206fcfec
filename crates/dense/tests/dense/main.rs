//! Dense captions against the numbers of the reference programs.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "for tests, which fail by panicking")]

mod bad;
mod boxes;
mod evidence;
mod golden;
mod reward;
mod rules;
mod small;
mod support;
mod texts;
