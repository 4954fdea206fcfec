//! Scores that hosts' machines, the workers of this module's name, give beside those of the engine.
//!
//! The engine scores a submission as usual. Where a phase declares measures that the host's machines give, the
//! submission then waits as a task, which a machine claims for some minutes. Each claim counts an attempt, and only the
//! current attempt may post scores or a failure, as with jobs: a machine that was thought dead cannot write twice. Both
//! kinds of scores are written at once, so a board never has half of them.

mod handlers;
mod measures;
mod posts;
mod tasks;
mod values;

pub(super) use handlers::routes;
pub use measures::{GivenMeasure, checked, extend};
pub(super) use tasks::{are_asked, cancel, counts, hand_over};
pub(super) use values::add_tests;
