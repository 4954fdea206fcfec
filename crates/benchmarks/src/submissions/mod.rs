//! Submissions: their states, their scores, and what teams and hosts do with them.

mod actions;
mod events;
mod handlers;
mod records;

use capeval_site::web::Route;

pub use actions::refund;
pub use records::{
    GAUGE, IN_PHASE, OF_PERSON, SeenSubmission, States, Submission, api_submission, by_id, is_member, scores,
    states_by_phase, team_name,
};

/// The routes of submissions.
pub(super) fn routes() -> Vec<Route> {
    handlers::routes()
}
