//! Machines of hosts give scores: claims, posts, races, and what boards make of them.

use axum::http::Request;
use capeval_benchmarks::apply::apply;
use capeval_site::accounts::Role;
use capeval_site::testing::Clock;
use capeval_site::web::Scope;
use capeval_site::{args, clock};
use serde_json::{Value, json};

use crate::benchmarks::{references, results};
use crate::support::{Answer, Client, Database, Site, on_both, on_sqlite};

on_both! {
    a_machine_scores_what_a_team_submits
    two_machines_never_have_the_same_claim
    a_lost_claim_goes_to_another_machine
    failures_are_refunded_if_the_scorer_is_at_fault
    everything_is_scored_again_by_machines
    a_cancelled_submission_takes_no_scores
}

on_sqlite! {
    scores_that_cannot_be_are_refused
    only_hosts_of_the_phase_claim
    images_give_intervals_and_marks
    declared_measures_are_checked
}

const GIVEN: &str = "[[phases.given]]\nkey = 'judge'\nlabel = 'Judge'\nmin = 0\nmax = 10\n\
                     [[phases.given]]\nkey = 'errors'\nlower_is_better = true\nis_count = true\nmin = 0\n";

/// A site with a phase of 40 images whose machines give two measures; and its host.
async fn site(database: Database) -> (Site, Client, String) {
    let site = Site::new(database).await;
    let hanna = site.program("Hanna", Role::Host, Scope::Host).await;
    put(&site, "", GIVEN).await.unwrap();
    let phase: String = site.app.store.fetch_one("SELECT id FROM phase", args![]).await.unwrap();
    (site, hanna, phase)
}

async fn put(site: &Site, more: &str, given: &str) -> anyhow::Result<()> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("refs.json"), references(40, 5)).unwrap();
    let plan = format!(
        "slug = 'b'\ntitle = 'Benchmark'\nhosts = ['hanna@example.org']\n[[phases]]\nslug = 'p'\ntitle = 'Phase'\n\
         metrics = ['bleu']\nmain_metric = 'judge'\nper_day = 5\n{more}\n[[phases.references]]\nname = 'r'\n\
         file = 'refs.json'\n{given}"
    );
    let applied = apply(&site.app, &toml::from_str(&plan)?, folder.path(), None).await;
    site.work().await;
    applied.map(drop)
}

async fn submit(site: &Site, name: &str, phase: &str, skill: usize) -> (Client, String) {
    let who = site.program(name, Role::Member, Scope::Submit).await;
    let path = format!("/api/v1/phases/{phase}/submissions?method={name}");
    let made = who.send(Request::post(path), results(40, skill)).await.expect(201).json();
    site.work().await;
    (who, made["id"].as_str().unwrap().to_owned())
}

async fn claim(host: &Client, phase: &str) -> Answer {
    host.post_json(&format!("/api/v1/host/phases/{phase}/claims"), &json!({ "minutes": 10 })).await
}

/// The id of the claim of the next submission.
async fn claimed(host: &Client, phase: &str) -> String {
    claim(host, phase).await.expect(201).json()["claim"].as_str().unwrap().to_owned()
}

async fn give(host: &Client, claim: &str, scores: &Value) -> Answer {
    host.post_json(&format!("/api/v1/host/claims/{claim}/scores"), scores).await
}

fn scores(judge: f64) -> Value {
    json!({ "scores": { "judge": judge, "errors": 3 }, "version": "1.2" })
}

async fn submission(who: &Client, id: &str) -> Value {
    who.get(&format!("/api/v1/submissions/{id}")).await.expect(200).json()
}

async fn used(who: &Client, phase: &str) -> Value {
    who.get(&format!("/api/v1/phases/{phase}/quota")).await.expect(200).json()["used_today"].clone()
}

