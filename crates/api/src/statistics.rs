//! Numbers of a benchmark for its hosts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happened in a benchmark.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Statistics {
    /// The days on which something happened, in order.
    pub days: Vec<StatisticsDay>,
    /// The reasons why submissions have no scores, the most frequent first.
    pub failures: Vec<StatisticsCount>,
    /// The kinds of problems of files that were refused; a file counts once for each.
    pub refusals: Vec<StatisticsCount>,
}

/// The numbers of a day in UTC.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct StatisticsDay {
    /// Such as `2026-11-22`.
    pub day: String,
    /// Visits of the page of the benchmark, apart from those of its hosts.
    pub visits: i64,
    /// People who accepted its terms or asked to take part.
    pub people: i64,
    /// Teams that entered a phase.
    pub teams: i64,
    pub submissions: i64,
    /// Those of them that have scores now.
    pub scored: i64,
    /// Those of them that have none, for a reason that the submission tells.
    pub failed: i64,
    /// Problems for which files were refused.
    pub refused: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StatisticsCount {
    /// A reason, or a kind of problem.
    pub what: String,
    pub n: i64,
}
