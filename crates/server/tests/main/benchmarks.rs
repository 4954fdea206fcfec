//! The path of a submission: from a file to a place on the board.

use axum::http::Request;
use capeval::corpus::{self, ReadOptions};
use capeval::report::{Contrast, Verdict};
use capeval::{CompareOptions, CompareRequest, MetricOptions, ScoreOptions};
use capeval_benchmarks::apply::{self, AppliedPlan};
use capeval_server::FEATURES;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::feature::routes;
use capeval_site::web::Scope;
use serde_json::{Value, json};

use crate::support::process::rounds;
use crate::support::{Client, Database, Page as _, Site, eventually, on_both, on_sqlite, settings};

on_both! {
    files_are_refused_in_the_words_of_capeval_score
    people_see_no_folders_of_the_server
    files_of_all_formats_are_the_same_submission
    the_form_checks_a_file_without_submitting_it
    a_wrong_file_is_reported_and_costs_nothing
    the_same_captions_are_one_submission
    the_same_request_has_one_effect
    the_board_has_the_best_submission_of_each_team
    a_pinned_submission_stands_for_its_team
    neighbours_differ_as_capeval_compare_says
    pages_show_what_programs_get
    a_file_is_submitted_by_a_form
    two_hundred_at_once_are_five
    faults_of_ours_and_cancellations_are_given_back
    hidden_scores_and_references_never_leave
    the_home_page_shows_states_and_best_entries
    a_registered_board_is_for_people_with_an_account
    members_of_a_team_begin_at_once
    what_is_refused_takes_no_space
}

on_sqlite! {
    uploads_have_limits
    teams_are_joined_by_links_and_nobody_is_in_two
    a_token_for_submissions_changes_only_those_of_its_owner
    a_full_team_takes_nobody
    what_programs_misspell_is_named
    sets_that_are_ready_at_once_open_the_phase
}

const WORDS: [&str; 12] =
    ["dog", "man", "beach", "red", "bus", "runs", "near", "a", "the", "on", "grass", "happily"];

/// A caption of an image, which differs for each `k`.
fn caption(image: usize, k: usize) -> String {
    let word = |n: usize| WORDS[(image * 7 + k * n + n * n) % WORDS.len()];
    format!("secret{image} {} {} {} {} {}", word(1), word(2), word(3), word(5), word(7))
}

pub fn references(images: usize, each: usize) -> String {
    let list: Vec<Value> = (0..images)
        .flat_map(|image| (0..each).map(move |k| json!({ "image_id": image, "caption": caption(image, k) })))
        .collect();
    let images: Vec<Value> = (0..images).map(|image| json!({ "id": image })).collect();
    let annotations: Vec<Value> = list
        .into_iter()
        .enumerate()
        .map(|(id, mut annotation)| {
            annotation["id"] = id.into();
            annotation
        })
        .collect();
    json!({ "images": images, "annotations": annotations }).to_string()
}

/// The results of a method that is the better the higher `skill` is, to 10.
pub fn results(images: usize, skill: usize) -> String {
    let one = |image: usize| {
        let text = caption(image, 0).replace("secret", "thing");
        let text = if image % 10 < skill { text } else { "nothing to see".to_owned() };
        json!({ "image_id": image, "caption": format!("{text} {skill}") })
    };
    (0..images).map(one).collect::<Value>().to_string()
}

/// Applies the plan of a benchmark with a phase.
pub async fn apply_plan(site: &Site, more: &str) -> anyhow::Result<AppliedPlan> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), references(40, 5)).unwrap();
    std::fs::write(folder.path().join("c40.json"), references(12, 9)).unwrap();
    std::fs::write(folder.path().join("baseline.json"), results(40, 3)).unwrap();
    let plan = format!(
        "slug = 'b'\ntitle = 'Benchmark'\nrules = 'Be *kind*.'\n[[phases]]\nslug = 'p'\ntitle = 'Phase'\n\
         metrics = ['bleu', 'rouge-l', 'cider-d']\n{more}\n\
         [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n[[phases.references]]\nname = 'c40'\nfile = 'c40.json'\n\
         [[phases.baselines]]\nmethod = 'Baseline'\nfile = 'baseline.json'\n"
    );
    let plan = toml::from_str(&plan).unwrap();
    apply::apply(&site.app, &plan, folder.path(), None).await
}

/// Makes a benchmark with a phase and returns the id of the phase.
pub async fn benchmark(site: &Site, more: &str) -> String {
    apply_plan(site, more).await.unwrap();
    site.work().await;
    let row = site.app.store.first("SELECT id, score_set FROM phase", args![]).await.unwrap().unwrap();
    assert!(row.get::<Option<String>>("score_set").unwrap().is_some(), "the references are not ready");
    row.get("id").unwrap()
}

async fn send(
    client: &Client,
    phase: &str,
    method: &str,
    body: impl Into<axum::body::Body>,
) -> crate::support::Answer {
    let path = format!("/api/v1/phases/{phase}/submissions?method={method}");
    client.send(Request::post(path).header("content-type", "application/json"), body).await
}

/// A file with an empty caption, an unknown image, and nothing else.
const WRONG: &str = r#"[{"image_id": 0, "caption": ""}, {"image_id": 99, "caption": "x"}]"#;

async fn a_wrong_file_is_reported_and_costs_nothing(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 4").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let report =
        ada.send(Request::post(format!("/api/v1/phases/{phase}/validate")), WRONG).await.expect(200).json();
    assert_eq!((&report["is_valid"], &report["images"]), (&json!(false), &json!(40)));
    let refused = send(&ada, &phase, "wrong", WRONG).await.expect(422).json();
    assert_eq!(refused["code"], "invalid");
    assert_eq!(refused["report"]["problems"][0]["kind"], "missing");
    assert_eq!(refused["report"]["problems"][0]["count"], 39);
    for wrong in ["", "{}", "no json", "[", "PK\u{3}\u{4}"] {
        send(&ada, &phase, "wrong", wrong).await.expect(422);
    }
    send(&ada, &phase, "", results(40, 5)).await.expect(422);
    let quota = ada.get(&format!("/api/v1/phases/{phase}/quota")).await.expect(200).json();
    assert_eq!((quota["used_today"].as_i64(), quota["left"].as_i64()), (Some(0), Some(4)));
}

