//! Teams.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The teams of the account.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Teams {
    pub teams: Vec<Team>,
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
