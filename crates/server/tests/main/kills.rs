//! The server is killed again and again while people submit: nothing is lost, doubled, stuck or wrongly charged.
//!
//! `CAPEVAL_KILLS=50 cargo test -p capeval-server --test main kills` kills more often than CI does.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};

use capeval_server::FEATURES;
use capeval_site::app::App;
use capeval_site::args;
use capeval_site::settings::Settings;
use capeval_testkit::{PAUSE, eventually};
use serde_json::{Value, json};

use crate::benchmarks::{references, results};
use crate::programs;
use crate::support::process::{Server, Stop, command, kills, request};
use crate::support::{Database, breaches, on_both, postgres};

on_both! { in real time:
    nothing_is_lost_doubled_stuck_or_wrongly_charged
    nothing_is_that_a_program_scores
    nothing_is_that_machines_score
}

const PLAN: &str = "slug = 'b'\ntitle = 'B'\nhosts = ['hanna@example.org']\n[[phases]]\nslug = 'p'\ntitle = 'P'\n\
    metrics = ['bleu', 'cider-d']\nper_day = 1000\nin_total = 1000\n";

const REFERENCES: &str = "[[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";

/// A power of two, so that means are exact.
const IMAGES: usize = 32;

/// The scorer of a phase beside the engine.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scorer {
    Engine,
    Program,
    Machines,
}

impl Scorer {
    fn plan(self) -> String {
        let (before, after) = match self {
            Self::Engine => ("", ""),
            Self::Program => ("program = 'metric.zip'\n", ""),
            Self::Machines => ("", "[[phases.given]]\nkey = 'words'\n"),
        };
        format!("{PLAN}{before}{REFERENCES}{after}")
    }

    /// The number of scores of a submission.
    fn n_scores(self) -> usize {
        match self {
            Self::Engine => 5,
            Self::Program => 7,
            Self::Machines => 6,
        }
    }
}

const SETTINGS: &[(&str, &str)] = &[("LEASE_SECONDS", "1"), ("UPLOADS_PER_MINUTE", "100000")];

async fn nothing_is_lost_doubled_stuck_or_wrongly_charged(database: Database) {
    survive(database, Scorer::Engine).await;
}

async fn nothing_is_that_a_program_scores(database: Database) {
    if programs::folders().is_some() {
        survive(database, Scorer::Program).await;
    }
}

async fn nothing_is_that_machines_score(database: Database) {
    survive(database, Scorer::Machines).await;
}

async fn survive(database: Database, scorer: Scorer) {
    let folder = tempfile::tempdir().unwrap();
    let url = match database {
        Database::Sqlite => String::new(),
        Database::Postgres => postgres::empty_database(),
    };
    let path = folder.path().to_owned();
    let address = url.clone();
    let acknowledged = tokio::task::spawn_blocking(move || torment(&path, &address, scorer)).await.unwrap();
    check(folder.path(), &url, &acknowledged, scorer).await;
}

/// Kills the server again and again while four people submit, and returns the ids that they were told.
fn torment(folder: &Path, url: &str, scorer: Scorer) -> BTreeSet<String> {
    std::fs::write(folder.join("c5.json"), references(IMAGES, 5)).unwrap();
    std::fs::write(folder.join("metric.zip"), programs::program(programs::WORDS)).unwrap();
    std::fs::write(folder.join("server.toml"), "program_folders = ['/usr']\n").unwrap();
    std::fs::write(folder.join("plan.toml"), scorer.plan()).unwrap();
    let plan = folder.join("plan.toml").display().to_string();
    let token = |name: &str, role: &str, scope: &str| {
        let email = format!("{name}@example.org");
        let add = ["admin", "user", "add", "--email", &email, "--role", role, "--password-stdin"];
        command(folder, url, &add, "a long password\n");
        command(folder, url, &["admin", "token", "create", "--email", &email, "--scope", scope], "")
    };
    let host = token("hanna", "host", "host");
    command(folder, url, &["admin", "benchmark", "apply", &plan], "");
    let tokens = ["ada", "bao", "cleo", "dan"].map(|name| token(name, "member", "submit"));
    let server = Server::start(folder, url, SETTINGS);
    let phase = eventually("the phase opens", || {
        let (_, body) = server.request("GET", "/api/v1/benchmarks", "", "").unwrap();
        let list: Value = serde_json::from_str(&body).unwrap();
        let phase = &list["benchmarks"][0]["phases"][0];
        (phase["is_open"] == true).then(|| phase["id"].as_str().unwrap().to_owned())
    });
    let port = AtomicU16::new(server.port);
    let (stop, stop_machines, count) = (AtomicBool::new(false), AtomicBool::new(false), AtomicUsize::new(0));
    let acknowledged = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        let (stopping, stopping_machines) = (Stop(&stop), Stop(&stop_machines));
        let machines = if scorer == Scorer::Machines { 2 } else { 0 };
        for _ in 0..machines {
            scope.spawn(|| {
                while !stop_machines.load(Ordering::Relaxed) {
                    if score_one(port.load(Ordering::Relaxed), &phase, &host).is_none() {
                        std::thread::sleep(PAUSE);
                    }
                }
            });
        }
        for token in &tokens {
            let (port, stop, count, acknowledged, phase) = (&port, &stop, &count, &acknowledged, &phase);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let k = count.fetch_add(1, Ordering::Relaxed);
                    let body = results(IMAGES, k % 10).replace("nothing", &format!("nothing{k}"));
                    let path = format!("/api/v1/phases/{phase}/submissions?method=m{k}");
                    let answer = request(port.load(Ordering::Relaxed), "POST", &path, token, &body);
                    match answer {
                        Ok((201, body)) => {
                            let made: Value = serde_json::from_str(&body).unwrap();
                            acknowledged.lock().unwrap().insert(made["id"].as_str().unwrap().to_owned());
                        }
                        // The server is down, or was killed during the request.
                        _ => std::thread::sleep(PAUSE),
                    }
                }
            });
        }
        let mut server = server;
        let done = |n: usize| {
            eventually("more is acknowledged", || (acknowledged.lock().unwrap().len() >= n).then_some(()));
        };
        for round in 0..kills() {
            // The other three are at different points of their requests, and so are the jobs.
            let before = acknowledged.lock().unwrap().len();
            done(before + 1 + round % 3);
            server.kill();
            if machines > 0 {
                // A claim whose answer was lost is one of a machine that is not heard of again.
                tokio::runtime::Handle::current().block_on(let_claims_lapse(folder, url));
            }
            server = Server::start(folder, url, SETTINGS);
            port.store(server.port, Ordering::Relaxed);
        }
        drop(stopping);
        let wait = || eventually("no job is left", || server.is_idle().then_some(()));
        wait();
        let queue = format!("/api/v1/host/phases/{phase}/queue");
        let is_empty = || {
            let (_, body) = server.request("GET", &queue, &host, "").unwrap();
            (body == r#"{"waiting":0,"claimed":0}"#).then_some(())
        };
        eventually("no submission waits for a machine", is_empty);
        drop(stopping_machines);
        wait();
        server.kill();
    });
    acknowledged.into_inner().unwrap()
}

