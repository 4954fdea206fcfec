//! Jobs are done once, whatever happens to their workers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use capeval_server::args;
use capeval_server::jobs::queue::{self, Priority};
use capeval_server::jobs::{Failure, Work, runner};
use capeval_server::settings::Settings;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::support::{Database, Site, on_both, settings};

on_both! {
    every_job_has_one_effect_although_workers_die_and_dawdle
    a_late_result_is_dropped
    nobody_waits_for_a_job_that_nobody_notices
    a_job_that_waits_for_ten_minutes_means_that_nobody_works
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

/// One run in five is killed, and one in ten takes longer than its lease without a sign of life.
const UNRELIABLE: &[Work] = &[Work {
    kind: "test",
    run: |_, job| {
        Box::pin(async move {
            match RUNS.fetch_add(1, Ordering::Relaxed) % 10 {
                0 | 5 => Err(Failure::Passing("killed".to_owned())),
                3 => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    Ok(json!(job.subject))
                }
                _ => Ok(json!(job.subject)),
            }
        })
    },
    finish: |_, tx, job, outcome| {
        Box::pin(async move {
            let text = outcome.map_or_else(|error| error, |value| value.to_string());
            tx.execute(
                "INSERT INTO audit (id, at, action, subject, detail) VALUES ($1, 0, 'done', $2, $3)",
                args![capeval_server::ids::new_id(), &job.subject, text],
            )
            .await?;
            Ok(())
        })
    },
}];

async fn every_job_has_one_effect_although_workers_die_and_dawdle(database: Database) {
    let site = Site::with(Settings { lease_seconds: 1, ..settings(database) }).await;
    let mut tx = site.app.store.begin().await.unwrap();
    for n in 0..60 {
        queue::add(&mut tx, "test", &format!("job {n}"), Priority::Awaited).await.unwrap();
    }
    tx.commit().await.unwrap();
    // A worker that claimed two jobs and was killed.
    for _ in 0..2 {
        queue::claim(&site.app.store, 100, Priority::Background).await.unwrap().unwrap();
    }
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(site.app.clone(), UNRELIABLE, 8, stopping));
    for _ in 0..200 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let open = "SELECT id FROM job WHERE state IN ('queued', 'running')";
        if site.app.store.all(open, args![]).await.unwrap().is_empty() {
            break;
        }
    }
    stop.send(true).unwrap();
    running.await.unwrap();
    let done = site.app.store.all("SELECT subject FROM audit WHERE action = 'done'", args![]).await.unwrap();
    let mut subjects: Vec<String> = done.iter().map(|row| row.get("subject").unwrap()).collect();
    assert_eq!(subjects.len(), 60);
    subjects.sort();
    subjects.dedup();
    assert_eq!(subjects.len(), 60);
}

async fn a_late_result_is_dropped(database: Database) {
    let site = Site::new(database).await;
    let store = &site.app.store;
    let mut tx = store.begin().await.unwrap();
    queue::add(&mut tx, "test", "a", Priority::Background).await.unwrap();
    queue::add(&mut tx, "test", "b", Priority::Awaited).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(queue::wait(store, "a", 1).await.unwrap().unwrap().ahead, 1);
    let first = queue::claim(store, -1, Priority::Background).await.unwrap().unwrap();
    assert_eq!(first.subject, "b");
    let second = queue::claim(store, 60_000, Priority::Background).await.unwrap().unwrap();
    assert_eq!((second.subject.as_str(), second.attempt), ("b", 2));
    assert!(!queue::extend(store, &first, 60_000).await.unwrap());
    let mut tx = store.begin().await.unwrap();
    assert!(!queue::end(&mut tx, &first, None).await.unwrap());
    assert!(queue::end(&mut tx, &second, None).await.unwrap());
    assert!(queue::cancel(&mut tx, "a", false).await.unwrap());
    assert!(!queue::cancel(&mut tx, "b", false).await.unwrap());
    tx.commit().await.unwrap();
    assert!(queue::claim(store, 60_000, Priority::Background).await.unwrap().is_none());
    assert!(queue::wait(store, "a", 1).await.unwrap().is_none());
}