async fn a_machine_scores_what_a_team_submits(database: Database) {
    let (site, hanna, phase) = site(database).await;
    let queue = format!("/api/v1/host/phases/{phase}/queue");
    assert_eq!(hanna.get(&queue).await.expect(200).json(), json!({ "waiting": 0, "claimed": 0 }));
    claim(&hanna, &phase).await.expect(204);
    let (ada, id) = submit(&site, "Ada", &phase, 5).await;
    assert_eq!(submission(&ada, &id).await["state"], "queued");
    assert_eq!(hanna.get(&queue).await.expect(200).json(), json!({ "waiting": 1, "claimed": 0 }));
    let claim = claim(&hanna, &phase).await.expect(201).json();
    assert_eq!((&claim["submission"], &claim["attempt"]), (&json!(id), &json!(1)));
    assert_eq!(claim["measures"], json!(["judge", "errors"]));
    assert_eq!(claim["expires_at"], "2026-06-15T12:10:00Z");
    assert_eq!(submission(&ada, &id).await["state"], "running");
    let path = claim["captions"].as_str().unwrap().split_once("/api").unwrap().1;
    let captions = hanna.get(&format!("/api{path}")).await.expect(200).json();
    assert_eq!((captions.as_array().unwrap().len(), &captions[0]["image_id"]), (40, &json!(0)));

    let claim = claim["claim"].as_str().unwrap();
    give(&hanna, claim, &scores(7.25)).await.expect(204);
    site.work().await;
    let scored = submission(&ada, &id).await;
    assert_eq!(scored["state"], "scored");
    assert_eq!(
        (&scored["scores"]["r"]["judge"], &scored["scores"]["r"]["errors"]),
        (&json!(7.25), &json!(3.0))
    );
    assert!(scored["scores"]["r"]["bleu-4"].is_number(), "{scored}");
    // The same once more has no other effect, and something else has none at all.
    give(&hanna, claim, &scores(7.25)).await.expect(204);
    assert_eq!(give(&hanna, claim, &scores(8.0)).await.expect(409).json()["code"], "claim-ended");
    let (bao, better) = submit(&site, "Bao", &phase, 3).await;
    give(&hanna, &claimed(&hanna, &phase).await, &scores(9.0)).await.expect(204);
    site.work().await;
    let board = bao.get(&format!("/api/v1/phases/{phase}/leaderboard")).await.expect(200).json();
    let rows = board["rows"].as_array().unwrap();
    let order: Vec<&Value> =
        rows.iter().filter(|row| row["kind"] == "entry").map(|row| &row["submission"]).collect();
    assert_eq!(order, [&json!(better), &json!(id)]);
    let page =
        site.person("Ada", Role::Member).await.get(&format!("/submissions/{id}")).await.expect(200).text;
    assert!(page.contains("judge+errors|scorer:host|version:1.2"), "{page}");
    assert_eq!(used(&ada, &phase).await, 1);
}

async fn two_machines_never_have_the_same_claim(database: Database) {
    let (site, hanna, phase) = site(database).await;
    for round in 0..10 {
        let (_, id) = submit(&site, &format!("Ada{round}"), &phase, 5).await;
        let (one, two) = tokio::join!(claim(&hanna, &phase), claim(&hanna, &phase));
        let mut statuses = [one.status.as_u16(), two.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 204]);
        let won = if one.status == 201 { one.json() } else { two.json() };
        assert_eq!(won["submission"], json!(id));
        let claim = won["claim"].as_str().unwrap();
        // Of two posts at once, one is written.
        let (low, high) = (scores(1.0), scores(2.0));
        let (one, two) = tokio::join!(give(&hanna, claim, &low), give(&hanna, claim, &high));
        let mut statuses = [one.status.as_u16(), two.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [204, 409]);
        let sql = "SELECT value FROM score WHERE submission = $1 AND metric = 'judge'";
        let values: Vec<f64> = site.app.store.fetch(sql, args![&id]).await.unwrap();
        assert_eq!(values, [if one.status == 204 { 1.0 } else { 2.0 }]);
    }
}

