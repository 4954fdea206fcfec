//! Jobs are done once, whatever happens to their workers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use capeval_server::args;
use capeval_server::jobs::queue::{self, Priority};
use capeval_server::jobs::{Failure, Work, runner};
use capeval_server::settings::Settings;
use serde_json::json;
use tokio::sync::watch;

use crate::support::{Database, Site, on_both, settings};

on_both! { every_job_has_one_effect_although_workers_die_and_dawdle a_late_result_is_dropped }

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
        queue::claim(&site.app.store, 100).await.unwrap().unwrap();
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
    let first = queue::claim(store, -1).await.unwrap().unwrap();
    assert_eq!(first.subject, "b");
    let second = queue::claim(store, 60_000).await.unwrap().unwrap();
    assert_eq!((second.subject.as_str(), second.attempt), ("b", 2));
    assert!(!queue::extend(store, &first, 60_000).await.unwrap());
    let mut tx = store.begin().await.unwrap();
    assert!(!queue::end(&mut tx, &first, None).await.unwrap());
    assert!(queue::end(&mut tx, &second, None).await.unwrap());
    assert!(queue::cancel(&mut tx, "a", false).await.unwrap());
    assert!(!queue::cancel(&mut tx, "b", false).await.unwrap());
    tx.commit().await.unwrap();
    assert!(queue::claim(store, 60_000).await.unwrap().is_none());
    assert!(queue::wait(store, "a", 1).await.unwrap().is_none());
}

#[tokio::test]
async fn a_child_reaches_neither_the_network_nor_other_files_nor_programs() {
    let site = Site::new(Database::Sqlite).await;
    let found = capeval_server::tasks::probe(&site.app).await.unwrap();
    assert!(!found.socket && !found.program, "{found:?}");
    // Kernels without Landlock do not keep files apart; CI's does.
    assert!(!found.file || !has_landlock(), "{found:?}");
}

fn has_landlock() -> bool {
    std::fs::read_to_string("/sys/kernel/security/lsm").map_or(true, |list| list.contains("landlock"))
}
