//! A release from complete pictures to a hidden phase with scores, and what leaves with the next one.

use std::io::{Cursor, Read};

use axum::body::Body;
use axum::http::Request;
use capeval_collections::release::{archive, build, content};
use capeval_site::accounts::{Role, people};
use capeval_site::args;
use capeval_site::web::Scope;
use serde_json::{Value, json};

use crate::support::collections::{Collection, number, row};
use crate::support::{Client, Database, Site, on_both};

on_both! {
    a_release_that_failed_says_why_and_is_built_again
    a_release_is_made_of_complete_pictures
    only_contributors_download_a_release
    a_release_is_the_same_whenever_it_is_built
    what_is_kept_back_is_in_no_answer
    what_is_kept_back_becomes_a_phase
    a_page_says_how_metrics_agree_with_the_ratings
    what_is_withdrawn_leaves_with_the_next_release
}

/// The bytes of a file.
async fn bytes(client: &Client, path: &str) -> Vec<u8> {
    use http_body_util::BodyExt;
    use tower::ServiceExt;
    let mut request = Request::get(path).header("host", "localhost");
    if let Some(cookie) = &client.cookie {
        request = request.header("cookie", cookie);
    }
    let response = client.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    response.into_body().collect().await.unwrap().to_bytes().to_vec()
}