async fn a_lost_claim_goes_to_another_machine(database: Database) {
    let (site, hanna, phase) = site(database).await;
    let (ada, id) = submit(&site, "Ada", &phase, 5).await;
    let clock = Clock::of_thread().unwrap();
    let first = claimed(&hanna, &phase).await;
    clock.move_to(clock.now() + 9 * 60_000);
    claim(&hanna, &phase).await.expect(204);
    clock.move_to(clock.now() + 2 * 60_000);
    let second = claim(&hanna, &phase).await.expect(201).json();
    assert_eq!(second["attempt"], 2);
    assert_eq!(give(&hanna, &first, &scores(1.0)).await.expect(409).json()["code"], "claim-lost");
    // A claim that has expired stands until another machine has the submission.
    clock.move_to(clock.now() + clock::DAY);
    give(&hanna, second["claim"].as_str().unwrap(), &scores(2.0)).await.expect(204);
    assert_eq!(submission(&ada, &id).await["scores"]["r"]["judge"], 2.0);

    // After five claims without an answer, the submission has no scores, and its team gets it back.
    let (bao, id) = submit(&site, "Bao", &phase, 5).await;
    for _ in 0..5 {
        claimed(&hanna, &phase).await;
        clock.move_to(clock.now() + 11 * 60_000);
    }
    claim(&hanna, &phase).await.expect(204);
    let lost = submission(&bao, &id).await;
    assert_eq!((&lost["state"], &used(&bao, &phase).await), (&json!("failed"), &json!(0)));
    assert!(lost["reason"].as_str().unwrap().contains("took it 5 times"), "{lost}");
}

async fn failures_are_refunded_if_the_scorer_is_at_fault(database: Database) {
    let (site, hanna, phase) = site(database).await;
    for (name, fault, left) in [("Ada", "scorer", 0), ("Bao", "submission", 1)] {
        let (who, id) = submit(&site, name, &phase, 5).await;
        let path = format!("/api/v1/host/claims/{}/failure", claimed(&hanna, &phase).await);
        let failure = json!({ "reason": "It is <b>empty</b>.", "fault": fault });
        let none = json!({ "reason": " ", "fault": fault });
        assert_eq!(hanna.post_json(&path, &none).await.expect(422).json()["code"], "reason");
        hanna.post_json(&path, &failure).await.expect(204);
        hanna.post_json(&path, &failure).await.expect(204);
        let failed = submission(&who, &id).await;
        assert_eq!((&failed["state"], &failed["reason"]), (&json!("failed"), &json!("It is <b>empty</b>.")));
        assert_eq!(used(&who, &phase).await, left);
        let page =
            site.person(name, Role::Member).await.get(&format!("/submissions/{id}")).await.expect(200).text;
        assert!(page.contains("It is &#60;b&#62;empty"), "{page}");
    }
}

async fn everything_is_scored_again_by_machines(database: Database) {
    let (site, hanna, phase) = site(database).await;
    let (ada, id) = submit(&site, "Ada", &phase, 5).await;
    give(&hanna, &claimed(&hanna, &phase).await, &scores(1.0)).await.expect(204);
    site.work().await;
    let rescore = format!("/api/v1/host/phases/{phase}/rescore");
    hanna.post_json(&rescore, &json!({})).await.expect(201);
    site.work().await;
    // Boards show the old scores until the machine has given the new ones.
    assert_eq!(submission(&ada, &id).await["scores"]["r"]["judge"], 1.0);
    give(&hanna, &claimed(&hanna, &phase).await, &scores(2.0)).await.expect(204);
    site.work().await;
    assert_eq!(submission(&ada, &id).await["scores"]["r"]["judge"], 2.0);
    assert_eq!(used(&ada, &phase).await, 1);
    // A machine that cannot score one gives the whole score set up.
    hanna.post_json(&rescore, &json!({})).await.expect(201);
    site.work().await;
    let path = format!("/api/v1/host/claims/{}/failure", claimed(&hanna, &phase).await);
    hanna.post_json(&path, &json!({ "reason": "no memory", "fault": "scorer" })).await.expect(204);
    let seen = hanna.get(&format!("/api/v1/host/phases/{phase}")).await.expect(200).json();
    assert!(seen["score_sets"][0]["reason"].as_str().unwrap().contains("no memory"), "{seen}");
    assert_eq!(submission(&ada, &id).await["state"], "scored");
}

