//! Leaderboards.

use capeval_choice::named;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Cells, Column, Half, Measure, Open, SubmissionKind, Time, describe_choices};

named! {
    /// Whose captions people have judged.
    pub enum JudgedKind ("kind of judged captions") {
        System = "system", "those of a submission";
        Human = "human", "references";
    }
}

describe_choices!(JudgedKind: "JudgedKind");

/// The leaderboard of a phase, as far as the account may see it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Board {
    /// The name of the benchmark in addresses.
    pub benchmark: String,
    /// The name of the phase in addresses.
    pub phase: String,
    pub reference_set: String,
    /// The half of the images that it has; `null` if it has all.
    #[serde(default)]
    pub half: Option<Open<Half>>,
    /// The key of a measure.
    pub sorted_by: String,
    /// The measures that were asked for, that which sorts first.
    pub measures: Vec<Measure>,
    /// The columns that hosts define for methods, as far as the query chose them.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// The rows that were asked for, the best first; ranks and comparisons are those of the whole board.
    pub rows: Vec<BoardRow>,
    /// The number of rows of the whole board.
    #[serde(default)]
    pub total_rows: usize,
    /// The way in which rows are compared with the row above.
    #[serde(default)]
    pub comparison: String,
    /// The submissions that hosts have removed from the leaderboard, the newest removal first.
    pub disqualified: Vec<DisqualifiedSubmission>,
    /// The human evaluation; empty if the account sees only its own teams.
    pub judged_by_people: Vec<JudgedSystem>,
}

/// The columns that a board shows unless a visitor chooses otherwise.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BoardColumns {
    /// The keys of the measures, in order; none for all.
    #[serde(default)]
    pub columns: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BoardRow {
    /// Equal scores share a rank; `null` for baselines and people.
    pub rank: Option<usize>,
    /// On the board of a private half, the rank of the team on that of the public one.
    #[serde(default)]
    pub public_rank: Option<usize>,
    pub kind: Open<SubmissionKind>,
    /// The name of the team; empty for baselines and people.
    pub team: String,
    pub method: String,
    /// Empty if the team gave none.
    pub link: String,
    /// The id of the submission.
    #[serde(default)]
    pub submission: String,
    #[serde(default)]
    pub authors: String,
    /// A link to the code; empty if the team gave none.
    #[serde(default)]
    pub code: String,
    #[serde(default)]
    pub tags: Vec<String>,
    /// The team's entries in the columns of the phase, by their keys.
    #[serde(default)]
    pub columns: Cells,
    pub submitted_at: Time,
    /// The score of each measure.
    pub scores: IndexMap<String, f64>,
    /// The ends of the 95 % confidence interval of each measure that has one.
    pub intervals: IndexMap<String, [f64; 2]>,
    /// The nearest row above on the whole board that has captions, with which this one is compared, whether or not it
    /// was asked for; `null` if there is none, or if this row is that of people.
    #[serde(default)]
    pub row_above: Option<RowAbove>,
    /// True if the difference is not significant, as `comparison` explains; `null` if that is not known, or not yet.
    pub not_different_from_row_above: Option<bool>,
    /// The p-value of the difference by the measure that sorts, before correction; `null` if there is no test.
    #[serde(default)]
    pub p_of_difference_from_row_above: Option<f64>,
}

/// The row above another one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RowAbove {
    pub kind: Open<SubmissionKind>,
    /// Empty for baselines.
    pub team: String,
    pub method: String,
}

/// The history of the leaderboard of a phase, as far as the account may see it: of each team, every submission that was
/// its best by the measure that ranks when it came, or the only one if it has chosen one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    pub reference_set: String,
    pub measure: Measure,
    /// The oldest first.
    pub points: Vec<ProgressPoint>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProgressPoint {
    pub team: String,
    pub method: String,
    pub submitted_at: Time,
    pub score: f64,
    /// True if it was better than all points before it.
    pub is_best: bool,
}

/// A submission that hosts have removed from the leaderboard.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DisqualifiedSubmission {
    /// The name of the team; empty for baselines.
    pub team: String,
    pub method: String,
    pub reason: String,
    pub disqualified_at: Time,
}

/// The sums of people's judgements of the captions of a system.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct JudgedSystem {
    pub kind: Open<JudgedKind>,
    /// The name of the team; empty for baselines and references.
    pub team: String,
    /// Empty for references.
    pub method: String,
    /// The share of images whose caption is graded at least as high as a person's; `null` for references.
    pub m1: Option<f64>,
    /// The share of judgements that take the caption for a person's.
    pub m2: f64,
    /// Correctness: the mean grade, from 1 to 4.
    pub m3: f64,
    /// Detail: its mean, from 1 to 5.
    pub m4: f64,
    /// The shares of judgements with a grade of at least 4, 3 and 2.
    pub at_least_4_3_2: [f64; 3],
    pub judgements: usize,
}
