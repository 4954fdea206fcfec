//! The table of jobs: adding, claiming, extending, ending.

use std::collections::HashMap;

use super::{Job, Lane};
use crate::store::{Error, Store, Tx};
use crate::{args, clock, columns, ids, request_id};

/// The milliseconds for which a job that failed waits before it is tried again, times the attempts so far.
const PAUSE: i64 = 2_000;

/// The milliseconds for which a job waits that lacks something of this machine.
const OFF: i64 = 10_000;

/// More milliseconds than any of these pauses has.
const MOST_PAUSE: i64 = 60_000;

/// The days for which a job is kept that is done or was cancelled, from which waits are estimated.
pub const KEPT: i64 = 7;

/// The days for which a job is kept that failed, whose reason pages tell.
pub const KEPT_FAILED: i64 = 90;

/// Jobs that people wait for come before those that they do not notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// A person waits.
    Awaited = 0,
    /// No person notices.
    Background = 10,
}

/// Adds a job. Wake the runner once the transaction is committed.
pub async fn add(
    tx: &mut Tx,
    of: (Lane, &'static str),
    subject: &str,
    priority: Priority,
) -> Result<(), Error> {
    add_at(tx, of, subject, priority, clock::now()).await
}

/// Adds a job of a lane and a kind that begins no earlier than `run_after`.
pub async fn add_at(
    tx: &mut Tx,
    (lane, kind): (Lane, &'static str),
    subject: &str,
    priority: Priority,
    run_after: i64,
) -> Result<(), Error> {
    let row = columns! {
        id: ids::new_id(), lane: lane.name(), kind, subject, state: "queued", priority: priority as i64,
        attempt: 0_i64, run_after, lease_until: 0_i64, created_at: clock::now(),
        cause: request_id::current(),
    };
    tx.insert_row("job", row).await
}

/// Claims the next job of one of `kinds` whose priority is `least` or higher: one that is due, or one whose worker has
/// not been heard of. Jobs of other kinds are left, without an attempt, to those who know them. If the clock was ahead
/// for a while and went back, times that only it can have given do not count: a lease that no worker could have now, a
/// pause longer than any, the moment at which a job was added that was to begin at once.
pub async fn claim(
    store: &Store,
    lease_ms: i64,
    kinds: &[&str],
    least: Priority,
) -> Result<Option<Job>, Error> {
    macro_rules! due {
        ($select:literal, $end:literal) => {
            concat!(
                $select,
                " FROM job WHERE ((state = 'queued' AND (run_after <= $1 OR run_after > $4 AND error IS NOT NULL \
                 OR created_at > $1 AND run_after < created_at + 1000)) \
                 OR (state = 'running' AND (lease_until < $1 OR lease_until > $5))) \
                 AND priority <= $2 AND $3 LIKE '% ' || kind || ' %' ",
                $end
            )
        };
    }
    const CLAIM: &str = "UPDATE job SET state = 'running', attempt = attempt + 1, started_at = $1, lease_until = $2 \
                         WHERE id = $3 RETURNING *";
    let now = clock::now();
    let (most_pause, most_lease) = (now + MOST_PAUSE, now + (2 * lease_ms).max(MOST_PAUSE));
    let wanted = args![now, least as i64, format!(" {} ", kinds.join(" ")), most_pause, most_lease];
    // Looking is cheaper than a transaction that writes.
    if !store.exists(due!("SELECT 1", "LIMIT 1"), wanted.clone()).await? {
        return Ok(None);
    }
    let mut tx = store.begin().await?;
    let sql = tx.pick(
        due!("SELECT id", "ORDER BY priority, id LIMIT 1"),
        due!("SELECT id", "ORDER BY priority, id LIMIT 1 FOR UPDATE SKIP LOCKED"),
    );
    let Some(id) = tx.fetch_optional::<String>(sql, wanted).await? else { return Ok(None) };
    let job = tx.fetch_optional(CLAIM, args![now, now + lease_ms, id]).await?;
    tx.commit().await?;
    Ok(job)
}

/// Extends the lease of a job; `false` if another worker has claimed it, or it was cancelled.
pub async fn extend(store: &Store, job: &Job, lease_ms: i64) -> Result<bool, Error> {
    let sql = "UPDATE job SET lease_until = $1 WHERE id = $2 AND attempt = $3 AND state = 'running'";
    let extended = store.execute(sql, args![clock::now() + lease_ms, &job.id, job.attempt]).await?;
    Ok(extended == 1)
}

/// Ends a job; `false` if another worker has claimed it, or it was cancelled: no result may be written then.
pub async fn end(tx: &mut Tx, job: &Job, error: Option<&str>) -> Result<bool, Error> {
    let state = if error.is_some() { "failed" } else { "done" };
    let sql = "UPDATE job SET state = $1, error = $2, finished_at = $3 \
               WHERE id = $4 AND attempt = $5 AND state = 'running'";
    let ended = tx.execute(sql, args![state, error, clock::now(), &job.id, job.attempt]).await?;
    Ok(ended == 1)
}

/// Puts a job back, to be tried again after a pause that grows with the attempts; without a pause, the attempt does not
/// count.
pub async fn put_back(store: &Store, job: &Job, error: Option<&str>) -> Result<(), Error> {
    let (pause, uncounted) = if error.is_some() { (PAUSE * job.attempt, 0) } else { (0, 1) };
    queue_again(store, job, error, pause, uncounted).await
}

/// Puts a job back that this machine cannot do now, to be tried again and again; the attempt does not count.
pub async fn put_off(store: &Store, job: &Job, error: &str) -> Result<(), Error> {
    queue_again(store, job, Some(error), OFF, 1).await
}

async fn queue_again(
    store: &Store,
    job: &Job,
    error: Option<&str>,
    pause: i64,
    uncounted: i64,
) -> Result<(), Error> {
    let sql = "UPDATE job SET state = 'queued', run_after = $1, error = $2, attempt = attempt - $3 \
               WHERE id = $4 AND attempt = $5 AND state = 'running'";
    store.execute(sql, args![clock::now() + pause, error, uncounted, &job.id, job.attempt]).await.map(drop)
}

/// Cancels the jobs of a subject that wait, and those that run if `also_running` is set; returns whether there was one.
/// A worker notices within a third of its lease that its job was cancelled, and cannot write its result.
pub async fn cancel(tx: &mut Tx, subject: &str, also_running: bool) -> Result<bool, Error> {
    let sql = "UPDATE job SET state = 'cancelled', finished_at = $1 \
               WHERE subject = $2 AND (state = 'queued' OR state = 'running' AND $3 = 1)";
    let cancelled = tx.execute(sql, args![clock::now(), subject, also_running]).await?;
    Ok(cancelled > 0)
}

/// The remaining wait of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The number of jobs before it in its lane, with those that run.
    pub ahead: i64,
    /// The seconds until it is done, as far as recent jobs tell.
    pub seconds: i64,
}

/// The remaining wait of the job of a subject; `None` if it has ended.
pub async fn wait(store: &Store, subject: &str, workers: usize) -> Result<Option<Wait>, Error> {
    Ok(waits(store, &[subject], workers).await?.remove(subject))
}

/// The same for several subjects, of which those whose jobs have ended are left out.
pub async fn waits(store: &Store, subjects: &[&str], workers: usize) -> Result<HashMap<String, Wait>, Error> {
    if subjects.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = "SELECT own.subject, own.state, (SELECT COUNT(*) FROM job WHERE job.lane = own.lane \
               AND (job.state = 'running' AND job.id <> own.id OR job.state = 'queued' \
               AND (job.priority < own.priority OR job.priority = own.priority AND job.id < own.id))), \
               (SELECT AVG(CAST(ms AS DOUBLE PRECISION)) FROM (SELECT finished_at - started_at AS ms FROM job \
               WHERE job.kind = own.kind AND job.state = 'done' ORDER BY job.id DESC LIMIT 20) AS recent) \
               FROM job AS own WHERE own.state IN ('queued', 'running') \
               AND ' ' || $1 || ' ' LIKE '% ' || own.subject || ' %' ORDER BY own.id";
    let jobs: Vec<(String, String, i64, Option<f64>)> = store.fetch(sql, args![subjects.join(" ")]).await?;
    let mut waits = HashMap::new();
    for (subject, state, before, mean) in jobs {
        let ahead = if state == "running" { 0 } else { before };
        let rounds = ahead / workers.max(1) as i64 + 1;
        let seconds = (mean.unwrap_or(2_000.0) / 1000.0 * rounds as f64).ceil() as i64;
        waits.entry(subject).or_insert(Wait { ahead, seconds: seconds.max(1) });
    }
    Ok(waits)
}

/// The milliseconds for which the next job of a priority has been due; 0 if none waits.
pub async fn longest_wait(store: &Store, priority: Priority) -> Result<i64, Error> {
    let sql = "SELECT MIN(run_after) FROM job WHERE state = 'queued' AND priority = $1";
    let due: Option<i64> = store.fetch_one(sql, args![priority as i64]).await?;
    Ok(due.map_or(0, |due| (clock::now() - due).max(0)))
}

/// Forgets jobs that ended long ago: [`KEPT`] days, or [`KEPT_FAILED`] if they failed. Returns how many there were.
pub async fn sweep(tx: &mut Tx) -> Result<u64, Error> {
    let sql = "DELETE FROM job WHERE state IN ('done', 'cancelled') AND finished_at < $1 \
               OR state = 'failed' AND finished_at < $2";
    let now = clock::now();
    tx.execute(sql, args![now - KEPT * clock::DAY, now - KEPT_FAILED * clock::DAY]).await
}

/// The milliseconds for which the next job has been due that someone waits for, in lanes whose workers do nothing; 0 if
/// there is none. Behind others of its lane, a job may wait for as long as these take.
pub async fn idle_wait(store: &Store) -> Result<i64, Error> {
    let sql = "SELECT MIN(run_after) FROM job WHERE state = 'queued' AND priority = $1 AND NOT EXISTS \
               (SELECT 1 FROM job AS other WHERE other.lane = job.lane AND other.state = 'running' \
               AND other.lease_until > $2)";
    let now = clock::now();
    let due: Option<i64> = store.fetch_one(sql, args![Priority::Awaited as i64, now]).await?;
    Ok(due.map_or(0, |due| (now - due).max(0)))
}

/// Returns true if a job of this kind is to be done, or being done, for a subject.
pub(super) async fn is_waiting(tx: &mut Tx, kind: &'static str, subject: &str) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM job WHERE subject = $1 AND kind = $2 AND state IN ('queued', 'running')";
    tx.exists(sql, args![subject, kind]).await
}

/// The reason why the last job of this kind failed for a subject, if so.
pub(super) async fn failure(tx: &mut Tx, kind: &'static str, subject: &str) -> Result<Option<String>, Error> {
    let sql = "SELECT CASE WHEN state = 'failed' THEN error END FROM job \
               WHERE subject = $1 AND kind = $2 AND state IN ('done', 'failed') ORDER BY id DESC LIMIT 1";
    Ok(tx.fetch_optional(sql, args![subject, kind]).await?.flatten())
}
