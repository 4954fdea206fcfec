//! Tests the actions of hosts: limits, grants, stopping, cancelling, taking off the board, scoring again; and who may
//! not.

use axum::http::Request;
use capeval_benchmarks::apply::apply;
use capeval_server::FEATURES;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::feature;
use capeval_site::jobs::runner::{self, Post};
use capeval_site::web::Scope;
use serde_json::{Value, json};

use crate::benchmarks::{benchmark, references, results};
use crate::support::{Answer, Client, Database, Page as _, Site, on_both};

on_both! {
    what_could_not_be_scored_is_tried_again
    neighbours_that_could_not_be_compared_are_told_and_tried_again
    references_that_failed_say_so_and_are_tried_again
    only_its_hosts_run_a_phase
    hosts_change_limits_and_grant_more
    what_a_host_cancels_is_given_back
    hosts_take_a_submission_off_the_board
    hosts_stop_submissions_and_let_them_go_on
    what_hosts_do_is_noted_with_who_did_it
    hosts_have_a_page_of_webhooks
    what_races_with_a_host_is_exact
    everything_is_scored_again_into_a_new_score_set
    boards_keep_what_their_submissions_make
}

async fn send(client: &Client, phase: &str, method: &str, body: String) -> Answer {
    client.send(Request::post(format!("/api/v1/phases/{phase}/submissions?method={method}")), body).await
}

/// Results that differ for each `k`.
fn numbered(k: usize) -> String {
    results(40, 5).replace("near", &format!("near{k}"))
}

/// A host of the benchmark: a browser and a program.
async fn host(site: &Site) -> (Client, Client) {
    let browser = site.person("Hanna", Role::Host).await;
    let program = site.program("Hanna", Role::Host, Scope::Host).await;
    let sql = "INSERT INTO benchmark_host (benchmark, account) \
               SELECT benchmark.id, account.id FROM benchmark, account WHERE account.name = 'Hanna'";
    site.app.store.execute(sql, args![]).await.unwrap();
    (browser, program)
}

/// A phase with two submissions of Ada's team, which Hanna runs.
struct HostedSite {
    site: Site,
    phase: String,
    /// The path of the phase for programs of hosts.
    api: String,
    browser: Client,
    program: Client,
    ada: Client,
    team: String,
    /// The better of the two submissions, and the other one.
    submissions: [String; 2],
}

impl HostedSite {
    async fn new(database: Database) -> Self {
        let site = Site::new(database).await;
        let phase = benchmark(&site, "per_day = 2\nin_total = 4").await;
        let (browser, program) = host(&site).await;
        let ada = site.program("Ada", Role::Member, Scope::Submit).await;
        let id = |answer: Answer| answer.json()["id"].as_str().unwrap().to_owned();
        let first = id(send(&ada, &phase, "First", results(40, 9)).await.expect(201));
        let second = id(send(&ada, &phase, "Second", results(40, 4)).await.expect(201));
        let api = format!("/api/v1/host/phases/{phase}");
        let entries = program.get(&format!("{api}/entries")).await.expect(200).json();
        assert_eq!(entries["entries"][0]["used_today"], 2);
        let team = entries["entries"][0]["team"].as_str().unwrap().to_owned();
        Self { site, phase, api, browser, program, ada, team, submissions: [first, second] }
    }

    /// The submissions that a team has used in the phase.
    async fn used(&self) -> i64 {
        let path = format!("/api/v1/phases/{}/quota", self.phase);
        self.ada.get(&path).await.expect(200).json()["used_in_total"].as_i64().unwrap()
    }

    async fn board(&self) -> Value {
        let path = format!("/api/v1/phases/{}/leaderboard", self.phase);
        self.ada.get(&path).await.expect(200).json()
    }
}

