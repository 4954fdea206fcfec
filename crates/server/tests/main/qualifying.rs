//! Phases that only the first teams of an earlier one may enter, and what they take over.

use axum::http::Request;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::testing::Clock;
use capeval_site::web::Scope;
use serde_json::{Value, json};

use crate::benchmarks::{references, results};
use crate::support::{Answer, Client, Database, Site, on_both, on_sqlite};

on_both! { the_first_teams_of_a_phase_enter_the_next_with_what_stands_for_them }
on_sqlite! {
    hosts_open_a_phase_by_the_ranks_as_they_are
    rules_that_make_no_sense_are_refused
    a_team_without_a_score_by_what_ranks_has_no_place
}

/// Applies a plan with a phase of each of these, and returns the reason why it was refused.
async fn apply(site: &Site, phases: &[(&str, &str)]) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c5.json"), references(40, 5)).unwrap();
    std::fs::write(folder.path().join("few.json"), references(12, 5)).unwrap();
    let phases = phases.iter().map(|(slug, more)| {
        format!(
            "[[phases]]\nslug = '{slug}'\ntitle = 'Phase {slug}'\nmetrics = ['bleu', 'cider-d']\n{more}\n\
             [[phases.references]]\nname = 'c5'\nfile = '{}.json'\n",
            if more.contains("# few") { "few" } else { "c5" }
        )
    });
    let plan = format!("slug = 'b'\ntitle = 'Benchmark'\n{}", phases.collect::<String>());
    let plan = toml::from_str(&plan).map_err(|error| error.to_string())?;
    let applied = capeval_benchmarks::apply::apply(&site.app, &plan, folder.path(), None).await;
    applied.map_err(|error| format!("{error:#}"))?;
    site.work_that_is_due().await;
    Ok(())
}

async fn phase(site: &Site, slug: &str) -> String {
    site.app.store.fetch_one("SELECT id FROM phase WHERE slug = $1", args![slug]).await.unwrap()
}

async fn submit(client: &Client, phase: &str, skill: usize) -> Answer {
    let path = format!("/api/v1/phases/{phase}/submissions?method=M{skill}");
    client.send(Request::post(path), results(40, skill)).await
}

/// The places and the names of the teams of a list.
fn teams(list: &Value) -> Vec<(i64, &str)> {
    let teams = list["teams"].as_array().unwrap().iter();
    teams.map(|team| (team["rank"].as_i64().unwrap(), team["name"].as_str().unwrap())).collect()
}

async fn the_first_teams_of_a_phase_enter_the_next_with_what_stands_for_them(database: Database) {
    let site = Site::new(database).await;
    let last = "from = 'dev'\ntop = 2\ncarry = true\nin_total = 1\nper_day = 1";
    apply(&site, &[("dev", "closes = 2026-06-20"), ("final", last)]).await.unwrap();
    let (dev, last) = (phase(&site, "dev").await, phase(&site, "final").await);
    let mut people = Vec::new();
    // Bao and Cam have equal scores.
    for (name, skill) in [("Ada", 7), ("Bao", 5), ("Cam", 5), ("Dan", 2)] {
        let person = site.program(name, Role::Member, Scope::Submit).await;
        submit(&person, &dev, skill).await.expect(201);
        people.push(person);
    }
    let [ada, _, _, dan] = &people[..] else { panic!() };
    site.work_that_is_due().await;
    let refused = submit(ada, &last, 6).await.expect(409).json();
    assert_eq!(refused["code"], "not-ranked", "{refused}");
    let page = site.anybody().get("/b/b").await.expect(200).text;
    assert!(page.contains("the first 2 teams of the phase dev"), "{page}");

    let root = site.program("Root", Role::Admin, Scope::Host).await;
    let list = format!("/api/v1/host/phases/{last}/qualifiers");
    assert_eq!(root.get(&list).await.expect(200).json()["ranked_at"], Value::Null);
    let clock = Clock::of_thread().unwrap();
    clock.move_to(capeval_site::clock::parse("2026-06-20T00:00:01Z").unwrap());
    site.work_that_is_due().await;
    let known = root.get(&list).await.expect(200).json();
    assert_eq!(teams(&known), [(1, "Ada"), (2, "Bao"), (2, "Cam")]);
    // What stood for them is scored, and costs nothing.
    let board = ada.get(&format!("/api/v1/phases/{last}/leaderboard")).await.expect(200).json();
    let rows = board["rows"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row["kind"] == "entry").count(), 3, "{board}");
    let quota = ada.get(&format!("/api/v1/phases/{last}/quota")).await.expect(200).json();
    assert_eq!((&quota["team"], &quota["used_in_total"]), (&json!("Ada"), &json!(0)));
    submit(ada, &last, 6).await.expect(201);
    // Others are told so before their file is read.
    let path = format!("/api/v1/phases/{last}/submissions?method=m");
    let refused = dan.send(Request::post(path), "not even captions").await.expect(403).json();
    assert_eq!(refused["code"], "not-qualified");
    let browser = site.person("Dan", Role::Member).await;
    let page = browser.get("/b/b/final/submit").await.expect(200).text;
    assert!(page.contains("Only the first 2 teams of the phase dev may submit to this one"), "{page}");

    // What changes on the earlier board changes nothing here.
    let sql = "SELECT submission.id FROM submission JOIN team ON team.id = submission.team \
               WHERE phase = $1 AND team.name = 'Ada'";
    let first: String = site.app.store.fetch_one(sql, args![&dev]).await.unwrap();
    let reason = json!({ "reason": "a broken rule" });
    root.post_json(&format!("/api/v1/submissions/{first}/disqualify"), &reason).await.expect(204);
    root.post_json(&format!("/api/v1/host/phases/{dev}/rescore"), &json!({})).await.expect(201);
    site.work().await;
    assert_eq!(root.get(&list).await.expect(200).json(), known);
    assert_eq!(root.post_json(&list, &json!({})).await.expect(409).json()["code"], "ranked");
    let page = site.person("Root", Role::Admin).await.get("/b/b/final/host/qualifiers").await.expect(200);
    assert!(
        page.text.contains("Later changes of the earlier leaderboard do not change it."),
        "{}",
        page.text
    );
    assert!(root.get("/api/v1/host/benchmarks/b/audit").await.expect(200).text.contains("phase.rank"));
}

