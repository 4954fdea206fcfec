//! Metrics and driver: golden values of the reference programs, quirks by name, and laws that hold for any text.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says when it is skipped"
)]

mod average;
mod batch;
mod coco;
mod diversity;
mod goldens;

mod laws;
mod objects;
mod prepared;
mod real;
mod rouge;
mod sacrebleu;
mod settings;
mod subset;
mod support;
