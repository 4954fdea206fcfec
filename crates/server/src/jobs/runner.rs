//! Runs jobs of this process until it is told to stop.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::queue::{self, Priority};
use super::{Failure, Job, Work};
use crate::app::App;
use crate::fault::Fault;

/// How often a job is tried.
pub const ATTEMPTS: i64 = 3;

/// How long a process without work sleeps when nobody wakes it; other processes cannot.
const SLEEP: Duration = Duration::from_millis(500);

/// How long a job may go on after the process was told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Runs jobs until `stop` is true: `workers` at once, and one more for which somebody waits, so that none of them waits
/// for the end of one that nobody notices.
pub async fn run(app: App, works: &'static [Work], workers: usize, stop: watch::Receiver<bool>) {
    let mut running = JoinSet::new();
    for _ in 0..workers {
        running.spawn(worker(app.clone(), works, Priority::Background, stop.clone()));
    }
    if workers > 0 {
        running.spawn(worker(app, works, Priority::Awaited, stop));
    }
    while running.join_next().await.is_some() {}
}

async fn worker(app: App, works: &'static [Work], least: Priority, mut stop: watch::Receiver<bool>) {
    let mut calls = app.wake.listen();
    while !*stop.borrow() {
        calls.mark_unchanged();
        match step(&app, works, least, &mut stop).await {
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

/// Claims and runs one job whose priority is `least` or higher; `false` if there is none.
///
/// # Errors
/// If the database fails; the job is tried again once its lease has ended.
pub async fn step(
    app: &App,
    works: &'static [Work],
    least: Priority,
    stop: &mut watch::Receiver<bool>,
) -> Result<bool, Fault> {
    let lease = app.settings.lease_seconds * 1000;
    let Some(job) = queue::claim(&app.store, lease, least).await? else { return Ok(false) };
    let Some(work) = works.iter().find(|work| work.kind == job.kind) else {
        queue::put_back(&app.store, &job, Some("this version does not know this kind of job")).await?;
        return Ok(true);
    };
    if job.attempt > ATTEMPTS {
        let reason = format!("given up after {ATTEMPTS} attempts, each of which was killed");
        finish(app, work, &job, Err(reason)).await?;
        return Ok(true);
    }
    let start = Instant::now();
    let outcome = tokio::select! {
        outcome = (work.run)(app.clone(), job.clone()) => outcome,
        () = lost(app, &job, lease) => {
            tracing::warn!(job = job.id, "another worker has this job, or it was cancelled");
            return Ok(true);
        }
        () = stopped(stop) => {
            queue::put_back(&app.store, &job, None).await?;
            return Ok(true);
        }
    };
    let ms = start.elapsed().as_millis() as u64;
    app.counts.jobs_ms.fetch_add(ms, Ordering::Relaxed);
    match outcome {
        Ok(value) => finish(app, work, &job, Ok(value)).await?,
        Err(Failure::Lasting(reason)) => finish(app, work, &job, Err(reason)).await?,
        Err(Failure::Passing(reason)) => {
            app.counts.jobs_failed.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(job = job.id, kind = job.kind, attempt = job.attempt, reason, "a job failed");
            match job.attempt < ATTEMPTS {
                true => queue::put_back(&app.store, &job, Some(&reason)).await?,
                false => finish(app, work, &job, Err(reason)).await?,
            }
        }
    }
    Ok(true)
}

/// Ends a job and writes its result, both or neither.
async fn finish(app: &App, work: &Work, job: &Job, outcome: Result<Value, String>) -> Result<(), Fault> {
    let mut tx = app.store.begin().await?;
    if !queue::end(&mut tx, job, outcome.as_ref().err().map(String::as_str)).await? {
        tracing::warn!(job = job.id, "a late result is dropped");
        return Ok(());
    }
    let counter = if outcome.is_ok() { &app.counts.jobs_done } else { &app.counts.jobs_failed };
    (work.finish)(app, &mut tx, job, outcome).await?;
    tx.commit().await?;
    counter.fetch_add(1, Ordering::Relaxed);
    app.recent.forget();
    // The result may have added jobs.
    app.wake.notify();
    Ok(())
}

/// Extends the lease until somebody else has the job.
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
