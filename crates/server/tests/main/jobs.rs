//! Jobs are done once, whatever happens to their workers.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use capeval_server::FEATURES;
use capeval_site::app::App;
use capeval_site::fault::Fault;
use capeval_site::feature;
use capeval_site::jobs::queue::{self, Priority};
use capeval_site::jobs::runner::Post;
use capeval_site::jobs::{AnyWork, Failure, Job, Lane, Work, runner};
use capeval_site::settings::Settings;
use capeval_site::store::Tx;
use capeval_site::testing::Clock;
use capeval_site::{args, clock};
use capeval_tasks::{Answer, Order, Possible, Probe};
use capeval_testkit::faults::can_inject;
use capeval_testkit::{PATIENCE, PAUSE};
use tokio::sync::watch;

use crate::support::{Database, Site, eventually, on_both, on_sqlite};

on_both! {
    every_job_has_one_effect_although_workers_die_and_dawdle
    a_late_result_is_dropped
    jobs_do_not_wait_for_a_clock_that_was_ahead
    what_lasts_fails_at_once_and_what_passes_is_tried_again
    a_job_whose_end_cannot_be_written_ends_with_a_reason
    no_one_waits_for_a_job_that_no_one_notices
    a_job_that_waits_for_ten_minutes_means_that_no_worker_runs
    no_lane_waits_for_another
    a_job_of_an_unknown_kind_waits_for_those_who_know_it
    waits_count_the_jobs_of_the_lane
    old_jobs_and_messages_are_swept_away
}

on_sqlite! {
    a_child_reaches_neither_the_network_nor_other_files_nor_programs
    on_a_kernel_without_landlock_a_child_reads_files_and_does_nothing_else
    a_child_that_takes_too_long_is_stopped_and_one_that_crashes_is_told
}

/// The first run of one job in five ends as if it had been killed, and that of one in ten goes on for longer than its
/// lease without a sign of life, until another worker has the job.
struct Unreliable;

impl Work for Unreliable {
    const KIND: &'static str = "test";
    const LANE: Lane = Lane::Scoring;
    type Subject = String;
    type Output = String;

    async fn run(app: &App, job: &Job) -> Result<String, Failure> {
        match (job.attempt, job.subject.as_bytes().last()) {
            (1, Some(b'0' | b'5')) => return Err(Failure::Passing("killed".to_owned())),
            (1, Some(b'3')) => {
                let ended = "UPDATE job SET lease_until = 0 WHERE id = $1 AND attempt = 1";
                app.store.execute(ended, args![&job.id]).await?;
                app.wake.notify();
                let claimed = "SELECT id FROM job WHERE id = $1 AND attempt > 1";
                let start = Instant::now();
                while app.store.first(claimed, args![&job.id]).await?.is_none() {
                    assert!(start.elapsed() < PATIENCE, "no other worker claims the job");
                    tokio::time::sleep(PAUSE).await;
                }
            }
            _ => {}
        }
        Ok(job.subject.clone())
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<String, String>) -> Result<(), Fault> {
        tx.execute(
            "INSERT INTO audit (id, at, action, subject, detail) VALUES ($1, 0, 'done', $2, $3)",
            args![capeval_site::ids::new_id(), &job.subject, outcome.unwrap_or_else(|error| error)],
        )
        .await?;
        Ok(())
    }
}

const UNRELIABLE: &[AnyWork] = &[AnyWork::of::<Unreliable>()];

