//! Two entries side by side: the tests of all measures, who sees them, and who has them made.

use std::collections::HashMap;

use axum::http::Request;
use capeval::corpus::{self, ReadOptions, Surplus};
use capeval::report::Verdict;
use capeval::{CompareOptions, CompareRequest, MetricOptions, ScoreOptions, ScoreRequest};
use capeval_benchmarks::apply;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::web::Scope;
use serde_json::{Value, json};

use crate::benchmarks::{references, results};
use crate::support::{Client, Database, Page as _, Site, on_both, on_sqlite};

on_both! {
    two_entries_differ_as_capeval_compare_says
    a_comparison_is_seen_by_those_who_see_both_entries
    two_entries_are_compared_image_by_image_for_those_who_may_see_both
}

on_sqlite! {
    a_comparison_that_fails_is_made_again
    a_comparison_is_of_two_entries_that_have_captions
}

const METRICS: [&str; 7] = ["cider-d", "rouge-l", "chrf", "ter", "bleu", "chrf++", "sacrebleu"];

/// A phase with two reference sets, a baseline and an entry of each of some teams: its id, and the ids by method.
async fn entered(site: &Site, teams: &[(&str, usize)]) -> (String, impl Fn(&str) -> String + use<>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), references(40, 5)).unwrap();
    std::fs::write(folder.path().join("c40.json"), references(12, 9)).unwrap();
    std::fs::write(folder.path().join("3.json"), results(40, 3)).unwrap();
    let plan = format!(
        "slug = 'b'\ntitle = 'Benchmark'\n[[phases]]\nslug = 'p'\ntitle = 'Phase'\nmetrics = {METRICS:?}\nmain_metric = 'cider-d'\n\
         [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n[[phases.references]]\nname = 'c40'\nfile = 'c40.json'\n\
         [[phases.baselines]]\nmethod = '3'\nfile = '3.json'\n"
    );
    apply::apply(&site.app, &toml::from_str(&plan).unwrap(), folder.path(), None).await.unwrap();
    site.work().await;
    let phase: String = site.app.store.fetch_one("SELECT id FROM phase", args![]).await.unwrap();
    for (team, skill) in teams {
        let client = site.program(team, Role::Member, Scope::Submit).await;
        let path = format!("/api/v1/phases/{phase}/submissions?method={skill}");
        client.send(Request::post(path), results(40, *skill)).await.expect(201);
    }
    site.work().await;
    let ids: Vec<(String, String)> =
        site.app.store.fetch("SELECT method, id FROM submission", args![]).await.unwrap();
    (phase, move |method: &str| ids.iter().find(|(known, _)| known == method).unwrap().1.clone())
}

/// The output of `capeval compare` on two files with its defaults: of each measure its key, the p-value before and
/// after correction, and whether the files differ.
fn compared(references: &str, files: [&str; 2]) -> Vec<(String, f64, f64, bool)> {
    let read = |text: &str, options| corpus::read(text.as_bytes(), "a file", &options).unwrap();
    let [one, other] = files.map(|file| read(file, ReadOptions::candidates()));
    let score = ScoreOptions {
        metrics: MetricOptions::new(METRICS),
        surplus: Surplus::Ignore,
        ..ScoreOptions::default()
    };
    let references = read(references, ReadOptions::references());
    let request = CompareRequest {
        options: CompareOptions { score, ..CompareOptions::default() },
        ..CompareRequest::new(references, [("one", one), ("other", other)])
    };
    let comparison = capeval::compare(request).unwrap();
    let measures = comparison.report.head.measures.iter().zip(&comparison.pairs[0].contrasts);
    let tested = measures.filter(|(_, contrast)| contrast.has_test);
    tested
        .map(|(measure, contrast)| {
            let p = contrast.permutation.unwrap_or(contrast.randomisation);
            (measure.key.to_string(), p.value, p.adjusted, contrast.verdict != Verdict::Undecided)
        })
        .collect()
}

