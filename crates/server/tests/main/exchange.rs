//! What comes in from other sites and what goes out: bundles, files of phases, archives, badges, feeds.

use std::io::{Cursor, Read, Write};
use std::path::Path;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use capeval_benchmarks::settings::Plan;
use capeval_benchmarks::{apply, bundles};
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::web::Scope;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::benchmarks::{benchmark, results};
use crate::support::{Answer, Client, Database, Site, on_both};

on_both! {
    files_of_a_phase_are_for_those_who_take_part
    files_follow_the_plan_and_stay_without_one
    a_bundle_becomes_a_draft_with_its_files
    a_form_imports_a_bundle_and_lists_what_has_no_counterpart
    hosts_take_everything_with_them_but_the_references
    what_everyone_sees_is_shown_elsewhere_and_nothing_else
}

/// Sends a form with a file.
pub async fn send_file(who: &Client, path: &str, title: &str, name: &str, bytes: impl AsRef<[u8]>) -> Answer {
    let part = |head: String, body: &[u8]| {
        let head = format!("--x\r\nContent-Disposition: form-data; {head}\r\n\r\n");
        [head.as_bytes(), body, b"\r\n"].concat()
    };
    let title = part("name=\"title\"".to_owned(), title.as_bytes());
    let file = part(format!("name=\"file\"; filename=\"{name}\""), bytes.as_ref());
    let body = [&title[..], &file[..], &b"--x--\r\n"[..]].concat();
    let request = Request::post(path).header("content-type", "multipart/form-data; boundary=x");
    who.send(request, body).await
}

async fn hosted(site: &Site) -> (String, Client, Client) {
    let phase = benchmark(site, "").await;
    let hanna = site.person("Hanna", Role::Host).await;
    let program = site.program("Hanna", Role::Host, Scope::Host).await;
    let host = "INSERT INTO benchmark_host (benchmark, account) SELECT benchmark.id, account.id FROM benchmark, account \
                WHERE account.name = 'Hanna'";
    site.app.store.execute(host, args![]).await.unwrap();
    (phase, hanna, program)
}

async fn files_of_a_phase_are_for_those_who_take_part(database: Database) {
    let site = Site::new(database).await;
    let (phase, hanna, program) = hosted(&site).await;
    let add = format!("/api/v1/host/phases/{phase}/files");
    let made = send_file(&program, &add, "Starting kit", "a/kit é.zip", "kit").await.expect(200).json();
    let file = &made["files"][0];
    assert_eq!(
        (file["title"].as_str(), file["name"].as_str(), file["size"].as_i64()),
        (Some("Starting kit"), Some("kit é.zip"), Some(3))
    );
    assert_eq!(file["sha256"], capeval_site::ids::digest("kit"));
    send_file(&hanna, "/b/b/p/host/files", "", "data.csv", "a,b").await.expect(303);

    let anyone = site.anybody();
    let page = anyone.get("/b/b").await.expect(200).text;
    assert!(page.contains("Starting kit") && page.contains(&capeval_site::ids::digest("a,b")), "{page}");
    let listed = anyone.get(&format!("/api/v1/phases/{phase}/files")).await.expect(200).json();
    assert_eq!(listed["files"].as_array().unwrap().len(), 2);
    let path = "/b/b/p/files/kit%20%C3%A9.zip";
    let whole = anyone.get(path).await.expect(200);
    assert_eq!(whole.text, "kit");
    assert!(whole.header("content-disposition").starts_with("attachment"));
    let part = anyone.send(Request::get(path).header("range", "bytes=1-"), Body::empty()).await.expect(206);
    assert_eq!(part.text, "it");
    anyone.get("/b/b/p/files/none").await.expect(404);

    // The same name is the same file; what is no file is refused.
    send_file(&program, &add, "New data", "data.csv", "c").await.expect(200);
    assert_eq!(anyone.get("/b/b/p/files/data.csv").await.expect(200).text, "c");
    send_file(&program, &add, "x", "", "").await.expect(422);
    send_file(&program, &add, &"t".repeat(161), "long.txt", "x").await.expect(422);
    for k in 0..18 {
        let more = "INSERT INTO phase_file (phase, name, title, position, blob, size, created_at) \
                    SELECT phase, $1, title, 9, blob, size, 0 FROM phase_file WHERE name = 'data.csv'";
        site.app.store.execute(more, args![format!("{k}.txt")]).await.unwrap();
    }
    let refused = send_file(&program, &add, "", "one-too-many.txt", "x").await.expect(409).json();
    assert_eq!(refused["code"], "too-many-files");

    // Files of a benchmark with rules of admission are for those who are admitted.
    let member = site.person("Ada", Role::Member).await;
    for (rule, code) in [
        ("UPDATE benchmark SET admission = 'approval'", "approval"),
        ("UPDATE benchmark SET terms = 'Be fair.'", "terms"),
    ] {
        site.app.store.execute(rule, args![]).await.unwrap();
        let refused = anyone.get(&format!("/api/v1/phases/{phase}/files/data.csv")).await;
        assert_eq!(refused.expect(403).json()["code"], "sign-in");
        let refused = member.get("/b/b/p/files/data.csv?format=json").await;
        assert_eq!(refused.json()["code"], code, "{}", refused.text);
        site.app.store.execute("UPDATE benchmark SET admission = 'open', terms = ''", args![]).await.unwrap();
    }
    assert_eq!(member.get("/b/b/p/files/data.csv").await.expect(200).text, "c");

    hanna.post("/b/b/p/host/files/data.csv/remove", &[]).await.expect(303);
    anyone.get("/b/b/p/files/data.csv").await.expect(404);
    program.post_json(&format!("{add}/data.csv/remove"), &json!({})).await.expect(404);
    let log = program.get("/api/v1/host/benchmarks/b/audit").await.expect(200).text;
    assert!(log.contains("phase.file-add") && log.contains("phase.file-remove"));
}