async fn the_same_captions_are_one_submission(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 4").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let made = send(&ada, &phase, "Five", results(40, 5)).await.expect(201);
    let first = made.json();
    assert_eq!((first["state"].as_str(), first["ahead"].as_i64()), (Some("queued"), Some(0)));
    assert!(made.header("location").ends_with(first["id"].as_str().unwrap()));
    // The same captions in another form, before and after they are scored.
    let same: Value = serde_json::from_str(&results(40, 5)).unwrap();
    let mut same = same.as_array().unwrap().clone();
    same.reverse();
    let again = send(&ada, &phase, "Again", Value::from(same.clone()).to_string()).await.expect(409).json();
    assert_eq!(again["submission"]["id"], first["id"]);
    site.work().await;
    let again = send(&ada, &phase, "Again", Value::from(same).to_string()).await.expect(409).json();
    assert_eq!(again["submission"]["state"], "scored");
    let scores = &again["submission"]["scores"];
    assert!(
        scores["c5"]["cider-d"].as_f64().unwrap() > 0.0 && scores["c40"]["bleu-1"].as_f64().unwrap() > 0.0
    );
}

async fn the_same_request_has_one_effect(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 4").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let key = |key: &str, body: String| {
        let path = format!("/api/v1/phases/{phase}/submissions?method=Seven");
        let request = Request::post(path).header("idempotency-key", key);
        let ada = ada.clone();
        async move { ada.send(request, body).await }
    };
    let one = key("k1", results(40, 7)).await.expect(201).json();
    assert_eq!(key("k1", results(40, 7)).await.expect(200).json()["id"], one["id"]);
    assert_eq!(key("k1", results(40, 8)).await.expect(422).json()["code"], "key-reused");
    let quota = ada.get(&format!("/api/v1/phases/{phase}/quota")).await.expect(200).json();
    assert_eq!(quota["used_today"], 1);
}

/// Two scored submissions of Ada and two of Bao: the phase, the clients, and the id of Ada's first and poorer one.
pub async fn two_teams(site: &Site) -> (String, Client, Client, String) {
    let phase = benchmark(site, "per_day = 4").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let bao = site.program("Bao", Role::Member, Scope::Submit).await;
    let mut made = Vec::new();
    for (client, method, skill) in
        [(&ada, "Five", 5), (&ada, "Seven", 7), (&bao, "Six", 6), (&bao, "Nine", 9)]
    {
        made.push(send(client, &phase, method, results(40, skill)).await.expect(201).json());
    }
    site.work().await;
    (phase, ada, bao, made[0]["id"].as_str().unwrap().to_owned())
}

async fn the_board_has_the_best_submission_of_each_team(database: Database) {
    let site = Site::new(database).await;
    let (phase, ada, ..) = two_teams(&site).await;
    let board = ada.get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json();
    let rows = board["rows"].as_array().unwrap();
    let shown: Vec<(&Value, &str, &str)> = rows
        .iter()
        .map(|row| (&row["rank"], row["team"].as_str().unwrap(), row["method"].as_str().unwrap()))
        .collect();
    assert!(
        shown.contains(&(&json!(1), "Bao", "Nine")) && shown.contains(&(&json!(2), "Ada", "Seven")),
        "{shown:?}"
    );
    assert!(shown.contains(&(&Value::Null, "", "Baseline")) && shown.contains(&(&Value::Null, "", "human")));
    assert_eq!(shown.len(), 4);
    let nine = rows.iter().find(|row| row["method"] == "Nine").unwrap();
    let (score, interval) = (&nine["scores"]["cider-d"], nine["intervals"]["cider-d"].as_array().unwrap());
    assert!(interval[0].as_f64() <= score.as_f64() && score.as_f64() <= interval[1].as_f64());
    // The row of people, which has no captions of its own, is passed over.
    let mut above: Option<&Value> = None;
    for row in rows {
        let is_compared = row["kind"] != "human" && above.is_some();
        assert_eq!(row["not_different_from_row_above"].is_boolean(), is_compared, "{row}");
        assert_eq!(
            row["row_above"]["method"],
            above.filter(|_| is_compared).map_or(Value::Null, |above| above["method"].clone())
        );
        if row["kind"] != "human" {
            above = Some(row);
        }
    }
}

/// The output of `capeval compare` on files by a measure, with its defaults: each p-value before correction, and the
/// systems that differ from the first one.
fn compared(files: &[&str], measure: &str) -> (Vec<f64>, Vec<bool>) {
    let read = |text: &str, options| corpus::read(text.as_bytes(), "a file", &options).unwrap();
    let references = read(&references(40, 5), ReadOptions::references());
    let systems: Vec<(String, _)> = (0..)
        .zip(files)
        .map(|(k, file)| (format!("system {k}"), read(file, ReadOptions::candidates())))
        .collect();
    let score = ScoreOptions { metrics: MetricOptions::new(vec![measure.to_owned()]), ..Default::default() };
    let request = CompareRequest {
        options: CompareOptions { score, ..CompareOptions::default() },
        ..CompareRequest::new(references, systems)
    };
    let comparison = capeval::compare(request).unwrap();
    let contrasts = comparison.pairs.iter().map(|pair| &pair.contrasts[0]);
    let p = |contrast: &Contrast| contrast.permutation.unwrap_or(contrast.randomisation).value;
    (contrasts.clone().map(p).collect(), contrasts.map(|c| c.verdict != Verdict::Undecided).collect())
}

