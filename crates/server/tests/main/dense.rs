//! Phases of dense video captions: references, uploads, scores, boards, comparisons, results video by video.

use axum::http::Request;
use capeval::metric::Resources;
use capeval_benchmarks::apply::apply;
use capeval_benchmarks::settings::Plan;
use capeval_dense::read::{ReadOptions, read};
use capeval_dense::{DenseOptions, EventFile, WordMetric, WordMetrics, score};
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::web::Scope;
use capeval_testkit::skip;
use serde_json::{Value, json};

use crate::support::{Client, Database, Site, on_both, on_sqlite};

on_both! {
    events_are_submitted_scored_ranked
}

on_sqlite! {
    files_of_events_are_refused_in_words
    a_plan_for_dense_captions_is_checked
    the_board_of_the_usual_form_begins_with_soda
}

const VIDEOS: usize = 12;

/// The events of each video, which `annotator` sees in a way of their own.
fn references(annotator: usize) -> Value {
    let video = |v: usize| {
        let start = (v + annotator) as f64 / 3.0;
        let times = json!([[0.0, 9.0 + start], [7.0 + start, 20.1]]);
        let man = ["a man rides a bike", "someone is riding a bicycle"][annotator];
        let captions = [format!("{man} near house {v}"), format!("a dog runs on the grass {v}")];
        (format!("v_{v}"), json!({ "duration": 24.6, "timestamps": times, "sentences": captions }))
    };
    (0..VIDEOS).map(video).collect()
}

/// Results that are the better the higher `skill` is, to 10.
fn results(skill: usize) -> Value {
    let video = |v: usize| {
        let words = if v < skill { "a man rides a bike near house" } else { "nothing to see" };
        let event =
            |end: f64, words: &str| json!({ "timestamp": [0.1, end], "sentence": format!("{words} {v}") });
        (format!("v_{v}"), json!([event(8.7 + skill as f64 / 7.0, words), event(23.9, "a dog runs")]))
    };
    json!({ "results": (0..VIDEOS).map(video).collect::<Value>() })
}

fn plan(form: &str, more: &str) -> Plan {
    toml::from_str(&format!(
        "slug = 'b'\ntitle = 'B'\n[[phases]]\nslug = 'p'\ntitle = 'P'\n\
         metrics = ['{form}']\nper_image = 'explained'\ndecimals = 12\n{more}\n\
         [[phases.references]]\nname = 'val'\nfile = 'val.json'\n"
    ))
    .unwrap()
}

/// Makes a phase with two files of references, one after the other; returns its id.
async fn phase(site: &Site, plan: &Plan) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("val.json"), format!("{}{}", references(0), references(1))).unwrap();
    apply(&site.app, plan, folder.path(), None).await.unwrap();
    site.work().await;
    site.app.store.fetch_one("SELECT id FROM phase", args![]).await.unwrap()
}

async fn submitted(site: &Site, who: &Client, phase: &str, method: &str, results: &Value) -> Value {
    let path = format!("/api/v1/phases/{phase}/submissions?method={method}");
    let made = who.send(Request::post(path), results.to_string()).await.expect(201).json();
    site.work().await;
    let id = made["id"].as_str().unwrap();
    who.get(&format!("/api/v1/submissions/{id}")).await.expect(200).json()
}

async fn events_are_submitted_scored_ranked(database: Database) {
    let site = Site::new(database).await;
    let host = site.person("Ada", Role::Host).await;
    let phase = phase(&site, &plan("dense:soda-c:cider-d", "main_metric = 'f1'")).await;
    let ada = site.program("Ada", Role::Host, Scope::Submit).await;
    let bo = site.program("Bo", Role::Member, Scope::Submit).await;
    let page = host.get("/b/b/p/submit").await.expect(200).text;
    assert!(page.contains("timestamp") && !page.contains("image_id"), "{page}");
    let good = submitted(&site, &ada, &phase, "good", &results(9)).await;
    let poor = submitted(&site, &bo, &phase, "poor", &results(3)).await;
    assert_eq!((&good["state"], &poor["state"]), (&json!("scored"), &json!("scored")), "{good} {poor}");

    // The engine says the same of the same files.
    let file =
        |value: &Value| -> EventFile { read(&value.to_string(), "a file", &ReadOptions::default()).unwrap() };
    let form = "soda-c:cider-d".parse().unwrap();
    let metrics = WordMetrics::new(&Resources::default(), &[WordMetric::Cider]).unwrap();
    let options = DenseOptions { human: true, ..DenseOptions::new(vec![form]) };
    let systems = vec![("good".to_owned(), file(&results(9))), ("poor".to_owned(), file(&results(3)))];
    let report = score(&[file(&references(0)), file(&references(1))], systems, &options, &metrics).unwrap();
    let sql = "SELECT value FROM score JOIN submission ON submission.id = score.submission \
               WHERE (method = $1 OR kind = $1) AND metric = $2";
    for system in &report.systems {
        for measure in &system.forms[0].measures {
            let found: f64 = site.app.store.fetch_one(sql, args![&system.name, &measure.name]).await.unwrap();
            assert_eq!(found, measure.value.0, "{} {}", system.name, measure.name);
        }
    }
    let board = host.get("/b/b/p/leaderboard").await.expect(200).text;
    let place = |text: &str| board.find(text).unwrap_or_else(|| panic!("{text} is not on {board}"));
    assert!(place("good") < place("poor") && place("f1") < place("recall"));

    // Neighbours are compared with videos as units.
    let tests = "SELECT count(*) FROM comparison WHERE metric = 'f1' AND p IS NOT NULL";
    let tested: i64 = site.app.store.fetch_one(tests, args![]).await.unwrap();
    assert!(tested > 0, "nothing is tested");

    let path = format!("/api/v1/submissions/{}/images", good["id"].as_str().unwrap());
    ada.post_json(&path, &json!({})).await.expect(200);
    site.work().await;
    assert_eq!(ada.get(&path).await.expect(200).json()["state"], "ready");
    let lines = ada.get(&format!("{path}.jsonl")).await.expect(200).text;
    assert_eq!(lines.lines().count(), VIDEOS, "{lines}");
    assert!(lines.contains("\"v_3\""), "{lines}");
    let page = host.get(&format!("/submissions/{}/images", good["id"].as_str().unwrap())).await.expect(200);
    assert!(page.text.contains("soda-c:cider-d"), "{}", page.text);
}