fn read(archive: &[u8], path: &str) -> Value {
    let mut archive = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut text = String::new();
    archive.by_name(path).unwrap().read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

const SENTENCES: [&str; 5] = [
    "a knight number {} waits before the gate of an old castle",
    "before a castle stands the knight with number {} and waits",
    "someone in armour, marked {}, looks up at a large closed gate",
    "an armoured person {} is standing outside of a stone castle",
    "the gate of a castle and a knight, who bears the number {}",
];

/// A collection of twelve pictures with five captions each, as far as a test has brought it.
struct Screens {
    site: Site,
    host: Client,
    collection: Collection,
    uploaders: [String; 2],
    authors: Vec<Client>,
    /// The ids of the authors.
    ids: Vec<String>,
    images: Vec<String>,
}

const RELEASES: &str = "/c/screens/releases";
const FILE: &str = "/c/screens/releases/1/screens-1.zip";
const PUBLISH: &str = "/c/screens/releases/1/publish";

/// A fifth for validation, and a fifth for a test that is kept back.
const FIFTHS: [(&str, &str); 3] = [("val", "20"), ("test", "20"), ("withheld", "test")];

/// A benchmark of the part that is kept back.
const BENCHMARK: [(&str, &str); 4] =
    [("benchmark", "screens"), ("per_day", "2"), ("in_total", "9"), ("board", "public")];

impl Screens {
    /// No caption is rated.
    async fn described(database: Database) -> Self {
        let site = Site::new(database).await;
        let host = site.person("Host", Role::Host).await;
        let host_id = people::by_email(&site.app.store, "host@example.org").await.unwrap().unwrap().id;
        let collection = Collection::new(&site, "screens", 5, &host_id).await;
        let uploaders = [site.account("Una", Role::Member).await, site.account("Udo", Role::Member).await];
        let mut authors = Vec::new();
        for name in ["Ada", "Ben", "Cho", "Dee", "Eli"] {
            authors.push(site.person(name, Role::Member).await);
        }
        let mut ids = Vec::new();
        for name in ["ada", "ben", "cho", "dee", "eli"] {
            ids.push(
                people::by_email(&site.app.store, &format!("{name}@example.org")).await.unwrap().unwrap().id,
            );
        }
        let mut images = Vec::new();
        for k in 0..12_u64 {
            let image =
                collection.picture(&site, &uploaders[k as usize % 2], &format!("game {}", k / 2), k).await;
            for (author, sentence) in ids.iter().zip(SENTENCES) {
                collection
                    .caption(&site, &image, author, "en", &sentence.replace("{}", &(20 + k).to_string()))
                    .await;
            }
            images.push(image);
        }
        Self { site, host, collection, uploaders, authors, ids, images }
    }

    /// All pictures are complete.
    async fn complete(database: Database) -> Self {
        let screens = Self::described(database).await;
        let Self { site, collection, authors, ids, .. } = &screens;
        collection.pass_quiz(site, ids).await;
        for (k, rater) in authors[..3].iter().enumerate() {
            collection.rate_all(rater, |text| if (text.len() + k) % 3 == 0 { 3 } else { 4 }).await;
        }
        let complete = "SELECT COUNT(*) AS n FROM image WHERE state = 'complete' AND collection = $1";
        assert_eq!(number(site, complete, &collection.id).await, 12);

        screens
    }

    /// There is a release.
    async fn released(database: Database) -> Self {
        let screens = Self::complete(database).await;
        let made = screens.host.post(RELEASES, &FIFTHS).await.expect(303);
        assert_eq!(made.header("location"), "/c/screens/releases/1");
        screens.site.work().await;
        screens
    }

    /// The content of the release.
    async fn content(&self) -> content::Content {
        let release =
            row(&self.site, "SELECT id FROM release WHERE collection = $1", &self.collection.id).await;
        build::content(&self.site.app.store, &release.get::<String>("id").unwrap()).await.unwrap()
    }

    /// The numbers of the pictures that are kept back, and their captions.
    async fn hidden(&self) -> (Vec<i64>, Vec<String>) {
        let content = self.content().await;
        let hidden = content.pictures.iter().filter(|picture| Some(picture.split) == content.withheld);
        let captions = |picture: &content::Picture| {
            picture.captions.iter().map(|caption| caption.text.clone()).collect::<Vec<_>>()
        };
        let (numbers, texts): (Vec<i64>, Vec<Vec<String>>) =
            hidden.map(|picture| (picture.number, captions(picture))).unzip();
        (numbers, texts.concat())
    }
}

async fn a_release_is_made_of_complete_pictures(database: Database) {
    let described = Screens::described(database).await;
    described.host.post(RELEASES, &FIFTHS).await.expect(409);
    let Screens { site: _site, host, authors, .. } = Screens::complete(database).await;
    host.post(RELEASES, &[("val", "60"), ("test", "60")]).await.expect(422);
    authors[0].post(RELEASES, &[("val", "20"), ("test", "20")]).await.expect(404);
}

async fn a_release_that_failed_says_why_and_is_built_again(database: Database) {
    let Screens { site, host, authors, .. } = Screens::complete(database).await;
    let blob: String =
        site.app.store.fetch_one("SELECT blob FROM image ORDER BY id LIMIT 1", args![]).await.unwrap();
    let file = site.app.blobs.fetch(&blob).unwrap();
    let kept = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    host.post(RELEASES, &FIFTHS).await.expect(303);
    site.work().await;
    let page = host.get("/c/screens/releases/1").await.expect(200).text;
    assert!(page.contains("the picture images/") && page.contains("cannot be read: No such file"), "{page}");
    assert!(page.contains("action=\"/c/screens/releases/1/again\""), "{page}");
    let of_author = authors[0].get("/c/screens/releases/1").await.expect(200).text;
    assert!(!of_author.contains("releases/1/again"), "{of_author}");
    authors[0].post("/c/screens/releases/1/again", &[]).await.expect(404);
    std::fs::write(&file, kept).unwrap();
    host.post("/c/screens/releases/1/again", &[]).await.expect(303);
    site.work().await;
    assert!(authors[0].get("/c/screens/releases/1").await.expect(200).text.contains("screens-1.zip"));
    host.post("/c/screens/releases/1/again", &[]).await.expect(409);
}

async fn only_contributors_download_a_release(database: Database) {
    let Screens { site, authors, .. } = Screens::released(database).await;
    let stranger = site.person("Zoe", Role::Member).await;
    stranger.get(FILE).await.expect(404);
    site.anybody().get(FILE).await.expect(404);
    let page = stranger.get("/c/screens/releases/1").await.expect(200).text;
    assert!(
        page.contains("Only contributors with an accepted picture or caption")
            && !page.contains("screens-1.zip")
    );
    assert!(authors[0].get("/c/screens/releases/1").await.text.contains("screens-1.zip"));
    let archive = bytes(&authors[0], FILE).await;
    // In parts, and not again.
    let part =
        |range: &'static str| authors[1].send(Request::get(FILE).header("range", range), Body::empty());
    let found = part("bytes=2-5").await.expect(206);
    assert_eq!(found.header("content-range"), format!("bytes 2-5/{}", archive.len()));
    assert_eq!(found.text.as_bytes(), &archive[2..6]);
    let tag = found.header("etag").to_owned();
    part("bytes=99999999-").await.expect(416);
    authors[1].send(Request::get(FILE).header("if-none-match", &tag), Body::empty()).await.expect(304);
    let squeezed = Request::get(FILE).header("accept-encoding", "gzip");
    assert_eq!(authors[1].send(squeezed, Body::empty()).await.expect(200).header("content-encoding"), "");
    assert_eq!(number(&site, "SELECT COUNT(*) AS n FROM download WHERE id <> $1", "").await, 2);
}

async fn a_release_is_the_same_whenever_it_is_built(database: Database) {
    let screens = Screens::released(database).await;
    let blobs = &screens.site.app.blobs;
    let content = screens.content().await;
    let parts = build::write(&content, blobs, archive::LARGEST).unwrap();
    let answer = screens.authors[0].get(FILE).await.expect(200);
    assert_eq!(format!("\"{}\"", parts[0].blob), answer.header("etag"));
    assert!(build::write(&content, blobs, 10_000).unwrap().len() > 1);
}

async fn what_is_kept_back_is_in_no_answer(database: Database) {
    let screens = Screens::released(database).await;
    let archive = bytes(&screens.authors[0], FILE).await;
    let test = read(&archive, "annotations/image_info_test.json");
    let test: Vec<i64> =
        test["images"].as_array().unwrap().iter().map(|image| image["id"].as_i64().unwrap()).collect();
    assert!((2..=4).contains(&test.len()), "{test:?}");
    let (numbers, hidden) = screens.hidden().await;
    assert_eq!(numbers, test);
    let text = String::from_utf8_lossy(&archive);
    assert!(hidden.len() == 5 * test.len() && hidden.iter().all(|caption| !text.contains(caption)));
    let Screens { ids, uploaders, .. } = &screens;
    assert!(ids.iter().chain(uploaders).all(|id| !text.contains(id)), "ids of accounts stay here");
}

/// With five references for each picture.
async fn what_is_kept_back_becomes_a_phase(database: Database) {
    let screens = Screens::released(database).await;
    let Screens { site, host, authors, .. } = &screens;
    authors[0].post(PUBLISH, &BENCHMARK).await.expect(404);
    // What the host can put right is told from a failure of the server.
    let mut wrong = BENCHMARK;
    wrong[0] = ("benchmark", "Not an address");
    let refused = host.post(PUBLISH, &wrong).await.expect(422).text;
    assert!(refused.contains("The benchmark cannot be saved"), "{refused}");
    let (new, aside) = (site.app.hidden.folder().join("new"), site.app.hidden.folder().join("aside"));
    std::fs::rename(&new, &aside).unwrap();
    std::fs::write(&new, "no folder").unwrap();
    assert!(host.post(PUBLISH, &BENCHMARK).await.status.is_server_error());
    std::fs::remove_file(&new).unwrap();
    std::fs::rename(&aside, &new).unwrap();
    let board = host.post(PUBLISH, &BENCHMARK).await.expect(303).header("location").to_owned();
    assert_eq!(board, "/b/screens/test-1/leaderboard");
    site.work().await;
    let (numbers, hidden) = screens.hidden().await;
    let results: Vec<Value> = numbers
        .iter()
        .zip(hidden.chunks(5))
        .map(|(number, captions)| json!({ "image_id": number, "caption": captions[0] }))
        .collect();
    let phase: String = row(site, "SELECT id FROM phase WHERE slug = $1", "test-1").await.get("id").unwrap();
    let zoe = site.program("Zoe", Role::Member, Scope::Submit).await;
    let path = format!("/api/v1/phases/{phase}/submissions?method=copies");
    let made = zoe.send(Request::post(path), json!(results).to_string()).await.expect(201).json();
    site.work().await;
    let shown =
        zoe.get(&format!("/api/v1/submissions/{}", made["id"].as_str().unwrap())).await.expect(200).json();
    assert_eq!(shown["scores"]["c5-en"]["bleu-4"], 1.0, "{shown}");
    let page = site.anybody().get(&board).await.expect(200).text;
    assert!(page.contains("copies") && hidden.iter().all(|caption| !page.contains(caption.as_str())));
    let moved = site.anybody().get("/b/screens/test-1/agreement").await.expect(303);
    assert_eq!(moved.header("location"), "/c/screens/agreement");
}

/// Moderators learn why that could not be worked out.
async fn a_page_says_how_metrics_agree_with_the_ratings(database: Database) {
    let Screens { site, host, .. } = Screens::complete(database).await;
    let stranger = site.person("Zoe", Role::Member).await;
    stranger.post("/c/screens/agreement", &[]).await.expect(404);
    host.post("/c/screens/agreement", &[]).await.expect(303);
    let failed = "UPDATE job SET state = 'failed', error = 'out of memory' WHERE kind = 'agreement'";
    site.app.store.execute(failed, args![]).await.unwrap();
    let words = "The calculation failed: out of memory";
    assert!(host.get("/c/screens/agreement").await.expect(200).text.contains(words));
    assert!(!stranger.get("/c/screens/agreement").await.expect(200).text.contains("out of memory"));
    host.post("/c/screens/agreement", &[]).await.expect(303);
    site.work().await;
    let page = site.anybody().get("/c/screens/agreement").await.expect(200).text;
    for part in [
        "Ratings: 120; captions: 60; pictures: 12",
        "CIDEr-D",
        "<svg viewBox=",
        "Share of captions with at most",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.matches("<small>[").count() > 20);
}

/// Numbers and splits stay.
async fn what_is_withdrawn_leaves_with_the_next_release(database: Database) {
    let Screens { site, host, collection, uploaders, authors, ids, images } =
        Screens::released(database).await;
    host.post(PUBLISH, &BENCHMARK).await.expect(303);
    site.work().await;
    site.app
        .store
        .execute("UPDATE image SET state = 'withdrawn' WHERE id = $1", args![&images[0]])
        .await
        .unwrap();
    let image = collection.picture(&site, &uploaders[0], "another", 50).await;
    for (author, sentence) in ids.iter().zip(SENTENCES) {
        collection.caption(&site, &image, author, "en", &sentence.replace("{}", "50")).await;
    }
    for rater in &authors[..3] {
        collection.rate_all(rater, |_| 4).await;
    }
    // No other release gives the hidden references away, and an old one is not published as if nothing had happened.
    for withheld in ["", "val"] {
        let form = [("val", "20"), ("test", "20"), ("withheld", withheld)];
        let answer = host.post(RELEASES, &form).await.expect(409).text;
        assert!(answer.contains("must withhold that split"), "{answer}");
    }
    let form = [("benchmark", "again"), ("per_day", "2"), ("in_total", "9"), ("board", "public")];
    let answer = host.post(PUBLISH, &form).await.expect(409).text;
    assert!(answer.contains("have since been withdrawn"), "{answer}");
    host.post(RELEASES, &FIFTHS).await.expect(303);
    site.work().await;
    authors[0].get(FILE).await.expect(410);
    let newer = bytes(&authors[0], "/c/screens/releases/2/screens-2.zip").await;
    assert_eq!(
        number(&site, "SELECT number AS n FROM coco_id WHERE subject = $1", &image).await,
        13,
        "numbers are not given again"
    );
    let gone = number(&site, "SELECT number AS n FROM coco_id WHERE subject = $1", &images[0]).await;
    let withdrawn = read(&newer, "withdrawn.json");
    let withdrawn = withdrawn.as_array().unwrap();
    assert_eq!(withdrawn.len(), 6, "{withdrawn:?}");
    assert!(
        withdrawn
            .iter()
            .any(|one| one["kind"] == "image" && one["id"] == gone && one["reason"] == "withdrawn")
    );
    let splits = "SELECT COUNT(*) AS n FROM release_item AS a JOIN release_item AS b ON b.subject = a.subject \
                  WHERE a.split <> b.split AND a.release <> $1";
    assert_eq!(number(&site, splits, "").await, 0);
}
