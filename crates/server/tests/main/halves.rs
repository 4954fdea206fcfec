//! Public and private halves of a phase: nothing of the private half is told before its time, and all of it after.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use axum::body::Body;
use axum::http::{Method, Request};
use capeval_server::FEATURES;
use capeval_site::accounts::Role;
use capeval_site::feature::routes;
use capeval_site::testing::Clock;
use capeval_site::web::Scope;
use capeval_site::{args, clock};
use http_body_util::BodyExt;
use regex_lite::Regex;
use serde_json::{Value, json};

use crate::benchmarks::{references, results};
use crate::support::process::{Server, command, request};
use crate::support::{
    Client, Database, Page as _, Site, on_both, on_sqlite, run_in_real_time, settings as settings_of_tests,
};

on_both! {
    nothing_of_a_private_half_is_told_before_its_time
    a_team_chooses_as_many_submissions_as_it_may
}

on_sqlite! {
    a_half_is_scored_as_if_its_images_were_all
    a_seed_draws_the_same_half_of_all_references
    rescoring_keeps_halves
    a_private_half_waits_for_its_own_date_after_the_phase_closes
    plans_carry_halves_and_keep_what_was_seen
    hosts_end_a_phase_and_show_its_private_half
    halves_are_set_in_the_form
}

/// Lines of requests and jobs, at the level of debugging, and the numbers for monitoring.
#[test]
fn the_log_and_the_metrics_tell_no_score_of_a_private_half() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    write_files(&path);
    std::fs::write(path.join("plan.toml"), plan(&LISTED.replace("2026-07", "2999-07"), "")).unwrap();
    command(&path, "", &["admin", "benchmark", "apply", &path.join("plan.toml").display().to_string()], "");
    command(
        &path,
        "",
        &["admin", "user", "add", "--email", "ada@example.org", "--password-stdin"],
        "a long password\n",
    );
    let token = command(
        &path,
        "",
        &["admin", "token", "create", "--email", "ada@example.org", "--scope", "submit"],
        "",
    );
    let log = path.join("log");
    let settings = [("LOG", "debug"), ("LOG_JSON", "true")];
    let server = Server::start_with_log(&path, "", &settings, File::create(&log).unwrap().into());
    let phase = capeval_testkit::eventually("the phase opens", || {
        let (_, body) = server.request("GET", "/api/v1/benchmarks", "", "").unwrap();
        let list: Value = serde_json::from_str(&body).unwrap();
        let phase = &list["benchmarks"][0]["phases"][0];
        (phase["is_open"] == true).then(|| phase["id"].as_str().unwrap().to_owned())
    });
    let submit = format!("/api/v1/phases/{phase}/submissions?method=m");
    let (status, made) = request(server.port, "POST", &submit, &token, &results(IMAGES, 6)).unwrap();
    assert_eq!(status, 201, "{made}");
    let made: Value = serde_json::from_str(&made).unwrap();
    let id = made["id"].as_str().unwrap();
    capeval_testkit::eventually("the submission is scored", || {
        let path = format!("/api/v1/submissions/{id}");
        let (_, body) = request(server.port, "GET", &path, &token, "").unwrap();
        body.contains("\"state\":\"scored\"").then_some(())
    });
    let (_, metrics) = server.request("GET", "/metrics", "", "").unwrap();
    assert!(server.stop());
    run_in_real_time(async move {
        let site = Site::in_folder(folder, settings_of_tests(Database::Sqlite)).await;
        let secrets = Secrets::of(&site).await;
        for text in [std::fs::read_to_string(log).unwrap(), metrics] {
            assert!(!text.is_empty());
            assert_eq!(secrets.in_text(&without_times(&text), false), Vec::<String>::new());
        }
    });
}