/// With so many measures that a correction over them would hide what differs clearly.
async fn neighbours_differ_as_capeval_compare_says(database: Database) {
    const MEASURES: [&str; 5] = ["cider-d", "cider", "rouge-l", "chrf", "ter"];
    let site = Site::new(database).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), references(40, 5)).unwrap();
    std::fs::write(folder.path().join("baseline.json"), results(40, 5)).unwrap();
    let plan = "slug = 'b'\ntitle = 'Benchmark'\n[[phases]]\nslug = 'p'\ntitle = 'Phase'\nhuman = false\n\
        metrics = ['cider-d', 'cider', 'rouge-l', 'chrf', 'ter', 'bleu', 'chrf++', 'sacrebleu', 'rouge-score']\n\
        [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n\
        [[phases.baselines]]\nmethod = '5'\nfile = 'baseline.json'\n";
    let plan = toml::from_str(plan).unwrap();
    apply::apply(&site.app, &plan, folder.path(), None).await.unwrap();
    site.work().await;
    let phase: String = site.app.store.fetch_one("SELECT id FROM phase", args![]).await.unwrap();
    for (name, skill) in [("Ada", 7), ("Bao", 9)] {
        let person = site.program(name, Role::Member, Scope::Submit).await;
        send(&person, &phase, &skill.to_string(), results(40, skill)).await.expect(201);
    }
    site.work().await;
    let anybody = site.anybody();
    for measure in MEASURES {
        let address = format!("/api/v1/phases/{phase}/leaderboard?sort={measure}");
        let board = anybody.get(&address).await.expect(200).json();
        let rows = board["rows"].as_array().unwrap();
        let files: Vec<String> =
            rows.iter().map(|row| results(40, row["method"].as_str().unwrap().parse().unwrap())).collect();
        assert_eq!(files.len(), 3, "{board}");
        // The row in the middle is the neighbour of both others.
        let (ps, differ) = compared(&[&files[1], &files[0], &files[2]], measure);
        for (k, row) in rows.iter().enumerate().skip(1) {
            let p = row["p_of_difference_from_row_above"].as_f64();
            assert_eq!(p, Some(ps[k - 1]), "{measure}: {board}");
            assert_eq!(row["not_different_from_row_above"], json!(!differ[k - 1]), "{measure}: {board}");
        }
        if measure == "cider-d" {
            assert_eq!(differ, [true, true], "p {ps:?}");
        }
        // Without the row in the middle, the verdict on the last row is the same, and says with which it was compared.
        let middle = rows[1]["method"].as_str().unwrap();
        let others: Vec<&Value> = [&rows[0], &rows[2]].into();
        for other in others {
            let q = other["method"].as_str().unwrap();
            let some = anybody.get(&format!("{address}&q={q}")).await.expect(200).json();
            assert_eq!(some["rows"], json!([other]), "{measure}: {some}");
            assert_eq!(some["total_rows"], 3);
        }
        assert_eq!(rows[2]["row_above"]["method"], middle, "{measure}: {board}");
    }
}

/// Visitors share a page of the board, but not beyond this change.
async fn a_pinned_submission_stands_for_its_team(database: Database) {
    let site = Site::new(database).await;
    let (phase, ada, bao, id) = two_teams(&site).await;
    let anybody = site.anybody();
    let shared = anybody.get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(shared.contains("Seven") && !shared.contains("Five"));
    let of_ada = site.person("Ada", Role::Member).await.get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(of_ada.contains("class=\"own\"") && !shared.contains("class=\"own\""));
    assert_eq!(anybody.get("/b/b/p/leaderboard").await.expect(200).text, shared);
    ada.post_json(&format!("/api/v1/submissions/{id}/pin"), &json!({})).await.expect(200);
    let changed = anybody.get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(changed.contains("Five") && !changed.contains("Seven"));
    let csv = ada
        .get(&format!("/api/v1/phases/{phase}/leaderboard?format=csv&sort=bleu-1&ref=c40"))
        .await
        .expect(200);
    assert!(csv.text.starts_with("rank,kind,team,method,bleu-1,") && csv.text.contains(",entry,Ada,Five,"));
    bao.post_json(&format!("/api/v1/submissions/{id}/pin"), &json!({})).await.expect(404);
    bao.get(&format!("/api/v1/submissions/{id}")).await.expect(404);
}

async fn pages_show_what_programs_get(database: Database) {
    let site = Site::new(database).await;
    let (phase, ada, ..) = two_teams(&site).await;
    let browser = site.person("Cleo", Role::Member).await;
    let page = browser.get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(
        page.contains("Bao")
            && page.contains("Nine")
            && page.contains("People")
            && page.contains("aria-sort")
    );
    for (query, words) in [
        ("sort=nothing", "sort: the board has no measure `nothing`"),
        ("ref=nothing", "ref: the board has no references `nothing`"),
        ("column=nothing", "column: the board has no column `nothing`"),
    ] {
        let told =
            site.anybody().get(&format!("/api/v1/phases/{phase}/leaderboard?{query}")).await.expect(400);
        assert!(told.text.contains(words), "{}", told.text);
        assert!(browser.get(&format!("/b/b/p/leaderboard?{query}")).await.expect(400).text.contains(words));
    }
    assert!(browser.get("/b/b/rules").await.expect(200).text.contains("Be <em>kind</em>."));
    let form = browser.get("/b/b/p/submit").await.expect(200).text;
    assert!(form.contains("one caption for each image of the phase (40 images)"));
    ada.get(&format!("/api/v1/phases/{phase}/submissions")).await.expect(200);
    let described = ada.get("/openapi.json").await.expect(200).json();
    assert!(described["paths"]["/api/v1/phases/{id}/submissions"]["post"]["requestBody"].is_object());
}

async fn a_file_is_submitted_by_a_form(database: Database) {
    let site = Site::new(database).await;
    benchmark(&site, "per_day = 4").await;
    let browser = site.person("Cleo", Role::Member).await;
    let boundary = "x".repeat(20);
    let form = |file: &str| {
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"method\"\r\n\r\n=cmd|'/C calc'!A0\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"r.json\"\r\n\r\n{file}\r\n\
             --{boundary}--\r\n"
        )
    };
    let post = || {
        let kind = format!("multipart/form-data; boundary={boundary}");
        Request::post("/b/b/p/submit").header("content-type", kind)
    };
    let refused = browser.send(post(), form(WRONG)).await.expect(422).text;
    assert!(refused.contains("Images without a caption") && refused.contains("39"));
    let answer = browser.send(post(), form(&results(40, 2))).await.expect(303);
    let place = answer.header("location").to_owned();
    // What is true of the moment only is no part of the address.
    assert!(place.starts_with("/submissions/") && !place.contains('?'), "{place}");
    assert!(browser.get(&place).await.expect(200).text.contains("data-live="));
    site.work().await;
    let page = browser.get(&place).await.expect(200).text;
    assert!(page.contains("class=\"state scored\"") && !page.contains("data-live="));
    assert!(page.contains("<dt>Team</dt><dd>Cleo</dd>"), "{page}");
    // Which engine scored it stays known after an upgrade.
    assert!(page.contains("tok:") && page.contains(&format!("capeval:{}", capeval::VERSION)));
    let same = browser.send(post(), form(&results(40, 2))).await.expect(303);
    assert!(same.header("location").ends_with("?same=1"));
    assert!(browser.get("/submissions").await.expect(200).text.contains("=cmd|"));
    let csv = browser.get("/b/b/p/leaderboard?format=csv").await.expect(200).text;
    assert!(csv.contains(",Cleo,'=cmd|'/C calc'!A0,"), "{csv}");
    site.anybody().get("/submissions").await.expect(303);
}