const PLAN: &str = "slug = 'c'\ntitle = 'C'\ndraft = true\nhosts = ['ada@example.org']\n\
    [[phases]]\nslug = 'dev'\ntitle = 'Dev'\nmetrics = ['bleu', 'cider-d']\nhuman = false\n\
    files = [{ title = 'Kit', file = 'kit.txt' }]\n\
    [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";

async fn files_follow_the_plan_and_stay_without_one(database: Database) {
    let site = Site::new(database).await;
    site.account("Ada", Role::Host).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), crate::benchmarks::references(20, 5)).unwrap();
    std::fs::write(folder.path().join("kit.txt"), "kit").unwrap();
    let apply = async |text: &str, folder: &Path| {
        apply::apply(&site.app, &toml::from_str(text).unwrap(), folder, None).await
    };
    let names = async || -> Vec<String> {
        site.app.store.fetch("SELECT name FROM phase_file ORDER BY position", args![]).await.unwrap()
    };
    apply(PLAN, folder.path()).await.unwrap();
    assert_eq!(names().await, ["kit.txt"]);
    // Without the file, and without naming it, also where the phase is made again.
    let empty = tempfile::tempdir().unwrap();
    apply(PLAN, empty.path()).await.unwrap();
    let without = PLAN.replace("files = [{ title = 'Kit', file = 'kit.txt' }]\n", "").replace("'bleu', ", "");
    apply(&without, empty.path()).await.unwrap();
    assert_eq!(names().await, ["kit.txt"]);
    let known = site.app.store.fetch_one("SELECT * FROM benchmark WHERE slug = 'c'", args![]).await.unwrap();
    let exported = Plan::of(&site.app.store, &known).await.unwrap().to_toml().unwrap();
    assert!(exported.contains("title = \"Kit\""), "{exported}");
    apply(&without.replace("human = false\n", "human = false\nfiles = []\n"), empty.path()).await.unwrap();
    assert!(names().await.is_empty());
    let long = PLAN.replace("'Kit'", &format!("'{}'", "t".repeat(161)));
    assert!(apply(&long, folder.path()).await.is_err());
}

/// A bundle of Codabench.
fn bundle() -> Vec<u8> {
    let mut bundle = ZipWriter::new(Cursor::new(Vec::new()));
    let yaml = "version: 2\ntitle: Kites\ntasks:\n- {index: 0, name: c5, reference_data: ref.json, scoring_program: p.zip}\n\
                phases:\n- {name: Dev, start: 2026-01-01, tasks: [0], starting_kit: kit}\n\
                leaderboards:\n- {title: R, key: r, columns: [{title: CIDEr-D, key: c, index: 0, sorting: desc}]}\n";
    let references = crate::benchmarks::references(20, 5);
    for (name, text) in [("competition.yaml", yaml), ("ref.json", &references), ("kit/a.txt", "a")] {
        bundle.start_file(name, SimpleFileOptions::default()).unwrap();
        bundle.write_all(text.as_bytes()).unwrap();
    }
    bundle.finish().unwrap().into_inner()
}