async fn every_job_has_one_effect_although_workers_die_and_dawdle(database: Database) {
    let site = Site::new(database).await;
    let mut tx = site.app.store.begin().await.unwrap();
    for n in 0..60 {
        queue::add(&mut tx, (Lane::Scoring, "test"), &format!("job {n}"), Priority::Awaited).await.unwrap();
    }
    tx.commit().await.unwrap();
    // A worker that claimed two jobs and was killed.
    for _ in 0..2 {
        queue::claim(&site.app.store, 1_000, &["test"], Priority::Background).await.unwrap().unwrap();
    }
    let clock = Clock::of_thread().unwrap();
    clock.move_to(clock.now() + 2_000);
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(site.app.clone(), UNRELIABLE, 8, stopping));
    let open = "SELECT MAX(run_after) AS due FROM job WHERE state IN ('queued', 'running')";
    eventually("all jobs end", async || {
        let row = site.app.store.first(open, args![]).await.unwrap().unwrap();
        let due: Option<i64> = row.get("due").unwrap();
        due.is_none_or(|due| {
            clock.move_to(due);
            false
        })
        .then_some(())
    })
    .await;
    stop.send(true).unwrap();
    running.await.unwrap();
    let done = site.app.store.all("SELECT subject FROM audit WHERE action = 'done'", args![]).await.unwrap();
    let mut subjects: Vec<String> = done.iter().map(|row| row.get("subject").unwrap()).collect();
    assert_eq!(subjects.len(), 60);
    subjects.sort();
    subjects.dedup();
    assert_eq!(subjects.len(), 60);
    let again = "SELECT id FROM job WHERE attempt > 1";
    assert_eq!(
        site.app.store.all(again, args![]).await.unwrap().len(),
        19,
        "12 + 6 and job 1 were run again"
    );
}

async fn a_late_result_is_dropped(database: Database) {
    let site = Site::new(database).await;
    let store = &site.app.store;
    let mut tx = store.begin().await.unwrap();
    queue::add(&mut tx, (Lane::Scoring, "test"), "a", Priority::Background).await.unwrap();
    queue::add(&mut tx, (Lane::Scoring, "test"), "b", Priority::Awaited).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(queue::wait(store, "a", 1).await.unwrap().unwrap().ahead, 1);
    let first = queue::claim(store, -1, &["test"], Priority::Background).await.unwrap().unwrap();
    assert_eq!(first.subject, "b");
    let second = queue::claim(store, 60_000, &["test"], Priority::Background).await.unwrap().unwrap();
    assert_eq!((second.subject.as_str(), second.attempt), ("b", 2));
    assert!(!queue::extend(store, &first, 60_000).await.unwrap());
    let mut tx = store.begin().await.unwrap();
    assert!(!queue::end(&mut tx, &first, None).await.unwrap());
    assert!(queue::end(&mut tx, &second, None).await.unwrap());
    assert!(queue::cancel(&mut tx, "a", false).await.unwrap());
    assert!(!queue::cancel(&mut tx, "b", false).await.unwrap());
    tx.commit().await.unwrap();
    assert!(queue::claim(store, 60_000, &["test"], Priority::Background).await.unwrap().is_none());
    assert!(queue::wait(store, "a", 1).await.unwrap().is_none());
}

/// The clock is a day ahead, until someone sets it right.
async fn jobs_do_not_wait_for_a_clock_that_was_ahead(database: Database) {
    let site = Site::new(database).await;
    let store = &site.app.store;
    let right = Clock::of_thread().unwrap();
    let claim = async || queue::claim(store, 5_000, &["test"], Priority::Background).await.unwrap();
    let add = async |subject: &str, later: i64| {
        let mut tx = store.begin().await.unwrap();
        let begin = clock::now() + later;
        let of = (Lane::Scoring, "test");
        queue::add_at(&mut tx, of, subject, Priority::Background, begin).await.unwrap();
        tx.commit().await.unwrap();
    };
    add("tried again", 0).await;
    add("of a worker that ended", 0).await;
    Clock::starting_at(right.now() + clock::DAY).enter();
    queue::put_back(store, &claim().await.unwrap(), Some("a disk was full")).await.unwrap();
    let lost = claim().await.unwrap();
    add("new", 0).await;
    add("of a time", 10_000).await;
    right.enter();
    let mut claimed = Vec::new();
    while let Some(job) = claim().await {
        claimed.push(job.subject);
    }
    assert_eq!(claimed, ["tried again", "of a worker that ended", "new"]);
    assert!(!queue::extend(store, &lost, 5_000).await.unwrap());
}

