//! Human evaluations of captions.

use capeval_choice::named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Open, describe_choices};

named! {
    /// The state of an evaluation of captions by people.
    pub enum EvaluationState ("state of an evaluation") {
        Preparing = "preparing", "being prepared";
        Open = "open", "open";
        Closed = "closed", "closed";
        Failed = "failed", "failed";
    }
}

describe_choices!(EvaluationState: "EvaluationState");

impl EvaluationState {
    /// Returns true if its captions are judged now or soon.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Preparing | Self::Open)
    }
}

/// The newest human evaluation of a phase, and what people have said in all.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Judging {
    /// `null` if there was no evaluation yet.
    pub id: Option<String>,
    pub state: Option<Open<EvaluationState>>,
    /// The reason why it failed.
    pub reason: Option<String>,
    /// The number of captions to judge.
    pub captions: i64,
    /// The number of judgements that are wanted.
    pub wanted: i64,
    /// The number of judgements so far.
    pub judged: i64,
    pub results: Vec<SystemMeasures>,
}

/// A human evaluation to start.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct JudgingPlan {
    /// The number of images.
    pub images: i64,
    /// The number of people who should judge each caption.
    pub wanted: i64,
    /// The address of a picture, with `{id}` in place of the ID of the image.
    pub pictures: String,
    /// The email addresses of the judges, one per line.
    #[serde(default)]
    pub judges: String,
}

/// The measures of a system, or of the references.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SystemMeasures {
    /// The ID of the submission; `null` for the references.
    pub system: Option<String>,
    /// The number of judgements.
    pub judgements: usize,
    /// The share of images whose caption is graded at least as high as a person's; `null` for the references, and
    /// while no image has both.
    pub m1: Option<f64>,
    /// The share of judgements that take the caption for a person's.
    pub m2: f64,
    /// Correctness: the mean grade, from 1 to 4.
    pub m3: f64,
    /// Detail: its mean, from 1 to 5.
    pub m4: f64,
    /// The shares of judgements with a grade of at least 4, 3 and 2: the points of the cumulative distribution.
    pub at_least: [f64; 3],
}