async fn a_cancelled_submission_takes_no_scores(database: Database) {
    let (site, hanna, phase) = site(database).await;
    let (ada, id) = submit(&site, "Ada", &phase, 5).await;
    let cancel = format!("/api/v1/submissions/{id}/cancel");
    let claim = claimed(&hanna, &phase).await;
    assert_eq!(ada.post_json(&cancel, &json!({})).await.expect(409).json()["code"], "too-late");
    hanna.post_json(&cancel, &json!({})).await.expect(200);
    assert_eq!(give(&hanna, &claim, &scores(1.0)).await.expect(409).json()["code"], "claim-ended");
    let (bao, id) = submit(&site, "Bao", &phase, 5).await;
    bao.post_json(&format!("/api/v1/submissions/{id}/cancel"), &json!({})).await.expect(200);
    self::claim(&hanna, &phase).await.expect(204);
    assert_eq!((used(&ada, &phase).await, used(&bao, &phase).await), (json!(0), json!(0)));
}

async fn scores_that_cannot_be_are_refused() {
    let (site, hanna, phase) = site(Database::Sqlite).await;
    let (ada, id) = submit(&site, "Ada", &phase, 5).await;
    let claim = claimed(&hanna, &phase).await;
    let images = |values: Value| {
        let each: Value = (0..40).map(|k| (k.to_string(), values.clone())).collect();
        json!({ "scores": { "judge": 5, "errors": 1 }, "images": each })
    };
    let mut lacking = images(json!({ "judge": 5 }));
    lacking["images"].as_object_mut().unwrap().remove("7");
    let mut unknown = images(json!({ "judge": 5 }));
    unknown["images"]["99"] = json!({ "judge": 5 });
    let mut uneven = images(json!({ "judge": 5 }));
    uneven["images"]["7"] = json!({ "errors": 5 });
    for (body, words) in [
        (json!({ "scores": { "judge": 5 } }), "The measure errors has no value."),
        (json!({ "scores": { "judge": 5, "errors": 1, "bleu-4": 1 } }), "declares no measure bleu-4"),
        (
            json!({ "scores": { "judge": 11, "errors": 1 } }),
            "11 cannot be a value of judge, which is between 0 and 10.",
        ),
        (json!({ "scores": { "judge": 5, "errors": -1 } }), "-1 cannot be a value of errors"),
        (
            json!({ "scores": { "judge": 5, "errors": 1 }, "version": "x".repeat(501) }),
            "at most 500 characters",
        ),
        (images(json!({ "judge": 4 })), "The value of judge is 5, but the mean over the images is 4."),
        (images(json!({ "judge": 99 })), "99 cannot be a value of judge"),
        (images(json!({ "other": 5 })), "declares no measure other"),
        (lacking, "Values of 39 images are given, but the phase has 40."),
        (unknown, "The phase has no image 99."),
        (uneven, "The image 7 has other measures than the first one."),
    ] {
        let refused = give(&hanna, &claim, &body).await.expect(422).json();
        assert!(refused["detail"].as_str().unwrap().contains(words), "{refused}");
    }
    let path = format!("/api/v1/host/claims/{claim}/scores");
    for body in [
        r#"{"scores": {"judge": NaN}}"#,
        r#"{"scores": {"judge": 1e999}}"#,
        r#"{"scores": {"judge": "5"}}"#,
        "{",
    ] {
        let request = Request::post(&path).header("content-type", "application/json");
        hanna.send(request, body).await.expect(400);
    }
    let huge = vec![b' '; (site.app.settings.upload_mib as usize + 2) << 20];
    let request = Request::post(&path).header("content-type", "application/json");
    hanna.send(request, huge).await.expect(413);
    assert_eq!(submission(&ada, &id).await["state"], "running");
    let refused =
        hanna.post_json(&format!("/api/v1/host/phases/{phase}/claims"), &json!({ "minutes": 0 })).await;
    assert_eq!(refused.expect(422).json()["code"], "minutes");
    give(&hanna, &claim, &images(json!({ "judge": 5 }))).await.expect(204);
}