/// A log or numbers for monitoring without what clocks say, which may be the digits of any score.
fn without_times(text: &str) -> String {
    let times =
        [r#""(timestamp|elapsed|elapsed_secs)":("[^"]*"|[\d.e-]+)"#, r"(?m)^\w+_seconds\w*(\{.*\})? .*$"];
    times
        .iter()
        .fold(text.to_owned(), |text, time| Regex::new(time).unwrap().replace_all(&text, "").into_owned())
}

const IMAGES: usize = 40;

/// The images of the public half.
fn is_public(image: usize) -> bool {
    image % 3 == 1
}

/// A plan of a phase with these lines, and with these of its first references.
fn plan(phase: &str, more: &str) -> String {
    format!(
        "slug = 'b'\ntitle = 'Benchmark'\n[[phases]]\nslug = 'p'\ntitle = 'Phase'\n\
         metrics = ['bleu', 'rouge-l', 'cider-d']\nper_day = 50\n{phase}\n\
         [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n{more}\n\
         [[phases.references]]\nname = 'c40'\nfile = 'c40.json'\n\
         [[phases.baselines]]\nmethod = 'Baseline'\nfile = 'baseline.json'\n"
    )
}

/// Writes the files that plans name.
fn write_files(folder: &Path) {
    let write = |name: &str, content: String| std::fs::write(folder.join(name), content).unwrap();
    write("c5.json", references(IMAGES, 5));
    write("c40.json", references(23, 9));
    write("baseline.json", results(IMAGES, 3));
    let public: Vec<String> = (0..IMAGES).filter(|id| is_public(*id)).map(|id| id.to_string()).collect();
    write("public.txt", public.join("\n"));
}

/// Applies a plan, and returns the id of the phase or the reason why it was refused.
async fn apply(site: &Site, plan: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let plan = toml::from_str(plan).map_err(|error| error.to_string())?;
    let applied = capeval_benchmarks::apply::apply(&site.app, &plan, folder.path(), None).await;
    applied.map_err(|error| format!("{error:#}"))?;
    site.work().await;
    Ok(site.app.store.fetch_one("SELECT id FROM phase", args![]).await.unwrap())
}

/// A phase that closes in two weeks, with a list of its public images.
const LISTED: &str = "closes = '2026-07-01T00:00:00Z'\npublic_ids = 'public.txt'";

struct Person {
    browser: Client,
    program: Client,
}

impl Person {
    async fn new(site: &Site, name: &str, role: Role) -> Self {
        site.account(name, role).await;
        Self { browser: site.person(name, role).await, program: site.program(name, role, Scope::Host).await }
    }

    /// Submits results that are the better the higher `skill` is, and returns the id.
    async fn submit(&self, site: &Site, phase: &str, skill: usize) -> String {
        self.submit_file(site, phase, results(IMAGES, skill)).await
    }

    async fn submit_file(&self, site: &Site, phase: &str, results: String) -> String {
        let path = format!("/api/v1/phases/{phase}/submissions?method=m");
        let made = self.program.send(Request::post(path), results).await.expect(201).json();
        site.work().await;
        made["id"].as_str().unwrap().to_owned()
    }
}

/// The scores of a half, with the ends of their intervals.
async fn scores(site: &Site, half: &str) -> Vec<f64> {
    let sql = "SELECT value, COALESCE(low, value), COALESCE(high, value) FROM score JOIN reference_set \
               ON reference_set.id = score.reference_set WHERE reference_set.half = $1";
    let rows: Vec<(f64, f64, f64)> = site.app.store.fetch(sql, args![half]).await.unwrap();
    rows.into_iter().flat_map(|(value, low, high)| [value, low, high]).collect()
}

/// The numbers as they could be written, from three decimals on.
fn written(numbers: &[f64]) -> HashSet<String> {
    let one = |number: &f64| {
        let number = *number;
        (3..=17).map(move |decimals| format!("{number:.decimals$}")).chain([number.to_string()])
    };
    numbers.iter().flat_map(one).collect()
}

/// What must not be told.
struct Secrets {
    numbers: HashSet<String>,
    /// Words of captions that belong to private images.
    words: HashSet<String>,
}

impl Secrets {
    async fn of(site: &Site) -> Self {
        let (private, public) = (scores(site, "private").await, scores(site, "public").await);
        let round = [0.0, 1.0, 100.0];
        let private: Vec<f64> = private.into_iter().filter(|score| !round.contains(score)).collect();
        let known = written(&public);
        let numbers: HashSet<String> = written(&private).difference(&known).cloned().collect();
        let short = numbers.iter().filter(|text| text.split('.').nth(1).is_some_and(|part| part.len() == 3));
        assert!(short.count() > 20, "the scores of the halves do not differ");
        let private = (0..IMAGES).filter(|image| !is_public(*image));
        let words = private.flat_map(|image| [format!("secret{image}"), format!("thing{image}")]);
        Self { numbers, words: words.collect() }
    }

    /// What a text tells of them; `own` is true of files that the reader has written.
    fn in_text(&self, text: &str, own: bool) -> Vec<String> {
        let number = Regex::new(r"\d+\.\d{3,}").unwrap();
        let word = Regex::new(r"(secret|thing)\d+").unwrap();
        let numbers = number.find_iter(text).map(|found| found.as_str());
        let words = word.find_iter(text).map(|found| found.as_str()).filter(|_| !own);
        let told = numbers.filter(|text| self.numbers.contains(*text));
        told.chain(words.filter(|text| self.words.contains(*text))).map(str::to_owned).collect()
    }
}

/// The text of an answer, of an archive that of all its files.
async fn text(client: &Client, path: &str) -> (u16, String) {
    let answer = client.begin(Request::get(path), Body::empty()).await;
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(bytes)) {
        for place in 0..archive.len() {
            archive.by_index(place).unwrap().read_to_string(&mut text).unwrap();
        }
    }
    (status, text)
}