/// Rounds of 200 requests at once, of which the quota lets 5 through.
async fn two_hundred_at_once_are_five(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 5\nin_total = 1000").await;
    let rounds = rounds();
    let mut bodies = Vec::new();
    for k in 0..200 {
        bodies.push(results(40, 5).replace("near", &format!("near{k}")));
    }
    for round in 0..rounds {
        let team = site.program(&format!("Racer{round}"), Role::Member, Scope::Submit).await;
        let racing = bodies.iter().enumerate().map(|(k, body)| {
            let (team, phase, body) = (team.clone(), phase.clone(), body.clone());
            tokio::spawn(async move {
                let answer = send(&team, &phase, &format!("m{k}"), body).await;
                assert!([201, 429].contains(&answer.status.as_u16()), "{}", answer.text);
                answer.status.as_u16()
            })
        });
        let racing: Vec<_> = racing.collect();
        let mut statuses = Vec::new();
        for one in racing {
            statuses.push(one.await.unwrap());
        }
        let count = |status: u16| statuses.iter().filter(|one| **one == status).count();
        assert_eq!((count(201), count(429)), (5, 195), "round {round}: {statuses:?}");
    }
    let rows =
        site.app.store.first("SELECT COUNT(*) AS n FROM submission WHERE kind = 'entry'", args![]).await;
    assert_eq!(rows.unwrap().unwrap().get::<i64>("n").unwrap(), 5 * rounds as i64);
    let jobs = site
        .app
        .store
        .first("SELECT COUNT(*) AS n FROM job WHERE kind = 'score' AND state = 'queued'", args![]);
    assert_eq!(jobs.await.unwrap().unwrap().get::<i64>("n").unwrap(), 5 * rounds as i64);

    // The same captions at once, and the same key at once, are one submission.
    let team = site.program("Twin", Role::Member, Scope::Submit).await;
    let same = |key: Option<&'static str>, body: String| {
        let (team, phase) = (team.clone(), phase.clone());
        tokio::spawn(async move {
            let mut request = Request::post(format!("/api/v1/phases/{phase}/submissions?method=Twin"));
            if let Some(key) = key {
                request = request.header("idempotency-key", key);
            }
            team.send(request, body).await.status.as_u16()
        })
    };
    for (key, others) in [(None, 409), (Some("key"), 200)] {
        let body = bodies[usize::from(key.is_some())].clone();
        let racing: Vec<_> = (0..20).map(|_| same(key, body.clone())).collect();
        let mut created = 0;
        for one in racing {
            let status = one.await.unwrap();
            assert!(status == 201 || status == others, "{status}");
            created += u32::from(status == 201);
        }
        assert_eq!(created, 1);
    }
    let quota = team.get(&format!("/api/v1/phases/{phase}/quota")).await.expect(200).json();
    assert_eq!(quota["used_today"], 2);
}

async fn faults_of_ours_and_cancellations_are_given_back(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 2\nin_total = 3").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let used = || async {
        let quota = ada.get(&format!("/api/v1/phases/{phase}/quota")).await.expect(200).json();
        (quota["used_today"].as_i64().unwrap(), quota["used_in_total"].as_i64().unwrap())
    };
    let id = |answer: crate::support::Answer| answer.json()["id"].as_str().unwrap().to_owned();
    let first = id(send(&ada, &phase, "a", results(40, 5)).await.expect(201));
    assert_eq!(used().await, (1, 1));
    let cancel = |id: &str| {
        let (ada, path) = (ada.clone(), format!("/api/v1/submissions/{id}/cancel"));
        async move { ada.post_json(&path, &json!({})).await }
    };
    assert_eq!(cancel(&first).await.expect(200).json()["state"], "cancelled");
    assert_eq!(cancel(&first).await.expect(409).json()["code"], "too-late");
    assert_eq!(used().await, (0, 0));

    // The captions of a cancelled submission may be submitted again. This one is lost before it is scored.
    let second = id(send(&ada, &phase, "a", results(40, 5)).await.expect(201));
    assert_eq!(used().await, (1, 1));
    let row =
        site.app.store.first("SELECT blob FROM submission WHERE id = $1", args![&second]).await.unwrap();
    let blob: String = row.unwrap().get("blob").unwrap();
    site.app.blobs.remove(&blob).unwrap();
    site.work().await;
    let failed = ada.get(&format!("/api/v1/submissions/{second}")).await.expect(200).json();
    assert_eq!(failed["state"], "failed", "{failed}");
    assert_eq!(failed["reason"], "the captions of the submission cannot be opened");
    assert_eq!(used().await, (0, 0));

    send(&ada, &phase, "a", results(40, 5)).await.expect(201);
    let last = id(send(&ada, &phase, "b", results(40, 6)).await.expect(201));
    let refused = send(&ada, &phase, "c", results(40, 7)).await.expect(429);
    assert_eq!(refused.json()["code"], "day-used");
    assert!(refused.header("retry-after").parse::<i64>().unwrap() <= 86_400);
    // A second team is no second quota.
    let team = ada.post_json("/api/v1/teams", &json!({ "name": "Second" })).await.expect(201).json();
    let path = format!("/api/v1/phases/{phase}/submissions?method=d&team={}", team["id"].as_str().unwrap());
    assert_eq!(ada.send(Request::post(&path), results(40, 8)).await.expect(429).json()["code"], "day-used");
    cancel(&last).await.expect(200);
    assert_eq!(ada.send(Request::post(&path), results(40, 8)).await.expect(409).json()["code"], "other-team");
}

