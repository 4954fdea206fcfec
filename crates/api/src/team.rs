//! Teams.

use capeval_choice::named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Open, Time, describe_choices};

named! {
    /// The state of a request to join a team.
    pub enum RequestState ("state of a request") {
        Open = "open", "waits for an answer";
        Accepted = "accepted", "accepted";
        Refused = "refused", "refused";
        Withdrawn = "withdrawn", "withdrawn";
        Expired = "expired", "expired without an answer";
    }
}

describe_choices!(RequestState: "RequestState");

/// The teams of the account.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Teams {
    pub teams: Vec<Team>,
    /// The requests to join them that wait for an answer of a member.
    pub requests: Option<Vec<JoinRequest>>,
}

/// A request to join a team of the account.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct JoinRequest {
    pub id: String,
    /// The id of the team.
    pub team: String,
    /// The name of the person.
    pub person: String,
    pub message: String,
    pub created_at: Time,
    pub expires_at: Time,
}

/// The requests of the account to join teams, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OwnRequests {
    pub requests: Vec<OwnRequest>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OwnRequest {
    pub id: String,
    /// The name of the team.
    pub team: String,
    pub message: String,
    pub state: Open<RequestState>,
    pub created_at: Time,
    pub expires_at: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NewRequest {
    /// The name of the team.
    pub team: String,
    #[serde(default)]
    pub message: String,
}

/// A request that was made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedRequest {
    pub id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Team {
    pub id: String,
    pub name: String,
    /// The names of its members.
    pub members: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NewTeam {
    /// The name on leaderboards.
    pub name: String,
}

/// A team that was created.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedTeam {
    pub id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TeamInvitation {
    /// An address, which works once and for a week.
    pub link: String,
}