/// Queries of boards, of results image by image, and of comparisons.
fn queries(submissions: &[String]) -> Vec<String> {
    let mut queries = vec![String::new()];
    for query in
        ["ref=c5-private", "ref=c40-private", "ref=c5-private&format=csv", "format=csv", "intervals=all"]
    {
        queries.push(format!("?{query}"));
    }
    let pair = format!("entry={}&entry={}", submissions[0], submissions[1]);
    queries.extend([format!("?{pair}"), format!("?{pair}&ref=c5-private")]);
    queries
}

/// The path of a route to the things of the phase.
fn filled(path: &str, phase: &str, submission: &str) -> String {
    let mut before = "";
    let mut filled = Vec::new();
    for part in path.split('/') {
        filled.push(match (before, part) {
            (_, "{slug}") => "b",
            (_, "{phase}") => "p",
            ("phases", "{id}") => phase,
            ("submissions", "{id}") | (_, "{submission}") => submission,
            (_, part) if part.starts_with('{') => "00000000",
            (_, part) => part,
        });
        before = part;
    }
    filled.join("/")
}

/// All that these people read through every route; files that they have written are marked.
async fn read_all(
    people: &[(&str, Client, Client)],
    phase: &str,
    submissions: &[String],
) -> Vec<(String, String, bool)> {
    let gets: Vec<_> = routes(FEATURES).into_iter().filter(|route| route.method == Method::GET).collect();
    assert!(gets.len() > 60);
    let mut read = Vec::new();
    for route in gets {
        let of_submission = route.path.contains("submission") && route.path.contains('{');
        let is_of_phase =
            of_submission || route.path.contains("{phase}") || route.path.contains("phases/{id}");
        let targets = if of_submission { submissions } else { &submissions[..1] };
        let paths: BTreeSet<String> = targets.iter().map(|id| filled(route.path, phase, id)).collect();
        for path in paths {
            for query in if is_of_phase { queries(submissions) } else { vec![String::new()] } {
                for (name, browser, program) in people {
                    let client = if path.starts_with("/api/") { program } else { browser };
                    let address = format!("{path}{query}");
                    let (status, text) = text(client, &address).await;
                    assert!(status < 500, "{address} as {name}: {status} {text}");
                    let own = path.ends_with("/file") || path.ends_with("/contributions.zip");
                    read.push((format!("{address} as {name}"), text, own));
                }
            }
        }
    }
    read
}

/// Has everything done that is made on request: results image by image, comparisons, judgements, a dry run.
async fn make_all(site: &Site, phase: &str, root: &Person, ada: &Person, submissions: &[String]) {
    for id in &submissions[..2] {
        ada.program.post_json(&format!("/api/v1/submissions/{id}/images"), &json!({})).await.expect(200);
    }
    let pair = format!("entry={}&entry={}", submissions[0], submissions[1]);
    ada.program.post_json(&format!("/api/v1/phases/{phase}/compare?{pair}"), &json!({})).await.expect(200);
    let judging = [
        ("images", "10"),
        ("wanted", "1"),
        ("pictures", "https://pictures.example.org/{id}.jpg"),
        ("judges", "jude@example.org"),
    ];
    root.browser.post("/b/b/p/host/judging", &judging).await.expect(303);
    let sample = format!("/api/v1/host/phases/{phase}/dry-run");
    root.program.send(Request::post(sample), results(IMAGES, 4)).await.expect(201);
    root.browser.post("/b/b/webhooks", &[("url", "https://hooks.example.org/x")]).await.expect(200);
    site.work_that_is_due().await;
}