async fn only_its_hosts_run_a_phase(database: Database) {
    let HostedSite { site, api, browser, team, submissions: [first, _], .. } =
        HostedSite::new(database).await;
    let stranger = site.program("Otto", Role::Host, Scope::Host).await;
    let member = site.program("Ada", Role::Member, Scope::Host).await;
    let narrow = site.program("Hanna", Role::Host, Scope::Submit).await;
    let other_browser = site.person("Olga", Role::Host).await;
    let reason = json!({ "reason": "x" });
    let actions = [
        (format!("{api}/limits"), json!({ "per_day": 9, "in_total": 9 })),
        (format!("{api}/columns"), json!({ "columns": ["bleu-1"] })),
        (format!("{api}/grants"), json!({ "team": team, "extra": 1, "reason": "x" })),
        (format!("{api}/freeze"), json!({})),
        (format!("{api}/unfreeze"), json!({})),
        (format!("{api}/prepare"), json!({})),
        (format!("{api}/rescore"), json!({})),
        (format!("/api/v1/submissions/{first}/disqualify"), reason.clone()),
        (format!("/api/v1/submissions/{first}/reinstate"), json!({})),
    ];
    for (path, body) in &actions {
        stranger.post_json(path, body).await.expect(404);
        member.post_json(path, body).await.expect(404);
        narrow.post_json(path, body).await.expect(403);
        site.anybody().post_json(path, body).await.expect(401);
    }
    for path in ["", "/entries", "/submissions"] {
        stranger.get(&format!("{api}{path}")).await.expect(404);
    }
    stranger.post_json(&format!("/api/v1/submissions/{first}/cancel"), &json!({})).await.expect(404);
    for path in ["/b/b/p/host", "/b/b/audit", "/b/b/webhooks"] {
        other_browser.get(path).await.expect(404);
        browser.get(path).await.expect(200);
    }
    for (form, fields) in [
        ("limits", &[("per_day", "9"), ("in_total", "9")][..]),
        ("grants", &[("team", team.as_str()), ("extra", "1"), ("total", "false"), ("reason", "x")]),
        ("freeze", &[("frozen", "true")]),
        ("prepare", &[]),
        ("rescore", &[]),
    ] {
        other_browser.post(&format!("/b/b/p/host/{form}"), fields).await.expect(404);
    }
    other_browser.post(&format!("/submissions/{first}/disqualify"), &[("reason", "x")]).await.expect(404);
    let quiet = "SELECT action FROM audit WHERE action LIKE 'phase.%limits' OR action LIKE '%freeze' \
                 OR action LIKE '%grant' OR action LIKE '%disqualify'";
    assert!(site.app.store.all(quiet, args![]).await.unwrap().is_empty(), "something was done");
}

async fn hosts_change_limits_and_grant_more(database: Database) {
    let HostedSite { site: _site, phase, api, browser, program, ada, team, .. } =
        HostedSite::new(database).await;
    send(&ada, &phase, "Third", results(40, 5)).await.expect(429);
    let shown = program
        .post_json(&format!("{api}/limits"), &json!({ "per_day": 3, "in_total": 5 }))
        .await
        .expect(200);
    assert_eq!((&shown.json()["per_day"], &shown.json()["in_total"]), (&json!(3), &json!(5)));
    let wrong = json!({ "per_day": -1, "in_total": 5 });
    assert_eq!(
        program.post_json(&format!("{api}/limits"), &wrong).await.expect(422).json()["code"],
        "limits"
    );
    send(&ada, &phase, "Third", results(40, 5)).await.expect(201);
    send(&ada, &phase, "Fourth", results(40, 6)).await.expect(429);
    let grant = |extra: i64, total: bool, reason: &str| json!({ "team": team, "extra": extra, "total": total, "reason": reason });
    program.post_json(&format!("{api}/grants"), &grant(0, false, "x")).await.expect(422);
    program.post_json(&format!("{api}/grants"), &grant(1, false, " ")).await.expect(422);
    let foreign = json!({ "team": "unknown", "extra": 1, "reason": "x" });
    assert_eq!(
        program.post_json(&format!("{api}/grants"), &foreign).await.expect(404).json()["code"],
        "no-entry"
    );
    let granted =
        program.post_json(&format!("{api}/grants"), &grant(1, false, "a lost day")).await.expect(201);
    assert_eq!((&granted.json()["per_day"], &granted.json()["left"]), (&json!(4), &json!(1)));
    send(&ada, &phase, "Fourth", results(40, 6)).await.expect(201);
    let fields = [("team", team.as_str()), ("extra", "2"), ("total", "true"), ("reason", "appeal")];
    browser.post("/b/b/p/host/grants", &fields).await.expect(303);
    let entries = program.get(&format!("{api}/entries")).await.expect(200).json();
    assert_eq!(entries["entries"][0]["in_total"], 7);
}

