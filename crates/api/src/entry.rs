//! Methods as teams describe them, and the columns that hosts define for that.

use std::fmt;

use capeval_choice::named;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Open, SubmissionKind, Time, describe_choices};

named! {
    /// The type of a column.
    pub enum ColumnKind ("kind of column") {
        Number = "number", "a number";
        Text = "text", "text";
        YesNo = "yes-no", "yes or no";
        Choice = "choice", "one of several choices";
    }
}

named! {
    /// The progress of the comparison of two entries.
    pub enum ComparisonState ("state of a comparison") {
        Compared = "compared", "compared";
        Waiting = "waiting", "being compared";
        NotCompared = "not-compared", "not compared yet";
        Failed = "failed", "could not be compared";
        NoCaptions = "no-captions", "people have no captions of their own to compare";
    }
}

describe_choices!(ColumnKind: "ColumnKind", ComparisonState: "ComparisonState");

/// A column that hosts define for what teams say about their methods, such as the number of parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// The name in `columns`, such as `parameters`; uploads call the field `column.parameters`.
    pub key: String,
    /// The name for people.
    pub label: String,
    pub kind: Open<ColumnKind>,
    /// The unit of numbers; empty for none.
    pub unit: String,
    /// The choices, of a column that has some.
    pub choices: Vec<String>,
    /// True if a submission must fill it in.
    pub required: bool,
}

/// The entry of a submission in a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Cell {
    YesNo(bool),
    Number(f64),
    Text(String),
}

/// As it is written in forms.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::YesNo(true) => f.write_str("yes"),
            Self::YesNo(false) => f.write_str("no"),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// Entries in columns, by their keys.
pub type Cells = IndexMap<String, Cell>;

/// The description of a method.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct About {
    pub description: String,
    pub authors: String,
    /// A paper or a page; empty for none.
    pub link: String,
    /// The code; empty for none.
    pub code: String,
    pub tags: Vec<String>,
    /// Its entries in the columns that the hosts define.
    pub columns: Cells,
}

/// A change to the description of a method; fields that are left out stay as they are.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AboutChange {
    pub method: Option<String>,
    pub description: Option<String>,
    pub authors: Option<String>,
    pub link: Option<String>,
    pub code: Option<String>,
    pub tags: Option<Vec<String>>,
    /// `null` empties a column.
    pub columns: IndexMap<String, Option<Cell>>,
}

/// A submission as everyone sees it who sees the leaderboard.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BoardEntry {
    /// The name of the benchmark in addresses.
    pub benchmark: String,
    /// The name of the phase in addresses.
    pub phase: String,
    /// The id of the submission.
    pub submission: String,
    pub kind: Open<SubmissionKind>,
    /// The name of the team; empty for baselines and people.
    pub team: String,
    pub method: String,
    pub about: About,
    pub submitted_at: Time,
    /// The reason why hosts removed it from the leaderboard.
    pub disqualified: Option<String>,
    pub reference_sets: Vec<EntryScores>,
    /// The submissions of the team, newest first: all of one's own team, and of others those that are or were on the
    /// leaderboard.
    pub history: Vec<TeamSubmission>,
    /// The address of its page.
    pub page: String,
}

/// The scores of an entry by a reference set.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EntryScores {
    pub name: String,
    /// The place on the board; `null` for what has none.
    pub rank: Option<usize>,
    /// The entries that have a place.
    pub ranked: usize,
    pub scores: Vec<EntryScore>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EntryScore {
    /// The key of the measure.
    pub measure: String,
    pub label: String,
    pub lower_is_better: bool,
    pub score: f64,
    /// The ends of the 95 % confidence interval.
    pub interval: Option<[f64; 2]>,
    /// The place by this measure.
    pub rank: Option<usize>,
    /// The best of the other entries on the board; `null` if there is none that the account may see.
    pub best_other: Option<OtherScore>,
    /// The score of people.
    pub people: Option<f64>,
}

/// The score of another entry.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OtherScore {
    /// The id of the submission.
    pub submission: String,
    pub team: String,
    pub method: String,
    pub score: f64,
}

/// A submission in the history of a team.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TeamSubmission {
    /// The id.
    pub submission: String,
    pub method: String,
    pub submitted_at: Time,
    /// By the measure and the reference set that rank.
    pub score: Option<f64>,
    pub is_on_board: bool,
}

/// Two entries of a leaderboard.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EntryPair {
    /// The ids of two submissions.
    #[serde(rename = "entry")]
    pub entries: Vec<String>,
    /// The name of the reference set by which to show them image by image; the main one by default.
    #[serde(rename = "ref")]
    pub set: String,
    /// The key of the measure by which to do so; the main one by default.
    pub measure: String,
}

/// Two entries side by side.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EntryComparison {
    /// The name of the benchmark in addresses.
    pub benchmark: String,
    /// The name of the phase in addresses.
    pub phase: String,
    pub state: Open<ComparisonState>,
    /// The reason why they could not be compared; for hosts.
    pub reason: Option<String>,
    /// The two entries, in the order in which they were asked for.
    pub entries: Vec<ComparedEntry>,
    /// The way in which they are compared.
    pub comparison: String,
    pub reference_sets: Vec<ComparedSet>,
    /// The two image by image; `null` if the phase does not show that, or not to this account.
    pub images: Option<ComparedImages>,
    /// The address of the page.
    pub page: String,
}

/// Two entries image by image, by one reference set and measure.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComparedImages {
    pub state: Open<ComparisonState>,
    /// The reason why they could not be compared; for hosts.
    pub reason: Option<String>,
    /// The name of the reference set.
    pub reference_set: String,
    /// The key of the measure.
    pub measure: String,
    /// The number of images; 0 until they are compared.
    pub images: usize,
    /// The scores of images by each entry. Those of many images are the middles of squares.
    pub points: Vec<ComparedPoint>,
    /// The images on which the first entry is better, those that differ most first; at most 20.
    pub first_better: Vec<ComparedImage>,
    /// The images on which the second entry is better.
    pub second_better: Vec<ComparedImage>,
}

/// Images with the same scores.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComparedPoint {
    /// The score of each entry.
    pub scores: [f64; 2],
    /// The number of images.
    pub images: u32,
}

/// An image on which two entries differ.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComparedImage {
    /// The id.
    pub image: String,
    /// The score of each entry.
    pub scores: [f64; 2],
    /// The caption of each entry.
    pub captions: [String; 2],
}

/// One of two entries that are compared.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComparedEntry {
    /// The id of the submission.
    pub submission: String,
    pub kind: Open<SubmissionKind>,
    /// The name of the team; empty for baselines and people.
    pub team: String,
    pub method: String,
}

/// Two entries by a reference set.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComparedSet {
    pub name: String,
    pub measures: Vec<ComparedMeasure>,
}

/// Two entries by a measure.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ComparedMeasure {
    /// The key of the measure.
    pub measure: String,
    pub label: String,
    pub lower_is_better: bool,
    /// The score of each entry; `null` for one that has none.
    pub scores: [Option<f64>; 2],
    /// The ends of the 95 % confidence interval of each.
    pub intervals: [Option<[f64; 2]>; 2],
    /// The first score minus the second.
    pub difference: Option<f64>,
    /// The p-value before correction; `null` where there is no test, and until they are compared.
    pub p: Option<f64>,
    /// The p-value corrected over the measures of the reference set.
    pub p_corrected: Option<f64>,
    /// True if they differ significantly.
    pub differs: Option<bool>,
}
