//! What holds between rows, whatever was killed and when: each feature lists its own, and `doctor --deep` and tests
//! look for rows that break them.

use futures_util::future::BoxFuture;

use crate::args;
use crate::feature::Features;
use crate::store::{Error, Tx};

/// What holds between rows.
pub struct Invariant {
    /// It, as a sentence without a full stop.
    pub holds: &'static str,
    /// What to do about rows that break it.
    pub remedy: &'static str,
    search: Search,
}

/// The way to find what breaks an invariant, as a text for each.
enum Search {
    Statement(&'static str),
    Function(Find),
}

type Find = for<'t> fn(&'t mut Tx) -> BoxFuture<'t, Result<Vec<String>, Error>>;

impl Invariant {
    /// One with a statement that selects a text for each thing that breaks it.
    pub const fn of(holds: &'static str, statement: &'static str, remedy: &'static str) -> Self {
        Self { holds, remedy, search: Search::Statement(statement) }
    }

    /// One with a function that finds them.
    pub const fn found_by(holds: &'static str, find: Find, remedy: &'static str) -> Self {
        Self { holds, remedy, search: Search::Function(find) }
    }
}

/// An invariant that is broken, and what breaks it.
pub struct Breach {
    pub invariant: &'static Invariant,
    pub by: Vec<String>,
}

/// All invariants of features.
pub fn all(features: Features) -> impl Iterator<Item = &'static Invariant> {
    features.iter().flat_map(|feature| feature.invariants)
}

/// The invariants that are broken in what a transaction sees.
pub async fn breaches(tx: &mut Tx, features: Features) -> Result<Vec<Breach>, Error> {
    let mut breaches = Vec::new();
    for invariant in all(features) {
        let by: Vec<String> = match invariant.search {
            Search::Statement(sql) => tx.fetch(sql, args![]).await?,
            Search::Function(find) => find(tx).await?,
        };
        if !by.is_empty() {
            breaches.push(Breach { invariant, by });
        }
    }
    Ok(breaches)
}

/// Those of the base.
pub(crate) const OF_BASE: &[Invariant] = &[
    Invariant::found_by(
        "the file of the database is sound",
        |tx| Box::pin(damage(tx)),
        "stop the server, keep a copy of the file, and restore the latest backup",
    ),
    Invariant::of(
        "a job has a time of its end if it is over, and no other has one",
        "SELECT 'job ' || id || ' is ' || state FROM job \
         WHERE (state IN ('done', 'failed', 'cancelled')) <> (finished_at IS NOT NULL)",
        REPORT,
    ),
    Invariant::of(
        "a job that runs has been claimed",
        "SELECT 'job ' || id FROM job WHERE state = 'running' AND (attempt < 1 OR started_at IS NULL)",
        REPORT,
    ),
    Invariant::of(
        "a message that waits has one job",
        // After six attempts, it is given up.
        "SELECT 'message ' || id FROM outbox WHERE sent_at IS NULL AND attempt < 6 AND 1 <> (SELECT COUNT(*) FROM job \
         WHERE job.subject = outbox.id AND kind = 'send' AND state IN ('queued', 'running'))",
        "what it says has to be said in another way: it is not sent",
    ),
];

/// The remedy where people can do nothing better.
pub const REPORT: &str =
    "report it with the audit log and the log of that time; the latest backup is from before it";

/// What SQLite finds in its file; PostgreSQL checks its own.
async fn damage(tx: &mut Tx) -> Result<Vec<String>, Error> {
    let sql = tx.pick(
        "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok' UNION ALL \
         SELECT \"table\" || ' refers to a row of ' || parent || ' that is not there' FROM pragma_foreign_key_check",
        "SELECT '' WHERE 1 = 2",
    );
    tx.fetch(sql, args![]).await
}