async fn nothing_of_a_private_half_is_told_before_its_time(database: Database) {
    let site = Site::new(database).await;
    let phase = apply(
        &site,
        &plan(&format!("{LISTED}\nper_image = 'explained'\nfinal = 'chosen'\ndecimals = 6"), ""),
    )
    .await
    .unwrap();
    let root = Person::new(&site, "Root", Role::Admin).await;
    let ada = Person::new(&site, "Ada", Role::Member).await;
    let tom = Person::new(&site, "Tom", Role::Member).await;
    let sam = Person::new(&site, "Sam", Role::Member).await;
    let jude = Person::new(&site, "Jude", Role::Member).await;
    let mut submissions = Vec::new();
    for skill in [5, 8, 6] {
        submissions.push(ada.submit(&site, &phase, skill).await);
    }
    submissions.push(tom.submit(&site, &phase, 7).await);
    ada.browser.post(&format!("/submissions/{}/choose", submissions[2]), &[]).await.expect(303);
    site.work().await;
    make_all(&site, &phase, &root, &ada, &submissions).await;
    // One more, which the webhook is told of.
    tom.program
        .send(Request::post(format!("/api/v1/phases/{phase}/submissions?method=last")), results(IMAGES, 2))
        .await
        .expect(201);
    site.work_that_is_due().await;

    let secrets = Secrets::of(&site).await;
    let people = [
        ("anybody", site.anybody(), site.anybody()),
        ("Ada", ada.browser.clone(), ada.program.clone()),
        ("Tom", tom.browser.clone(), tom.program.clone()),
        ("Sam", sam.browser.clone(), sam.program.clone()),
        ("Jude", jude.browser.clone(), jude.program.clone()),
    ];
    let mut told = Vec::new();
    let read = read_all(&people, &phase, &submissions).await;
    for (what, text, own) in &read {
        let found = secrets.in_text(text, *own);
        // The private half has 27 images, which its signatures say. Pages repeat the address that was asked for.
        let names_it =
            text.contains("images:27|") || !what.contains("private") && text.contains("c5-private");
        if !found.is_empty() || names_it {
            told.push(format!("{what}: {found:?}"));
        }
    }
    let outbox: Vec<(String, String)> =
        site.app.store.fetch("SELECT subject, body FROM outbox", args![]).await.unwrap();
    assert!(outbox.iter().any(|(_, body)| body.contains("submission.scored")), "{outbox:?}");
    for (subject, body) in outbox {
        told.extend(secrets.in_text(&format!("{subject} {body}"), false));
    }
    assert!(told.is_empty(), "{} of {}: {}", told.len(), read.len(), told.join("\n"));
    // What may be told is there.
    let all: String = read.iter().map(|(_, text, _)| text.as_str()).collect();
    let public = written(&scores(&site, "public").await);
    assert!(public.iter().filter(|number| all.contains(*number)).count() > 20);
    assert!(all.contains("secret1 ") && all.contains("thing1 "), "public images are explained");
    let judged: Vec<String> =
        site.app.store.fetch("SELECT DISTINCT image FROM evaluation_item", args![]).await.unwrap();
    assert!(judged.len() == 10 && judged.iter().all(|image| is_public(image.parse().unwrap())), "{judged:?}");
    // A report of what is missing begins with the first images, whatever their half.
    let checked = Request::post(format!("/api/v1/phases/{phase}/validate"));
    let checked = sam.program.send(checked, "[]").await.expect(200).json();
    let first: Vec<String> = (0..20).map(|id| id.to_string()).collect();
    assert_eq!((&checked["images"], &checked["problems"][0]["first"]), (&json!(IMAGES), &json!(first)));
    // Hosts see both.
    let board = root.browser.get("/b/b/p/leaderboard?ref=c5-private").await.expect(200).text;
    assert!(board.contains("which only hosts see now") && !secrets.in_text(&board, true).is_empty());
    assert!(
        !secrets
            .in_text(&root.browser.get(&format!("/submissions/{}", submissions[0])).await.text, true)
            .is_empty()
    );
    assert!(root.browser.get("/b/b/p/leaderboard").await.text.contains("it is shown on 2026-07-01"));

    Clock::of_thread().unwrap().move_to(clock::parse("2026-07-01T00:00:00Z").unwrap());
    everything_is_told(&site, &phase, &secrets, &people[1].1, &submissions).await;
}