/// Also while it is being scored.
async fn what_a_host_cancels_is_given_back(database: Database) {
    let hosted = HostedSite::new(database).await;
    let HostedSite { site, program, ada, submissions: [first, second], .. } = &hosted;
    assert_eq!(hosted.used().await, 2);
    let sql = "UPDATE submission SET state = 'running' WHERE id = $1";
    site.app.store.execute(sql, args![second]).await.unwrap();
    let sql = "UPDATE job SET state = 'running', attempt = 1, lease_until = $2 WHERE subject = $1";
    site.app.store.execute(sql, args![second, capeval_site::clock::now() + 600_000]).await.unwrap();
    ada.post_json(&format!("/api/v1/submissions/{second}/cancel"), &json!({})).await.expect(409);
    let cancelled =
        program.post_json(&format!("/api/v1/submissions/{second}/cancel"), &json!({})).await.expect(200);
    assert_eq!(cancelled.json()["state"], "cancelled");
    assert_eq!(hosted.used().await, 1);
    site.work().await;
    program.post_json(&format!("/api/v1/submissions/{first}/cancel"), &json!({})).await.expect(409);
}

/// With a reason that the board shows, and back.
async fn hosts_take_a_submission_off_the_board(database: Database) {
    let hosted = HostedSite::new(database).await;
    let HostedSite { site, browser, program, ada, submissions: [first, _], .. } = &hosted;
    site.work().await;
    let of_ada = |board: &Value| {
        let rows = board["rows"].as_array().unwrap();
        rows.iter().find(|row| row["team"] == "Ada").unwrap()["method"].as_str().unwrap().to_owned()
    };
    assert_eq!(of_ada(&hosted.board().await), "First");
    let path = format!("/api/v1/submissions/{first}/disqualify");
    program.post_json(&path, &json!({ "reason": "" })).await.expect(422);
    program.post_json(&path, &json!({ "reason": "trained on <test> data" })).await.expect(204);
    assert_eq!(
        program.post_json(&path, &json!({ "reason": "x" })).await.expect(409).json()["code"],
        "off-board"
    );
    let shown = hosted.board().await;
    assert_eq!(of_ada(&shown), "Second");
    assert_eq!(shown["disqualified"][0]["reason"], "trained on <test> data");
    let page = site.anybody().get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(
        page.contains("Removed from the leaderboard") && page.contains("trained on &#60;test&#62; data"),
        "{page}"
    );
    let own = ada.get(&format!("/api/v1/submissions/{first}")).await.expect(200).json();
    assert_eq!(own["disqualified"], "trained on <test> data");
    browser.post(&format!("/submissions/{first}/reinstate"), &[]).await.expect(303);
    assert_eq!(of_ada(&hosted.board().await), "First");
    assert_eq!(hosted.board().await["disqualified"], json!([]));
}

async fn hosts_stop_submissions_and_let_them_go_on(database: Database) {
    let HostedSite { site: _site, phase, api, browser, program, ada, .. } = HostedSite::new(database).await;
    let more = json!({ "per_day": 9, "in_total": 9 });
    program.post_json(&format!("{api}/limits"), &more).await.expect(200);
    assert!(
        program.post_json(&format!("{api}/freeze"), &json!({})).await.expect(200).json()["frozen_at"]
            .is_string()
    );
    let refused = send(&ada, &phase, "Fifth", results(40, 7)).await.expect(409).json();
    assert_eq!(refused["code"], "frozen");
    assert!(
        browser.get("/b/b/p/host").await.expect(200).text.contains("Submissions have been stopped since")
    );
    browser.post("/b/b/p/host/unfreeze", &[]).await.expect(303);
    send(&ada, &phase, "Fifth", results(40, 7)).await.expect(201);
}

