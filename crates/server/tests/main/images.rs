//! Results image by image, and files as they were uploaded: who sees what, and that hostile captions do nothing.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use axum::http::Request;
use capeval::corpus::{self, ReadOptions};
use capeval::report::Study as _;
use capeval::{MetricOptions, ScoreOptions, ScoreRequest};
use capeval_api::PerImage;
use capeval_benchmarks::apply::apply;
use capeval_benchmarks::images::BuildImages;
use capeval_benchmarks::settings::Plan;
use capeval_site::accounts::Role;
use capeval_site::jobs::Work as _;
use capeval_site::jobs::queue::{self, Priority};
use capeval_site::web::Scope;
use capeval_site::{args, serve};
use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::benchmarks::{benchmark, references, results};
use crate::organise;
use crate::support::{Client, Database, Page as _, Site, on_both, on_sqlite};

on_both! {
    results_are_shown_as_the_phase_says
    a_file_comes_back_as_it_was_uploaded
    a_failure_says_why_and_is_tried_again
    what_was_scored_again_is_built_again
}

on_sqlite! {
    hostile_captions_stay_text
    a_change_of_mind_while_results_are_built_counts
    a_hidden_board_hides_images_too
}

/// Changes the settings of the only phase as its hosts do.
async fn change(site: &Site, change: impl FnOnce(&mut Plan)) {
    let sql = "SELECT * FROM benchmark";
    let known = site.app.store.fetch_one(sql, args![]).await.unwrap();
    let mut plan = Plan::of(&site.app.store, &known).await.unwrap();
    change(&mut plan);
    apply(&site.app, &plan, Path::new("/nowhere"), None).await.unwrap();
}

async fn show(site: &Site, shows: PerImage) {
    change(site, |plan| plan.phases[0].per_image = shows).await;
}

/// Submits captions and has them scored; returns the id.
async fn submitted(site: &Site, who: &Client, phase: &str, method: &str, captions: String) -> String {
    let path = format!("/api/v1/phases/{phase}/submissions?method={method}");
    let made = who.send(Request::post(path), captions).await.expect(201).json();
    site.work().await;
    made["id"].as_str().unwrap().to_owned()
}

/// Has results built, and returns what there is.
async fn built(site: &Site, who: &Client, id: &str) -> Value {
    let path = format!("/api/v1/submissions/{id}/images");
    who.post_json(&path, &json!({})).await.expect(200);
    site.work().await;
    who.get(&path).await.expect(200).json()
}

/// The text of a page with all of its data.
fn read(page: &str) -> String {
    let mut text = page.to_owned();
    for block in page.split("<script type=\"application/octet-stream\"").skip(1) {
        let bytes = BASE64.decode(block.between(">", "</script>").as_bytes()).unwrap();
        flate2::read::ZlibDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    }
    text
}