async fn a_child_reaches_neither_the_network_nor_other_files_nor_programs() {
    let site = Site::new(Database::Sqlite).await;
    let found = capeval_site::jobs::child::probe(&site.app).await.unwrap();
    assert!(!found.socket && !found.program && !found.process, "{found:?}");
    assert!(!found.memory && !found.environment, "{found:?}");
    // Kernels without Landlock do not keep files apart; CI's does.
    assert!(!found.file || !has_landlock(), "{found:?}");
}

/// `strace` has the system say that it has no Landlock.
async fn on_a_kernel_without_landlock_a_child_reads_files_and_does_nothing_else() {
    if !can_inject() {
        return capeval_testkit::skip("strace", "strace is missing, or may not trace");
    }
    let site = Site::new(Database::Sqlite).await;
    let allowance = capeval_site::jobs::child::allowance(&site.app, Vec::new());
    let task = Probe { file: site.app.program.clone(), memory: allowance.memory };
    let call = "landlock_create_ruleset";
    let mut child = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")])
        .args(["-e", &format!("inject={call}:error=ENOSYS")])
        .args([env!("CARGO_BIN_EXE_capeval-server"), capeval_site::jobs::child::COMMAND])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    serde_json::to_writer(child.stdin.take().unwrap(), &Order::new(allowance, task)).unwrap();
    let output = child.wait_with_output().unwrap();
    let Answer::Done::<Possible>(found) = serde_json::from_slice(&output.stdout).unwrap() else {
        panic!("a child could not try what it may not do")
    };
    assert!(found.file && !found.socket && !found.program && !found.process && !found.memory, "{found:?}");
}

/// A program that never ends, one that crashes, and one that needs too much memory cost one job each, and say so.
#[cfg(unix)]
async fn a_child_that_takes_too_long_is_stopped_and_one_that_crashes_is_told() {
    // The files are in the repository: one that a test has just written may still be open in a process that another
    // test is starting, and cannot be run then.
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/programs");
    for (program, seconds, expected) in [
        ("endless", 1, "stopped after 1 seconds"),
        ("crashing", 600, "the process ended with signal: 11 (SIGSEGV)"),
        ("hungry", 600, "it needs more than 6144 MiB of memory"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { job_seconds: seconds, ..Settings::default() };
        let app = App::open(folder.path().to_owned(), settings, FEATURES).await.unwrap();
        let app = app.with_program(programs.join(program));
        let failure = capeval_site::jobs::child::probe(&app).await.unwrap_err();
        // It would need as much another time.
        assert_eq!(matches!(failure, Failure::Lasting(_)), program == "hungry", "{failure:?}");
        assert!(failure.to_string().starts_with(expected), "{failure}");
    }
}

async fn no_one_waits_for_a_job_that_no_one_notices(database: Database) {
    let site = Site::new(database).await;
    let mut tx = site.app.store.begin().await.unwrap();
    queue::add(&mut tx, (Lane::Scoring, "slow"), "a", Priority::Background).await.unwrap();
    tx.commit().await.unwrap();
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(site.app.clone(), SLOW, 1, stopping));
    let state = async |subject: &'static str| {
        let row = site.app.store.first("SELECT state FROM job WHERE subject = $1", args![subject]).await;
        row.unwrap().unwrap().get::<String>("state").unwrap()
    };
    let reaches = async |subject: &'static str, wanted: &str| {
        eventually(&format!("{subject} is {wanted}"), async || {
            (state(subject).await == wanted).then_some(())
        })
        .await;
    };
    reaches("a", "running").await;
    let mut tx = site.app.store.begin().await.unwrap();
    queue::add(&mut tx, (Lane::Scoring, "slow"), "b", Priority::Background).await.unwrap();
    queue::add(&mut tx, (Lane::Scoring, "quick"), "c", Priority::Awaited).await.unwrap();
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