/// With so many measures that the correction changes verdicts.
async fn two_entries_differ_as_capeval_compare_says(database: Database) {
    let site = Site::new(database).await;
    let (phase, id) = entered(&site, &[("Ada", 7), ("Bao", 9), ("Cleo", 8)]).await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let (mut clear, mut corrected) = (0, 0);
    for (one, other) in [("9", "7"), ("3", "9"), ("7", "8")] {
        let api = format!("/api/v1/phases/{phase}/compare?entry={}&entry={}", id(one), id(other));
        let before = ada.get(&api).await.expect(200).json();
        // Neighbours are compared for the board already.
        if (one, other) == ("7", "8") {
            assert_eq!(before["state"], "compared", "{before}");
        } else {
            assert_eq!(
                (&before["state"], &before["reference_sets"][0]["measures"][0]["p"]),
                (&json!("not-compared"), &json!(null))
            );
            assert!(before["reference_sets"][0]["measures"][0]["scores"][1].is_number(), "{before}");
            for _ in 0..2 {
                let waiting = ada.post_json(&api, &json!({})).await.expect(200).json();
                assert_eq!(waiting["state"], "waiting", "{waiting}");
            }
            let jobs: i64 = site
                .app
                .store
                .fetch_one(
                    "SELECT COUNT(*) FROM job WHERE kind = 'compare-pair' AND state = 'queued'",
                    args![],
                )
                .await
                .unwrap();
            assert_eq!(jobs, 1);
            let page = site
                .anybody()
                .get(&api.replace(&format!("/api/v1/phases/{phase}"), "/b/b/p"))
                .await
                .expect(200)
                .text;
            assert!(
                page.contains("data-live=\"/b/b/p/compare?entry=")
                    && page.contains("They are being compared"),
                "{page}"
            );
        }
        site.work().await;
        let after = ada.get(&api).await.expect(200).json();
        assert_eq!(
            (&after["state"], &after["entries"][0]["method"]),
            (&json!("compared"), &json!(one)),
            "{after}"
        );
        let files = [one, other].map(|skill| results(40, skill.parse().unwrap()));
        for (set, references) in [references(40, 5), references(12, 9)].iter().enumerate() {
            let shown = &after["reference_sets"][set]["measures"];
            let said = compared(references, [&files[0], &files[1]]);
            let tested: Vec<&Value> =
                shown.as_array().unwrap().iter().filter(|of| of["p"].is_number()).collect();
            assert_eq!(tested.len(), said.len(), "{after}");
            for (of, (key, p, adjusted, differs)) in tested.into_iter().zip(said) {
                assert_eq!(
                    (&of["measure"], of["p"].as_f64(), of["p_corrected"].as_f64(), &of["differs"]),
                    (&json!(key), Some(p), Some(adjusted), &json!(differs)),
                    "{one} and {other}"
                );
                clear += usize::from(differs);
                corrected += usize::from(!differs && p < 0.05);
                let scores = [0, 1].map(|place| of["scores"][place].as_f64().unwrap());
                let difference = of["difference"].as_f64().unwrap();
                assert!((difference - (scores[0] - scores[1])).abs() < 1e-9, "{of}");
            }
        }
    }
    assert!(clear > 0 && corrected > 0, "{clear} {corrected}");
    // The page says the same, in either order.
    let address = format!("/b/b/p/compare?entry={}&entry={}", id("9"), id("3"));
    let page = site.anybody().get(&address).await.expect(200).text;
    assert!(page.contains("Bao is better") && !page.contains("3 is better"), "{page}");
    assert!(
        page.contains("Bao is significantly better by ")
            && page.contains("3 is significantly better by 0 of ")
    );
}

