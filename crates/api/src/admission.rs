//! Who takes part in a benchmark: its terms, what people say about themselves, and whom the hosts admit.

use capeval_choice::named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Open, RequestState, Time, describe_choices};

named! {
    /// The people who may submit to a benchmark.
    pub enum Admission ("admission") {
        Open = "open", "everyone with an account";
        Approval = "approval", "people whom the hosts approve";
    }
}

describe_choices!(Admission: "Admission");

/// The terms of a benchmark.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Terms {
    /// The version; those who accepted an earlier one accept again.
    pub version: i64,
    /// The SHA-256 of the text, which `accepts` repeats.
    pub digest: String,
    /// Markdown.
    pub text: String,
}

/// What a benchmark asks of those who submit, and what the account has done of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Participation {
    /// `null` if the benchmark has none.
    pub terms: Option<Terms>,
    /// The time at which the account accepted this version; `null` if it did not.
    pub accepted_at: Option<Time>,
    pub admission: Open<Admission>,
    /// The state of the account's request to the hosts; `null` if there is none.
    pub request: Option<Open<RequestState>>,
    /// The words of the hosts about it.
    pub answer: String,
    pub affiliation: String,
    pub country: String,
    /// The reason that the account gave to the hosts.
    pub reason: String,
    /// The reason why the account cannot submit now, apart from dates and limits; `null` if it can.
    pub refusal: Option<String>,
}

/// What a person does to take part.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NewParticipation {
    /// The digest of the terms that they accept; empty if they accept none now.
    pub accepts: String,
    pub affiliation: String,
    pub country: String,
    /// The reason to take part, for the hosts of a benchmark that approve people.
    pub reason: String,
}

/// The people who take part in a benchmark or want to, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Participants {
    pub participants: Vec<Participant>,
    /// The value of `after` for the next part of the list; `null` at its end.
    pub next: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Participant {
    pub id: String,
    /// The name of the person.
    pub name: String,
    pub affiliation: String,
    pub country: String,
    /// The reason that they gave.
    pub reason: String,
    /// The state of their request; `null` if they made none.
    pub request: Option<Open<RequestState>>,
    pub created_at: Time,
    /// What they accepted, newest first.
    pub accepted: Vec<AcceptedTerms>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedTerms {
    pub version: i64,
    /// The SHA-256 of the text.
    pub digest: String,
    pub at: Time,
}

/// The answer of a host to a person.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AdmissionAnswer {
    /// Words for the person; may be empty.
    pub message: String,
}