/// A kind of job that lasts.
struct Slow;

impl Work for Slow {
    const KIND: &'static str = "slow";
    const LANE: Lane = Lane::Scoring;
    type Subject = String;
    type Output = ();

    async fn run(_: &App, _: &Job) -> Result<(), Failure> {
        std::future::pending().await
    }

    async fn finish(_: &App, _: &mut Tx, _: &Job, _: Result<(), String>) -> Result<(), Fault> {
        Ok(())
    }
}

/// A kind of job that does not last.
struct Quick;

impl Work for Quick {
    const KIND: &'static str = "quick";
    const LANE: Lane = Lane::Scoring;
    type Subject = String;
    type Output = ();

    async fn run(_: &App, _: &Job) -> Result<(), Failure> {
        Ok(())
    }

    async fn finish(_: &App, _: &mut Tx, _: &Job, _: Result<(), String>) -> Result<(), Fault> {
        Ok(())
    }
}

const SLOW: &[AnyWork] = &[AnyWork::of::<Slow>(), AnyWork::of::<Quick>()];

/// Work that fails in the way that its subject names, whose subject is a number.
struct Failing;

impl Work for Failing {
    const KIND: &'static str = "failing";
    const LANE: Lane = Lane::Scoring;
    type Subject = u8;
    type Output = ();

    async fn run(app: &App, job: &Job<u8>) -> Result<(), Failure> {
        match job.subject {
            0 => Err(std::io::Error::from(std::io::ErrorKind::ResourceBusy))?,
            // As often as it takes.
            3 => Err(std::io::Error::from(std::io::ErrorKind::StorageFull))?,
            1 => Err(serde_json::from_str::<u8>("not JSON").unwrap_err())?,
            // A column that has another type than the program expects.
            _ => {
                let row = app.store.first("SELECT 'text' AS number", args![]).await?;
                row.map_or(Ok(0), |row| row.get::<i64>("number"))?;
            }
        }
        Ok(())
    }

    async fn finish(_: &App, _: &mut Tx, _: &Job<u8>, _: Result<(), String>) -> Result<(), Fault> {
        Ok(())
    }
}

async fn what_lasts_fails_at_once_and_what_passes_is_tried_again(database: Database) {
    let site = Site::new(database).await;
    let mut tx = site.app.store.begin().await.unwrap();
    for subject in ["0", "1", "2", "3", "not a number"] {
        queue::add(&mut tx, (Lane::Scoring, Failing::KIND), subject, Priority::Awaited).await.unwrap();
    }
    tx.commit().await.unwrap();
    let (_stop, mut stopping) = watch::channel(false);
    for _ in 0..5 {
        let works = const { &[AnyWork::of::<Failing>()] };
        assert!(runner::step(&site.app, works, Post::ALL, &mut stopping).await.unwrap());
    }
    let sql = "SELECT subject, state, attempt, error FROM job ORDER BY id";
    let rows = site.app.store.all(sql, args![]).await.unwrap();
    let states: Vec<(String, String, i64)> = rows
        .iter()
        .map(|row| (row.get("subject").unwrap(), row.get("state").unwrap(), row.get("attempt").unwrap()))
        .collect();
    let state = |subject: &str, state: &str, attempts| (subject.to_owned(), state.to_owned(), attempts);
    let expected = [
        state("0", "queued", 1),
        state("1", "failed", 1),
        state("2", "failed", 1),
        state("3", "queued", 0),
        state("not a number", "failed", 1),
    ];
    assert_eq!(states, expected);
    assert!(rows.iter().all(|row| row.get::<Option<String>>("error").unwrap().is_some()));
}

/// Work whose end cannot be written: the result, the reason why there is none, or both, for a minute or forever.
struct Unwritable;

impl Work for Unwritable {
    const KIND: &'static str = "unwritable";
    const LANE: Lane = Lane::Scoring;
    type Subject = String;
    type Output = ();

