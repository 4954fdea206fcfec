//! The program as users see it: its output, and its exit codes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod advice;
mod bad_inputs;
mod boxes;
mod chair;
mod commands;
mod compare;
mod correlate;
mod data;
mod dense;
mod derived;
mod diversity;
mod explain;
mod faults;
mod goldens;
mod groups;
mod human;
mod inspect;
mod intervals;
mod judges;
mod kinds;
mod kits;
mod meta;
mod not_captions;
mod page;
mod perplexity;
mod prefer;
mod prepared;
mod program;
mod programs;
mod published;
mod refusals;
mod remedies;
mod rouge;
mod schema;
mod score;
mod scores;
mod several;
mod shapes;
#[cfg(unix)]
mod shell;
mod show;
mod spice_cache;
mod submit;
#[cfg(target_os = "linux")]
mod terminal;
mod vectors;
mod work;
