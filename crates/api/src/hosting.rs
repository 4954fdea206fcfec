//! Benchmarks as their hosts see and change them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Open, Phase, SubmissionKind, SubmissionState, Time};

/// A phase as its hosts see it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HostedPhase {
    #[serde(flatten)]
    pub phase: Phase,
    /// Since when a host has stopped submissions.
    pub frozen_at: Option<Time>,
    /// The reason why neighbours on the leaderboard could not be compared, if so.
    pub comparison_failure: Option<String>,
    pub score_sets: Vec<ScoreSet>,
}

/// All submissions of a phase, scored by one version of the engine and of the references.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScoreSet {
    pub id: String,
    /// The version of the engine.
    pub engine: String,
    pub created_at: Time,
    /// The submissions that it still lacks.
    pub pending: i64,
    /// True if boards show it.
    pub is_shown: bool,
    /// The reason why boards never show it.
    pub reason: Option<String>,
}

/// Limits of the submissions of each team.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    pub per_day: i64,
    pub in_total: i64,
}

/// Submissions of a team beyond the limits.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    /// The id of the team.
    pub team: String,
    /// The number of additional submissions.
    pub extra: i64,
    /// True if they raise the limit of all days, and false if that of today.
    #[serde(default)]
    pub total: bool,
    pub reason: String,
}

/// The limits of a team after a grant.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Meter {
    pub per_day: i64,
    pub in_total: i64,
    /// The submissions that are left now.
    pub left: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    pub reason: String,
}

/// The teams that take part in a phase.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Entries {
    pub entries: Vec<Entry>,
    /// The value of `after` for the next part of the list; `null` at its end.
    pub next: Option<String>,
}

/// A team that takes part in a phase, with its limits and what it has used of them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// The id of the team.
    pub team: String,
    pub name: String,
    pub used_today: i64,
    pub per_day: i64,
    pub used_in_total: i64,
    pub in_total: i64,
}

/// All submissions to a phase, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HostedSubmissions {
    pub submissions: Vec<HostedSubmission>,
    /// The value of `after` for the next part of the list; `null` at its end.
    pub next: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct HostedSubmission {
    pub id: String,
    pub kind: Open<SubmissionKind>,
    /// The id of the team; `null` for baselines and people.
    pub team: Option<String>,
    /// Empty for baselines and people.
    pub team_name: String,
    pub method: String,
    pub state: Open<SubmissionState>,
    /// The reason why it failed.
    pub reason: Option<String>,
    pub created_at: Time,
    /// The reason why it was taken off the board.
    pub disqualified: Option<String>,
}

/// The log of a benchmark: who did what, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuditLog {
    pub notes: Vec<AuditNote>,
    /// The value of `after` for the next part of the list; `null` at its end.
    pub next: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuditNote {
    pub at: Time,
    /// The name of the person; empty for the server itself.
    pub actor: String,
    pub action: String,
    /// The id of what was changed.
    pub subject: String,
    /// More, depending on the action.
    pub detail: Value,
}

/// The teams that may submit to a phase that opens by the ranks of an earlier one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Qualifiers {
    /// The earlier phase; empty if all teams may submit.
    pub from: String,
    /// The number of its first teams that may; `null` for all.
    pub top: Option<i64>,
    /// True if what stands for them there is taken over.
    pub carry: bool,
    /// The time at which the list was made, since when it does not change; `null` before.
    pub ranked_at: Option<Time>,
    pub teams: Vec<Qualifier>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Qualifier {
    /// The id of the team.
    pub team: String,
    /// The name of the team.
    pub name: String,
    /// Its place on the earlier leaderboard.
    pub rank: i64,
    /// The id of the submission that stood for it there.
    pub submission: String,
    /// The id of its copy in this phase, if one was taken over.
    pub copy: Option<String>,
}