    async fn run(_: &App, _: &Job) -> Result<(), Failure> {
        Ok(())
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<(), String>) -> Result<(), Fault> {
        match (job.subject.as_str(), outcome) {
            ("result" | "phase/never", Ok(())) | ("phase/never", Err(_)) => {
                tx.execute("INSERT INTO nowhere VALUES (1)", args![]).await.map(drop)?;
            }
            ("passing", _) => Err(Fault::internal(&"as often as it is asked").retryable())?,
            ("full", Ok(())) => {
                let sql = "SELECT created_at FROM job WHERE id = $1";
                let created: i64 = tx.fetch_one(sql, args![&job.id]).await?;
                if clock::now() < created + 60_000 {
                    Err(std::io::Error::from(std::io::ErrorKind::StorageFull))?;
                }
            }
            (subject, outcome) => {
                let reason = outcome.unwrap_err();
                capeval_site::audit::note(tx, None, "told", subject, reason.into()).await?;
            }
        }
        Ok(())
    }
}

async fn a_job_whose_end_cannot_be_written_ends_with_a_reason(database: Database) {
    let site = Site::new(database).await;
    let store = &site.app.store;
    let mut tx = store.begin().await.unwrap();
    for subject in ["result", "phase/never", "passing", "full"] {
        queue::add(&mut tx, (Lane::Scoring, Unwritable::KIND), subject, Priority::Awaited).await.unwrap();
    }
    tx.commit().await.unwrap();
    let (_stop, mut stopping) = watch::channel(false);
    let clock = Clock::of_thread().unwrap();
    let mut steps = 0;
    loop {
        let works = const { &[AnyWork::of::<Unwritable>()] };
        while runner::step(&site.app, works, Post::ALL, &mut stopping).await.unwrap() {
            steps += 1;
            assert!(steps <= 20, "no end");
        }
        let due = "SELECT MIN(run_after) FROM job WHERE state = 'queued'";
        let Some(due) = store.fetch_one::<Option<i64>>(due, args![]).await.unwrap() else { break };
        clock.move_to(due);
    }
    assert_eq!(
        steps, 15,
        "what lasts is tried once, what passes six times, and a full disk every ten seconds"
    );
    let rows: Vec<(String, String, String)> = store
        .fetch("SELECT subject, state, error FROM job WHERE subject <> 'full' ORDER BY id", args![])
        .await
        .unwrap();
    for ((subject, state, error), cause) in rows.into_iter().zip(["nowhere", "nowhere", "asked"]) {
        assert_eq!(state, "failed", "{subject}");
        assert!(error.contains("cannot be written") && error.contains(cause), "{subject}: {error}");
    }
    let full: (String, i64) =
        store.fetch_one("SELECT state, attempt FROM job WHERE subject = 'full'", args![]).await.unwrap();
    assert_eq!(full, ("done".to_owned(), 1), "waiting is no attempt");
    // The result became a reason, which the work has noted; the others are in the log.
    let notes: Vec<(String, String, String)> =
        store.fetch("SELECT action, subject, detail FROM audit ORDER BY id", args![]).await.unwrap();
    let noted: Vec<(&str, &str)> =
        notes.iter().map(|(action, subject, _)| (action.as_str(), subject.as_str())).collect();
    assert_eq!(noted, [("told", "result"), ("job.give-up", "never"), ("job.give-up", "passing")]);
    assert!(notes.iter().all(|(_, _, detail)| detail.contains("the end of the job cannot be written")));
}

fn has_landlock() -> bool {
    std::fs::read_to_string("/sys/kernel/security/lsm").map_or(true, |list| list.contains("landlock"))
}

