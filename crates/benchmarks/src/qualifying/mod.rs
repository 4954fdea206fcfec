//! Phases that open by the ranks of an earlier one: only its first teams may submit, and the phase may take over what
//! stands for them.
//!
//! The list of teams is made once, from the board as it is ranked when the phase opens: after the end of the earlier
//! phase, and of its private half, and once all of its submissions are scored. Later changes of that board, such as
//! rescoring or a disqualification, do not change the list.

mod handlers;
mod opening;
mod records;

pub(super) use handlers::routes;
pub use opening::OpenByRank;
pub(super) use opening::schedule;
pub use records::{check, refusal, require, require_kept};