async fn a_comparison_is_seen_by_those_who_see_both_entries(database: Database) {
    let site = Site::new(database).await;
    let (phase, id) = entered(&site, &[("Ada", 7), ("Ada", 5), ("Bao", 9), ("Bao", 6)]).await;
    let (anybody, cleo) = (site.anybody(), site.program("Cleo", Role::Member, Scope::Submit).await);
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let root = site.program("Root", Role::Admin, Scope::Host).await;
    let api = |one: &str, other: &str| {
        format!("/api/v1/phases/{phase}/compare?entry={}&entry={}", id(one), id(other))
    };
    // 5 and 6 are not on the board, 7 and 9 are.
    let set = "UPDATE phase SET board = $1, reveal_at = $2";
    for (board, reveal, sees) in [
        ("public", None, ["7-9", "7-9", "7-9 7-5 5-9", "7-9 7-5 5-9 5-6"]),
        ("registered", None, ["", "7-9", "7-9 7-5 5-9", "7-9 7-5 5-9 5-6"]),
        ("own", None, ["", "", "7-5", "7-9 7-5 5-9 5-6"]),
        ("hidden", None, ["", "", "", "7-9 7-5 5-9 5-6"]),
        ("hidden", Some(1_i64), ["7-9", "7-9", "7-9 7-5 5-9", "7-9 7-5 5-9 5-6"]),
    ] {
        site.app.store.execute(set, args![board, reveal]).await.unwrap();
        for (client, sees) in [&anybody, &cleo, &ada, &root].into_iter().zip(sees) {
            for (one, other) in [("7", "9"), ("7", "5"), ("5", "9"), ("5", "6")] {
                let is_seen = sees.contains(&format!("{one}-{other}"));
                for (one, other) in [(one, other), (other, one)] {
                    let answer = client.get(&api(one, other)).await;
                    assert_eq!(
                        answer.status == 200,
                        is_seen,
                        "{one} {other} {board} {sees}: {}",
                        answer.text
                    );
                    assert!(is_seen || answer.status == 404);
                    if client.token.is_some() && !is_seen {
                        client.post_json(&api(one, other), &json!({})).await.expect(404);
                    }
                }
            }
        }
        // The page to choose them is where the board is.
        let status = anybody.get("/b/b/p/compare").await.status.as_u16();
        assert_eq!(status, if sees[0].is_empty() { 404 } else { 200 });
    }
    // Those who see both have them compared, if they have an account.
    site.app.store.execute(set, args!["public", None::<i64>]).await.unwrap();
    anybody.post_json(&api("7", "9"), &json!({})).await.expect(401);
    let reader = site.program("Ada", Role::Member, Scope::Read).await;
    reader.post_json(&api("5", "9"), &json!({})).await.expect(403);
    assert_eq!(reader.get(&api("5", "9")).await.expect(200).json()["state"], "not-compared");
    let browser = site.person("Ada", Role::Member).await;
    let address = format!("/b/b/p/compare?entry={}&entry={}", id("5"), id("9"));
    let page = browser.get(&address).await.expect(200).text;
    assert!(page.contains("<button>Compare them</button>"), "{page}");
    let place = page.between("class=\"card\" method=\"post\" action=\"", "\"").replace("&#38;", "&");
    browser.post(&place, &[]).await.expect(303);
    site.work().await;
    assert!(!browser.get(&address).await.expect(200).text.contains("Compare them"));
    assert_eq!(ada.get(&api("9", "5")).await.expect(200).json()["state"], "compared");
    // Other visitors are told no more than before; without an account, they are asked to sign in.
    anybody.get(&address).await.expect(404);
    site.app.store.execute("DELETE FROM comparison", args![]).await.unwrap();
    let address = format!("/b/b/p/compare?entry={}&entry={}", id("7"), id("9"));
    let page = anybody.get(&address).await.expect(200).text;
    assert!(
        page.contains("Sign in to have them compared") && !page.contains("<button>Compare them"),
        "{page}"
    );
    // One person asks for no more than some in a minute.
    let mut asked = 0;
    while ada.post_json(&api("7", "9"), &json!({})).await.status == 200 {
        asked += 1;
        assert!(asked < 100);
    }
    let refused = ada.post_json(&api("7", "9"), &json!({})).await.expect(429);
    assert!(!refused.header("retry-after").is_empty() && asked >= 19, "{asked}");
}