async fn what_hosts_do_is_noted_with_who_did_it(database: Database) {
    let HostedSite { site: _site, api, browser, program, team, submissions: [first, second], .. } =
        HostedSite::new(database).await;
    let grant = json!({ "team": team, "extra": 1, "total": false, "reason": "a lost day" });
    for (path, body) in [
        (format!("{api}/limits"), json!({ "per_day": 3, "in_total": 5 })),
        (format!("{api}/grants"), grant),
        (format!("/api/v1/submissions/{second}/cancel"), json!({})),
        (format!("/api/v1/submissions/{first}/disqualify"), json!({ "reason": "x" })),
        (format!("/api/v1/submissions/{first}/reinstate"), json!({})),
        (format!("{api}/freeze"), json!({})),
        (format!("{api}/unfreeze"), json!({})),
    ] {
        let status = program.post_json(&path, &body).await.status;
        assert!(status.is_success(), "{path}: {status}");
    }
    let notes = program.get("/api/v1/host/benchmarks/b/audit").await.expect(200).json();
    let notes = notes["notes"].as_array().unwrap();
    for action in [
        "phase.limits",
        "quota.grant",
        "submission.cancel",
        "submission.disqualify",
        "submission.reinstate",
        "phase.freeze",
        "phase.unfreeze",
    ] {
        let note =
            notes.iter().find(|note| note["action"] == action).unwrap_or_else(|| panic!("no {action}"));
        assert_eq!(note["actor"], "Hanna", "{note}");
    }
    let limits = notes.iter().find(|note| note["action"] == "phase.limits").unwrap();
    assert_eq!(limits["detail"]["per_day"], json!([2, 3]));
    assert!(browser.get("/b/b/audit").await.expect(200).text.contains("quota.grant"));
}

async fn hosts_have_a_page_of_webhooks(database: Database) {
    let HostedSite { site, browser, .. } = HostedSite::new(database).await;
    let other_browser = site.person("Olga", Role::Host).await;
    let page =
        browser.post("/b/b/webhooks", &[("url", "https://hooks.example.org/x")]).await.expect(200).text;
    assert!(page.contains("class=\"secret\"") && page.contains("https://hooks.example.org/x"));
    let refused = browser.post("/b/b/webhooks", &[("url", "http://127.0.0.1/x")]).await.expect(422).text;
    assert!(refused.contains("must not be in a private network"));
    let hook = page.between("/b/b/webhooks/", "/").to_owned();
    other_browser.post(&format!("/b/b/webhooks/{hook}/remove"), &[]).await.expect(404);
    browser.post(&format!("/b/b/webhooks/{hook}/remove"), &[]).await.expect(303);
    assert!(!browser.get("/b/b/webhooks").await.expect(200).text.contains("hooks.example.org"));
}

async fn what_races_with_a_host_is_exact(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 3\nin_total = 100\nhuman = false").await;
    let (_, program) = host(&site).await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    send(&ada, &phase, "first", numbered(0)).await.expect(201);
    let api = format!("/api/v1/host/phases/{phase}");
    let entries = program.get(&format!("{api}/entries")).await.expect(200).json();
    let team = entries["entries"][0]["team"].as_str().unwrap().to_owned();

    // 60 submissions and ten grants at once: as many go through as there are in the end.
    let mut racing = Vec::new();
    for k in 1..=60 {
        let (ada, phase) = (ada.clone(), phase.clone());
        racing.push(tokio::spawn(async move {
            send(&ada, &phase, &format!("m{k}"), numbered(k)).await.status.as_u16()
        }));
        if k % 6 == 0 {
            let (program, path) = (program.clone(), format!("{api}/grants"));
            let body = json!({ "team": team, "extra": 1, "reason": "race" });
            racing.push(tokio::spawn(async move {
                program.post_json(&path, &body).await.expect(201);
                0
            }));
        }
    }
    let mut through = 1;
    for one in racing {
        let status = one.await.unwrap();
        assert!([0, 201, 429].contains(&status), "{status}");
        through += i64::from(status == 201);
    }
    let mut k = 100;
    while send(&ada, &phase, "late", numbered(k)).await.status.as_u16() == 201 {
        (through, k) = (through + 1, k + 1);
    }
    assert_eq!(through, 13, "3 per day and 10 granted");

    // Nothing goes through once the answer says that submissions are stopped.
    program
        .post_json(&format!("{api}/limits"), &json!({ "per_day": 1000, "in_total": 1000 }))
        .await
        .expect(200);
    let mut racing = Vec::new();
    for k in 200..240 {
        let (ada, phase) = (ada.clone(), phase.clone());
        racing.push(tokio::spawn(async move {
            send(&ada, &phase, &format!("m{k}"), numbered(k)).await.status.as_u16()
        }));
    }
    program.post_json(&format!("{api}/freeze"), &json!({})).await.expect(200);
    let count = || async {
        let sql = "SELECT COUNT(*) AS n FROM submission WHERE kind = 'entry'";
        site.app.store.first(sql, args![]).await.unwrap().unwrap().get::<i64>("n").unwrap()
    };
    let when_stopped = count().await;
    for one in racing {
        assert!([201, 409].contains(&one.await.unwrap()));
    }
    assert_eq!(count().await, when_stopped);

    // One of many hosts takes it off the board, and one begins to score again.
    let id = "SELECT id FROM submission WHERE method = 'first'";
    let id: String = site.app.store.first(id, args![]).await.unwrap().unwrap().get("id").unwrap();
    for (path, body, done) in [
        (format!("/api/v1/submissions/{id}/disqualify"), json!({ "reason": "race" }), 204),
        (format!("{api}/rescore"), json!({}), 201),
    ] {
        // There is something to score only after the first round.
        if done == 201 {
            let sql = "UPDATE submission SET state = 'scored' WHERE kind = 'entry'";
            site.app.store.execute(sql, args![]).await.unwrap();
        }
        let racing = (0..20).map(|_| {
            let (program, path, body) = (program.clone(), path.clone(), body.clone());
            tokio::spawn(async move { program.post_json(&path, &body).await.status.as_u16() })
        });
        let racing: Vec<_> = racing.collect();
        let mut through = 0;
        for one in racing {
            let status = one.await.unwrap();
            assert!(status == done || status == 409, "{path}: {status}");
            through += usize::from(status == done);
        }
        assert_eq!(through, 1, "{path}");
    }
}