async fn a_form_imports_a_bundle_and_lists_what_has_no_counterpart(database: Database) {
    let site = Site::new(database).await;
    let (ada, path) = (site.person("Ada", Role::Host).await, "/host/benchmarks/import");
    assert!(ada.get("/host/benchmarks/new").await.expect(200).text.contains(path));
    ada.get(path).await.expect(200);
    site.person("Eve", Role::Member).await.get(path).await.expect(404);
    let page = send_file(&ada, path, "", "bundle.zip", bundle()).await.expect(200).text;
    assert!(
        page.contains("the scoring program p.zip is not run") && page.contains("/b/kites/settings"),
        "{page}"
    );
    site.work().await;
    assert!(ada.get("/b/kites").await.expect(200).text.contains("Starting kit"));
    site.anybody().get("/b/kites").await.expect(404);
    // The same again is another draft, and the first one stays as it is.
    let program = site.program("Bao", Role::Host, Scope::Host).await;
    let made = send_file(&program, "/api/v1/host/benchmarks/import", "", "bundle.zip", bundle()).await;
    let made = made.expect(201).json();
    assert_eq!(made["slug"], "kites-2");
    assert!(made["report"].as_str().unwrap().contains("## What has no counterpart"));
    ada.get("/b/kites-2").await.expect(404);
    for (file, words) in [
        (b"no archive".to_vec(), "this is no ZIP archive"),
        (Vec::new(), "Choose a file."),
        (ZipWriter::new(Cursor::new(Vec::new())).finish().unwrap().into_inner(), "there is none of"),
    ] {
        let page = send_file(&ada, path, "", "bundle.zip", file).await.expect(422).text;
        let folder = site.app.hidden.drafts().display().to_string();
        assert!(page.contains(words) && !page.contains(&folder), "{words}: {page}");
    }
}

async fn a_bundle_becomes_a_draft_with_its_files(database: Database) {
    let site = Site::new(database).await;
    let ada = site.person("Ada", Role::Host).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bundle.zip"), bundle()).unwrap();
    let out = folder.path().join("out");
    let (plan, _) =
        bundles::import(&folder.path().join("bundle.zip"), &out, &["ada@example.org".to_owned()], u64::MAX)
            .unwrap();
    apply::apply(&site.app, &plan, out.as_path(), None).await.unwrap();
    site.work().await;
    site.anybody().get("/b/kites").await.expect(404);
    let page = ada.get("/b/kites").await.expect(200).text;
    assert!(page.contains("Starting kit") && page.contains("20"), "{page}");
    let state: String = site.app.store.fetch_one("SELECT state FROM reference_set", args![]).await.unwrap();
    assert_eq!(state, "ready");
}

/// The files of an archive, by name.
fn unzipped(bytes: Vec<u8>) -> std::collections::BTreeMap<String, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let names: Vec<String> =
        (0..archive.len()).map(|k| archive.name_for_index(k).unwrap().unwrap().into_owned()).collect();
    names
        .into_iter()
        .map(|name| {
            let mut text = Vec::new();
            archive.by_name(&name).unwrap().read_to_end(&mut text).unwrap();
            (name, String::from_utf8_lossy(&text).into_owned())
        })
        .collect()
}

async fn submitted(site: &Site, phase: &str) -> String {
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let submit = format!("/api/v1/phases/{phase}/submissions?method=%3Cb%3EM%26m");
    let made = ada.send(Request::post(submit), results(40, 5)).await.expect(201).json();
    site.work().await;
    made["id"].as_str().unwrap().to_owned()
}

async fn hosts_take_everything_with_them_but_the_references(database: Database) {
    let site = Site::new(database).await;
    let (phase, hanna, program) = hosted(&site).await;
    let id = submitted(&site, &phase).await;
    send_file(&hanna, "/b/b/p/host/files", "Kit", "kit.txt", "kit").await.expect(303);
    let request = Request::get("/api/v1/host/benchmarks/b/archive");
    let answer = program.begin(request, Body::empty()).await;
    assert_eq!(answer.status().as_u16(), 200);
    assert_eq!(answer.headers()["content-type"], "application/zip");
    let files = unzipped(to_bytes(answer.into_body(), usize::MAX).await.unwrap().to_vec());
    let own = format!("phases/p/submissions/{id}/captions.json");
    for name in ["README.md", "benchmark.toml", "teams.jsonl", "audit.jsonl", "phases/p/files/kit.txt", &own]
    {
        assert!(files.contains_key(name), "{name}: {:?}", files.keys());
    }
    let line: Value = files["phases/p/submissions.jsonl"]
        .lines()
        .find(|line| line.contains(&id))
        .map(|line| serde_json::from_str(line).unwrap())
        .unwrap();
    assert_eq!(line["method"], "<b>M&m");
    assert!(
        line["scores"].as_object().unwrap().values().all(|set| set["cider-d"]["value"].is_f64()),
        "{line}"
    );
    assert!(files.keys().any(|name| name.starts_with("phases/p/leaderboard-")));
    assert!(files["audit.jsonl"].contains("phase.file-add"));
    // The references are nowhere, and neither is an address of email but those of hosts in the plan.
    let reference: String =
        site.app.store.fetch_one("SELECT source_hash FROM reference_set", args![]).await.unwrap();
    let reference = String::from_utf8(site.app.hidden.read(&reference).unwrap()).unwrap();
    assert!(files.values().all(|text| *text != reference));
    assert!(files.iter().all(|(name, text)| name == "benchmark.toml" || !text.contains("@example.org")));
    site.person("Otto", Role::Host).await.get("/b/b/archive.zip").await.expect(404);
    // An archive that would lack a file is not sent.
    let blob: String = site.app.store.fetch_one("SELECT blob FROM phase_file", args![]).await.unwrap();
    site.app.blobs.remove(&blob).unwrap();
    hanna.get("/b/b/archive.zip").await.expect(500);
}