async fn files_of_events_are_refused_in_words() {
    let site = Site::new(Database::Sqlite).await;
    site.person("Ada", Role::Host).await;
    let phase = phase(&site, &plan("dense:soda-c:cider-d", "main_metric = 'f1'")).await;
    let ada = site.program("Ada", Role::Host, Scope::Submit).await;
    let path = format!("/api/v1/phases/{phase}/validate");
    let check = async |body: String| ada.send(Request::post(&path), body).await.expect(200).json();
    let one = |events: Value| {
        let mut all = results(3);
        all["results"]["v_1"] = events;
        all
    };
    for (events, words) in [
        (json!([{ "timestamp": [1, "x"], "sentence": "a dog" }]), "v_1"),
        (json!([{ "timestamp": ["120%", "130%"], "sentence": "a dog" }]), "120 %"),
        (json!([{ "timestamp": [1, 2], "sentence": "a".repeat(2_001) }]), "more than 2000 characters"),
        (json!([{ "timestamp": [1, 2] }]), "v_1"),
    ] {
        let report = check(one(events).to_string()).await;
        let reason = report["unreadable"].as_str().unwrap_or_else(|| panic!("{report}"));
        assert!(reason.contains(words), "{reason}");
    }
    let captions = check(r#"[{"image_id": "v_1", "caption": "a dog"}]"#.to_owned()).await;
    assert_eq!(captions["is_valid"], false, "{captions}");
    // Videos are missing, and unknown; ids may lack what the references begin with.
    let mut few = results(3);
    let videos = few["results"].as_object_mut().unwrap();
    let moved = videos.remove("v_5").unwrap();
    videos.insert("v_77".to_owned(), moved);
    let report = check(few.to_string()).await;
    let kinds: Vec<(&Value, &Value)> =
        report["problems"].as_array().unwrap().iter().map(|one| (&one["kind"], &one["first"])).collect();
    assert!(kinds.contains(&(&json!("missing"), &json!(["v_5"]))), "{report}");
    assert!(kinds.contains(&(&json!("unknown"), &json!(["v_77"]))), "{report}");
    let bare = results(3).to_string().replace("v_", "");
    assert_eq!(check(bare).await["is_valid"], true);
    let percent = one(json!([{ "timestamp": ["10%", "50%"], "sentence": "a dog runs" }]));
    assert_eq!(check(percent.to_string()).await["is_valid"], true);
}

async fn a_plan_for_dense_captions_is_checked() {
    let site = Site::new(Database::Sqlite).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("val.json"), references(0).to_string()).unwrap();
    let soda = "dense:soda-c:cider-d";
    for (plan, words) in [
        (plan("dense:densevid-2020", "main_metric = 'f1'"), "did you mean densevid-201"),
        (plan(soda, "main_metric = 'f2'"), "the metrics give f1, precision, recall"),
        (plan(soda, "main_metric = 'f1'\nboard_columns = ['recal']"), "did you mean recall?"),
        (plan(&format!("{soda}', 'bleu"), "main_metric = 'f1'"), "give each a phase of its own"),
        (plan(&format!("{soda}', 'dense:vist"), "main_metric = 'f1'"), "give each a phase of its own"),
        (plan(soda, "main_metric = 'f1'"), "can score only English"),
    ] {
        let mut plan = plan;
        if words.contains("English") {
            plan.phases[0].references[0].language = "de".to_owned();
        }
        let error = apply(&site.app, &plan, folder.path(), None).await.unwrap_err();
        assert!(format!("{error:#}").contains(words), "{error:#}");
    }
}

async fn the_board_of_the_usual_form_begins_with_soda() {
    let site = Site::new(Database::Sqlite).await;
    if !site.app.data().is_some_and(|folder| folder.join("meteor-1.5.bin").exists()) {
        return skip("meteor", "METEOR is not installed, and SODA_c with it not tested");
    }
    let host = site.person("Ada", Role::Host).await;
    let phase = phase(&site, &plan("dense:capeval", "main_metric = 'soda-c'")).await;
    let ada = site.program("Ada", Role::Host, Scope::Submit).await;
    let shown = submitted(&site, &ada, &phase, "a", &results(5)).await;
    assert_eq!(shown["state"], "scored", "{shown}");
    let measures: Vec<String> = shown["scores"]["val"].as_object().unwrap().keys().cloned().collect();
    assert!(measures.contains(&"soda-c".to_owned()) && measures.contains(&"meteor".to_owned()), "{shown}");
    let board = host.get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(board.find("soda-c").unwrap() < board.find("meteor").unwrap(), "{board}");
}