/// After the end, the board is that of the private half, with the places on the public one, and images are explained.
async fn everything_is_told(
    site: &Site,
    phase: &str,
    secrets: &Secrets,
    ada: &Client,
    submissions: &[String],
) {
    let sql = "SELECT value FROM score JOIN reference_set ON reference_set.id = score.reference_set \
               WHERE submission = $1 AND metric = 'cider-d' AND reference_set.name = $2";
    let board = site.anybody().get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json();
    assert_eq!((&board["half"], &board["reference_set"]), (&json!("private"), &json!("c5-private")));
    let rows = board["rows"].as_array().unwrap();
    let ada_row = rows.iter().find(|row| row["team"] == "Ada").unwrap();
    // The one that was chosen, and not the best on the public half.
    assert_eq!(ada_row["submission"], submissions[2].as_str());
    let score: f64 = site.app.store.fetch_one(sql, args![&submissions[2], "c5-private"]).await.unwrap();
    assert_eq!(ada_row["scores"]["cider-d"], (score * 1e6).round() / 1e6);
    assert_eq!((&ada_row["rank"], &ada_row["public_rank"]), (&json!(2), &json!(1)));
    let tom_row = rows.iter().find(|row| row["team"] == "Tom").unwrap();
    assert_eq!((&tom_row["rank"], &tom_row["public_rank"]), (&json!(1), &json!(2)));
    let page = ada.get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(page.contains("Public rank") && page.contains("2 (+1)") && page.contains("1 (-1)"), "{page}");
    let csv = site.anybody().get("/b/b/p/leaderboard?format=csv").await.expect(200).text;
    assert!(csv.lines().next().unwrap().ends_with(",public_rank"), "{csv}");
    let public =
        site.anybody().get(&format!("/api/v1/phases/{phase}/leaderboard?ref=c5")).await.expect(200).json();
    assert_eq!((&public["half"], &public["rows"][0]["public_rank"]), (&json!("public"), &Value::Null));
    let own = ada.get(&format!("/submissions/{}", submissions[0])).await.expect(200).text;
    assert!(own.contains("images:13|") && own.contains("images:27|"), "{own}");
    assert!(own.contains("c5, private half") && !secrets.in_text(&own, true).is_empty());
    let images =
        ada.get(&format!("/submissions/{}/images?ref=c5-private", submissions[0])).await.expect(200).text;
    assert!(images.contains("thing0 ") && !images.contains("thing1 "));
    let chosen = ada.post(&format!("/submissions/{}/choose", submissions[0]), &[]).await;
    assert_eq!(chosen.status, 409);
}