async fn what_everyone_sees_is_shown_elsewhere_and_nothing_else(database: Database) {
    let site = Site::new(database).await;
    let (phase, hanna, _) = hosted(&site).await;
    let id = submitted(&site, &phase).await;
    let anyone = site.anybody();
    let entry = format!("/b/b/p/entries/{id}");
    let badge = anyone.get(&format!("{entry}/badge.svg")).await.expect(200);
    assert!(
        badge.text.contains("#1 of 1") && badge.header("cache-control") == "public, max-age=300",
        "{}",
        badge.text
    );
    assert_eq!(badge.header("x-frame-options"), "DENY");
    assert!(anyone.get("/b/b/p/badge.svg").await.expect(200).text.contains("Ada"));
    let frame = anyone.get("/b/b/p/leaderboard/embed").await.expect(200);
    assert!(
        frame.text.contains("&#60;b&#62;M&#38;m")
            && !frame.text.contains("<form")
            && !frame.text.contains("<script"),
        "{}",
        frame.text
    );
    assert!(
        frame.header("content-security-policy").contains("frame-ancestors *")
            && frame.header("x-frame-options").is_empty()
    );
    assert!(
        anyone
            .get("/b/b/p/leaderboard")
            .await
            .header("content-security-policy")
            .contains("frame-ancestors 'none'")
    );
    let feed = anyone.get("/b/b/feed.json").await.expect(200).json();
    assert!(feed["items"][0]["title"].as_str().unwrap().contains("leads with"), "{feed}");
    let croissant = anyone.get("/b/b/croissant.json").await.expect(200).json();
    assert_eq!(croissant["conformsTo"], "http://mlcommons.org/croissant/1.0");
    assert!(anyone.get("/b/b/cite.bib").await.expect(200).text.starts_with("@misc{b,"));
    assert!(anyone.get("/b/b/CITATION.cff").await.expect(200).text.starts_with("cff-version: 1.2.0"));
    let eee = anyone.get(&format!("{entry}/every-eval-ever.json")).await.expect(200).json();
    assert_eq!(eee["schema_version"], "0.3.0");
    assert!(
        eee["evaluation_results"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["score_details"]["score"].is_f64())
    );
    let yaml = anyone.get(&format!("{entry}/eval-results.yaml?dataset=a/b")).await.expect(200).text;
    assert!(yaml.contains("id: \"a/b\"") && yaml.contains("  value: "), "{yaml}");
    anyone.get(&format!("{entry}/eval-results.yaml?dataset=x%0Ay/z")).await.expect(400);

    // With hidden scores, nothing tells them, not even a badge that a host asks for.
    site.app
        .store
        .execute("UPDATE phase SET board = 'hidden', settled = settled + 1", args![])
        .await
        .unwrap();
    for who in [&anyone, &hanna] {
        for path in ["/b/b/p/badge.svg", "/b/b/p/leaderboard/embed", &format!("{entry}/badge.svg")] {
            who.get(path).await.expect(404);
        }
        let feed = who.get("/b/b/feed.json").await.expect(200).json();
        assert_eq!(feed["items"], json!([]));
    }
    for file in ["every-eval-ever.json", "eval-results.yaml?dataset=a/b"] {
        anyone.get(&format!("{entry}/{file}")).await.expect(404);
    }
    site.app.store.execute("UPDATE phase SET board = 'public'", args![]).await.unwrap();
    site.app.store.execute("UPDATE benchmark SET visibility = 'registered'", args![]).await.unwrap();
    hanna.get("/b/b/p/badge.svg").await.expect(404);
    anyone.get("/b/b/feed.json").await.expect(404);
}