async fn a_registered_board_is_for_people_with_an_account(database: Database) {
    let site = Site::new(database).await;
    benchmark(&site, "board = 'registered'").await;
    let (anybody, ada) = (site.anybody(), site.person("Ada", Role::Member).await);
    for _ in 0..2 {
        assert!(ada.get("/b/b/p/leaderboard").await.expect(200).text.contains("Baseline"));
        assert!(!anybody.get("/b/b/p/leaderboard").await.expect(200).text.contains("Baseline"));
    }
    anybody.get("/b/b/p/leaderboard?format=csv").await.expect(404);
}

async fn hidden_scores_and_references_never_leave(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "board = 'hidden'").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let made = send(&ada, &phase, "five", results(40, 5)).await.expect(201).json();
    let id = made["id"].as_str().unwrap();
    site.work().await;
    let shown = ada.get(&format!("/api/v1/submissions/{id}")).await.expect(200).json();
    assert_eq!((shown["state"].as_str(), &shown["scores"]), (Some("scored"), &Value::Null));
    ada.get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(404);
    let host = site.program("Root", Role::Admin, Scope::Host).await;
    let seen = host.get(&format!("/api/v1/submissions/{id}")).await.expect(200).json();
    assert!(seen["scores"]["c5"].is_object());

    // Whatever anybody asks, no answer has words of a hidden caption.
    let browsers =
        [site.person("Boss", Role::Admin).await, site.person("Eve", Role::Member).await, site.anybody()];
    for route in routes(FEATURES).into_iter().filter(|route| route.method == axum::http::Method::GET) {
        let path = route
            .path
            .replace("submissions/{id}", &format!("submissions/{id}"))
            .replace("phases/{id}", &format!("phases/{phase}"))
            .replace("{slug}", "b")
            .replace("{phase}", "p")
            .replace("{submission}", id);
        for client in browsers.iter().chain([&ada, &host]) {
            for query in ["", "?format=csv", "?format=json"] {
                let answer = client.get(&format!("{path}{query}")).await;
                assert!(!answer.text.contains("secret1"), "{path}");
            }
        }
    }
    site.app.store.execute("UPDATE phase SET reveal_at = 1", args![]).await.unwrap();
    ada.get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200);
    site.app.store.execute("UPDATE phase SET reveal_at = NULL, board = 'own'", args![]).await.unwrap();
    let own = ada.get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json();
    assert_eq!(own["rows"].as_array().unwrap().len(), 1);
    site.anybody().get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(404);
}

async fn the_home_page_shows_states_and_best_entries(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    for (method, skill) in [("weak", 2), ("strong", 8)] {
        send(&ada, &phase, method, results(40, skill)).await.expect(201);
    }
    site.work().await;
    let home = async || site.anybody().get("/").await.expect(200).text;
    let page = home().await;
    assert!(page.contains("<span class=\"state open\">open</span>") && page.contains("1 team"), "{page}");
    assert!(page.contains("<strong>Ada</strong> strong") && !page.contains("weak"), "{page}");
    let change = async |sql: &'static str| {
        site.app.store.execute(sql, args![]).await.unwrap();
        site.app.recent.forget();
    };
    change("UPDATE phase SET closes_at = 86400000").await;
    let page = home().await;
    assert!(page.contains("<span class=\"state ended\">ended on 1970-01-02</span>"), "{page}");
    assert!(page.contains("<strong>Ada</strong> strong"), "{page}");
    change("UPDATE phase SET board = 'hidden'").await;
    assert!(!home().await.contains("strong"), "a hidden score is on the home page");
    change("UPDATE benchmark SET visibility = 'hidden'").await;
    assert!(home().await.contains("No benchmarks yet."));
}

async fn uploads_have_limits() {
    let settings =
        capeval_site::settings::Settings { upload_mib: 1, unpacked_mib: 2, ..settings(Database::Sqlite) };
    let site = Site::with(settings).await;
    let phase = benchmark(&site, "").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let refused = send(&ada, &phase, "big", vec![b' '; (1 << 20) + 1]).await.expect(413).json();
    assert_eq!(refused["code"], "upload-too-large");
    // The form says so, too.
    let browser = site.person("Bao", Role::Member).await;
    let head = "--xxxx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"r.json\"\r\n\r\n";
    let form = format!("{head}{}\r\n--xxxx--\r\n", " ".repeat((1 << 20) + 1));
    let post = Request::post("/b/b/p/submit").header("content-type", "multipart/form-data; boundary=xxxx");
    let page = browser.send(post, form).await.expect(413).text;
    assert!(page.contains("The file is larger than 1 MiB.") && page.contains("<form"), "{page}");
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut bomb, &vec![b' '; 3 << 20]).unwrap();
    let refused = send(&ada, &phase, "bomb", bomb.finish().unwrap()).await.expect(413).json();
    assert_eq!(refused["code"], "unpacked-too-large");
    let deep = format!("[{}", "{\"a\":".repeat(100_000));
    let refused = send(&ada, &phase, "deep", deep).await.expect(422).json();
    let unreadable = refused["report"]["unreadable"].as_str().unwrap();
    assert!(unreadable.contains("the file:1:"), "{unreadable}");
    assert_eq!(std::fs::read_dir(site.app.blobs.folder().join("new")).unwrap().count(), 0);
}

