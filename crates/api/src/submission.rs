//! Submissions, and what is wrong with a file of results.

use capeval_choice::named;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{About, Open, PerImage, Time, describe_choices};

named! {
    /// The progress of a submission.
    pub enum SubmissionState ("state of a submission") {
        Queued = "queued", "waiting";
        Running = "running", "being scored";
        Scored = "scored", "scored";
        Failed = "failed", "failed";
        Cancelled = "cancelled", "cancelled";
    }
}

named! {
    /// Whose captions a submission has.
    pub enum SubmissionKind ("kind of submission") {
        Entry = "entry", "those of a team";
        Baseline = "baseline", "those of a system to compare with";
        Human = "human", "those of people";
    }
}

named! {
    /// A kind of problem in a file of results.
    pub enum ProblemKind ("kind of problem") {
        NotAnObject = "not-an-object", "Items that are not objects with image_id and caption";
        BadId = "bad-id", "Items whose image_id is neither a whole number nor text";
        NotText = "not-text", "Captions that are not text";
        Missing = "missing", "Images without a caption";
        Unknown = "unknown", "Captions of images that are not in this phase";
        Duplicate = "duplicate", "Images with more than one caption";
        Empty = "empty", "Empty captions";
        TooLong = "too-long", "Captions of more than 2,000 characters";
    }
}

describe_choices!(
    SubmissionState: "SubmissionState",
    SubmissionKind: "SubmissionKind",
    ImageResultsState: "ImageResultsState",
    ProblemKind: "ProblemKind",
);

impl SubmissionState {
    /// Returns true if it can still change.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

/// The score of each measure, by reference set.
pub type Scores = IndexMap<String, IndexMap<String, f64>>;

/// A submission of one's team.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Submission {
    pub id: String,
    /// The id of the phase.
    pub phase: String,
    /// The id of the team; `null` for baselines and people.
    pub team: Option<String>,
    pub method: String,
    /// The description of the method.
    #[serde(default)]
    pub about: About,
    pub state: Open<SubmissionState>,
    /// The reason why it failed.
    pub reason: Option<String>,
    pub created_at: Time,
    pub finished_at: Option<Time>,
    /// The submissions that come before it.
    pub ahead: Option<i64>,
    /// The seconds until it has scores, as far as recent submissions tell.
    pub seconds: Option<i64>,
    /// The reason why it was taken off the board.
    pub disqualified: Option<String>,
    /// True if its team has chosen it for the private half.
    #[serde(default)]
    pub is_chosen: bool,
    /// `null` while there are none, or if the phase hides them.
    pub scores: Option<Scores>,
    /// The address of its page.
    pub page: String,
    /// The address of its file as it was uploaded; `null` if that is not kept.
    #[serde(default)]
    pub file: Option<String>,
}

named! {
    /// The progress of the results of a submission image by image.
    pub enum ImageResultsState ("state of results image by image") {
        Unbuilt = "unbuilt", "not built yet";
        Building = "building", "being built";
        Ready = "ready", "ready";
        Failed = "failed", "could not be built";
    }
}

/// The results of a submission image by image.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ImageResults {
    /// The part of the results that they show.
    pub shows: Open<PerImage>,
    pub state: Open<ImageResultsState>,
    /// The reason why they could not be built.
    pub reason: Option<String>,
    /// The jobs that come before them.
    pub ahead: Option<i64>,
    /// The seconds until they are built, as far as recent ones tell.
    pub seconds: Option<i64>,
    /// Their files, once they are ready.
    pub files: Vec<ImageResultsFiles>,
}

/// The results image by image by one reference set.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ImageResultsFiles {
    pub reference_set: String,
    /// The address of the page, in HTML.
    pub page: String,
    /// Its size in bytes.
    pub page_size: i64,
    /// The address of the scores of each image, as JSON Lines.
    pub lines: String,
    /// Their size in bytes.
    pub lines_size: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Submissions {
    pub submissions: Vec<Submission>,
    /// The value of `after` for the next part of the list; `null` at its end.
    pub next: Option<String>,
}

/// The number of submissions that a team has left.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Quota {
    /// The name of the team; `null` before the first submission.
    pub team: Option<String>,
    /// The submissions that are left now.
    pub left: i64,
    pub used_today: i64,
    pub per_day: i64,
    pub used_in_total: i64,
    pub in_total: i64,
    /// The beginning of the next day.
    pub resets_at: Time,
}

/// The problems of a file of results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Report {
    /// True if it can be scored.
    pub is_valid: bool,
    /// The reason why it cannot be read at all, with the line and the column.
    pub unreadable: Option<String>,
    /// The number of captions in it.
    pub captions: usize,
    /// The number of images that must be described.
    pub images: usize,
    /// The problems by kind; kinds without one are left out.
    pub problems: Vec<Problems>,
}

/// The problems of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problems {
    pub kind: Open<ProblemKind>,
    pub count: usize,
    /// The first of them: ids of images, or positions in the list.
    pub first: Vec<String>,
}
