//! Figures of the database about the work to do.

use serde::Deserialize;

use crate::args;
use crate::feature::Features;
use crate::jobs::queue::{self, Priority};
use crate::store::{Error, Store};

/// The states of jobs that have not ended.
pub const OPEN: [&str; 2] = ["queued", "running"];

/// Jobs of one kind and one state.
#[derive(Debug, Deserialize)]
pub struct Jobs {
    pub kind: String,
    pub state: String,
    pub number: i64,
}

/// A count of rows of a feature, by one of their columns.
pub struct RowGauge {
    /// Its name in Prometheus.
    pub name: &'static str,
    pub help: &'static str,
    /// The name of the label that has the column.
    pub label: &'static str,
    /// The statement that selects the values of the column, and the number of rows with each.
    pub sql: &'static str,
}

/// The figures.
pub struct StateCounts {
    pub jobs: Vec<Jobs>,
    /// The milliseconds for which the next job has been due, by priority.
    pub waits: [(&'static str, i64); 2],
    /// The counts of features.
    pub rows: Vec<(&'static RowGauge, Vec<(String, i64)>)>,
    /// Messages that are not sent: those that wait, and those that were given up.
    pub unsent: [(&'static str, i64); 2],
}

/// Reads all of it.
pub async fn read(store: &Store, features: Features) -> Result<StateCounts, Error> {
    let sql = "SELECT kind, state, COUNT(*) AS number FROM job WHERE state IN ('queued', 'running') GROUP BY kind, state";
    let jobs = store.fetch(sql, args![]).await?;
    let awaited = queue::longest_wait(store, Priority::Awaited).await?;
    let background = queue::longest_wait(store, Priority::Background).await?;
    let mut rows = Vec::new();
    for gauge in features.iter().flat_map(|feature| feature.gauges) {
        rows.push((gauge, store.fetch(gauge.sql, args![]).await?));
    }
    // A message that waits has a job.
    let sql = "SELECT COUNT(*), COALESCE(SUM(CASE WHEN EXISTS (SELECT 1 FROM job WHERE job.subject = outbox.id \
               AND job.state IN ('queued', 'running')) THEN 1 ELSE 0 END), 0) FROM outbox WHERE sent_at IS NULL";
    let (unsent, waiting): (i64, i64) = store.fetch_one(sql, args![]).await?;
    Ok(StateCounts {
        jobs,
        waits: [("awaited", awaited), ("background", background)],
        rows,
        unsent: [("waiting", waiting), ("given-up", unsent - waiting)],
    })
}