async fn a_job_that_waits_for_ten_minutes_means_that_no_worker_runs(database: Database) {
    let site = Site::new(database).await;
    let mut tx = site.app.store.begin().await.unwrap();
    queue::add(&mut tx, (Lane::Scoring, "test"), "a job", Priority::Awaited).await.unwrap();
    tx.commit().await.unwrap();
    let anybody = site.anybody();
    for (minutes, status) in [(9, 200), (11, 503)] {
        let due = clock::now() - minutes * 60_000;
        site.app.store.execute("UPDATE job SET run_after = $1", args![due]).await.unwrap();
        anybody.get("/readyz").await.expect(status);
    }
    // Behind others of its lane, a job may wait for longer.
    let mut tx = site.app.store.begin().await.unwrap();
    queue::add(&mut tx, (Lane::Scoring, "test"), "another job", Priority::Awaited).await.unwrap();
    tx.commit().await.unwrap();
    queue::claim(&site.app.store, 60_000, &["test"], Priority::Awaited).await.unwrap().unwrap();
    anybody.get("/readyz").await.expect(200);
}

/// A job of each lane that does not last.
macro_rules! quick {
    ($($type:ident $lane:ident $kind:literal),*) => {
        $(struct $type;

        impl Work for $type {
            const KIND: &'static str = $kind;
            const LANE: Lane = Lane::$lane;
            type Subject = String;
            type Output = ();

            async fn run(_: &App, _: &Job) -> Result<(), Failure> {
                Ok(())
            }

            async fn finish(_: &App, _: &mut Tx, _: &Job, _: Result<(), String>) -> Result<(), Fault> {
                Ok(())
            }
        })*

        const LANES: &[AnyWork] = &[AnyWork::of::<Slow>(), $(AnyWork::of::<$type>()),*];

        async fn add_one_of_each(tx: &mut Tx) {
            $(capeval_site::jobs::add::<$type>(tx, &$kind.to_owned(), Priority::Background).await.unwrap();)*
        }
    };
}

quick! { Errand Errands "errand", Check Checks "check", Comparison Comparisons "comparison", Backup Upkeep "upkeep" }

/// However many submissions are being scored, and wait, the jobs of all other lanes are done.
async fn no_lane_waits_for_another(database: Database) {
    let site = Site::new(database).await;
    let mut tx = site.app.store.begin().await.unwrap();
    for n in 0..9 {
        queue::add(&mut tx, (Lane::Scoring, "slow"), &format!("{n}"), Priority::Awaited).await.unwrap();
    }
    tx.commit().await.unwrap();
    let (stop, stopping) = watch::channel(false);
    let running = tokio::spawn(runner::run(site.app.clone(), LANES, 1, stopping));
    let number = async |sql: &'static str| site.app.store.fetch_one::<i64>(sql, args![]).await.unwrap();
    let scoring = "SELECT COUNT(*) FROM job WHERE kind = 'slow' AND state = 'running'";
    eventually("all that score are at it", async || (number(scoring).await == 2).then_some(())).await;
    let mut tx = site.app.store.begin().await.unwrap();
    add_one_of_each(&mut tx).await;
    tx.commit().await.unwrap();
    site.app.wake.notify();
    let done = "SELECT COUNT(*) FROM job WHERE state = 'done'";
    eventually("the others are done", async || (number(done).await == 4).then_some(())).await;
    assert_eq!(number(scoring).await, 2);
    stop.send(true).unwrap();
    running.abort();
}

#[test]
fn every_lane_has_a_worker_of_its_own() {
    for lane in Lane::ALL {
        let is_own = |post: &Post| post.lanes == [*lane] && post.least == Priority::Background;
        assert!(runner::posts(1).iter().any(is_own), "{lane}");
    }
    assert_eq!(runner::posts(3).len(), runner::posts(1).len() + 2, "the others score");
    assert!(runner::posts(0).is_empty());
    let kinds_of = |lane: Lane| {
        let mut kinds: Vec<&str> = feature::works(FEATURES)
            .iter()
            .filter(|work| work.lane() == lane)
            .map(|work| work.kind())
            .collect();
        kinds.sort_unstable();
        kinds
    };
    assert_eq!(kinds_of(Lane::Scoring), ["rescore", "score"]);
    assert_eq!(
        kinds_of(Lane::Errands),
        [
            "account-deletion",
            "announcement",
            "discard",
            "open-by-rank",
            "password-link",
            "picture",
            "send",
            "sign-in-end",
            "team-request"
        ]
    );
    assert_eq!(kinds_of(Lane::Checks), ["dry-run", "images", "prepare", "release", "sample"]);
}

