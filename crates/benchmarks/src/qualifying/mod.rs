//! Phases that open by the ranks of an earlier phase: only the first teams of that phase may submit, and the new phase
//! may take over the submissions that stand for them.
//!
//! The list of teams is created once, from the board as it is ranked when the phase opens: after the earlier phase has
//! ended, its private half is shown, and all of its submissions are scored. Later changes of that board, such as
//! rescoring or a disqualification, do not change the list.

mod handlers;
mod opening;
mod records;

pub(super) use handlers::routes;
pub use opening::OpenByRank;
pub(super) use opening::schedule;
pub use records::{check, refusal, require, require_kept};