async fn a_team_chooses_as_many_submissions_as_it_may(database: Database) {
    let site = Site::new(database).await;
    let phase = apply(&site, &plan(&format!("{LISTED}\nfinal = 'chosen'\nchosen = 2"), "")).await.unwrap();
    let ada = Person::new(&site, "Ada", Role::Member).await;
    let mut submissions = Vec::new();
    for skill in [8, 7, 6, 5] {
        submissions.push(ada.submit(&site, &phase, skill).await);
    }
    let stands = async || -> String {
        let sql = "SELECT submission FROM standing JOIN reference_set ON reference_set.id = standing.reference_set \
                   JOIN submission ON submission.id = standing.submission \
                   WHERE reference_set.name = 'c5-private' AND submission.team IS NOT NULL";
        site.app.store.fetch_one(sql, args![]).await.unwrap()
    };
    // The best on the public half, as nothing is chosen.
    assert_eq!(stands().await, submissions[0]);
    for round in 0..10 {
        let requests = submissions.iter().map(|id| {
            let (ada, path) = (ada.program.clone(), format!("/api/v1/submissions/{id}/choose"));
            tokio::spawn(async move { ada.post_json(&path, &json!({})).await.status.as_u16() })
        });
        let requests: Vec<_> = requests.collect();
        let mut statuses = Vec::new();
        for request in requests {
            statuses.push(request.await.unwrap());
        }
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 200, 409, 409], "round {round}");
        for id in &submissions {
            ada.program
                .post_json(&format!("/api/v1/submissions/{id}/unchoose"), &json!({}))
                .await
                .expect(200);
        }
    }
    for id in &submissions[2..] {
        let shown =
            ada.program.post_json(&format!("/api/v1/submissions/{id}/choose"), &json!({})).await.expect(200);
        assert_eq!(shown.json()["is_chosen"], true);
    }
    let refused =
        ada.program.post_json(&format!("/api/v1/submissions/{}/choose", submissions[0]), &json!({})).await;
    assert_eq!(refused.expect(409).json()["code"], "too-many-chosen");
    let sql = "SELECT submission FROM score JOIN reference_set ON reference_set.id = score.reference_set \
               WHERE reference_set.name = 'c5-private' AND metric = 'cider-d' AND submission IN ($1, $2) \
               ORDER BY value DESC LIMIT 1";
    let better: String =
        site.app.store.fetch_one(sql, args![&submissions[2], &submissions[3]]).await.unwrap();
    assert_eq!(stands().await, better);
    let list = ada.browser.get("/submissions").await.expect(200).text;
    assert_eq!((list.matches("/unchoose\"").count(), list.matches("/choose\"").count()), (2, 2), "{list}");
    let phase = format!("/api/v1/phases/{phase}");
    let halves = ada.program.get(&phase).await.expect(200).json()["halves"].clone();
    assert_eq!(
        (&halves["final"], &halves["chosen"], &halves["is_private_shown"]),
        (&json!("chosen"), &json!(2), &json!(false))
    );
    Clock::of_thread().unwrap().move_to(clock::parse("2026-07-01T00:00:00Z").unwrap());
    let id = &submissions[2];
    let late =
        ada.program.post_json(&format!("/api/v1/submissions/{id}/unchoose"), &json!({})).await.expect(409);
    assert_eq!(late.json()["code"], "closed");
}

/// The scores of a submission by a reference set, in the order of their keys.
async fn scored(site: &Site, submission: &str, set: &str) -> Vec<(String, f64)> {
    let sql = "SELECT metric, value FROM score JOIN reference_set ON reference_set.id = score.reference_set \
               JOIN phase ON phase.score_set = score.score_set WHERE submission = $1 AND name = $2 ORDER BY metric";
    site.app.store.fetch(sql, args![submission, set]).await.unwrap()
}

async fn a_half_is_scored_as_if_its_images_were_all() {
    let (halves, whole) = (Site::new(Database::Sqlite).await, Site::new(Database::Sqlite).await);
    let phase = apply(&halves, &plan(LISTED, "")).await.unwrap();
    let only = apply(&whole, &plan("", "images = 'public.txt'")).await.unwrap();
    let of_halves = Person::new(&halves, "Ada", Role::Member).await.submit(&halves, &phase, 6).await;
    let ada = Person::new(&whole, "Ada", Role::Member).await;
    // The other references have the first images.
    let mut described: Vec<Value> = serde_json::from_str(&results(IMAGES, 6)).unwrap();
    described.retain(|one| one["image_id"].as_u64().is_some_and(|id| id < 23 || is_public(id as usize)));
    let of_whole = ada.submit_file(&whole, &only, Value::from(described).to_string()).await;
    let public = scored(&halves, &of_halves, "c5").await;
    assert!(public.len() > 5);
    assert_eq!(public, scored(&whole, &of_whole, "c5").await);
    assert_ne!(public, scored(&halves, &of_halves, "c5-private").await);
}

/// The images of a reference set.
async fn images(site: &Site, set: &str) -> HashSet<String> {
    let sql = "SELECT ids_hash FROM reference_set WHERE name = $1";
    let hash: String = site.app.store.fetch_one(sql, args![set]).await.unwrap();
    let ids: Vec<Value> = serde_json::from_slice(&site.app.hidden.read(&hash).unwrap()).unwrap();
    ids.iter().map(ToString::to_string).collect()
}

async fn a_seed_draws_the_same_half_of_all_references() {
    let site = Site::new(Database::Sqlite).await;
    apply(&site, &plan("closes = '2026-07-01T00:00:00Z'\npublic = 0.4", "")).await.unwrap();
    let (public, private) = (images(&site, "c5").await, images(&site, "c5-private").await);
    assert!(public.is_disjoint(&private) && public.len() + private.len() == IMAGES);
    assert!((8..25).contains(&public.len()), "{}", public.len());
    assert!(images(&site, "c40").await.is_subset(&public));
    assert!(images(&site, "c40-private").await.is_subset(&private));
    let seed: String = site.app.store.fetch_one("SELECT public_seed FROM phase", args![]).await.unwrap();
    assert_eq!(seed.len(), 64);
    for page in ["/", "/b/b", "/b/b/p/leaderboard", "/api/v1/benchmarks"] {
        assert!(!site.anybody().get(page).await.expect(200).text.contains(&seed), "{page}");
    }
}