async fn hosts_open_a_phase_by_the_ranks_as_they_are() {
    let site = Site::new(Database::Sqlite).await;
    apply(&site, &[("dev", ""), ("final", "from = 'dev'\ncarry = true # few")]).await.unwrap();
    let (dev, last) = (phase(&site, "dev").await, phase(&site, "final").await);
    let root = site.person("Root", Role::Admin).await;
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    submit(&ada, &dev, 7).await.expect(201);
    let refused = root.post("/b/b/final/host/qualifiers", &[]).await.expect(409).text;
    assert!(refused.contains("still wait for their scores"), "{refused}");
    site.work().await;
    root.post("/b/b/final/host/qualifiers", &[]).await.expect(303);
    let root = site.program("Root", Role::Admin, Scope::Host).await;
    let list = root.get(&format!("/api/v1/host/phases/{last}/qualifiers")).await.expect(200).json();
    assert_eq!(teams(&list), [(1, "Ada")]);
    // The phases have other images, so no file of one is one of the other.
    assert_eq!((&list["top"], &list["teams"][0]["copy"]), (&Value::Null, &Value::Null));
    site.work().await;
    // The rule stays, and so does the list in an export.
    let refused = apply(&site, &[("dev", ""), ("final", "from = 'dev'\ntop = 1 # few")]).await;
    assert!(refused.unwrap_err().contains("cannot change once it is decided"));
    let plan = root.get("/api/v1/host/benchmarks/b/file").await.expect(200).text;
    assert!(plan.contains("from = \"dev\"") && plan.contains("carry = true"), "{plan}");
}

async fn a_team_without_a_score_by_what_ranks_has_no_place() {
    let site = Site::new(Database::Sqlite).await;
    apply(&site, &[("dev", ""), ("final", "from = 'dev'\ntop = 3")]).await.unwrap();
    let (dev, last) = (phase(&site, "dev").await, phase(&site, "final").await);
    for (name, skill) in [("Ada", 7), ("Bao", 5)] {
        let person = site.program(name, Role::Member, Scope::Submit).await;
        submit(&person, &dev, skill).await.expect(201);
    }
    site.work().await;
    // As where the measure that ranks was added, and has not been computed for all of them.
    let sql = "UPDATE standing SET scores = '{}' WHERE submission IN (SELECT submission.id FROM submission \
               JOIN team ON team.id = submission.team WHERE team.name = 'Bao')";
    assert_eq!(site.app.store.execute(sql, args![]).await.unwrap(), 1);
    let root = site.person("Root", Role::Admin).await;
    root.post("/b/b/final/host/qualifiers", &[]).await.expect(303);
    let root = site.program("Root", Role::Admin, Scope::Host).await;
    let list = root.get(&format!("/api/v1/host/phases/{last}/qualifiers")).await.expect(200).json();
    assert_eq!(teams(&list), [(1, "Ada")]);
}

async fn rules_that_make_no_sense_are_refused() {
    let site = Site::new(Database::Sqlite).await;
    for (rule, words) in [
        ("from = 'nothing'", "which is no earlier phase of this benchmark"),
        ("from = 'final'", "which is no earlier phase of this benchmark"),
        ("top = 3", "top and carry need from"),
        ("carry = true", "top and carry need from"),
        ("from = 'dev'\ntop = 0", "top is a number of teams from 1"),
    ] {
        let refused = apply(&site, &[("dev", ""), ("final", rule)]).await.unwrap_err();
        assert!(refused.contains(words), "{rule}: {refused}");
    }
    apply(&site, &[("dev", ""), ("final", "")]).await.unwrap();
    // A phase that teams have entered does not close to most of them.
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    submit(&ada, &phase(&site, "final").await, 7).await.expect(201);
    let refused = apply(&site, &[("dev", ""), ("final", "from = 'dev'")]).await.unwrap_err();
    assert!(refused.contains("cannot change once it is decided"), "{refused}");
}
