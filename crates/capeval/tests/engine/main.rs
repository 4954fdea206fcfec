//! The tasks of the engine, from captions to reports.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod agreement;
mod compare;
mod languages;
mod order;
mod outside;
mod scorer;
mod watched;