async fn teams_are_joined_by_links_and_nobody_is_in_two() {
    let site = Site::new(Database::Sqlite).await;
    let phase = benchmark(&site, "").await;
    let (ada, bao) = (site.person("Ada", Role::Member).await, site.person("Bao", Role::Member).await);
    ada.post("/teams", &[("name", "Both")]).await.expect(303);
    bao.post("/teams", &[("name", "Both")]).await.expect(409);
    let list = ada.get("/teams").await.expect(200).text;
    let id = list.between("/teams/", "/").to_owned();
    bao.post(&format!("/teams/{id}/invite"), &[]).await.expect(404);
    let page = ada.post(&format!("/teams/{id}/invite"), &[]).await.expect(200).text;
    let link = page.link().to_owned();
    let link = bao.get(&link).await.expect(303).header("location").to_owned();
    assert!(bao.get(&link).await.expect(200).text.contains("Join Both"));
    // A person who takes part already cannot join, and the link still works then.
    let program = site.program("Bao", Role::Member, Scope::Submit).await;
    send(&site.program("Ada", Role::Member, Scope::Submit).await, &phase, "a", results(40, 5))
        .await
        .expect(201);
    send(&program, &phase, "b", results(40, 6)).await.expect(201);
    bao.post(&link, &[]).await.expect(409);
    let cleo = site.person("Cleo", Role::Member).await;
    cleo.post(&link, &[]).await.expect(303);
    cleo.post(&link, &[]).await.expect(410);
    let quota = site.program("Cleo", Role::Member, Scope::Read).await;
    assert_eq!(quota.get(&format!("/api/v1/phases/{phase}/quota")).await.json()["used_today"], 1);
    cleo.post(&format!("/teams/{id}/leave"), &[]).await.expect(409);
}

/// Members of a team submit for the first time at once, while others join it: no one waits for another, and no one is
/// lost.
async fn members_of_a_team_begin_at_once(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 100").await;
    for round in 0..8 {
        let mut people = Vec::new();
        for k in 0..4 {
            people.push(site.program(&format!("m{round}x{k}"), Role::Member, Scope::Submit).await);
        }
        let team = people[0].post_json("/api/v1/teams", &json!({ "name": format!("t{round}") })).await.json();
        let team = team["id"].as_str().unwrap().to_owned();
        let mut joining = Vec::new();
        for k in 1..4 {
            let path = format!("/api/v1/teams/{team}/invites");
            let link = people[0].post_json(&path, &json!({})).await.expect(201).json();
            let link = link["link"].as_str().unwrap().replace("http://127.0.0.1:8080/join", "/teams/join");
            joining.push((site.person(&format!("m{round}x{k}"), Role::Member).await, link));
        }
        let (last, link) = joining.pop().unwrap();
        for (person, link) in joining {
            person.post(&link, &[]).await.expect(303);
        }
        let mut racing = Vec::new();
        for (k, person) in people.iter().take(3).cloned().enumerate() {
            let (phase, body) = (phase.clone(), results(40, 5).replace("near", &format!("near{round}x{k}")));
            racing.push(tokio::spawn(async move { send(&person, &phase, "m", body).await.status.as_u16() }));
        }
        racing.push(tokio::spawn(async move { last.post(&link, &[]).await.status.as_u16() }));
        let mut statuses = Vec::new();
        for one in racing {
            statuses.push(one.await.unwrap());
        }
        assert_eq!(statuses, [201, 201, 201, 303], "round {round}");
        let sql = "SELECT account FROM entry_member WHERE phase = $1 AND team = $2";
        let entered = site.app.store.all(sql, args![&phase, &team]).await.unwrap();
        assert_eq!(entered.len(), 4, "round {round}: someone joined and does not take part");
    }
}

async fn what_is_refused_takes_no_space(database: Database) {
    let site =
        Site::with(capeval_site::settings::Settings { uploads_per_minute: 6, ..settings(database) }).await;
    let phase = benchmark(&site, "per_day = 1").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let with_key = |k: usize| {
        let path = format!("/api/v1/phases/{phase}/submissions?method=a&description=a%00b%0D%0Ac%1B");
        let request = Request::post(path).header("idempotency-key", "k");
        let ada = ada.clone();
        async move { ada.send(request, results(40, k)).await }
    };
    let first = with_key(1).await.expect(201).json();
    let row = site.app.store.first("SELECT description FROM submission WHERE kind = 'entry'", args![]).await;
    assert_eq!(row.unwrap().unwrap().get::<String>("description").unwrap(), "ab\nc");
    site.anybody().get("/b/%00/rules").await.expect(404);
    let files = || site.app.blobs.list().unwrap().len();
    let before = files();
    assert_eq!(send(&ada, &phase, "b", results(40, 2)).await.expect(429).json()["code"], "day-used");
    assert_eq!(files(), before);
    // What was acknowledged is acknowledged again.
    assert_eq!(with_key(1).await.expect(200).json()["id"], first["id"]);
    site.app.store.execute("UPDATE phase SET closes_at = 1", args![]).await.unwrap();
    let bao = site.program("Bao", Role::Member, Scope::Submit).await;
    assert_eq!(send(&bao, &phase, "b", results(40, 2)).await.expect(409).json()["code"], "closed");
    site.app.store.execute("UPDATE phase SET closes_at = NULL", args![]).await.unwrap();
    let mut codes = Vec::new();
    for _ in 0..20 {
        let refused = send(&ada, &phase, "b", results(40, 2)).await.expect(429).json();
        codes.push(refused["code"].as_str().unwrap().to_owned());
    }
    assert!(codes.contains(&"too-often".to_owned()), "{codes:?}");
    assert_eq!(files(), before);

    // What an interrupted request has left is swept away; what rows name stays.
    site.app.blobs.put(&b"left behind"[..]).unwrap();
    site.app.hidden.put(&b"left behind"[..]).unwrap();
    let (visible, hidden) = (files(), site.app.hidden.list().unwrap().len());
    assert_eq!(capeval_site::serve::sweep(&site.app, std::time::Duration::from_secs(3600)).await.unwrap(), 0);
    assert_eq!(capeval_site::serve::sweep(&site.app, std::time::Duration::ZERO).await.unwrap(), 2);
    assert_eq!((files(), site.app.hidden.list().unwrap().len()), (visible - 1, hidden - 1));
    site.work().await;
    let id = first["id"].as_str().unwrap();
    assert_eq!(ada.get(&format!("/api/v1/submissions/{id}")).await.expect(200).json()["state"], "scored");
}

async fn a_token_for_submissions_changes_only_those_of_its_owner() {
    let site = Site::new(Database::Sqlite).await;
    let phase = benchmark(&site, "").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let made = send(&ada, &phase, "a", results(40, 5)).await.expect(201).json();
    let path = |what: &str| format!("/api/v1/submissions/{}/{what}", made["id"].as_str().unwrap());
    let weak = site.program("Root", Role::Admin, Scope::Submit).await;
    for what in ["cancel", "pin"] {
        assert_eq!(weak.post_json(&path(what), &json!({})).await.expect(403).json()["code"], "scope");
    }
    let own = send(&weak, &phase, "b", results(40, 6)).await.expect(201).json();
    let own = format!("/api/v1/submissions/{}/cancel", own["id"].as_str().unwrap());
    weak.post_json(&own, &json!({})).await.expect(200);
    let host = site.program("Root", Role::Admin, Scope::Host).await;
    host.post_json(&path("cancel"), &json!({})).await.expect(200);
}

