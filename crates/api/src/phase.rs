//! Benchmarks and their phases.

use capeval_choice::named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Column, Open, Time, describe_choices};

named! {
    /// The people who see that a benchmark or a collection exists.
    pub enum Visibility ("visibility") {
        Public = "public", "everyone";
        Registered = "registered", "registered users";
        Hidden = "hidden", "hosts and moderators";
    }
}

named! {
    /// The people who see the scores of a phase before they are disclosed.
    pub enum BoardKind ("kind of board") {
        Public = "public", "everyone";
        Registered = "registered", "registered users";
        Own = "own", "teams see their own";
        Hidden = "hidden", "hosts";
    }
}

named! {
    /// The state of a reference set; only one that is ready can be scored with.
    pub enum SetState ("state of a reference set") {
        Preparing = "preparing", "being prepared";
        Ready = "ready", "ready";
        Failed = "failed", "could not be prepared";
    }
}

named! {
    /// The part of the results image by image that a team sees of its own submissions.
    pub enum PerImage ("results per image") {
        Nothing = "none", "nothing";
        Scores = "scores", "scores and own captions";
        Explained = "explained", "also explanations and references";
    }
}

named! {
    /// A half of the images of a phase.
    pub enum Half ("half of the images") {
        Public = "public", "public half";
        Private = "private", "private half";
    }
}

named! {
    /// The submission that stands for a team on the board of the private half.
    pub enum FinalRule ("rule of final submissions") {
        Best = "best", "the one on the board of the public half";
        Last = "last", "the last one";
        Chosen = "chosen", "the best of those that the team chose";
    }
}

describe_choices!(
    BoardKind: "BoardKind", FinalRule: "FinalRule", Half: "Half", PerImage: "PerImage", SetState: "SetState",
    Visibility: "Visibility",
);

/// All benchmarks that the account may see.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Benchmarks {
    pub benchmarks: Vec<Benchmark>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Benchmark {
    /// The name in addresses.
    pub slug: String,
    pub title: String,
    pub summary: String,
    /// True if only its hosts see it, until they publish it.
    #[serde(default)]
    pub draft: Option<bool>,
    pub phases: Vec<Phase>,
}

/// A phase of a benchmark.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Phase {
    pub id: String,
    /// The name of the benchmark in addresses.
    pub benchmark: String,
    /// The name of the phase in addresses.
    pub phase: String,
    pub title: String,
    pub opens_at: Option<Time>,
    pub closes_at: Option<Time>,
    /// True if it takes submissions now.
    pub is_open: bool,
    /// The reason why it takes none now.
    pub refusal: Option<String>,
    /// The time from which everyone sees the scores.
    pub reveal_at: Option<Time>,
    /// Submissions of a team per day.
    pub per_day: i64,
    /// Submissions of a team in all.
    pub in_total: i64,
    pub board: Open<BoardKind>,
    /// The decimals of its scores.
    pub decimals: usize,
    /// Metrics or suites of metrics.
    pub metrics: Vec<String>,
    /// Numbers made of their measures.
    #[serde(default)]
    pub derive: Vec<String>,
    /// The column of the references that groups images; empty if there are no groups.
    #[serde(default)]
    pub group_by: String,
    /// The reference set by which the board ranks.
    pub main_set: String,
    /// The measure by which the board ranks, or which chooses the submission that stands for a team.
    pub main_metric: String,
    /// The rule by which the board ranks over several measures; empty if `main_metric` ranks.
    #[serde(default)]
    pub rank_by: String,
    /// The keys of the measures that the board shows unless others are asked for; empty for all.
    #[serde(default)]
    pub board_columns: Vec<String>,
    /// The columns that hosts define for methods.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// The part of the results image by image that a team sees of its own submissions.
    #[serde(default)]
    pub per_image: Option<Open<PerImage>>,
    /// The rules of its halves; `null` if its images have none.
    #[serde(default)]
    pub halves: Option<Halves>,
    pub reference_sets: Vec<ReferenceSet>,
}

/// The public and the private half of the images of a phase.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Halves {
    /// The time from which the private half is shown; `null` if the hosts have not set any.
    pub private_from: Option<Time>,
    /// True if the private half is shown now.
    pub is_private_shown: bool,
    /// The submission that stands for a team on the board of the private half.
    #[serde(rename = "final")]
    pub final_rule: Open<FinalRule>,
    /// The most submissions that a team may choose, if it may choose some.
    pub chosen: Option<i64>,
}

/// The files of a phase for those who take part.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PhaseFiles {
    pub files: Vec<PhaseFile>,
}

/// A file of a phase, such as a starting kit.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PhaseFile {
    pub title: String,
    /// The name under which it is downloaded.
    pub name: String,
    /// The size in bytes.
    pub size: u64,
    /// The hash of its content.
    pub sha256: String,
    /// The address from which it is downloaded.
    pub url: String,
}

impl Phase {
    /// The benchmark and the phase as users write them: `coco/test`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.benchmark, self.phase)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceSet {
    pub name: String,
    /// The half of the images that it has; `null` if it has all.
    #[serde(default)]
    pub half: Option<Open<Half>>,
    /// The language of the captions.
    pub language: String,
    /// `null` for the tokenizer of each metric.
    pub tokenizer: Option<String>,
    pub state: Open<SetState>,
    /// The reason why it could not be prepared; only for hosts.
    #[serde(default)]
    pub reason: Option<String>,
    /// The number of images; 0 until it is ready.
    pub images: usize,
    /// The number of references; 0 until it is ready.
    pub references: usize,
    pub measures: Vec<Measure>,
    /// What was noticed about the file, such as that some references are empty; only for hosts.
    #[serde(default)]
    pub notices: Vec<String>,
}

/// A column of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// The name in `scores`, such as `bleu-4`.
    pub key: String,
    /// The name for people, such as `BLEU-4`.
    pub label: String,
    pub lower_is_better: bool,
    /// True if it is a number of things, without decimals.
    pub is_count: bool,
}