async fn rescoring_keeps_halves() {
    let site = Site::new(Database::Sqlite).await;
    let phase = apply(&site, &plan(LISTED, "")).await.unwrap();
    let root = Person::new(&site, "Root", Role::Admin).await;
    let id = Person::new(&site, "Ada", Role::Member).await.submit(&site, &phase, 6).await;
    let sets = ["c5", "c5-private", "c40", "c40-private"];
    let mut before = Vec::new();
    for set in sets {
        before.push(scored(&site, &id, set).await);
    }
    root.program.post_json(&format!("/api/v1/host/phases/{phase}/rescore"), &json!({})).await.expect(201);
    site.work().await;
    for (set, before) in sets.into_iter().zip(before) {
        assert!(!before.is_empty());
        assert_eq!(scored(&site, &id, set).await, before, "{set}");
    }
    let board = site.anybody().get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json();
    assert_eq!(board["reference_set"], "c5");
    site.anybody().get(&format!("/api/v1/phases/{phase}/leaderboard?ref=c5-private")).await.expect(400);
}

async fn a_private_half_waits_for_its_own_date_after_the_phase_closes() {
    let site = Site::new(Database::Sqlite).await;
    let dates = "closes = '2026-07-01T00:00:00Z'\npublic = 0.4\nprivate_at = '2026-07-02T00:00:00Z'";
    apply(&site, &plan(dates, "")).await.unwrap();
    let phase: String = site.app.store.fetch_one("SELECT id FROM phase", args![]).await.unwrap();
    for (now, is_shown, set) in [
        ("2026-06-30T12:00:00Z", false, "c5"),
        ("2026-07-01T12:00:00Z", false, "c5"),
        ("2026-07-02T00:00:01Z", true, "c5-private"),
    ] {
        Clock::of_thread().unwrap().move_to(clock::parse(now).unwrap());
        let shown = site.anybody().get(&format!("/api/v1/phases/{phase}")).await.expect(200).json();
        let halves = &shown["halves"];
        assert_eq!(
            (&halves["private_from"], &halves["is_private_shown"]),
            (&json!("2026-07-02T00:00:00Z"), &json!(is_shown)),
            "{now}: {shown}"
        );
        let board = site.anybody().get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200);
        assert_eq!(board.json()["reference_set"], set, "{now}");
    }
}

async fn plans_carry_halves_and_keep_what_was_seen() {
    let site = Site::new(Database::Sqlite).await;
    let share =
        "closes = '2026-07-01T00:00:00Z'\npublic = 0.4\nfinal = 'last'\nprivate_at = '2026-07-02T00:00:00Z'";
    apply(&site, &plan(share, "")).await.unwrap();
    let root = Person::new(&site, "Root", Role::Admin).await;
    let exported = root.browser.get("/b/b/benchmark.toml").await.expect(200).text;
    let seed: String = site.app.store.fetch_one("SELECT public_seed FROM phase", args![]).await.unwrap();
    for line in
        ["public = 0.4", "final = \"last\"", "private_at = 2026-07-02T00:00:00Z", &format!("\"{seed}\"")]
    {
        assert!(exported.contains(line), "{line}: {exported}");
    }
    assert!(!exported.contains("-private"), "{exported}");
    let before = images(&site, "c5").await;
    apply(&site, &exported).await.unwrap();
    assert_eq!(images(&site, "c5").await, before);
    let refused = async |lines: &str| apply(&site, &plan(lines, "")).await.unwrap_err();
    let changed = refused(&share.replace("0.4", "0.5")).await;
    assert!(changed.contains("public cannot change"), "{changed}");
    for (lines, why) in [
        ("public = 1.0", "a share between 0 and 1"),
        ("public = 0.4\npublic_ids = 'public.txt'", "not both"),
        ("final = 'last'", "need a public half"),
        ("public = 0.4\npublic_seed = 'short'", "at least 16 characters"),
        ("public = 0.4\nprivate_at = '2026-07-02T00:00:00Z'", "private_at needs closes"),
        ("public = 0.4\nchosen = 11", "chosen is a number from 1 to 10"),
        ("public = nan", "a share between 0 and 1"),
        ("public = 0.4\ngiven = [{ key = 'judge', label = 'Judge' }]", "given scores have no halves"),
    ] {
        let refusal = refused(lines).await;
        assert!(refusal.contains(why), "{lines}: {refusal}");
    }
    Clock::of_thread().unwrap().move_to(clock::parse("2026-07-02T00:00:00Z").unwrap());
    let again = refused(&share.replace("private_at = '2026-07-02", "private_at = '2026-08-02")).await;
    assert!(again.contains("cannot open again"), "{again}");
    let other = refused(&share.replace("last", "best")).await;
    assert!(other.contains("final cannot change"), "{other}");
    apply(&site, &exported).await.unwrap();
}

