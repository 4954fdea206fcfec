//! The server is killed again and again while people upload and describe pictures: all they saw acknowledged is there.
//!
//! `CAPEVAL_KILLS=50 cargo test -p capeval-server --test main kills` kills more often than CI does.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};

use capeval_server::FEATURES;
use capeval_site::args;
use capeval_testkit::{PAUSE, eventually};
use serde_json::json;

use super::{GOOD, apply, assert_consistent, captioner, form, open_pictures, png, sentence};
use crate::support::process::{Server, Stop, exchange, kills};
use crate::support::{Client, Database, Page as _, Site, on_both};

on_both! { in real time: what_was_acknowledged_is_there }

const SETTINGS: &[(&str, &str)] = &[
    ("LEASE_SECONDS", "1"),
    ("CAPTIONS_PER_MINUTE", "1000000"),
    ("PICTURES_PER_MINUTE", "1000000"),
    ("REQUESTS_PER_MINUTE", "1000000"),
];

/// The things that people saw acknowledged: captions with their pictures, and the number of pictures.
#[derive(Default)]
struct AcknowledgedItems {
    captions: Vec<(String, String)>,
    pictures: i64,
}

async fn what_was_acknowledged_is_there(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 3, "approvals": 0, "languages": ["en"] })).await;
    open_pictures(&site, 3_000).await;
    let mut people = Vec::new();
    for name in ["ada", "bao", "cleo", "dan"] {
        people.push(captioner(&site, name).await);
    }
    let (folder, url) = (site.app.folder.clone(), site.app.settings.database.clone());
    let torment = move || torment(&folder, &url, &people);
    let acknowledged = tokio::task::spawn_blocking(torment).await.unwrap();

    let store = &site.app.store;
    let row =
        store.first("SELECT COUNT(*) AS n, COUNT(DISTINCT image || author) AS pairs FROM caption", args![]);
    let row = row.await.unwrap().unwrap();
    let (known, pairs): (i64, i64) = (row.get("n").unwrap(), row.get("pairs").unwrap());
    assert_eq!(known, pairs, "someone described a picture twice");
    assert!(acknowledged.captions.len() > 5, "only {} captions", acknowledged.captions.len());
    for (image, text) in &acknowledged.captions {
        let sql = "SELECT 1 AS one FROM caption WHERE image = $1 AND text = $2";
        assert!(store.first(sql, args![image, text]).await.unwrap().is_some(), "lost: {text}");
    }
    let uploaded = "SELECT state, COUNT(*) AS n FROM image WHERE uploader IS NOT NULL GROUP BY state";
    let mut pictures = 0;
    for row in store.all(uploaded, args![]).await.unwrap() {
        // A job that was killed three times is given up.
        let state: String = row.get("state").unwrap();
        assert!(state == "open" || state == "rejected", "a picture is {state}");
        pictures += row.get::<i64>("n").unwrap();
    }
    assert!(acknowledged.pictures > 0 && pictures >= acknowledged.pictures, "{pictures}");
    let mut snapshot = store.snapshot().await.unwrap();
    for name in capeval_site::named_files::all(&mut snapshot, FEATURES).await.unwrap() {
        assert!(site.app.folder.join(&name).exists(), "{name} is lost");
    }
    drop(snapshot);
    assert_consistent(&site).await;
    // `doctor` fails if anything is wrong.
    let doctor =
        crate::support::process::command(&site.app.folder, &site.app.settings.database, &["doctor"], "");
    assert!(doctor.contains("none missing"), "{doctor}");
    println!(
        "{} captions acknowledged, {known} known; {} pictures acknowledged, {pictures} known",
        acknowledged.captions.len(),
        acknowledged.pictures
    );
}

/// Kills the server again and again while four people describe pictures and one of them uploads some.
fn torment(folder: &std::path::Path, url: &str, people: &[Client]) -> AcknowledgedItems {
    let mut server = Server::start(folder, url, SETTINGS);
    let port = AtomicU16::new(server.port);
    let (stop, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let acknowledged = Mutex::new(AcknowledgedItems::default());
    std::thread::scope(|scope| {
        let stopping = Stop(&stop);
        for (k, person) in people.iter().enumerate() {
            let (port, stop, count, acknowledged) = (&port, &stop, &count, &acknowledged);
            scope.spawn(move || {
                let cookie = format!("Cookie: {}\r\n", person.cookie.as_deref().unwrap());
                while !stop.load(Ordering::Relaxed) {
                    let number = count.fetch_add(1, Ordering::Relaxed);
                    let port = port.load(Ordering::Relaxed);
                    let done = if k == 0 && number % 3 == 0 {
                        upload(port, &cookie, number as u32)
                    } else {
                        describe(port, &cookie, number)
                    };
                    match done {
                        Some(Some(caption)) => acknowledged.lock().unwrap().captions.push(caption),
                        Some(None) => acknowledged.lock().unwrap().pictures += 1,
                        // The server is down, or was killed during the request.
                        None => std::thread::sleep(PAUSE),
                    }
                }
            });
        }
        let known = || {
            let acknowledged = acknowledged.lock().unwrap();
            (acknowledged.captions.len(), acknowledged.pictures)
        };
        for round in 0..kills() {
            // The other three are at different points of their requests, and so are the jobs.
            let before = known().0;
            eventually("more is acknowledged", || (known().0 > before + round % 3).then_some(()));
            server.kill();
            server = Server::start(folder, url, SETTINGS);
            port.store(server.port, Ordering::Relaxed);
        }
        eventually("enough is acknowledged", || (known().0 > 5 && known().1 > 0).then_some(()));
        drop(stopping);
        eventually("no job is left", || server.is_idle().then_some(()));
        server.kill();
    });
    acknowledged.into_inner().unwrap()
}

/// Describes the next picture; nothing unless that was acknowledged.
fn describe(port: u16, cookie: &str, number: usize) -> Option<Option<(String, String)>> {
    let (_, page) = exchange(port, "GET", "/c/c/caption", cookie, b"").ok()?;
    let image = page.part("data-image=\"", "\"")?.to_owned();
    let text = sentence(number);
    let body = format!("image={image}&text={}", text.replace(' ', "+"));
    let head = format!("{cookie}Content-Type: application/x-www-form-urlencoded\r\n");
    let (status, answer) = exchange(port, "POST", "/c/c/caption", &head, body.as_bytes()).ok()?;
    (status == 303 && answer.contains("done=caption")).then_some(Some((image, text)))
}

/// Uploads a picture; nothing unless that was acknowledged.
fn upload(port: u16, cookie: &str, seed: u32) -> Option<Option<(String, String)>> {
    let (kind, body) = form(&GOOD, &[("a.png", png(seed))]);
    let head = format!("{cookie}Content-Type: {kind}\r\n");
    let (status, _) = exchange(port, "POST", "/c/c/upload", &head, &body).ok()?;
    (status == 303).then_some(None)
}
