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
use serde_json::Value;

use crate::benchmarks::{references, results};
use crate::support::process::{Server, Stop, command, kills, request};
use crate::support::{Database, breaches, on_both, postgres};

on_both! { in real time: nothing_is_lost_doubled_stuck_or_wrongly_charged }

const PLAN: &str = "slug = 'b'\ntitle = 'B'\n[[phases]]\nslug = 'p'\ntitle = 'P'\nmetrics = ['bleu', 'cider-d']\n\
    per_day = 1000\nin_total = 1000\n[[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";

const SETTINGS: &[(&str, &str)] = &[("LEASE_SECONDS", "1"), ("UPLOADS_PER_MINUTE", "100000")];

async fn nothing_is_lost_doubled_stuck_or_wrongly_charged(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    let url = match database {
        Database::Sqlite => String::new(),
        Database::Postgres => postgres::empty_database(),
    };
    let path = folder.path().to_owned();
    let address = url.clone();
    let acknowledged = tokio::task::spawn_blocking(move || torment(&path, &address)).await.unwrap();
    check(folder.path(), &url, &acknowledged).await;
}

/// Kills the server again and again while four people submit, and returns the ids that they were told.
fn torment(folder: &Path, url: &str) -> BTreeSet<String> {
    std::fs::write(folder.join("c5.json"), references(30, 5)).unwrap();
    std::fs::write(folder.join("plan.toml"), PLAN).unwrap();
    let plan = folder.join("plan.toml").display().to_string();
    command(folder, url, &["admin", "benchmark", "apply", &plan], "");
    let mut tokens = Vec::new();
    for name in ["ada", "bao", "cleo", "dan"] {
        let email = format!("{name}@example.org");
        let add = ["admin", "user", "add", "--email", &email, "--password-stdin"];
        command(folder, url, &add, "a long password\n");
        let create = ["admin", "token", "create", "--email", &email, "--scope", "submit"];
        tokens.push(command(folder, url, &create, ""));
    }
    let server = Server::start(folder, url, SETTINGS);
    let phase = eventually("the phase opens", || {
        let (_, body) = server.request("GET", "/api/v1/benchmarks", "", "").unwrap();
        let list: Value = serde_json::from_str(&body).unwrap();
        let phase = &list["benchmarks"][0]["phases"][0];
        (phase["is_open"] == true).then(|| phase["id"].as_str().unwrap().to_owned())
    });
    let port = AtomicU16::new(server.port);
    let (stop, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let acknowledged = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        let stopping = Stop(&stop);
        for token in &tokens {
            let (port, stop, count, acknowledged, phase) = (&port, &stop, &count, &acknowledged, &phase);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let k = count.fetch_add(1, Ordering::Relaxed);
                    let body = results(30, k % 10).replace("nothing", &format!("nothing{k}"));
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
            server = Server::start(folder, url, SETTINGS);
            port.store(server.port, Ordering::Relaxed);
        }
        drop(stopping);
        eventually("no job is left", || server.is_idle().then_some(()));
        server.kill();
    });
    acknowledged.into_inner().unwrap()
}

async fn check(folder: &Path, url: &str, acknowledged: &BTreeSet<String>) {
    let settings = Settings { database: url.to_owned(), ..Settings::default() };
    let app = App::open(folder.to_owned(), settings, FEATURES).await.unwrap();
    let rows = app.store.all("SELECT * FROM submission WHERE kind = 'entry'", args![]).await.unwrap();
    let known: BTreeSet<String> = rows.iter().map(|row| row.get("id").unwrap()).collect();
    assert!(acknowledged.len() > 5, "only {} submissions were acknowledged", acknowledged.len());
    assert_eq!(acknowledged.difference(&known).collect::<Vec<_>>(), Vec::<&String>::new(), "lost");
    for row in &rows {
        let (id, state): (String, String) = (row.get("id").unwrap(), row.get("state").unwrap());
        let refunded = row.flag("refunded").unwrap();
        assert!(state == "scored" && !refunded || state == "failed" && refunded, "{id} is {state}");
        assert!(
            app.blobs.fetch(&row.get::<String>("blob").unwrap()).unwrap().exists(),
            "the file of {id} is lost"
        );
        let scores =
            app.store.all("SELECT metric FROM score WHERE submission = $1", args![&id]).await.unwrap();
        assert_eq!(scores.len(), if state == "scored" { 5 } else { 0 }, "{id}");
        let jobs =
            app.store.all("SELECT id FROM job WHERE subject = $1 AND kind = 'score'", args![&id]).await;
        assert_eq!(jobs.unwrap().len(), 1, "{id}");
    }
    let failed = rows.iter().filter(|row| row.get::<String>("state").unwrap() == "failed").count();
    assert_eq!(breaches(&app).await, Vec::<String>::new());
    println!("{} acknowledged, {} known, {failed} failed and refunded", acknowledged.len(), known.len());
}