async fn a_job_of_an_unknown_kind_waits_for_those_who_know_it(database: Database) {
    let site = Site::new(database).await;
    let mut tx = site.app.store.begin().await.unwrap();
    queue::add(&mut tx, (Lane::Errands, "errand"), "a", Priority::Awaited).await.unwrap();
    tx.commit().await.unwrap();
    let (_stop, mut stopping) = watch::channel(false);
    for _ in 0..5 {
        assert!(!runner::step(&site.app, UNRELIABLE, Post::ALL, &mut stopping).await.unwrap());
    }
    let state = async || {
        let sql = "SELECT state, attempt, error FROM job";
        site.app.store.fetch_one::<(String, i64, Option<String>)>(sql, args![]).await.unwrap()
    };
    assert_eq!(state().await, ("queued".to_owned(), 0, None));
    assert!(runner::step(&site.app, LANES, Post::ALL, &mut stopping).await.unwrap());
    assert_eq!(state().await, ("done".to_owned(), 1, None));
}

async fn waits_count_the_jobs_of_the_lane(database: Database) {
    let site = Site::new(database).await;
    let mut tx = site.app.store.begin().await.unwrap();
    for (lane, kind, subject) in [
        (Lane::Scoring, "slow", "a"),
        (Lane::Errands, "errand", "b"),
        (Lane::Comparisons, "comparison", "c"),
        (Lane::Scoring, "slow", "d"),
    ] {
        queue::add(&mut tx, (lane, kind), subject, Priority::Awaited).await.unwrap();
    }
    tx.commit().await.unwrap();
    for (subject, ahead) in [("a", 0), ("b", 0), ("c", 0), ("d", 1)] {
        let wait = queue::wait(&site.app.store, subject, 1).await.unwrap().unwrap();
        assert_eq!(wait.ahead, ahead, "{subject}");
    }
}

async fn old_jobs_and_messages_are_swept_away(database: Database) {
    let site = Site::new(database).await;
    let store = &site.app.store;
    let day = clock::DAY;
    let now = clock::now();
    for (id, state, days) in [
        ("new", "done", 6),
        ("done", "done", 8),
        ("cancelled", "cancelled", 8),
        ("failed", "failed", 89),
        ("old-failed", "failed", 91),
        ("waiting", "queued", 400),
    ] {
        let ended = (state != "queued").then_some(now - days * day);
        let sql = "INSERT INTO job (id, kind, subject, state, priority, attempt, run_after, lease_until, created_at, \
                   finished_at) VALUES ($1, 'test', $1, $2, 0, 0, 0, 0, 0, $3)";
        store.execute(sql, args![id, state, ended]).await.unwrap();
    }
    for (id, days) in [("young", 29), ("old", 31)] {
        let sql = "INSERT INTO outbox (id, kind, target, subject, body, attempt, run_after, created_at) \
                   VALUES ($1, 'mail', 'ada@example.org', 'S', 'B', 6, 0, $2)";
        store.execute(sql, args![id, now - days * day]).await.unwrap();
    }
    assert_eq!(capeval_site::serve::sweep_rows(&site.app).await.unwrap(), 4);
    let left: Vec<String> = store.fetch("SELECT id FROM job ORDER BY id", args![]).await.unwrap();
    assert_eq!(left, ["failed", "new", "waiting"]);
    let left: Vec<String> = store.fetch("SELECT id FROM outbox", args![]).await.unwrap();
    assert_eq!(left, ["young"]);
}