async fn a_comparison_that_fails_is_made_again() {
    let site = Site::new(Database::Sqlite).await;
    let (phase, id) = entered(&site, &[("Ada", 7), ("Bao", 9), ("Cleo", 8)]).await;
    let (ada, root) = (
        site.program("Ada", Role::Member, Scope::Submit).await,
        site.program("Root", Role::Admin, Scope::Host).await,
    );
    let api = format!("/api/v1/phases/{phase}/compare?entry={}&entry={}", id("7"), id("9"));
    let sql = "SELECT blob FROM submission WHERE id = $1";
    let blob: String = site.app.store.fetch_one(sql, args![id("7")]).await.unwrap();
    let set = "UPDATE submission SET blob = $1 WHERE id = $2";
    site.app.store.execute(set, args!["0".repeat(64), id("7")]).await.unwrap();
    ada.post_json(&api, &json!({})).await.expect(200);
    site.work().await;
    let failed = ada.get(&api).await.expect(200).json();
    assert_eq!((&failed["state"], &failed["reason"]), (&json!("failed"), &json!(null)));
    assert!(root.get(&api).await.expect(200).json()["reason"].is_string());
    let browser = site.person("Ada", Role::Member).await;
    let address = format!("/b/b/p/compare?entry={}&entry={}", id("7"), id("9"));
    let page = browser.get(&address).await.expect(200).text;
    assert!(page.contains("These two could not be compared.") && page.contains("<button>Try again</button>"));
    site.app.store.execute(set, args![blob, id("7")]).await.unwrap();
    assert_eq!(ada.post_json(&api, &json!({})).await.expect(200).json()["state"], "waiting");
    site.work().await;
    assert_eq!(ada.get(&api).await.expect(200).json()["state"], "compared");
    // Scoring again begins with nothing compared, and keeps what was.
    root.post_json(&format!("/api/v1/host/phases/{phase}/rescore"), &json!({})).await.expect(201);
    site.work().await;
    assert_eq!(ada.get(&api).await.expect(200).json()["state"], "not-compared");
}

/// Two rows of the board that have captions, as a browser sends them.
fn ticked(client: &str) -> Vec<&str> {
    let boxes = client.split("type=\"checkbox\" name=\"entry\" value=\"").skip(1);
    boxes.map(|rest| rest.split_once('"').unwrap().0).collect()
}

async fn a_comparison_is_of_two_entries_that_have_captions() {
    let site = Site::new(Database::Sqlite).await;
    let (phase, id) = entered(&site, &[("Ada", 7), ("Bao", 9)]).await;
    let ada: Client = site.program("Ada", Role::Member, Scope::Submit).await;
    let asked = |query: &str| format!("/api/v1/phases/{phase}/compare{query}");
    let (seven, nine, human) = (id("7"), id("9"), id("human"));
    for query in [
        String::new(),
        format!("?entry={seven}"),
        format!("?entry={seven}&entry={seven}"),
        format!("?entry={seven}&entry="),
        format!("?entry={seven}&entry={nine}&entry={}", id("3")),
    ] {
        for refused in [
            ada.get(&asked(&query)).await.expect(422),
            ada.post_json(&asked(&query), &json!({})).await.expect(422),
        ] {
            assert_eq!(refused.json()["code"], "pair", "{query}");
        }
    }
    ada.get(&asked(&format!("?entry={seven}&entry=none"))).await.expect(404);
    let with_people = asked(&format!("?entry={seven}&entry={human}"));
    let shown = ada.get(&with_people).await.expect(200).json();
    assert_eq!((&shown["state"], &shown["entries"][1]["kind"]), (&json!("no-captions"), &json!("human")));
    let measure = &shown["reference_sets"][0]["measures"][0];
    assert!(measure["scores"][1].is_number() && measure["p"].is_null(), "{shown}");
    assert_eq!(ada.post_json(&with_people, &json!({})).await.expect(409).json()["code"], "no-captions");

    // The board has a box for each row with captions, which leads to the page, and so does the page of an entry.
    let anybody = site.anybody();
    let board = anybody.get("/b/b/p/leaderboard").await.expect(200).text;
    assert_eq!(ticked(&board), [&nine, &seven, &id("3")]);
    assert!(
        board.contains("id=\"pair\" action=\"/b/b/p/compare\"") && board.contains("form=\"pair\""),
        "{board}"
    );
    let entry = anybody.get(&format!("/b/b/p/entries/{seven}")).await.expect(200).text;
    assert!(entry.contains(&format!("href=\"/b/b/p/compare?entry={seven}\"")), "{entry}");
    let people = anybody.get(&format!("/b/b/p/entries/{human}")).await.expect(200).text;
    assert!(!people.contains("/compare"), "{people}");
    let one = anybody.get(&format!("/b/b/p/compare?entry={seven}")).await.expect(200).text;
    assert!(one.contains(&format!("<option value=\"{seven}\" selected>Ada (7)</option>")), "{one}");
    assert!(!one.contains("role=\"alert\"") && !one.contains(&human) && !one.contains("<h2>"), "{one}");
    let three = format!("/b/b/p/compare?entry={seven}&entry={nine}&entry={}", id("3"));
    assert!(anybody.get(&three).await.expect(200).text.contains("Choose two different entries."));
    // A row that does not differ from the one above leads to the test.
    site.app.store.execute("UPDATE comparison SET p = 0.9", args![]).await.unwrap();
    let board = anybody.get("/b/b/p/leaderboard?sort=bleu-1").await.expect(200).text;
    let link = format!("<a href=\"/b/b/p/compare?entry={nine}&#38;entry={seven}\">≈ row above</a>");
    assert!(board.contains(&link), "{board}");
}