#[tokio::test]
async fn a_child_reaches_neither_the_network_nor_other_files_nor_programs() {
    let site = Site::new(Database::Sqlite).await;
    let found = capeval_server::jobs::child::probe(&site.app).await.unwrap();
    assert!(!found.socket && !found.program && !found.memory && !found.environment, "{found:?}");
    // Kernels without Landlock do not keep files apart; CI's does.
    assert!(!found.file || !has_landlock(), "{found:?}");
}

/// A program that never ends, and one that crashes, cost one job each, and say so.
#[cfg(unix)]
#[tokio::test]
async fn a_child_that_takes_too_long_is_stopped_and_one_that_crashes_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    for (script, expected) in [
        ("exec sleep 60", "stopped after 1 seconds"),
        ("kill -SEGV $$", "the process ended with signal: 11 (SIGSEGV)"),
    ] {
        let program = folder.path().join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        let settings = Settings { job_seconds: 1, ..Settings::default() };
        let app = capeval_server::app::App::open(folder.path().join("data"), settings).await.unwrap();
        let failure = capeval_server::jobs::child::probe(&app.with_program(program)).await.unwrap_err();
        let Failure::Passing(reason) = failure else { panic!("{failure:?}") };
        assert!(reason.starts_with(expected), "{reason}");
    }
}

async fn nobody_waits_for_a_job_that_nobody_notices(database: Database) {
    let site = Site::new(database).await;
    let mut tx = site.app.store.begin().await.unwrap();
    queue::add(&mut tx, "slow", "a", Priority::Background).await.unwrap();
    tx.commit().await.unwrap();
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(site.app.clone(), SLOW, 1, stopping));
    let state = async |subject: &'static str| {
        let row = site.app.store.first("SELECT state FROM job WHERE subject = $1", args![subject]).await;
        row.unwrap().unwrap().get::<String>("state").unwrap()
    };
    let reaches = async |subject: &'static str, wanted: &str| {
        for _ in 0..400 {
            if state(subject).await == wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("{subject} is {}", state(subject).await);
    };
    reaches("a", "running").await;
    let mut tx = site.app.store.begin().await.unwrap();
    queue::add(&mut tx, "slow", "b", Priority::Background).await.unwrap();
    queue::add(&mut tx, "quick", "c", Priority::Awaited).await.unwrap();
    tx.commit().await.unwrap();
    site.app.wake.notify();
    reaches("c", "done").await;
    assert_eq!((state("a").await.as_str(), state("b").await.as_str()), ("running", "queued"));
    // Cancelled, so that the test need not wait for the slow job.
    let mut tx = site.app.store.begin().await.unwrap();
    for subject in ["a", "b"] {
        queue::cancel(&mut tx, subject, true).await.unwrap();
    }
    tx.commit().await.unwrap();
    stop.send(true).unwrap();
    running.abort();
}

/// A kind of job that lasts, and one that does not.
const SLOW: &[Work] = &[
    Work {
        kind: "slow",
        run: |_, _| {
            Box::pin(async {
                tokio::time::sleep(Duration::from_secs(60)).await;
                Ok(Value::Null)
            })
        },
        finish: |_, _, _, _| Box::pin(async { Ok(()) }),
    },
    Work {
        kind: "quick",
        run: |_, _| Box::pin(async { Ok(Value::Null) }),
        finish: |_, _, _, _| Box::pin(async { Ok(()) }),
    },
];

fn has_landlock() -> bool {
    std::fs::read_to_string("/sys/kernel/security/lsm").map_or(true, |list| list.contains("landlock"))
}

async fn a_job_that_waits_for_ten_minutes_means_that_nobody_works(database: Database) {
    let site = Site::new(database).await;
    let mut tx = site.app.store.begin().await.unwrap();
    queue::add(&mut tx, "test", "a job", Priority::Awaited).await.unwrap();
    tx.commit().await.unwrap();
    let anybody = site.anybody();
    for (minutes, status) in [(9, 200), (11, 503)] {
        let due = capeval_server::clock::now() - minutes * 60_000;
        site.app.store.execute("UPDATE job SET run_after = $1", args![due]).await.unwrap();
        anybody.get("/readyz").await.expect(status);
    }
}
