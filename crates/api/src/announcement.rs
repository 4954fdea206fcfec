//! Announcements of hosts to those who take part in a benchmark.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Time;

/// The announcements of a benchmark, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Announcements {
    pub announcements: Vec<Announcement>,
    /// The value of `after` for the next part of the list; `null` at its end.
    pub next: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Announcement {
    pub id: String,
    /// The title of the phase for whose participants it is; `null` for those of all phases.
    pub phase: Option<String>,
    /// The name of the team that it is for; `null` for all.
    #[serde(default)]
    pub team: Option<String>,
    pub title: String,
    /// Markdown.
    pub text: String,
    pub created_at: Time,
    /// The time of the last change.
    pub edited_at: Option<Time>,
    /// The time when it was retracted; only hosts see such announcements.
    pub retracted_at: Option<Time>,
}

/// A new announcement of a host.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct NewAnnouncement {
    pub title: String,
    /// Markdown.
    pub text: String,
    /// The part of the phase in addresses; empty for all phases.
    #[serde(default)]
    pub phase: String,
    /// The id or the name of the team that it is for, which alone sees it; empty for all.
    #[serde(default)]
    pub team: String,
    /// Send it by email to those who want announcements.
    #[serde(default)]
    pub mail: bool,
}

/// An announcement that was published.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedAnnouncement {
    pub id: String,
}