async fn everything_is_scored_again_into_a_new_score_set(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 9").await;
    let (browser, program) = host(&site).await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let bao = site.program("Bao", Role::Member, Scope::Submit).await;
    send(&ada, &phase, "Seven", results(40, 7)).await.expect(201);
    send(&bao, &phase, "Nine", results(40, 9)).await.expect(201);
    site.work().await;
    let api = format!("/api/v1/host/phases/{phase}");
    let board = || async { ada.get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json() };
    let sets =
        || async { program.get(&api).await.expect(200).json()["score_sets"].as_array().unwrap().clone() };
    let before = board().await;
    assert_eq!(sets().await.len(), 1);
    // Scores of an older engine, which was wrong.
    let old = sets().await[0]["id"].as_str().unwrap().to_owned();
    let sql = "UPDATE score SET value = 0.5 WHERE score_set = $1";
    site.app.store.execute(sql, args![&old]).await.unwrap();
    settle(&site).await;
    let wrong = board().await;
    assert_ne!(wrong["rows"], before["rows"]);

    browser.post("/b/b/p/host/rescore", &[]).await.expect(303);
    assert_eq!(
        program.post_json(&format!("{api}/rescore"), &json!({})).await.expect(409).json()["code"],
        "rescoring"
    );
    assert_eq!(
        board().await["rows"],
        wrong["rows"],
        "The leaderboard changes when all submissions are scored"
    );
    assert!(browser.get("/b/b/p/host").await.expect(200).text.contains("Submissions left: 4"));
    // What is submitted during that time is in both.
    send(&bao, &phase, "Ten", results(40, 10)).await.expect(201);
    site.work().await;
    let after = board().await;
    let scores = |board: &Value, method: &str| {
        let rows = board["rows"].as_array().unwrap();
        let row =
            rows.iter().find(|row| row["method"] == method).unwrap_or_else(|| panic!("{method}: {board}"));
        (row["scores"].clone(), row["intervals"].clone())
    };
    for method in ["Seven", "Baseline", "human"] {
        assert_eq!(scores(&after, method), scores(&before, method), "{method}");
    }
    assert!(scores(&after, "Ten").0["cider-d"].as_f64() > scores(&after, "Seven").0["cider-d"].as_f64());
    let now = sets().await;
    assert_eq!(now.len(), 2);
    assert_eq!((&now[0]["is_shown"], &now[0]["pending"]), (&json!(true), &json!(0)));
    assert_eq!((&now[1]["is_shown"], &now[1]["id"]), (&json!(false), &json!(old)));
    // The old scores are as they were, and no quota was touched.
    let sql = "SELECT COUNT(*) AS n FROM score WHERE score_set = $1 AND value = 0.5";
    let kept = site.app.store.first(sql, args![&old]).await.unwrap().unwrap().get::<i64>("n").unwrap();
    assert!(kept > 20, "{kept}");
    let quota = bao.get(&format!("/api/v1/phases/{phase}/quota")).await.expect(200).json();
    assert_eq!(quota["used_today"], 2);

    // If a submission cannot be scored again, the board stays; once that one is off the board, the rest goes on.
    let sql = "SELECT id, blob FROM submission WHERE method = 'Seven'";
    let row = site.app.store.first(sql, args![]).await.unwrap().unwrap();
    let (lost, blob): (String, String) = (row.get("id").unwrap(), row.get("blob").unwrap());
    site.app.blobs.remove(&blob).unwrap();
    program.post_json(&format!("{api}/rescore"), &json!({})).await.expect(201);
    site.work().await;
    assert_eq!(board().await["rows"], after["rows"]);
    let newest = sets().await.remove(0);
    assert_eq!((&newest["is_shown"], &newest["pending"]), (&json!(false), &json!(0)));
    assert!(newest["reason"].as_str().unwrap().contains(&lost), "{newest}");
    let off = json!({ "reason": "its file is lost" });
    program.post_json(&format!("/api/v1/submissions/{lost}/disqualify"), &off).await.expect(204);
    program.post_json(&format!("{api}/rescore"), &json!({})).await.expect(201);
    site.work().await;
    assert_eq!(sets().await[0]["is_shown"], true);
    assert_eq!(scores(&board().await, "Ten"), scores(&after, "Ten"));
}

