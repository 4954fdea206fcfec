//! Answers to hosts who create benchmarks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Open, Report, Scores, SubmissionState, Time};

/// The result for a sample file, which counts nowhere.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct DryRun {
    /// `failed` if it cannot be scored.
    pub state: Open<SubmissionState>,
    /// The name of the file, if it had one.
    pub file: String,
    /// The problems of the file.
    pub report: Report,
    /// Empty until it is scored.
    pub scores: Scores,
    /// The reason why it could not be scored although the file is in order.
    pub reason: Option<String>,
    pub created_at: Time,
    pub finished_at: Option<Time>,
}

/// The measures among which a phase can choose.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MetricChoices {
    pub metrics: Vec<MetricChoice>,
    pub suites: Vec<SuiteChoice>,
}

/// A metric that a phase may have.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MetricChoice {
    /// The name to use in a phase.
    pub name: String,
    /// The quality that it rewards.
    pub summary: String,
    pub measures: Vec<MeasureChoice>,
    /// The data that it needs, such as `spice`; `null` for none.
    pub data: Option<String>,
    /// True if it can be computed here now.
    pub is_installed: bool,
    /// The way to install its data; `null` if nothing is missing.
    pub remedy: Option<String>,
    /// About how many seconds it takes to score 1,000 captions on two cores.
    pub seconds: f64,
}

/// A measure that a phase may be ranked by.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MeasureChoice {
    pub key: String,
    pub label: String,
    pub min: f64,
    /// `null` if it has no end.
    pub max: Option<f64>,
    pub lower_is_better: bool,
}

/// A name that stands for several metrics.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SuiteChoice {
    pub name: String,
    pub summary: String,
    pub metrics: Vec<String>,
}

/// A draft that was made of a bundle of another site.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ImportedBenchmark {
    pub slug: String,
    /// What came over, what has no counterpart, and what to look at, in Markdown.
    pub report: String,
}
