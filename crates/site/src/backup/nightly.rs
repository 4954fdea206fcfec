//! A backup every night, and how long each is kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use tokio::sync::watch;

use super::{UNFINISHED, make};
use crate::app::App;
use crate::fault::Result;
use crate::jobs::queue::Priority;
use crate::jobs::{self, Failure, Job, Lane, Work};
use crate::store::{Error, Tx};
use crate::{args, clock};

/// The time between two looks at the clock.
const PAUSE: Duration = Duration::from_secs(60);

/// The age from which an unfinished backup is one of a process that was killed.
const ABANDONED: Duration = Duration::from_secs(86_400);

/// Makes the backup of a day, and removes those that are no longer kept.
pub struct NightlyBackup;

/// Queues a backup each night until `stop` is true, once for all processes that share a database.
pub async fn schedule(app: App, mut stop: watch::Receiver<bool>) {
    if app.settings.backup_hour < 0 {
        return;
    }
    while !*stop.borrow() {
        if let Err(error) = queue_if_due(&app, clock::now()).await {
            tracing::error!(%error, "the nightly backup cannot be queued");
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            _ = stop.changed() => {}
        }
    }
}

/// Queues the backup of the day if its hour has come; returns whether it was.
pub async fn queue_if_due(app: &App, now: i64) -> Result<bool, Error> {
    let (day, hour) = (clock::day(now), now.rem_euclid(clock::DAY) / 3_600_000);
    if hour < app.settings.backup_hour {
        return Ok(false);
    }
    let sql = "SELECT 1 FROM daily WHERE task = 'backup' AND day >= $1";
    if app.store.exists(sql, args![&day]).await? {
        return Ok(false);
    }
    let mut tx = app.store.begin().await?;
    let is_first = take(&mut tx, "backup", &day).await?;
    if is_first {
        jobs::add::<NightlyBackup>(&mut tx, &day, Priority::Background).await?;
        app.commit(tx).await?;
    }
    Ok(is_first)
}

/// Takes the task of a day, unless another process has taken it.
async fn take(tx: &mut Tx, task: &str, day: &str) -> Result<bool, Error> {
    let sql = "INSERT INTO daily (task, day) VALUES ($1, $2) \
               ON CONFLICT (task) DO UPDATE SET day = excluded.day WHERE daily.day < excluded.day";
    let taken = tx.execute(sql, args![task, day]).await?;
    Ok(taken == 1)
}

/// The folder of nightly backups.
pub fn folder(app: &App) -> PathBuf {
    match app.settings.backup_folder.as_str() {
        "" => app.folder.join("backups"),
        folder => PathBuf::from(folder),
    }
}

impl Work for NightlyBackup {
    const KIND: &'static str = "backup";
    const LANE: Lane = Lane::Upkeep;
    /// The day.
    type Subject = String;
    type Output = ();

    async fn run(app: &App, job: &Job) -> Result<(), Failure> {
        let folder = folder(app);
        let to = folder.join(&job.subject);
        // If it is there, the process was killed between making it and saying so.
        if !to.exists() {
            make(app, &to).await?;
        }
        tokio::task::spawn_blocking(move || prune(&folder)).await??;
        Ok(())
    }

    async fn finish(_: &App, _: &mut Tx, job: &Job, outcome: Result<(), String>) -> Result<()> {
        match outcome {
            Ok(()) => tracing::info!(day = job.subject, "the nightly backup is complete"),
            Err(reason) => tracing::error!(day = job.subject, reason, "the nightly backup failed"),
        }
        Ok(())
    }
}

/// The days of the backups in a folder, counted from 1970.
pub fn days(folder: &Path) -> std::io::Result<BTreeSet<i64>> {
    let mut days = BTreeSet::new();
    if !folder.exists() {
        return Ok(days);
    }
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        days.extend(
            clock::parse(&name).filter(|time| clock::day(*time) == name).map(|time| time / clock::DAY),
        );
    }
    Ok(days)
}

fn prune(folder: &Path) -> anyhow::Result<usize> {
    let days = days(folder)?;
    let kept = days_to_keep(&days);
    let mut removed = 0;
    for day in days.difference(&kept) {
        let old = folder.join(clock::day(day * clock::DAY));
        // It is renamed first: a part of a backup must never be mistaken for one.
        let doomed = folder.join(format!("{UNFINISHED}{day}"));
        fs::rename(&old, &doomed).with_context(|| old.display().to_string())?;
        fs::remove_dir_all(&doomed)?;
        removed += 1;
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_unfinished = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
        if is_unfinished && entry.metadata()?.modified()?.elapsed().unwrap_or_default() > ABANDONED {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(removed)
}

/// The days to keep: the newest seven, the newest of each of four weeks, and the newest of each of six months.
fn days_to_keep(days: &BTreeSet<i64>) -> BTreeSet<i64> {
    let month = |day: i64| clock::day(day * clock::DAY).get(..7).unwrap_or_default().to_owned();
    let week = |day: i64| (day + 3).div_euclid(7).to_string();
    let rules: [(usize, &dyn Fn(i64) -> String); 3] = [(7, &|day| day.to_string()), (4, &week), (6, &month)];
    let mut kept = BTreeSet::new();
    for (most, period) in rules {
        let mut periods = BTreeSet::new();
        for day in days.iter().rev() {
            if periods.len() < most && periods.insert(period(*day)) {
                kept.insert(*day);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_days_four_weeks_and_six_months_are_kept() {
        let day = |text: &str| clock::parse(text).unwrap() / clock::DAY;
        let (first, last) = (day("2025-11-01"), day("2026-11-22"));
        let mut days = BTreeSet::new();
        // As it goes: a backup each day, and those that are not kept are removed.
        for today in first..=last {
            days.insert(today);
            days = days_to_keep(&days);
        }
        let shown: Vec<String> = days.iter().map(|day| clock::day(day * clock::DAY)).collect();
        assert_eq!(
            shown,
            [
                "2026-06-30",
                "2026-07-31",
                "2026-08-31",
                "2026-09-30",
                "2026-10-31",
                "2026-11-01",
                "2026-11-08",
                "2026-11-15",
                "2026-11-16",
                "2026-11-17",
                "2026-11-18",
                "2026-11-19",
                "2026-11-20",
                "2026-11-21",
                "2026-11-22"
            ]
        );
        // A server that was off for months keeps what it has.
        assert_eq!(days_to_keep(&BTreeSet::from([first])).len(), 1);
    }

    #[test]
    fn only_folders_named_after_days_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["2026-01-01", "before-the-update", "2026-1-2", UNFINISHED] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        for day in 0..40 {
            fs::create_dir(
                folder.path().join(clock::day(clock::parse("2026-02-01").unwrap() + day * clock::DAY)),
            )
            .unwrap();
        }
        assert!(prune(folder.path()).unwrap() > 20);
        for name in ["before-the-update", "2026-1-2", UNFINISHED] {
            assert!(folder.path().join(name).exists(), "{name}");
        }
    }
}
