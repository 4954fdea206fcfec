//! Runs jobs of this process until it is told to stop.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::queue::{self, Priority};
use super::{AnyWork, Failure, Job, Lane, Outcome, Work};
use crate::app::App;
use crate::fault::{Fault, Result};
use crate::{audit, reason, request_id, traces};

/// The largest number of runs of a job.
pub const ATTEMPTS: i64 = 3;

/// The largest number of claims of a job whose end cannot be written.
const CLAIMS: i64 = 2 * ATTEMPTS;

/// The time that a process without work sleeps unless it is woken, which other processes cannot do.
const SLEEP: Duration = Duration::from_millis(500);

/// The time that a job may go on after the process was asked to stop.
const GRACE: Duration = Duration::from_secs(10);

/// The jobs that a worker takes, in order of priority and age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Post {
    pub lanes: &'static [Lane],
    /// The lowest priority.
    pub least: Priority,
}

impl Post {
    /// All jobs.
    pub const ALL: Self = Self { lanes: Lane::ALL, least: Priority::Background };
}

/// The workers of a process beside those that score, and one more for which a person waits: the number, and their post.
/// A message that is slow to send keeps one of the errands' workers for seconds.
const OTHERS: [(usize, Post); 6] = [
    (1, Post { lanes: &[Lane::Scoring], least: Priority::Awaited }),
    (1, Post { lanes: &[Lane::Errands], least: Priority::Awaited }),
    (2, Post { lanes: &[Lane::Errands], least: Priority::Background }),
    (1, Post { lanes: &[Lane::Checks], least: Priority::Background }),
    (1, Post { lanes: &[Lane::Comparisons], least: Priority::Background }),
    (1, Post { lanes: &[Lane::Upkeep], least: Priority::Background }),
];

/// The posts of the workers of a process that scores `workers` submissions at once: each lane has workers of its own.
pub fn posts(workers: usize) -> Vec<Post> {
    let scoring = Post { lanes: &[Lane::Scoring], least: Priority::Background };
    let others = OTHERS.into_iter().flat_map(|(n, post)| std::iter::repeat_n(post, n));
    std::iter::repeat_n(scoring, workers).chain(others.filter(|_| workers > 0)).collect()
}

/// Runs jobs until `stop` is true, with a worker at each of the posts.
pub async fn run(app: App, works: impl Into<Arc<[AnyWork]>>, workers: usize, stop: watch::Receiver<bool>) {
    let works = works.into();
    let mut running = JoinSet::new();
    for post in posts(workers) {
        running.spawn(worker(app.clone(), Arc::clone(&works), post, stop.clone()));
    }
    while running.join_next().await.is_some() {}
}

async fn worker(app: App, works: Arc<[AnyWork]>, post: Post, mut stop: watch::Receiver<bool>) {
    let mut calls = app.wake.listen();
    while !*stop.borrow() {
        calls.mark_unchanged();
        match step(&app, &works, post, &mut stop).await {
            Ok(true) => {}
            Ok(false) => {
                tokio::select! {
                    _ = calls.changed() => {}
                    () = tokio::time::sleep(SLEEP) => {}
                    _ = stop.changed() => {}
                }
            }
            Err(fault) => {
                tracing::error!(%fault, "the queue of jobs failed");
                tokio::time::sleep(SLEEP).await;
            }
        }
    }
}

/// Claims and runs one job of a post; `false` if there is none.
/// If the database fails, the job is tried again once its lease has ended.
pub async fn step(
    app: &App,
    works: &[AnyWork],
    post: Post,
    stop: &mut watch::Receiver<bool>,
) -> Result<bool> {
    let lease = app.settings.lease_seconds * 1000;
    let known = works.iter().filter(|work| post.lanes.contains(&work.lane));
    let kinds: Vec<&str> = known.map(|work| work.kind).collect();
    let Some(job) = queue::claim(&app.store, lease, &kinds, post.least).await? else { return Ok(false) };
    let Some(work) = works.iter().find(|work| work.kind == job.kind) else { return Ok(false) };
    // A span below the level of the log would not be in it.
    let span = tracing::error_span!(
        "job",
        id = job.id,
        kind = job.kind,
        subject = job.subject,
        attempt = job.attempt,
        cause = job.cause
    );
    traces::of_cause(&span, job.cause.as_deref());
    let run = async {
        let start = Instant::now();
        let outcome = (work.perform)(app, &job, stop).await?;
        let took = start.elapsed();
        app.counts.job(work.kind, outcome.name(), took);
        tracing::info!(outcome = outcome.name(), ms = took.as_millis() as u64, "a run of a job has ended");
        Ok::<_, Fault>(())
    };
    request_id::within(job.cause.clone(), run).instrument(span).await?;
    Ok(true)
}