async fn references_that_failed_say_so_and_are_tried_again(database: Database) {
    const FAILED: &str = "The references of this phase could not be prepared.";
    let site = Site::new(database).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), references(40, 5)).unwrap();
    let plan = "slug = 'b'\ntitle = 'Benchmark'\n[[phases]]\nslug = 'p'\ntitle = 'Phase'\nmetrics = ['cider-d']\n\
        [[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n";
    let plan = toml::from_str(plan).unwrap();
    apply(&site.app, &plan, folder.path(), None).await.unwrap();
    let (phase, blob): (String, String) =
        site.app.store.fetch_one("SELECT phase, source_hash FROM reference_set", args![]).await.unwrap();
    let (anybody, host) = (site.anybody(), site.person("Root", Role::Admin).await);
    let program = site.program("Root", Role::Admin, Scope::Host).await;
    let own = format!("/api/v1/host/phases/{phase}");
    let board = async || anybody.get("/b/b/p/leaderboard").await.expect(200).text;
    assert!(board().await.contains("are being prepared."));
    program.post_json(&format!("{own}/prepare"), &json!({})).await.expect(409);

    // The file is lost; then the job is.
    let file = site.app.hidden.fetch(&blob).unwrap();
    let kept = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    for round in 0..2 {
        match round {
            0 => site.work().await,
            _ => {
                let sql = "UPDATE job SET state = 'cancelled' WHERE state = 'queued'";
                assert_eq!(site.app.store.execute(sql, args![]).await.unwrap(), 1);
            }
        }
        site.app.recent.forget();
        assert!(board().await.contains(FAILED));
        let refused = program
            .send(Request::post(format!("/api/v1/phases/{phase}/submissions?method=m")), "[]")
            .await
            .expect(409)
            .json();
        assert_eq!(refused["code"], "not-prepared");
        let told = program.get(&own).await.expect(200).json();
        let set = &told["reference_sets"][0];
        assert_eq!(set["state"], "failed", "{told}");
        let reason = set["reason"].as_str().unwrap();
        assert!(!reason.is_empty());
        let page = host.get("/b/b/p/host").await.expect(200).text;
        assert!(page.contains(reason) && page.contains("/b/b/p/host/prepare"), "{reason}: {page}");
        if round == 0 {
            host.post("/b/b/p/host/prepare", &[]).await.expect(303);
            assert!(board().await.contains("are being prepared."));
        }
    }
    let of_visitors = anybody.get(&format!("/api/v1/phases/{phase}")).await.expect(200).json();
    assert_eq!(of_visitors["reference_sets"][0]["reason"], json!(null));

    std::fs::write(&file, kept).unwrap();
    program.post_json(&format!("{own}/prepare"), &json!({})).await.expect(200);
    site.work().await;
    let page = host.get("/b/b/p/host").await.expect(200).text;
    assert!(page.contains("40 images, 200 captions") && !page.contains("/host/prepare"), "{page}");
    assert!(!board().await.contains("prepared"));
}

