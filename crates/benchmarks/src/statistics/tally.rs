//! Counts events that no row records. Counts are kept in memory and written once a minute, so a visit waits for no
//! transaction; a killed process loses the counts of at most a minute.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use capeval_api::{Open, ProblemKind, Report};
use capeval_site::prelude::*;

use super::records::VISIT;
use crate::records::SeenBenchmark;

/// How long counts are kept in memory, in milliseconds.
const KEPT: i64 = 60_000;

/// A benchmark, a day and what is counted.
type Key = (String, i64, &'static str);

/// What was counted and not written yet, and since when.
#[derive(Default)]
struct Tallies(Mutex<(HashMap<Key, i64>, Option<i64>)>);

/// Counts a visit of the page of a benchmark by someone other than its hosts.
pub async fn visited(app: &App, seen: &SeenBenchmark) {
    if !seen.is_host {
        count(app, &seen.benchmark.id, &[VISIT]).await;
    }
}

/// Counts a file that was refused, once for each kind of problem.
pub async fn refused(app: &App, benchmark: &str, report: &Report) {
    let kinds = report.problems.iter().filter_map(|problems| Open::known(&problems.kind));
    let mut kinds: Vec<&'static str> = kinds.map(ProblemKind::name).collect();
    if report.unreadable.is_some() {
        kinds.push(super::records::UNREADABLE);
    }
    count(app, benchmark, &kinds).await;
}

async fn count(app: &App, benchmark: &str, all: &[&'static str]) {
    let now = clock::now();
    let is_due = {
        let tallies = app.part::<Tallies>();
        let mut kept = tallies.0.lock().unwrap_or_else(PoisonError::into_inner);
        for what in all {
            *kept.0.entry((benchmark.to_owned(), now.div_euclid(clock::DAY), *what)).or_default() += 1;
        }
        now - *kept.1.get_or_insert(now) >= KEPT
    };
    // A count is not worth a refusal.
    if is_due && let Err(error) = write(app).await {
        tracing::warn!(%error, "visits and refusals are not counted");
    }
}

/// Writes what this process has counted.
pub async fn write(app: &App) -> Result<(), Error> {
    let tallies = app.part::<Tallies>();
    let counted = {
        let mut kept = tallies.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.1 = None;
        std::mem::take(&mut kept.0)
    };
    if counted.is_empty() {
        return Ok(());
    }
    // All processes write rows in one order, so that none waits for another that waits for it.
    let mut counted: Vec<_> = counted.into_iter().collect();
    counted.sort_unstable();
    let mut tx = app.store.begin().await?;
    for ((benchmark, day, what), n) in counted {
        // A benchmark may have been removed since.
        let sql = "INSERT INTO tally (benchmark, day, what, n) SELECT id, CAST($2 AS BIGINT), CAST($3 AS TEXT), \
                   CAST($4 AS BIGINT) FROM benchmark WHERE id = $1 \
                   ON CONFLICT (benchmark, day, what) DO UPDATE SET n = tally.n + excluded.n";
        tx.execute(sql, args![benchmark, day, what, n]).await?;
    }
    tx.commit().await
}