/// Runs a claimed job, and ends it or puts it back.
pub(super) async fn perform<W: Work>(
    app: &App,
    claimed: &Job,
    stop: &mut watch::Receiver<bool>,
) -> Result<Outcome> {
    let Ok(subject) = claimed.subject.parse::<W::Subject>() else {
        let mut tx = app.store.begin().await?;
        queue::end(&mut tx, claimed, Some("the row of the job does not say what it works on")).await?;
        tx.commit().await?;
        return Ok(Outcome::Failed);
    };
    let Job { id, kind, subject: _, attempt, is_awaited, error, cause } = claimed.clone();
    let job = Job { id, kind, subject, attempt, is_awaited, error, cause };
    if attempt > ATTEMPTS {
        let last = job.error.as_deref().unwrap_or("each of them was killed");
        let reason = reason!("given up after {} attempts: {}", ATTEMPTS, last);
        return finish::<W>(app, claimed, &job, Err(reason)).await;
    }
    let outcome = tokio::select! {
        outcome = W::run(app, &job) => outcome,
        () = lost(app, claimed, app.settings.lease_seconds * 1000) => {
            tracing::warn!("another worker has this job, or it was cancelled");
            return Ok(Outcome::Lost);
        }
        () = stopped(stop) => {
            queue::put_back(&app.store, claimed, None).await?;
            return Ok(Outcome::Stopped);
        }
    };
    match outcome {
        Ok(done) => finish::<W>(app, claimed, &job, Ok(done)).await,
        Err(Failure::Lasting(reason)) => {
            tracing::info!(reason, "a job has failed");
            finish::<W>(app, claimed, &job, Err(reason)).await
        }
        Err(Failure::Waiting(reason)) => {
            tracing::error!(reason, "a job waits for space on the disk");
            queue::put_off(&app.store, claimed, &reason).await?;
            Ok(Outcome::Again)
        }
        Err(Failure::Passing(reason)) => {
            tracing::warn!(reason, "a job failed");
            if attempt == ATTEMPTS {
                return finish::<W>(app, claimed, &job, Err(reason)).await;
            }
            queue::put_back(&app.store, claimed, Some(&reason)).await?;
            Ok(Outcome::Again)
        }
    }
}

/// Ends a job with its result or the reason why there is none. What cannot be written becomes such a reason; if that
/// cannot be written either, the job ends alone, and the audit log says so.
async fn finish<W: Work>(
    app: &App,
    claimed: &Job,
    job: &Job<W::Subject>,
    outcome: Result<W::Output, String>,
) -> Result<Outcome> {
    let failure = outcome.as_ref().err().cloned();
    let mut fault = match write::<W>(app, claimed, job, outcome).await {
        Ok(outcome) => return Ok(outcome),
        Err(fault) => fault,
    };
    let reason = match failure {
        Some(reason) => reason,
        None => {
            let reason = cannot_be_written(&fault);
            if is_tried_again(app, claimed, &fault, &reason, ATTEMPTS).await? {
                return Ok(Outcome::Again);
            }
            match write::<W>(app, claimed, job, Err(reason.clone())).await {
                Ok(outcome) => return Ok(outcome),
                Err(second) => fault = second,
            }
            reason
        }
    };
    if is_tried_again(app, claimed, &fault, &reason, CLAIMS).await? {
        return Ok(Outcome::Again);
    }
    let reason = format!("{reason}; {}", cannot_be_written(&fault));
    tracing::error!(reason, "a job is given up");
    let mut tx = app.store.begin().await?;
    if queue::end(&mut tx, claimed, Some(&reason)).await? {
        let detail = json!({ "kind": job.kind, "reason": reason });
        // The last of several ids is that of what hosts know, such as a submission.
        let subject = claimed.subject.rsplit('/').next().unwrap_or_default();
        audit::note(&mut tx, None, "job.give-up", subject, detail).await?;
    }
    tx.commit().await?;
    Ok(Outcome::Failed)
}

/// Puts a job back whose end may be written another time: once there are a database and space, however long that takes,
/// or, for other faults that pass, before `most` attempts.
async fn is_tried_again(app: &App, claimed: &Job, fault: &Fault, reason: &str, most: i64) -> Result<bool> {
    if fault.status == StatusCode::SERVICE_UNAVAILABLE {
        tracing::error!(reason, "a job waits for space on the disk, or for the database");
        queue::put_off(&app.store, claimed, reason).await?;
        return Ok(true);
    }
    let passes = fault.is_retryable && claimed.attempt < most;
    if passes {
        queue::put_back(&app.store, claimed, Some(reason)).await?;
    }
    Ok(passes)
}

fn cannot_be_written(fault: &Fault) -> String {
    let cause = fault.cause.clone().unwrap_or_else(|| fault.to_string());
    reason!("the end of the job cannot be written: {}", cause)
}

/// Ends a job and writes its result, both or neither.
async fn write<W: Work>(
    app: &App,
    claimed: &Job,
    job: &Job<W::Subject>,
    outcome: Result<W::Output, String>,
) -> Result<Outcome> {
    let mut tx = app.store.begin().await?;
    if !queue::end(&mut tx, claimed, outcome.as_ref().err().map(String::as_str)).await? {
        tracing::warn!("a late result is dropped");
        return Ok(Outcome::Lost);
    }
    let end = if outcome.is_ok() { Outcome::Done } else { Outcome::Failed };
    W::finish(app, &mut tx, job, outcome).await?;
    tx.commit().await?;
    app.recent.forget();
    // The result may have added jobs.
    app.wake.notify();
    Ok(end)
}

/// Extends the lease until another worker has the job.
async fn lost(app: &App, job: &Job, lease_ms: i64) {
    let pause = Duration::from_millis(lease_ms.unsigned_abs() / 3);
    loop {
        tokio::time::sleep(pause).await;
        match queue::extend(&app.store, job, lease_ms).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => tracing::warn!(%error, "the lease of a job cannot be extended"),
        }
    }
}

/// Waits until the process has been told to stop, and a while longer for the job to end.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    while !*stop.borrow() {
        if stop.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
    tokio::time::sleep(GRACE).await;
}