/// A plan with a row for people and three baselines, and the folder with its files.
fn with_rows() -> (tempfile::TempDir, capeval_benchmarks::settings::Plan) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), references(40, 5)).unwrap();
    let mut plan = "slug = 'b'\ntitle = 'Benchmark'\n[[phases]]\nslug = 'p'\ntitle = 'Phase'\nhuman = true\n\
        metrics = ['cider-d']\n[[phases.references]]\nname = 'c5'\nfile = 'c5.json'\n"
        .to_owned();
    for skill in [3, 6, 9] {
        std::fs::write(folder.path().join(format!("{skill}.json")), results(40, skill)).unwrap();
        plan += &format!("[[phases.baselines]]\nmethod = 'skill {skill}'\nfile = '{skill}.json'\n");
    }
    (folder, toml::from_str(&plan).unwrap())
}

async fn what_could_not_be_scored_is_tried_again(database: Database) {
    let site = Site::new(database).await;
    let (folder, plan) = with_rows();
    apply(&site.app, &plan, folder.path(), None).await.unwrap();
    let (browser, program) = host(&site).await;
    // The references are prepared, and lost before anything is scored.
    let (_stop, mut stopping) = tokio::sync::watch::channel(false);
    let works = &feature::works(FEATURES);
    assert!(runner::step(&site.app, works, Post::ALL, &mut stopping).await.unwrap());
    let (phase, prepared): (String, String) =
        site.app.store.fetch_one("SELECT phase, prepared_hash FROM reference_set", args![]).await.unwrap();
    let file = site.app.hidden.fetch(&prepared).unwrap();
    let kept = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    site.work().await;
    let states = async || {
        let sql = "SELECT state FROM submission ORDER BY method";
        site.app.store.fetch::<String>(sql, args![]).await.unwrap()
    };
    assert_eq!(states().await, ["failed"; 4]);
    let page = browser.get("/b/b/p/host").await.expect(200).text;
    for row in ["People", "skill 3", "skill 6", "skill 9"] {
        assert!(page.contains(&format!("{row}</a> has no scores: ")), "{row}: {page}");
    }
    assert!(page.contains("/b/b/p/host/prepare"), "{page}");

    std::fs::write(&file, kept).unwrap();
    let again = format!("/api/v1/host/phases/{phase}/prepare");
    program.post_json(&again, &json!({})).await.expect(200);
    site.work().await;
    assert_eq!(states().await, ["scored"; 4]);
    assert!(!browser.get("/b/b/p/host").await.expect(200).text.contains("/host/prepare"));
    program.post_json(&again, &json!({})).await.expect(409);
    let board = site.anybody().get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json();
    assert_eq!(board["rows"].as_array().unwrap().len(), 4, "{board}");

    // The plan, sent again, does the same.
    let sql = "UPDATE submission SET state = 'failed', reason = 'x' WHERE kind <> 'entry'";
    site.app.store.execute(sql, args![]).await.unwrap();
    apply(&site.app, &plan, folder.path(), None).await.unwrap();
    site.work().await;
    assert_eq!(states().await, ["scored"; 4]);
}