/// The lines that `capeval score --segments` writes for the same files.
fn lines(method: &str, references: &str, captions: &str) -> String {
    let read = |text: &str, options| corpus::read(text.as_bytes(), "a file", &options).unwrap();
    let metrics = ["bleu", "rouge-l", "cider-d"].map(str::to_owned);
    let report = capeval::score(ScoreRequest {
        options: ScoreOptions {
            metrics: MetricOptions::new(metrics),
            segments: true,
            ..ScoreOptions::default()
        },
        ..ScoreRequest::new(
            read(references, ReadOptions::references()),
            [(method.to_owned(), read(captions, ReadOptions::candidates()))],
        )
    });
    let mut out = Vec::new();
    report.unwrap().write_items(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

async fn results_are_shown_as_the_phase_says(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let (anybody, bao) = (site.anybody(), site.program("Bao", Role::Member, Scope::Submit).await);
    let hosts = [("Hanna", Role::Host), ("Root", Role::Admin)];
    let mut owners = vec![ada.clone()];
    for (name, role) in hosts {
        owners.push(site.program(name, role, Scope::Read).await);
    }
    let otto = site.program("Otto", Role::Host, Scope::Host).await;
    change(&site, |plan| plan.hosts.push("hanna@example.org".to_owned())).await;
    let id = submitted(&site, &ada, &phase, "Seven", results(40, 7)).await;
    submitted(&site, &bao, &phase, "Five", results(40, 5)).await;
    let (state, page) = (format!("/api/v1/submissions/{id}/images"), format!("/submissions/{id}"));
    let paths = |set: &str| {
        [format!("{page}/images?ref={set}"), format!("/api/v1/submissions/{id}/images.jsonl?ref={set}")]
    };
    let [of_ada, of_bao] = [site.person("Ada", Role::Member).await, site.person("Bao", Role::Member).await];
    for shows in [PerImage::Nothing, PerImage::Explained, PerImage::Scores, PerImage::Nothing] {
        show(&site, shows).await;
        let is_hidden = shows == PerImage::Nothing;
        for owner in &owners {
            // What was built for another setting is not shown.
            let known = owner.get(&state).await.expect(if is_hidden { 404 } else { 200 });
            if !is_hidden && owner.token == ada.token {
                assert_eq!((&known.json()["state"], &known.json()["files"]), (&json!("unbuilt"), &json!([])));
                for path in paths("c5") {
                    assert_eq!(of_ada.get(&path.replace("/api/v1", "")).await.expect(404).status, 404);
                }
            }
            owner.post_json(&state, &json!({})).await.expect(if is_hidden { 404 } else { 200 });
        }
        site.work().await;
        for stranger in [&bao, &otto] {
            stranger.get(&state).await.expect(404);
            stranger.post_json(&state, &json!({})).await.expect(404);
        }
        for set in ["c5", "c40", ""] {
            for path in paths(set) {
                let is_page = !path.starts_with("/api/");
                anybody.get(&path).await.expect(if is_page { 303 } else { 401 });
                let (other, own) = if is_page { (&of_bao, &of_ada) } else { (&bao, &ada) };
                other.get(&path).await.expect(404);
                own.get(&path).await.expect(if is_hidden { 404 } else { 200 });
            }
        }
        for path in paths("none") {
            of_ada.get(&path.replace("/api/v1", "")).await.expect(404);
        }
        let shown = of_ada.get(&page).await.expect(200).text;
        assert_eq!(shown.contains("Image by image"), !is_hidden, "{shown}");
        if is_hidden {
            continue;
        }
        assert!(shown.contains(&format!("href=\"{page}/images?ref=c5#sort=cider-d\"")), "{shown}");
        let known = ada.get(&state).await.expect(200).json();
        assert_eq!((&known["state"], &known["shows"]), (&json!("ready"), &json!(shows.name())));
        let [c5, c40] = &known["files"].as_array().unwrap()[..] else { panic!("{known}") };
        assert_eq!((&c5["reference_set"], &c40["reference_set"]), (&json!("c5"), &json!("c40")));
        let [html, jsonl] = paths("c5");
        let html = of_ada.get(&html).await.expect(200);
        assert_eq!(c5["page_size"], html.text.len());
        let text = read(&html.text);
        assert!(text.contains("thing36") && text.contains("Seven") && text.contains("nothing to see"));
        // Every reference has a word that no candidate has.
        assert_eq!(text.contains("secret"), shows == PerImage::Explained);
        let jsonl = ada.get(&jsonl).await.expect(200);
        assert_eq!(jsonl.text, lines("Seven", &references(40, 5), &results(40, 7)));
        assert_eq!(c5["lines_size"], jsonl.text.len());
        assert_eq!(jsonl.header("content-disposition"), "attachment; filename=\"Seven-c5.jsonl\"");
        let [_, of_c40] = paths("c40");
        assert_eq!(ada.get(&of_c40).await.expect(200).text.lines().count(), 12);
        // Asking again builds nothing.
        let jobs = "SELECT COUNT(*) FROM job WHERE kind = 'images'";
        let before: i64 = site.app.store.fetch_one(jobs, args![]).await.unwrap();
        ada.post_json(&state, &json!({})).await.expect(200);
        assert_eq!(site.app.store.fetch_one::<i64>(jobs, args![]).await.unwrap(), before);
    }
    // Nothing is left of them.
    let left: i64 = site.app.store.fetch_one("SELECT COUNT(*) FROM image_result", args![]).await.unwrap();
    assert_eq!(left, 0);
    assert!(serve::sweep(&site.app, Duration::ZERO).await.unwrap() >= 4);
}

async fn a_file_comes_back_as_it_was_uploaded(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "").await;
    let ada = site.person("Ada", Role::Member).await;
    let csv = results_as_csv();
    let file = ("file", "my \u{e9}; x.csv", csv.clone());
    let sent = organise::send(&ada, "/b/b/p/submit", &[("method", "m")], &[file]).await.expect(303);
    site.work().await;
    let page = sent.header("location").to_owned();
    let path = format!("{page}/file");
    let file = ada.get(&path).await.expect(200);
    assert_eq!(file.text, csv);
    let disposition = file.header("content-disposition");
    assert!(disposition.starts_with("attachment; filename=\"my _"), "{disposition}");
    assert!(disposition.ends_with(".csv"), "{disposition}");
    assert_eq!(file.header("content-security-policy"), "default-src 'none'; sandbox");
    assert_eq!(file.header("content-type"), "application/octet-stream");
    let shown = ada.get(&page).await.expect(200).text;
    assert!(shown.contains(&format!("href=\"{path}\"")), "{shown}");

    // Programs give a name if they like.
    let program = site.program("Bao", Role::Member, Scope::Submit).await;
    let submit = format!("/api/v1/phases/{phase}/submissions?method=m");
    for (more, name) in [("&file=..%2Fa.json", "a.json"), ("", "captions-")] {
        let captions = results(40, name.len());
        let made = program.send(Request::post(format!("{submit}{more}")), captions.clone()).await;
        let made = made.expect(201).json();
        let path = format!("/api/v1/submissions/{}/file", made["id"].as_str().unwrap());
        assert!(made["file"].as_str().unwrap().ends_with(&path.replace("/api/v1", "")), "{made}");
        let file = program.get(&path).await.expect(200);
        assert_eq!(file.text, captions);
        assert!(file.header("content-disposition").contains(name));
    }
    site.work().await;

    // It is among what the site exports of a person.
    let archive = ada.get("/account/contributions.zip").await.expect(200).text;
    assert!(archive.contains("submissions/") && archive.contains(&csv), "{archive}");
    let of_bao = site.program("Bao", Role::Member, Scope::Read).await;
    let known = of_bao.get("/api/v1/me/contributions").await.expect(200).json();
    let names: Vec<&str> = (0..2).map(|k| known["submissions"][k]["in_archive"].as_str().unwrap()).collect();
    assert!(names[0].ends_with("-a.json") && names[1].ends_with("-captions"), "{known}");
    assert_eq!(known["submissions"][0]["method"], "m");

    // Others have no business with it; hosts do.
    site.anybody().get(&path).await.expect(303);
    site.person("Bao", Role::Member).await.get(&path).await.expect(404);
    site.person("Otto", Role::Host).await.get(&path).await.expect(404);
    let root = site.person("Root", Role::Admin).await;
    assert_eq!(root.get(&path).await.expect(200).text, csv);
    let baseline = "SELECT id FROM submission WHERE kind = 'baseline'";
    let baseline: String = site.app.store.fetch_one(baseline, args![]).await.unwrap();
    let file = root.get(&format!("/submissions/{baseline}/file")).await.expect(200);
    assert_eq!(file.text, results(40, 3));
    assert_eq!(file.header("content-disposition"), "attachment; filename=\"baseline.json\"");
    let human = "SELECT id FROM submission WHERE kind = 'human'";
    let human: String = site.app.store.fetch_one(human, args![]).await.unwrap();
    root.get(&format!("/submissions/{human}/file")).await.expect(404);

    // It is not swept away while it is needed, and goes with the account of the person who uploaded it.
    serve::sweep(&site.app, Duration::ZERO).await.unwrap();
    assert_eq!(root.get(&path).await.expect(200).text, csv);
    let account = "SELECT account FROM submission WHERE file LIKE '%.csv'";
    let account: String = site.app.store.fetch_one(account, args![]).await.unwrap();
    capeval_site::accounts::deletion::remove(&site.app, None, &account).await.unwrap();
    let gone = root.get(&path).await.expect(410).text;
    assert!(gone.contains("The file as it was uploaded is no longer kept."), "{gone}");
    let shown = root.get(&page).await.expect(200).text;
    assert!(shown.contains("is no longer kept") && !shown.contains("/file\""), "{shown}");
    assert_eq!(serve::sweep(&site.app, Duration::ZERO).await.unwrap(), 1);
}

fn results_as_csv() -> String {
    let list: Vec<Value> = serde_json::from_str(&results(40, 6)).unwrap();
    let rows = list.iter().map(|one| format!("{},{}\r\n", one["image_id"], one["caption"]));
    std::iter::once("image_id,caption\r\n".to_owned()).chain(rows).collect()
}

async fn a_failure_says_why_and_is_tried_again(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_image = 'scores'").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let id = submitted(&site, &ada, &phase, "Seven", results(40, 7)).await;
    let blob = "SELECT blob FROM submission WHERE id = $1";
    let blob: String = site.app.store.fetch_one(blob, args![&id]).await.unwrap();
    let captions = site.app.blobs.read(&blob).unwrap();
    site.app.blobs.remove(&blob).unwrap();
    let path = format!("/api/v1/submissions/{id}/images");
    let begun = ada.post_json(&path, &json!({})).await.expect(200).json();
    assert_eq!((&begun["state"], &begun["ahead"]), (&json!("building"), &json!(0)));
    let browser = site.person("Ada", Role::Member).await;
    let page = browser.get(&format!("/submissions/{id}")).await.expect(200).text;
    assert!(page.contains("being built") && page.contains("data-live="), "{page}");
    site.work().await;
    let failed = ada.get(&path).await.expect(200).json();
    assert_eq!(failed["state"], "failed");
    let page = browser.get(&format!("/submissions/{id}")).await.expect(200).text;
    let reason = "They could not be built: the captions of the submission cannot be opened";
    assert!(page.contains(reason) && page.contains("Try again"), "{page}");
    let page = browser
        .send(Request::get(format!("/submissions/{id}")).header("accept-language", "zh"), "")
        .await
        .expect(200)
        .text;
    assert!(page.contains("无法生成：无法打开提交的描述"), "{page}");
    site.app.blobs.put(&captions[..]).unwrap();
    browser.post(&format!("/submissions/{id}/images"), &[]).await.expect(303);
    site.work().await;
    assert_eq!(ada.get(&path).await.expect(200).json()["state"], "ready");
}

async fn what_was_scored_again_is_built_again(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_image = 'scores'").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let id = submitted(&site, &ada, &phase, "Seven", results(40, 7)).await;
    assert_eq!(built(&site, &ada, &id).await["state"], "ready");
    // Files that rows name stay.
    serve::sweep(&site.app, Duration::ZERO).await.unwrap();
    let lines = format!("/api/v1/submissions/{id}/images.jsonl");
    ada.get(&lines).await.expect(200);
    let root = site.program("Root", Role::Admin, Scope::Host).await;
    root.post_json(&format!("/api/v1/host/phases/{phase}/rescore"), &json!({})).await.expect(201);
    site.work().await;
    ada.get(&lines).await.expect(404);
    assert_eq!(built(&site, &ada, &id).await["state"], "ready");
    ada.get(&lines).await.expect(200);
    // A draft's phase goes with all that it has.
    site.app.store.execute("DELETE FROM phase", args![]).await.unwrap();
    let left: i64 = site.app.store.fetch_one("SELECT COUNT(*) FROM image_result", args![]).await.unwrap();
    assert_eq!(left, 0);
}

const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";

async fn hostile_captions_stay_text() {
    let site = Site::new(Database::Sqlite).await;
    let pictures = "per_image = 'explained'\npictures = 'https://pictures.example.org/{id:012}.jpg'";
    let phase = benchmark(&site, pictures).await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let mut captions: Value = serde_json::from_str(&results(40, 7)).unwrap();
    for caption in captions.as_array_mut().unwrap() {
        caption["caption"] = HOSTILE.into();
    }
    let method: String = HOSTILE.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let id = submitted(&site, &ada, &phase, &method, captions.to_string()).await;
    built(&site, &ada, &id).await;
    let browser = site.person("Ada", Role::Member).await;
    let sent = browser.get(&format!("/submissions/{id}/images")).await.expect(200);
    assert_eq!(sent.text.matches("<script>").count(), 1);
    assert!(!sent.text.contains("<script>alert") && !sent.text.contains("<img"));
    let policy = sent.header("content-security-policy");
    let rules: Vec<&str> = policy.split("; ").collect();
    for rule in [
        "default-src 'none'",
        "sandbox allow-scripts",
        "frame-ancestors 'none'",
        "form-action 'none'",
        "img-src data: https://pictures.example.org",
    ] {
        assert!(rules.contains(&rule), "{rule}: {policy}");
    }
    assert!(policy.contains("script-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(sent.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(sent.header("x-content-type-options"), "nosniff");
    let lines = browser.get(&format!("/submissions/{id}/images.jsonl")).await.expect(200);
    assert_eq!(lines.text.lines().count(), 40);
    assert!(!lines.header("content-disposition").contains(['<', '>']));
}

/// Results that are being built when hosts hide them are dropped.
async fn a_change_of_mind_while_results_are_built_counts() {
    let site = Site::new(Database::Sqlite).await;
    let phase = benchmark(&site, "per_image = 'explained'").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let id = submitted(&site, &ada, &phase, "Seven", results(40, 7)).await;
    for now in [PerImage::Nothing, PerImage::Scores] {
        show(&site, PerImage::Explained).await;
        ada.post_json(&format!("/api/v1/submissions/{id}/images"), &json!({})).await.expect(200);
        let store = &site.app.store;
        let job = queue::claim(store, 60_000, &["images"], Priority::Background).await.unwrap().unwrap();
        let done = BuildImages::run(&site.app, &job).await.unwrap();
        show(&site, now).await;
        let mut tx = store.begin().await.unwrap();
        assert!(queue::end(&mut tx, &job, None).await.unwrap());
        BuildImages::finish(&site.app, &mut tx, &job, Ok(done)).await.unwrap();
        tx.commit().await.unwrap();
        let left: i64 = store.fetch_one("SELECT COUNT(*) FROM image_result", args![]).await.unwrap();
        assert_eq!(left, 0);
    }
}

async fn a_hidden_board_hides_images_too() {
    let site = Site::new(Database::Sqlite).await;
    let phase = benchmark(&site, "per_image = 'scores'\nboard = 'hidden'").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let id = submitted(&site, &ada, &phase, "Seven", results(40, 7)).await;
    let root = site.program("Root", Role::Admin, Scope::Host).await;
    assert_eq!(built(&site, &root, &id).await["state"], "ready");
    let paths = ["images", "images.jsonl"].map(|path| format!("/api/v1/submissions/{id}/{path}"));
    for path in &paths {
        root.get(path).await.expect(200);
        ada.get(path).await.expect(404);
    }
    change(&site, |plan| plan.phases[0].board = capeval_api::BoardKind::Own).await;
    for path in &paths {
        ada.get(path).await.expect(200);
    }
}