async fn what_programs_misspell_is_named() {
    let site = Site::new(Database::Sqlite).await;
    let phase = benchmark(&site, "").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let refused = ada.post_json("/api/v1/teams", &json!({ "name": "Ducks", "nmae": 1, "more": {} })).await;
    let refused = refused.expect(400).json();
    assert_eq!(refused["code"], "unknown-fields");
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.starts_with("The request has fields that do not exist: "), "{detail}");
    assert!(detail.contains("nmae") && detail.contains("more") && !detail.contains("name"), "{detail}");
    assert_eq!(site.app.store.fetch_one::<i64>("SELECT COUNT(*) FROM team", args![]).await.unwrap(), 0);
    let made = ada.post_json("/api/v1/teams", &json!({ "name": "Ducks" })).await.expect(201).json();
    // A name where an id is meant.
    let path = format!("/api/v1/phases/{phase}/submissions?method=M&team=Ducks");
    let refused = ada.send(Request::post(path), results(40, 5)).await.expect(422).json();
    assert_eq!(refused["code"], "team-id");
    assert!(refused["detail"].as_str().unwrap().ends_with(made["id"].as_str().unwrap()), "{refused}");
    let path = format!("/api/v1/phases/{phase}/submissions?method=M&team=Geese");
    ada.send(Request::post(path), results(40, 5)).await.expect(404);
}

async fn a_full_team_takes_nobody() {
    let site = Site::new(Database::Sqlite).await;
    let ada = site.person("Ada", Role::Member).await;
    ada.post("/teams", &[("name", "Crowd")]).await.expect(303);
    let list = ada.get("/teams").await.expect(200).text;
    let id = list.between("/teams/", "/").to_owned();
    let invite = async || {
        let page = ada.post(&format!("/teams/{id}/invite"), &[]).await.expect(200).text;
        page.link().replace("/join", "/teams/join")
    };
    let links = [invite().await, invite().await];
    for k in 1..49 {
        let member = site.account(&format!("m{k}"), Role::Member).await;
        let sql = "INSERT INTO team_member (team, account, joined_at) VALUES ($1, $2, 1)";
        site.app.store.execute(sql, args![&id, member]).await.unwrap();
    }
    site.person("Bao", Role::Member).await.post(&links[0], &[]).await.expect(303);
    let cleo = site.person("Cleo", Role::Member).await;
    assert!(cleo.post(&links[1], &[]).await.expect(409).text.contains("A team has at most 50 members."));
}

/// The transactions in which the two reference sets of a phase become ready overlap, and the phase opens all the same.
async fn sets_that_are_ready_at_once_open_the_phase() {
    if !crate::support::postgres::is_here() {
        return;
    }
    // Nothing takes a second connection while it holds one.
    let settings = capeval_site::settings::Settings { connections: 2, ..settings(Database::Postgres) };
    let site = std::sync::Arc::new(Site::with(settings).await);
    benchmark(&site, "human = false").await;
    let store = &site.app.store;
    for sql in [
        "UPDATE phase SET score_set = NULL",
        "UPDATE reference_set SET state = 'preparing'",
        "UPDATE job SET state = 'queued', attempt = 0 WHERE kind = 'prepare' \
         AND subject = (SELECT id FROM reference_set WHERE name = 'c40')",
    ] {
        store.execute(sql, args![]).await.unwrap();
    }
    let mut other = store.begin().await.unwrap();
    other.execute("UPDATE reference_set SET state = 'ready' WHERE name = 'c5'", args![]).await.unwrap();
    other.first("SELECT id FROM phase FOR NO KEY UPDATE", args![]).await.unwrap();
    let working = tokio::spawn({
        let site = std::sync::Arc::clone(&site);
        async move { site.work().await }
    });
    let waits = "SELECT 1 AS one FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    eventually("the other transaction waits for this one", async || {
        let is_waiting = other.first(waits, args![]).await.unwrap().is_some();
        (is_waiting || working.is_finished()).then_some(())
    })
    .await;
    other.commit().await.unwrap();
    working.await.unwrap();
    let row = store.first("SELECT score_set FROM phase", args![]).await.unwrap().unwrap();
    assert!(
        row.get::<Option<String>>("score_set").unwrap().is_some(),
        "the phase is being prepared for ever"
    );
}