async fn neighbours_that_could_not_be_compared_are_told_and_tried_again(database: Database) {
    let site = Site::new(database).await;
    let (folder, plan) = with_rows();
    apply(&site.app, &plan, folder.path(), None).await.unwrap();
    site.work().await;
    let (browser, program) = host(&site).await;
    let phase: String = site.app.store.fetch_one("SELECT id FROM phase", args![]).await.unwrap();
    let own = format!("/api/v1/host/phases/{phase}");
    let pairs = async || {
        let sql = "SELECT DISTINCT one, other FROM comparison";
        site.app.store.fetch::<(String, String)>(sql, args![]).await.unwrap().len()
    };
    assert_eq!(pairs().await, 2);
    assert_eq!(program.get(&own).await.expect(200).json()["comparison_failure"], json!(null));

    // The file of one of the three is lost.
    let sql = "SELECT id, blob FROM submission WHERE method = 'skill 3'";
    let (lost, blob): (String, String) = site.app.store.fetch_one(sql, args![]).await.unwrap();
    let set = "UPDATE submission SET blob = $1 WHERE id = $2";
    site.app.store.execute(set, args!["0".repeat(64), &lost]).await.unwrap();
    site.app.store.execute("DELETE FROM comparison", args![]).await.unwrap();
    let change = async || {
        let other = "SELECT id FROM submission WHERE method = 'skill 9'";
        let other: String = site.app.store.fetch_one(other, args![]).await.unwrap();
        let path = format!("/api/v1/submissions/{other}");
        program.post_json(&format!("{path}/disqualify"), &json!({ "reason": "x" })).await.expect(204);
        program.post_json(&format!("{path}/reinstate"), &json!({})).await.expect(204);
    };
    change().await;
    site.work().await;
    // The others were compared.
    assert_eq!(pairs().await, 1);
    let words = "Neighbours on the leaderboard could not be compared: ";
    for _ in 0..2 {
        let hosted = program.get(&own).await.expect(200).json();
        let reason = hosted["comparison_failure"].as_str().unwrap().to_owned();
        let page = browser.get("/b/b/p/host").await.expect(200).text;
        assert!(page.contains(&format!("{words}{reason}")) && page.contains("/host/prepare"), "{page}");
        browser.post("/b/b/p/host/prepare", &[]).await.expect(303);
        assert_eq!(program.get(&own).await.expect(200).json()["comparison_failure"], json!(null));
        site.work().await;
    }
    site.app.store.execute(set, args![&blob, &lost]).await.unwrap();
    program.post_json(&format!("{own}/prepare"), &json!({})).await.expect(200);
    site.work().await;
    assert_eq!(pairs().await, 2);
    assert!(!browser.get("/b/b/p/host").await.expect(200).text.contains(words));
    program.post_json(&format!("{own}/prepare"), &json!({})).await.expect(409);
}

/// The rows that boards are read from.
async fn standing(site: &Site) -> Vec<(String, String, String)> {
    let sql = "SELECT reference_set, submission, scores FROM standing ORDER BY reference_set, submission";
    let rows: Vec<(String, String, String)> = site.app.store.fetch(sql, args![]).await.unwrap();
    let as_json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let sorted =
        |scores: Value| scores.as_object().unwrap().iter().map(|score| format!("{score:?}")).collect();
    rows.into_iter()
        .map(|(set, submission, scores)| {
            let mut scores: Vec<String> = sorted(as_json(&scores));
            scores.sort();
            (set, submission, scores.join(" "))
        })
        .collect()
}

/// Makes these rows again from all submissions.
async fn settle(site: &Site) {
    let mut tx = site.app.store.begin().await.unwrap();
    tx.execute("DELETE FROM standing", args![]).await.unwrap();
    let phases: Vec<String> = tx.fetch("SELECT id FROM phase", args![]).await.unwrap();
    for phase in phases {
        capeval_benchmarks::board::all_changed(&mut tx, &phase).await.unwrap();
    }
    tx.commit().await.unwrap();
}

/// Whatever changes what stands, the rows are those that would be made from all submissions.
async fn boards_keep_what_their_submissions_make(database: Database) {
    let hosted = HostedSite::new(database).await;
    let HostedSite { site, phase, api, program, ada, submissions: [first, second], .. } = &hosted;
    let bao = site.program("Bao", Role::Member, Scope::Submit).await;
    let browser_of_ada = site.person("Ada", Role::Member).await;
    send(&bao, phase, "Third", results(40, 7)).await.expect(201);
    let mut seen = Vec::new();
    for (actor, path, body) in [
        (program, String::new(), json!({})),
        (ada, format!("/api/v1/submissions/{second}/pin"), json!({})),
        (ada, format!("/submissions/{second}/unpin"), json!({})),
        (program, format!("/api/v1/submissions/{first}/disqualify"), json!({ "reason": "x" })),
        (program, format!("/api/v1/submissions/{first}/reinstate"), json!({})),
        (program, format!("{api}/rescore"), json!({})),
    ] {
        if path.ends_with("unpin") {
            browser_of_ada.post(&path, &[]).await.expect(303);
        } else if !path.is_empty() {
            let answer = actor.post_json(&path, &body).await;
            assert!(answer.status.is_success(), "{path}: {}", answer.text);
        }
        site.work().await;
        let kept = standing(site).await;
        settle(site).await;
        assert_eq!(kept, standing(site).await, "{path}");
        let of_ada = |id: &String| kept.iter().filter(|row| row.1 == *id).count();
        seen.push((of_ada(first), of_ada(second)));
    }
    let sets = seen[0].0;
    assert!(sets > 0);
    assert_eq!(seen, [(sets, 0), (0, sets), (sets, 0), (0, sets), (sets, 0), (sets, 0)]);
}
