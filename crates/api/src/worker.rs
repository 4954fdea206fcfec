//! Scores that the machines of hosts give: they claim a submission, download its captions, and post what they measured.

use capeval_choice::named;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Time, describe_choices};

named! {
    /// The side at fault if a submission gets no scores.
    pub enum FaultOf ("side at fault") {
        Scorer = "scorer", "the scorer";
        Submission = "submission", "the submission";
    }
}

describe_choices!(FaultOf: "FaultOf");

/// The submissions of a phase that wait for scores of the host's machines.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScoringQueue {
    /// Submissions that can be claimed now.
    pub waiting: i64,
    /// Submissions that machines have claimed.
    pub claimed: i64,
}

/// What a machine asks for.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NewClaim {
    /// The minutes after which another machine may claim the submission, 1 to 1,440; 30 if left out.
    pub minutes: Option<u32>,
}

/// A submission that a machine has claimed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// The id of the claim, which scores are posted to.
    pub claim: String,
    /// The id of the submission.
    pub submission: String,
    /// The number of claims of it so far.
    pub attempt: i64,
    /// The time from which another machine may claim it. Until then, this claim stands; later, as long as none does.
    pub expires_at: Time,
    /// The address of the captions: a list of objects with `image_id` and `caption`.
    pub captions: String,
    /// The keys of the measures to give.
    pub measures: Vec<String>,
}

/// Scores by the keys of measures.
pub type GivenValues = IndexMap<String, f64>;

/// The scores of a claimed submission.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GivenScores {
    /// A value for each measure that the phase declares.
    pub scores: GivenValues,
    /// The values of each image, by its id, of those measures that are means over images: from these come intervals and
    /// tests.
    #[serde(default)]
    pub images: IndexMap<String, GivenValues>,
    /// The version of the scorer, for the signature of the scores.
    #[serde(default)]
    pub version: String,
}

/// The reason why a claimed submission gets no scores.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct GivenFailure {
    /// For those who submitted; at most 1,000 characters.
    pub reason: String,
    /// The quota is given back if the scorer is at fault.
    pub fault: FaultOf,
}