/// Files that `capeval score` reads can be submitted, compressed or not; the same captions are the same submission.
async fn files_of_all_formats_are_the_same_submission(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 4").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let list = results(40, 7);
    let rows: Vec<Value> = serde_json::from_str(&list).unwrap();
    let pairs: Vec<(u64, &str)> = rows
        .iter()
        .map(|row| (row["image_id"].as_u64().unwrap(), row["caption"].as_str().unwrap()))
        .collect();
    let lines = |line: &dyn Fn(&(u64, &str)) -> String| {
        pairs.iter().map(|pair| line(pair) + "\n").collect::<String>()
    };
    let by_id: serde_json::Map<String, Value> =
        pairs.iter().map(|(id, caption)| (id.to_string(), json!(caption))).collect();
    let unknown_key: Vec<Value> =
        pairs.iter().rev().map(|(id, caption)| json!({ "question_id": id, "caption": caption })).collect();
    let first = send(&ada, &phase, "First", list).await.expect(201).json()["id"].clone();
    for (format, file) in [
        ("{id: caption}", json!(by_id).to_string()),
        (
            "lists",
            json!(
                pairs
                    .iter()
                    .map(|(id, text)| (id.to_string(), json!([text])))
                    .collect::<serde_json::Map<_, _>>()
            )
            .to_string(),
        ),
        ("JSON Lines", lines(&|(id, text)| json!({ "image_id": id, "caption": text }).to_string())),
        ("CSV", format!("image_id,caption\r\n{}", lines(&|(id, text)| format!("{id},\"{text}\"")))),
        ("TSV", format!("id\tcaption\n{}", lines(&|(id, text)| format!("{id}\t{text}")))),
        ("lines that begin with ids", lines(&|(id, text)| format!("{id}\t{text}"))),
        ("semicolons", format!("image_id;caption\n{}", lines(&|(id, text)| format!("{id};\"{text}\"")))),
        ("no header", lines(&|(id, text)| format!("{id},\"{text}\""))),
        ("another name of the ids", json!(unknown_key).to_string()),
    ] {
        let report = ada.send(Request::post(format!("/api/v1/phases/{phase}/validate")), file.clone()).await;
        let report = report.expect(200).json();
        assert_eq!(report["is_valid"], true, "{format}: {report}");
        let again = send(&ada, &phase, "Again", file.into_bytes()).await.expect(409).json();
        assert_eq!(again["submission"]["id"], first, "{format}");
    }
    for (file, reason) in [
        ("a dog runs\na cat sits\n", "without the ids of their images"),
        ("{\"0\": \"a dog\", ", "unexpected end of JSON"),
        ("\u{0}\u{1}\u{2}", "binary"),
    ] {
        let report =
            ada.send(Request::post(format!("/api/v1/phases/{phase}/validate")), file.to_owned()).await;
        let unreadable = report.expect(200).json()["unreadable"].as_str().unwrap().to_owned();
        assert!(unreadable.contains(reason), "{file:?}: {unreadable}");
    }
}

async fn files_are_refused_in_the_words_of_capeval_score(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 1").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let browser = site.person("Ada", Role::Member).await;
    let mut spreadsheet = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for part in ["[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"] {
        spreadsheet.start_file(part, zip::write::SimpleFileOptions::default()).unwrap();
    }
    let spreadsheet = spreadsheet.finish().unwrap().into_inner();
    for (name, bytes, words) in [
        ("foo.csv", &b"foo,bar\n0,1\n"[..], "foo.csv: holds numbers, not captions"),
        ("x.xlsx", &spreadsheet, "x.xlsx: looks like a spreadsheet or another document; export it as CSV"),
        ("null.json", b"null", "null.json: looks like plain text, though its name ends in .json"),
        ("12.json", b"12", "12.json: looks like plain text, though its name ends in .json"),
        ("fake.parquet", b"PAR1xxxxPAR1", "fake.parquet: this is Parquet"),
    ] {
        let refused = corpus::read(bytes, name, &ReadOptions::candidates()).unwrap_err().to_string();
        let path = format!("/api/v1/phases/{phase}/validate?file={name}");
        let report = ada.send(Request::post(path), bytes.to_vec()).await.expect(200).json();
        let told = report["unreadable"].as_str().unwrap().to_owned();
        assert!(told.starts_with(words), "{told}");
        assert!(!told.contains("build with"), "{told}");
        if name != "fake.parquet" {
            assert!(told.starts_with(&refused), "{told}; {refused}");
        }
        let head =
            format!("--xxxx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
        let form = [head.as_bytes(), bytes, b"\r\n--xxxx--\r\n"].concat();
        let post = Request::post("/b/b/p/check").header("content-type", "multipart/form-data; boundary=xxxx");
        let page = browser.send(post, form).await.expect(422).text;
        assert!(page.replace("&#34;", "\"").contains(&told), "{told}: {page}");
    }
}

async fn people_see_no_folders_of_the_server(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 1").await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let (browser, host) = (site.person("Ada", Role::Member).await, site.person("Root", Role::Admin).await);
    let id = send(&ada, &phase, "m", results(40, 7)).await.expect(201).json()["id"].clone();
    let id = id.as_str().unwrap();
    let set = "UPDATE submission SET state = 'failed', reason = $1 WHERE id = $2";
    let reason = format!("{}/hidden/meteor-1.5.bin: this is no file of METEOR", site.app.folder.display());
    site.app.store.execute(set, args![&reason, id]).await.unwrap();
    let told = ada.get(&format!("/api/v1/submissions/{id}")).await.expect(200).json();
    assert_eq!(told["reason"], "meteor-1.5.bin: this is no file of METEOR");
    let page = browser.get(&format!("/submissions/{id}")).await.expect(200).text;
    assert!(page.contains(">meteor-1.5.bin: this is no file of METEOR<"), "{page}");
    assert!(host.get(&format!("/submissions/{id}")).await.expect(200).text.contains(&reason));
}

async fn the_form_checks_a_file_without_submitting_it(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 1").await;
    let browser = site.person("Ada", Role::Member).await;
    let check = |file: &str| {
        let head = "--xxxx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"C:\\my\\\u{202e}<r>.json\"\r\n\r\n";
        let form = format!("{head}{file}\r\n--xxxx--\r\n");
        let post = Request::post("/b/b/p/check").header("content-type", "multipart/form-data; boundary=xxxx");
        browser.send(post, form)
    };
    let page = check(&results(40, 7)).await.expect(200).text;
    for words in [
        "It was only checked, not submitted.",
        "&#60;r&#62;.json: 40 images, 40 captions",
        "export CAPEVAL_TOKEN=TOKEN\ncapeval submit results.json --to http://127.0.0.1:8080 --phase b/p --method NAME",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let page = check(WRONG).await.expect(422).text;
    assert!(page.contains("The file cannot be scored") && page.contains("99"), "{page}");
    assert!(page.contains("Remove these captions or correct their ids."), "{page}");
    // The problems of as many images as a report lists.
    let page = check("[]").await.expect(422).text;
    assert!(
        page.contains("0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, …<"),
        "{page}"
    );
    assert!(page.contains("&#60;r&#62;.json: The file has 0 captions; the phase has 40 images."), "{page}");
    assert!(page.contains("Add a caption for each of these images."), "{page}");
    let page = check("[{").await.expect(422).text;
    assert!(page.contains("The file cannot be read: &#60;r&#62;.json:"), "{page}");
    site.anybody().send(Request::post("/b/b/p/check"), "x").await.expect(303);
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let quota = ada.get(&format!("/api/v1/phases/{phase}/quota")).await.expect(200).json();
    assert_eq!(quota["used_today"], 0);
}
