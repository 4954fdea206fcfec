//! Scores from hosts' machines (workers), beside those of the engine.
//!
//! The engine scores a submission as usual. If a phase declares measures of its hosts' machines, the submission then
//! waits as a task, which a machine claims for some minutes. Each claim counts as an attempt. As with jobs, only the
//! current attempt may post scores or a failure, so a machine that was thought dead cannot write twice. Both kinds of
//! scores are written at once, so a board never shows only one kind.

mod handlers;
mod measures;
mod posts;
mod tasks;
mod values;

pub(super) use handlers::routes;
pub use measures::{GivenMeasure, checked, extend};
pub(super) use tasks::{are_asked, cancel, counts, hand_over};
pub(super) use values::add_tests;