async fn hosts_end_a_phase_and_show_its_private_half() {
    let site = Site::new(Database::Sqlite).await;
    let phase = apply(&site, &plan("public_ids = 'public.txt'", "")).await.unwrap();
    let root = Person::new(&site, "Root", Role::Admin).await;
    let ada = Person::new(&site, "Ada", Role::Member).await;
    ada.submit(&site, &phase, 6).await;
    let path = format!("/api/v1/phases/{phase}");
    let board = format!("{path}/leaderboard");
    assert_eq!(site.anybody().get(&board).await.expect(200).json()["half"], "public");
    let host = root.browser.get("/b/b/p/host").await.expect(200).text;
    assert!(host.contains("You see scores of both halves"), "{host}");
    ada.program.post_json(&format!("/api/v1/host/phases/{phase}/private"), &json!({})).await.expect(404);
    root.browser.post("/b/b/p/host/private", &[]).await.expect(303);
    assert_eq!(site.anybody().get(&board).await.expect(200).json()["half"], "private");
    let shown = site.anybody().get(&path).await.expect(200).json();
    assert_eq!((&shown["is_open"], &shown["halves"]["is_private_shown"]), (&json!(false), &json!(true)));
    let again =
        root.program.post_json(&format!("/api/v1/host/phases/{phase}/private"), &json!({})).await.expect(409);
    assert_eq!(again.json()["code"], "shown");
    // The plan that is exported now can be applied.
    let exported = root.browser.get("/b/b/benchmark.toml").await.expect(200).text;
    apply(&site, &exported).await.unwrap();
    assert_eq!(site.anybody().get(&board).await.expect(200).json()["half"], "private");
}

async fn halves_are_set_in_the_form() {
    let site = Site::new(Database::Sqlite).await;
    let root = Person::new(&site, "Root", Role::Admin).await;
    apply(&site, &plan("", "").replace("slug = 'b'", "slug = 'b'\ndraft = true")).await.unwrap();
    let fields = [
        ("title", "Phase"),
        ("metrics", "bleu rouge-l cider-d"),
        ("references.0.name", "c5"),
        ("references.0.was", "c5"),
        ("references.0.language", "en"),
        ("closes", "2026-07-01T00:00"),
        ("public", "0.4"),
        ("public_seed", "a seed of the host"),
        ("private_at", "2026-07-02T00:00"),
        ("final", "chosen"),
        ("chosen", "3"),
    ];
    let body: String = fields
        .iter()
        .map(|(name, value)| {
            format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        })
        .chain(["--x--\r\n".to_owned()])
        .collect();
    let request =
        Request::post("/b/b/p/host/settings").header("content-type", "multipart/form-data; boundary=x");
    root.browser.send(request, body).await.expect(303);
    site.work().await;
    let sql = "SELECT public_seed, final_rule, most_chosen, private_at FROM phase";
    let kept: (String, String, i64, Option<i64>) = site.app.store.fetch_one(sql, args![]).await.unwrap();
    assert_eq!(
        kept,
        ("a seed of the host".to_owned(), "chosen".to_owned(), 3, clock::parse("2026-07-02T00:00:00Z"))
    );
    let page = root.browser.get("/b/b/p/host/settings").await.expect(200).text;
    assert_eq!((page.field("public"), page.field("chosen")), ("0.4", "3"));
    assert!(!images(&site, "c5-private").await.is_empty());
}