async fn only_hosts_of_the_phase_claim() {
    let (site, hanna, phase) = site(Database::Sqlite).await;
    let (ada, _) = submit(&site, "Ada", &phase, 5).await;
    let own = claimed(&hanna, &phase).await;
    let other = site.program("Other", Role::Host, Scope::Host).await;
    let weak = site.program("Hanna", Role::Host, Scope::Submit).await;
    for (who, status) in [(&ada, 404), (&other, 404), (&weak, 403), (&site.anybody(), 401)] {
        claim(who, &phase).await.expect(status);
        who.get(&format!("/api/v1/host/phases/{phase}/queue")).await.expect(status);
        who.get(&format!("/api/v1/host/claims/{own}/captions")).await.expect(status);
        give(who, &own, &scores(1.0)).await.expect(status);
        let failure = json!({ "reason": "x", "fault": "scorer" });
        who.post_json(&format!("/api/v1/host/claims/{own}/failure"), &failure).await.expect(status);
    }
    for odd in ["x", "x.1", "x.y", &own.replace(".1", ".2"), &own.replace(".1", ".0")] {
        give(&hanna, odd, &scores(1.0)).await.expect(404);
    }
    let root = site.program("Root", Role::Admin, Scope::Host).await;
    give(&root, &own, &scores(1.0)).await.expect(204);
}

async fn images_give_intervals_and_marks() {
    let (site, hanna, phase) = site(Database::Sqlite).await;
    for (name, shift) in [("Ada", 0.0), ("Bao", 2.0)] {
        submit(&site, name, &phase, 5).await;
        let value = |k: usize| shift + (k % 5) as f64;
        let each: Value = (0..40).map(|k| (k.to_string(), json!({ "judge": value(k) }))).collect();
        let body = json!({ "scores": { "judge": 2.0 + shift, "errors": 1 }, "images": each });
        give(&hanna, &claimed(&hanna, &phase).await, &body).await.expect(204);
        site.work().await;
    }
    let ends = "SELECT low, high FROM score WHERE metric = 'judge' ORDER BY submission";
    let ends: Vec<(f64, f64)> = site.app.store.fetch(ends, args![]).await.unwrap();
    // Both are drawn alike.
    assert!(ends[0].0 < 2.0 && 2.0 < ends[0].1 && ends[0].1 - ends[0].0 < 2.0, "{ends:?}");
    assert!((ends[1].0 - ends[0].0 - 2.0).abs() < 1e-9, "{ends:?}");
    let p = "SELECT p FROM comparison WHERE metric = 'judge'";
    let p: Vec<f64> = site.app.store.fetch(p, args![]).await.unwrap();
    assert!(matches!(p[..], [p] if p < 1e-9), "{p:?}");
    let none = "SELECT 1 FROM comparison WHERE metric = 'errors' AND p IS NULL";
    assert!(site.app.store.exists(none, args![]).await.unwrap());
}

async fn declared_measures_are_checked() {
    let site = Site::new(Database::Sqlite).await;
    site.program("Hanna", Role::Host, Scope::Host).await;
    for (given, words) in [
        ("[[phases.given]]\nkey = 'A b'", "`A b` is not a key"),
        (
            "[[phases.given]]\nkey = 'judge'\n[[phases.given]]\nkey = 'judge'",
            "two measures have the key judge",
        ),
        ("[[phases.given]]\nkey = 'judge'\nmin = 1\nmax = 0", "min of judge must be less than max"),
        ("[[phases.given]]\nkey = 'other'", "main_metric is `judge`"),
    ] {
        let refused = format!("{:#}", put(&site, "", given).await.unwrap_err());
        assert!(refused.contains(words), "{refused}");
    }
    put(&site, "", GIVEN).await.unwrap();
    let other = GIVEN.replace("max = 10", "max = 100");
    site.app.store.execute("UPDATE benchmark SET draft = 0", args![]).await.unwrap();
    let refused = format!("{:#}", put(&site, "", &other).await.unwrap_err());
    assert!(refused.contains("given cannot change"), "{refused}");
    // Which measures a metric has is known once the references are prepared.
    let site = Site::new(Database::Sqlite).await;
    site.program("Hanna", Role::Host, Scope::Host).await;
    put(&site, "", &format!("{GIVEN}[[phases.given]]\nkey = 'bleu-4'\n")).await.unwrap();
    let reason: String = site.app.store.fetch_one("SELECT reason FROM reference_set", args![]).await.unwrap();
    assert!(reason.contains("the metrics have a measure bleu-4, too"), "{reason}");
}
