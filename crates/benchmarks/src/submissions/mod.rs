//! Submissions: their states, their scores, and the actions of teams and hosts on them.

mod actions;
mod events;
mod handlers;
mod records;

pub use actions::refund;
pub(super) use handlers::routes;
pub use records::{
    GAUGE, IN_PHASE, OF_PERSON, SeenSubmission, States, Submission, api_submission, by_id, is_member, scores,
    states_by_phase, team_name,
};