/// Has a machine score the next submission; `None` if there is none, or the server is away.
fn score_one(port: u16, phase: &str, token: &str) -> Option<()> {
    let claims = format!("/api/v1/host/phases/{phase}/claims");
    let (_, claim) = request(port, "POST", &claims, token, "{}").ok().filter(|(status, _)| *status == 201)?;
    let claim: Value = serde_json::from_str(&claim).ok()?;
    let place = format!("/api/v1/host/claims/{}", claim["claim"].as_str()?);
    let captions = request(port, "GET", &format!("{place}/captions"), token, "").ok();
    let (_, captions) = captions.filter(|(status, _)| *status == 200)?;
    let scores = json!({ "scores": { "words": programs::mean_of_words(&captions) } }).to_string();
    request(port, "POST", &format!("{place}/scores"), token, &scores).ok().map(drop)
}

async fn open(folder: &Path, url: &str) -> App {
    let settings = Settings { database: url.to_owned(), ..Settings::default() };
    App::open(folder.to_owned(), settings, FEATURES).await.unwrap()
}

async fn let_claims_lapse(folder: &Path, url: &str) {
    let app = open(folder, url).await;
    let sql = "UPDATE worker_task SET lease_until = 0 WHERE state = 'claimed'";
    app.store.execute(sql, args![]).await.unwrap();
    app.store.close().await;
}

async fn check(folder: &Path, url: &str, acknowledged: &BTreeSet<String>, scorer: Scorer) {
    let app = open(folder, url).await;
    let rows = app.store.all("SELECT * FROM submission WHERE kind = 'entry'", args![]).await.unwrap();
    let known: BTreeSet<String> = rows.iter().map(|row| row.get("id").unwrap()).collect();
    assert!(acknowledged.len() > 5, "only {} submissions were acknowledged", acknowledged.len());
    assert_eq!(acknowledged.difference(&known).collect::<Vec<_>>(), Vec::<&String>::new(), "lost");
    for row in &rows {
        let (id, state): (String, String) = (row.get("id").unwrap(), row.get("state").unwrap());
        let refunded = row.flag("refunded").unwrap();
        assert!(state == "scored" && !refunded || state == "failed" && refunded, "{id} is {state}");
        let file = app.blobs.fetch(&row.get::<String>("blob").unwrap()).unwrap();
        let captions = std::fs::read_to_string(file).unwrap_or_else(|_| panic!("the file of {id} is lost"));
        let sql = "SELECT metric, value FROM score WHERE submission = $1";
        let scores: Vec<(String, f64)> = app.store.fetch(sql, args![&id]).await.unwrap();
        assert_eq!(scores.len(), if state == "scored" { scorer.n_scores() } else { 0 }, "{id}");
        for (_, value) in scores.iter().filter(|(metric, _)| metric == "words") {
            assert_eq!(*value, programs::mean_of_words(&captions), "{id}");
        }
        let jobs =
            app.store.all("SELECT id FROM job WHERE subject = $1 AND kind = 'score'", args![&id]).await;
        assert_eq!(jobs.unwrap().len(), 1, "{id}");
    }
    let failed = rows.iter().filter(|row| row.get::<String>("state").unwrap() == "failed").count();
    assert_eq!(breaches(&app).await, Vec::<String>::new());
    println!("{} acknowledged, {} known, {failed} failed and refunded", acknowledged.len(), known.len());
}
