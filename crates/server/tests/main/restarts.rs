//! Servers are stopped and started again while people use the site, and no request fails.
//!
//! The service manager, here the test, listens instead of the server, as `deploy/capeval-server.socket` says.
//! `CAPEVAL_ROUNDS=20 cargo test -p capeval-server --test main restarts` restarts more often than CI does.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use capeval_server::FEATURES;
use capeval_site::app::App;
use capeval_site::args;
use capeval_site::settings::Settings;
use capeval_testkit::{PATIENCE, eventually};
use serde_json::Value;

use crate::benchmarks::{references, results};
use crate::support::process::{Server, Stop, command, request, rounds};
use crate::support::{Database, on_both, postgres};

on_both! { in real time: no_request_fails_while_servers_are_restarted }

const PLAN: &str = "slug = 'b'\ntitle = 'B'\n[[phases]]\nslug = 'p'\ntitle = 'P'\nmetrics = ['bleu']\nmain_metric = 'bleu-4'\n\
    human = false\nper_day = 100000\nin_total = 100000\n[[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";

const SETTINGS: &[(&str, &str)] = &[("UPLOADS_PER_MINUTE", "100000"), ("REQUESTS_PER_MINUTE", "1000000")];

async fn no_request_fails_while_servers_are_restarted(database: Database) {
    let folder = tempfile::tempdir().unwrap();
    // SQLite has one server; those that share PostgreSQL are restarted one after another.
    let (url, servers) = match database {
        Database::Sqlite => (String::new(), 1),
        Database::Postgres => (postgres::empty_database(), 2),
    };
    let (path, address) = (folder.path().to_owned(), url.clone());
    let accepted = tokio::task::spawn_blocking(move || restart(&path, &address, servers)).await.unwrap();
    let app =
        App::open(folder.path().to_owned(), Settings { database: url, ..Settings::default() }, FEATURES)
            .await
            .unwrap();
    let sql = "SELECT state, COUNT(*) FROM submission WHERE kind = 'entry' GROUP BY state";
    let states: Vec<(String, i64)> = app.store.fetch(sql, args![]).await.unwrap();
    assert_eq!(states, [("scored".to_owned(), accepted as i64)]);
}

/// An upload of which the server has begun to read the body.
struct Upload {
    stream: TcpStream,
    rest: String,
}

impl Upload {
    fn begin(port: u16, path: &str, token: &str, body: &str) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
            body.len()
        )
        .unwrap();
        let mut line = String::new();
        let mut lines = BufReader::with_capacity(1, stream.try_clone().unwrap());
        lines.read_line(&mut line).unwrap();
        assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
        lines.read_line(&mut line).unwrap();
        let (half, rest) = body.split_at(body.len() / 2);
        stream.write_all(half.as_bytes()).unwrap();
        Self { stream, rest: rest.to_owned() }
    }

    fn end(mut self) -> String {
        self.stream.write_all(self.rest.as_bytes()).unwrap();
        let mut answer = String::new();
        self.stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

/// Restarts the servers again and again while people use them, and returns the number of accepted submissions.
fn restart(folder: &Path, url: &str, servers: usize) -> usize {
    std::fs::write(folder.join("c5.json"), references(20, 5)).unwrap();
    let plan = folder.join("plan.toml");
    std::fs::write(&plan, PLAN).unwrap();
    command(folder, url, &["admin", "benchmark", "apply", &plan.display().to_string()], "");
    let add = ["admin", "user", "add", "--email", "ada@example.org", "--password-stdin"];
    command(folder, url, &add, "a long password\n");
    let create = ["admin", "token", "create", "--email", "ada@example.org", "--scope", "submit"];
    let token = command(folder, url, &create, "");
    let listeners: Vec<TcpListener> =
        (0..servers).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    let ports: Vec<u16> = listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
    let start = |listener| Server::start_on(listener, folder, url, SETTINGS);
    let mut running: Vec<Server> = listeners.iter().map(start).collect();
    let phase = eventually("the phase opens", || {
        let (_, body) = request(ports[0], "GET", "/api/v1/benchmarks", "", "").unwrap();
        let list: Value = serde_json::from_str(&body).unwrap();
        let phase = &list["benchmarks"][0]["phases"][0];
        (phase["is_open"] == true).then(|| phase["id"].as_str().unwrap().to_owned())
    });
    let path = |k: usize| format!("/api/v1/phases/{phase}/submissions?method=m{k}");
    let body = |k: usize| results(20, 5).replace("near", &format!("near{k}"));
    let (stop, begun) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (count, accepted) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let stopping = Stop(&stop);
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let k = begun.fetch_add(1, Ordering::Relaxed);
                    let port = ports[k % ports.len()];
                    let (wanted, answer) = match k % 3 {
                        0 => (201, request(port, "POST", &path(k), &token, &body(k))),
                        _ => (200, request(port, "GET", "/b/b/p/leaderboard", "", "")),
                    };
                    count.fetch_add(1, Ordering::Relaxed);
                    match answer {
                        Ok((status, _)) if status == wanted => {
                            accepted.fetch_add(usize::from(status == 201), Ordering::Relaxed);
                        }
                        other => failures.lock().unwrap().push(format!("{k}: {other:?}")),
                    }
                }
            });
        }
        for round in 0..rounds() {
            for (place, listener) in listeners.iter().enumerate() {
                let k = 1_000_000 + round * servers + place;
                let upload = Upload::begin(ports[place], &path(k), &token, &body(k));
                let before = count.load(Ordering::Relaxed);
                let old = running.remove(place);
                old.ask_to_stop();
                let answer = upload.end();
                assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
                accepted.fetch_add(1, Ordering::Relaxed);
                assert!(old.ended());
                running.insert(place, start(listener));
                eventually("more is answered", || (count.load(Ordering::Relaxed) > before + 8).then_some(()));
            }
        }
        drop(stopping);
    });
    let failures = failures.into_inner().unwrap();
    let asked = count.into_inner();
    assert!(failures.is_empty(), "{} of {asked} failed: {failures:?}", failures.len());
    eventually("no job is left", || running[0].is_idle().then_some(()));
    for server in running {
        assert!(server.stop());
    }
    println!("{} restarts, {asked} requests, none failed", rounds() * servers);
    accepted.into_inner()
}