async fn two_entries_are_compared_image_by_image_for_those_who_may_see_both(database: Database) {
    let site = Site::new(database).await;
    let (phase, id) = entered(&site, &[("Ada", 7), ("Ada", 5), ("Bao", 9)]).await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let root = site.program("Root", Role::Admin, Scope::Host).await;
    let api = |one: &str, other: &str, more: &str| {
        format!("/api/v1/phases/{phase}/compare?entry={}&entry={}{more}", id(one), id(other))
    };
    // Unless the phase shows results image by image, no one sees them, and nothing is found out.
    for client in [&ada, &root] {
        client.post_json(&api("7", "5", ""), &json!({})).await.expect(200);
        site.work().await;
        let shown = client.get(&api("7", "5", "")).await.expect(200).json();
        assert_eq!((&shown["state"], &shown["images"]), (&json!("compared"), &json!(null)), "{shown}");
    }
    let jobs: i64 = site
        .app
        .store
        .fetch_one("SELECT COUNT(*) FROM job WHERE kind = 'contrast-pair'", args![])
        .await
        .unwrap();
    assert_eq!(jobs, 0);
    site.app.store.execute("UPDATE phase SET per_image = 'scores'", args![]).await.unwrap();
    let before = ada.get(&api("7", "5", "")).await.expect(200).json();
    assert_eq!(
        (&before["images"]["state"], &before["images"]["points"]),
        (&json!("not-compared"), &json!([]))
    );
    let browser = site.person("Ada", Role::Member).await;
    let address = format!("/b/b/p/compare?entry={}&entry={}", id("7"), id("5"));
    let page = browser.get(&address).await.expect(200).text;
    assert!(
        page.contains("have not been compared image by image yet") && !page.contains("<figure"),
        "{page}"
    );
    let waiting = ada.post_json(&api("7", "5", ""), &json!({})).await.expect(200).json();
    assert_eq!((&waiting["state"], &waiting["images"]["state"]), (&json!("compared"), &json!("waiting")));
    site.work().await;

    // Ada's own two: as `capeval score` says of each image.
    let shown = ada.get(&api("7", "5", "&ref=c5&measure=rouge-l")).await.expect(200).json();
    let images = &shown["images"];
    assert_eq!(
        (&images["state"], &images["reference_set"], &images["measure"], &images["images"]),
        (&json!("compared"), &json!("c5"), &json!("rouge-l"), &json!(40))
    );
    let (seven, five) = (scores_of_images("7"), scores_of_images("5"));
    let points: Vec<[f64; 2]> = images["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| [0, 1].map(|place| point["scores"][place].as_f64().unwrap()))
        .collect();
    let round = |score: f64| format!("{score:.3}").parse::<f64>().unwrap();
    let expected: Vec<[f64; 2]> = (0..40).map(|image| [round(seven[&image]), round(five[&image])]).collect();
    assert_eq!(points, expected);
    let first = images["first_better"].as_array().unwrap();
    assert!(!first.is_empty() && images["second_better"].as_array().unwrap().len() <= 20, "{images}");
    let differences: Vec<f64> = first
        .iter()
        .map(|of| {
            let image: usize = of["image"].as_str().unwrap().parse().unwrap();
            assert_eq!(of["captions"], json!([caption_of("7", image), caption_of("5", image)]), "{of}");
            seven[&image] - five[&image]
        })
        .collect();
    assert!(
        differences.is_sorted_by(|a, b| a >= b) && differences.iter().all(|more| *more > 0.0),
        "{differences:?}"
    );
    let most = (0..40).map(|image| seven[&image] - five[&image]).fold(f64::MIN, f64::max);
    assert_eq!(differences[0], most);
    // In the other order, all is the other way round.
    let turned = ada.get(&api("5", "7", "&ref=c5&measure=rouge-l")).await.expect(200).json();
    assert_eq!(turned["images"]["second_better"][0]["image"], first[0]["image"]);
    assert_eq!(turned["images"]["points"][1]["scores"][0], images["points"][1]["scores"][1]);
    for wrong in ["&ref=nothing", "&measure=nothing"] {
        ada.get(&api("7", "5", wrong)).await.expect(404);
    }
    let page = browser.get(&address).await.expect(200).text;
    assert!(page.contains("<figure") && page.contains("images on which 7 is better"), "{page}");
    assert!(page.contains(&caption_of("7", 5)), "{page}");
    assert!(!page.contains("secret") && !shown.to_string().contains("secret"), "a reference left");

    // Others see none of it, not even beside an entry of their own; hosts do.
    site.app.store.execute("DELETE FROM contrast", args![]).await.unwrap();
    for (client, one, other, is_seen) in [
        (&site.anybody(), "7", "9", false),
        (&ada, "7", "9", false),
        (&site.program("Bao", Role::Member, Scope::Submit).await, "9", "7", false),
        (&root, "7", "9", true),
    ] {
        let shown = client.get(&api(one, other, "")).await.expect(200).json();
        assert_eq!(shown["images"].is_null(), !is_seen, "{one} {other} {shown}");
    }
    ada.post_json(&api("7", "9", ""), &json!({})).await.expect(200);
    site.work().await;
    let found = "SELECT 1 FROM contrast";
    assert!(!site.app.store.exists(found, args![]).await.unwrap());
    root.post_json(&api("7", "9", ""), &json!({})).await.expect(200);
    site.work().await;
    assert_eq!(root.get(&api("7", "9", "")).await.expect(200).json()["images"]["state"], "compared");
    assert!(ada.get(&api("7", "9", "")).await.expect(200).json()["images"].is_null());
    // What a phase shows no more is gone at once.
    site.app.store.execute("UPDATE phase SET per_image = 'none'", args![]).await.unwrap();
    assert!(root.get(&api("7", "9", "")).await.expect(200).json()["images"].is_null());
}

/// The caption of an image that a method gave.
fn caption_of(skill: &str, image: usize) -> String {
    let file: Value = serde_json::from_str(&results(40, skill.parse().unwrap())).unwrap();
    file[image]["caption"].as_str().unwrap().to_owned()
}

/// The scores of each image by ROUGE-L, from `capeval score`.
fn scores_of_images(skill: &str) -> HashMap<usize, f64> {
    let read = |text: &str, options| corpus::read(text.as_bytes(), "a file", &options).unwrap();
    let captions = read(&results(40, skill.parse().unwrap()), ReadOptions::candidates());
    let metrics = MetricOptions::new(["rouge-l"]);
    let request = ScoreRequest {
        options: ScoreOptions { metrics, segments: true, ..ScoreOptions::default() },
        ..ScoreRequest::new(read(&references(40, 5), ReadOptions::references()), Some(("system", captions)))
    };
    let report = capeval::score(request).unwrap();
    let segments = report.systems[0].segments.as_ref().unwrap();
    segments.ids.iter().map(|id| id.to_string().parse().unwrap()).zip(segments.values.clone()).collect()
}
