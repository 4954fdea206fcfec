//! Terms that people accept, hosts who approve them, lists of addresses, and the size of teams.

use std::path::Path;

use axum::http::Request;
use capeval_benchmarks::apply::apply;
use capeval_site::accounts::{Role, deletion, people};
use capeval_site::args;
use capeval_site::settings::Settings;
use capeval_site::web::Scope;
use serde_json::{Value, json};

use crate::benchmarks::{references, results};
use crate::support::{Answer, Client, Database, Page as _, Site, on_both, on_sqlite, settings};

on_both! {
    terms_are_accepted_before_a_submission_and_again_when_they_change
    hosts_approve_people_before_they_submit
    addresses_are_admitted_by_lists
    teams_have_a_size
    hosts_write_to_one_team
    a_host_who_is_a_member_again_runs_no_benchmark
}

on_sqlite! {
    hosts_accept_the_terms_as_everyone_does
    hosts_see_who_accepted_what_and_no_address
    what_people_said_is_theirs
    rules_of_admission_are_set_in_a_form
    a_declaration_of_external_data_is_a_column
}

const PARTICIPATION: &str = "/api/v1/benchmarks/b/participation";
const PARTICIPANTS: &str = "/api/v1/host/benchmarks/b/participants";

/// A site that sends email, of which the tests read what waits to be sent.
async fn site(database: Database) -> Site {
    let smtp = "smtp://127.0.0.1:9".to_owned();
    Site::with(Settings { smtp, mail_from: "no-reply@example.org".to_owned(), ..settings(database) }).await
}

/// Makes or changes a benchmark with these settings, whose host is Hanna.
async fn put(site: &Site, head: &str) -> anyhow::Result<()> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("refs.json"), references(40, 5)).unwrap();
    let plan = format!(
        "slug = 'b'\ntitle = 'Benchmark'\nhosts = ['hanna@example.org']\n{head}\n[[phases]]\nslug = 'p'\n\
         title = 'Phase'\nmetrics = ['bleu']\nmain_metric = 'bleu-4'\n[[phases.references]]\nname = 'r'\n\
         file = 'refs.json'\n[[phases.columns]]\nkey = 'external-data'\nlabel = 'External data'\nkind = 'yes-no'\n\
         required = true\n"
    );
    let applied = apply(&site.app, &toml::from_str(&plan)?, folder.path(), None).await;
    site.work_that_is_due().await;
    applied.map(drop)
}

async fn phase(site: &Site) -> String {
    site.app.store.fetch_one("SELECT id FROM phase", args![]).await.unwrap()
}

/// Submits results that are the better the higher `skill` is.
async fn submit(site: &Site, who: &Client, skill: usize, more: &str) -> Answer {
    let path =
        format!("/api/v1/phases/{}/submissions?method=m&column.external-data=no{more}", phase(site).await);
    who.send(Request::post(path), results(40, skill)).await
}

async fn hanna(site: &Site) -> Client {
    site.program("Hanna", Role::Host, Scope::Host).await
}

async fn terms_are_accepted_before_a_submission_and_again_when_they_change(database: Database) {
    let site = site(database).await;
    hanna(&site).await;
    put(&site, "terms = 'Be *fair*.'").await.unwrap();
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let refused = submit(&site, &ada, 5, "").await.expect(409).json();
    assert_eq!(refused["code"], "terms");
    assert!(refused["detail"].as_str().unwrap().ends_with("/b/b/participate"), "{refused}");
    let page = site.anybody().get("/b/b/participate").await.expect(200).text;
    assert!(page.contains("Be <em>fair</em>.") && page.contains("/sign-in?to=/b/b/participate"), "{page}");
    let browser = site.person("Ada", Role::Member).await;
    let form = browser.get("/b/b/p/submit").await.expect(200).text;
    assert!(form.contains("Accept the terms") && !form.contains("name=\"file\""), "{form}");

    let asked = ada.get(PARTICIPATION).await.expect(200).json();
    let digest = asked["terms"]["digest"].as_str().unwrap().to_owned();
    assert_eq!(digest, capeval_site::ids::digest("Be *fair*."));
    assert_eq!((&asked["terms"]["version"], &asked["accepted_at"]), (&json!(1), &Value::Null));
    let accept = |digest: &str| json!({ "accepts": digest, "affiliation": " Vision\u{202e} Lab " });
    assert_eq!(ada.post_json(PARTICIPATION, &accept("x")).await.expect(409).json()["code"], "terms-changed");
    let done = ada.post_json(PARTICIPATION, &accept(&digest)).await.expect(200).json();
    assert_eq!((&done["refusal"], &done["affiliation"]), (&Value::Null, &json!("Vision Lab")));
    assert_eq!(done["accepted_at"], "2026-06-15T12:00:00Z");
    submit(&site, &ada, 5, "").await.expect(201);
    // Who accepts twice has accepted once.
    ada.post_json(PARTICIPATION, &accept(&digest)).await.expect(200);

    // A correction asks no one again, and a new version asks everyone; there is no way back.
    put(&site, "terms = 'Be *fair*!'").await.unwrap();
    submit(&site, &ada, 6, "").await.expect(201);
    put(&site, "terms = 'Be kind.'\nterms_version = 2").await.unwrap();
    assert_eq!(submit(&site, &ada, 7, "").await.expect(409).json()["code"], "terms");
    let back = put(&site, "terms = 'Be *fair*.'").await.unwrap_err();
    assert!(back.to_string().contains("terms_version cannot be lower than 2"), "{back}");
    let page = browser.get("/b/b/participate").await.expect(200).text;
    let given = [("accepts", page.field("accepts")), ("country", "Österreich")];
    assert_eq!(
        browser.post("/b/b/participate", &given).await.expect(303).header("location"),
        "/b/b/participate?done=saved"
    );
    submit(&site, &ada, 7, "").await.expect(201);
    let kept = "SELECT version, digest FROM terms_acceptance ORDER BY version";
    let kept: Vec<(i64, String)> = site.app.store.fetch(kept, args![]).await.unwrap();
    assert_eq!(kept, [(1, digest), (2, capeval_site::ids::digest("Be kind."))]);
    let texts = "SELECT text FROM terms ORDER BY version, text";
    let texts: Vec<String> = site.app.store.fetch(texts, args![]).await.unwrap();
    assert_eq!(texts, ["Be *fair*!", "Be *fair*.", "Be kind."]);
    // Without terms, nothing is asked.
    put(&site, "terms_version = 2").await.unwrap();
    let bao = site.program("Bao", Role::Member, Scope::Submit).await;
    submit(&site, &bao, 5, "").await.expect(201);
}

/// They need no approval, but the terms are those of the data.
async fn hosts_accept_the_terms_as_everyone_does() {
    let site = site(Database::Sqlite).await;
    let hanna = hanna(&site).await;
    put(&site, "terms = 'Be fair.'").await.unwrap();
    assert_eq!(submit(&site, &hanna, 5, "").await.expect(409).json()["code"], "terms");
    let accepts = json!({ "accepts": capeval_site::ids::digest("Be fair.") });
    hanna.post_json(PARTICIPATION, &accepts).await.expect(200);
    submit(&site, &hanna, 5, "").await.expect(201);
}

async fn hosts_approve_people_before_they_submit(database: Database) {
    let site = site(database).await;
    let hanna = hanna(&site).await;
    put(&site, "admission = 'approval'").await.unwrap();
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    assert_eq!(submit(&site, &ada, 5, "").await.expect(403).json()["code"], "approval");
    let ask = json!({ "affiliation": "Lab", "country": "AT", "reason": "I like <b>dogs</b>." });
    let refused = ada.post_json(PARTICIPATION, &json!({ "affiliation": "Lab" })).await.expect(422).json();
    assert_eq!(refused["code"], "request");
    let long = json!({ "affiliation": "x".repeat(101), "reason": "y" });
    assert_eq!(ada.post_json(PARTICIPATION, &long).await.expect(422).json()["code"], "too-long");
    // Of ten requests at once, one is made, and hosts get one email.
    let (one, two) = tokio::join!(ada.post_json(PARTICIPATION, &ask), ada.post_json(PARTICIPATION, &ask));
    let mut statuses = [one.status.as_u16(), two.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    let mail = "SELECT target, subject, body FROM outbox ORDER BY id";
    let sent: Vec<(String, String, String)> = site.app.store.fetch(mail, args![]).await.unwrap();
    let [(target, subject, body)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!((&**target, &**subject), ("hanna@example.org", "Ada asks to take part in Benchmark"));
    assert!(!body.contains("dogs"), "{body}");
    assert_eq!(submit(&site, &ada, 5, "").await.expect(403).json()["code"], "not-approved-yet");

    let browser = site.person("Hanna", Role::Host).await;
    let page = browser.get("/b/b/participants").await.expect(200).text;
    assert!(page.contains("I like &#60;b&#62;dogs") && !page.contains("ada@example.org"), "{page}");
    let listed = hanna.get(PARTICIPANTS).await.expect(200).json();
    let id = listed["participants"][0]["id"].as_str().unwrap();
    let answer = |what: &str| format!("{PARTICIPANTS}/{id}/{what}");
    let none = json!({});
    let stranger = site.program("Stranger", Role::Host, Scope::Host).await;
    stranger.post_json(&answer("approve"), &none).await.expect(404);
    ada.post_json(&answer("approve"), &none).await.expect(404);
    let words = json!({ "message": "Tell us more." });
    hanna.post_json(&answer("reject"), &words).await.expect(204);
    assert_eq!(hanna.post_json(&answer("reject"), &words).await.expect(409).json()["code"], "answered");
    let told = ada.get(PARTICIPATION).await.expect(200).json();
    assert_eq!((&told["request"], &told["answer"]), (&json!("refused"), &json!("Tell us more.")));
    assert_eq!(submit(&site, &ada, 5, "").await.expect(403).json()["code"], "not-approved");
    ada.post_json(PARTICIPATION, &ask).await.expect(200);
    hanna.post_json(&answer("approve"), &none).await.expect(204);
    submit(&site, &ada, 5, "").await.expect(201);
    // A host who changes their mind stops submissions from then on.
    browser.post(&format!("/b/b/participants/{id}/reject"), &[("message", "")]).await.expect(303);
    assert_eq!(submit(&site, &ada, 6, "").await.expect(403).json()["code"], "not-approved");
    ada.post_json(PARTICIPATION, &ask).await.expect(200);
    hanna.post_json(&answer("reject"), &none).await.expect(204);
    assert_eq!(ada.post_json(PARTICIPATION, &ask).await.expect(409).json()["code"], "no-more");
    // Hosts need no approval.
    submit(&site, &hanna, 7, "").await.expect(201);
    let actions = "SELECT action FROM audit WHERE action LIKE 'admission.%' ORDER BY id";
    let actions: Vec<String> = site.app.store.fetch(actions, args![]).await.unwrap();
    let order = ["request", "refuse", "request", "accept", "refuse", "request", "refuse"];
    assert_eq!(actions, order.map(|action| format!("admission.{action}")));
}

async fn a_host_who_is_a_member_again_runs_no_benchmark(database: Database) {
    let site = site(database).await;
    let hanna = hanna(&site).await;
    put(&site, "admission = 'approval'").await.unwrap();
    submit(&site, &hanna, 5, "").await.expect(201);
    hanna.get(PARTICIPANTS).await.expect(200);
    let id: String = site.app.store.fetch_one("SELECT id FROM account", args![]).await.unwrap();
    let mut tx = site.app.store.begin().await.unwrap();
    people::set_role(&mut tx, None, &id, Some(Role::Member)).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(submit(&site, &hanna, 6, "").await.expect(403).json()["code"], "approval");
    hanna.get(PARTICIPANTS).await.expect(404);
    let plan = toml::from_str("slug = 'b'\ntitle = 'Mine'").unwrap();
    let applied = apply(&site.app, &plan, Path::new(""), Some(&id)).await;
    assert!(applied.unwrap_err().to_string().contains("does not exist"));
}

async fn addresses_are_admitted_by_lists(database: Database) {
    let site = site(database).await;
    hanna(&site).await;
    put(&site, "allow = ['@Example.ORG']\nblock = ['eve@example.org']").await.unwrap();
    let mut people = Vec::new();
    for name in ["Ada", "Eve", "Max"] {
        people.push(site.program(name, Role::Member, Scope::Submit).await);
    }
    let [ada, eve, max] = &people[..] else { panic!() };
    assert_eq!(submit(&site, ada, 5, "").await.expect(403).json()["code"], "unconfirmed");
    let sql =
        "UPDATE account SET confirmed_at = 1, email = REPLACE(email, 'max@example.org', 'max@evil.org')";
    site.app.store.execute(sql, args![]).await.unwrap();
    submit(&site, ada, 5, "").await.expect(201);
    // The refusal does not tell which list it was.
    let (one, two) =
        (submit(&site, eve, 5, "").await.expect(403), submit(&site, max, 5, "").await.expect(403));
    assert_eq!(one.json()["detail"], two.json()["detail"]);
    assert_eq!(one.json()["code"], "not-admitted");
    for wrong in ["allow = ['uni.edu']", "block = ['@']"] {
        let refused = put(&site, wrong).await.unwrap_err().to_string();
        assert!(refused.contains("is neither an email address nor a domain"), "{refused}");
    }
}

async fn teams_have_a_size(database: Database) {
    let site = site(database).await;
    hanna(&site).await;
    put(&site, "team_size = 2").await.unwrap();
    let (ada, team) = team(&site, "Lab", &["Ada", "Bao", "Cam"]).await;
    let refused = submit(&site, &ada, 5, &format!("&team={team}")).await.expect(409).json();
    assert_eq!(
        (&refused["code"], &refused["detail"]),
        (&json!("team-size"), &json!("A team of this benchmark has at most 2 members."))
    );
    let (dan, pair) = self::team(&site, "Pair", &["Dan", "Eve"]).await;
    submit(&site, &dan, 5, &format!("&team={pair}")).await.expect(201);
    // A team that takes part takes no third member.
    let fay = site.program("Fay", Role::Member, Scope::Submit).await;
    fay.post_json("/api/v1/me/team-requests", &json!({ "team": "Pair" })).await.expect(201);
    let teams = dan.get("/api/v1/teams").await.expect(200).json();
    let request = teams["requests"][0]["id"].as_str().unwrap();
    let accept = format!("/api/v1/teams/{pair}/requests/{request}/accept");
    assert_eq!(dan.post_json(&accept, &json!({})).await.expect(409).json()["code"], "team-size");
    put(&site, "").await.unwrap();
    dan.post_json(&accept, &json!({})).await.expect(204);
}

/// A team with these members, and the first of them.
async fn team(site: &Site, name: &str, members: &[&str]) -> (Client, String) {
    let first = site.program(members[0], Role::Member, Scope::Submit).await;
    let made = first.post_json("/api/v1/teams", &json!({ "name": name })).await.expect(201).json();
    let id = made["id"].as_str().unwrap().to_owned();
    for member in &members[1..] {
        site.program(member, Role::Member, Scope::Submit).await;
        let sql = "INSERT INTO team_member (team, account, joined_at) SELECT CAST($1 AS TEXT), id, 0 FROM account WHERE name = $2";
        site.app.store.execute(sql, args![&id, *member]).await.unwrap();
    }
    (first, id)
}

async fn hosts_see_who_accepted_what_and_no_address() {
    let site = site(Database::Sqlite).await;
    let hanna = hanna(&site).await;
    put(&site, "terms = 'Be fair.'").await.unwrap();
    let accepts = capeval_site::ids::digest("Be fair.");
    for name in ["Ada", "Bao"] {
        let person = site.program(name, Role::Member, Scope::Submit).await;
        person.post_json(PARTICIPATION, &json!({ "accepts": accepts, "country": "CN" })).await.expect(200);
    }
    let answer = hanna.get(PARTICIPANTS).await.expect(200);
    assert!(!answer.text.contains('@'), "{}", answer.text);
    let people = &answer.json()["participants"];
    assert_eq!((&people[0]["name"], &people[1]["name"]), (&json!("Bao"), &json!("Ada")));
    let accepted = json!([{ "version": 1, "digest": accepts, "at": "2026-06-15T12:00:00Z" }]);
    assert_eq!((&people[1]["accepted"], &people[1]["request"]), (&accepted, &Value::Null));
    let page = site.person("Hanna", Role::Host).await.get("/b/b/participants").await.expect(200).text;
    assert!(page.contains("version 1, ") && !page.contains("@example.org"), "{page}");
    // There is no request to answer.
    let approve = format!("{PARTICIPANTS}/{}/approve", people[0]["id"].as_str().unwrap());
    hanna.post_json(&approve, &json!({})).await.expect(404);
}

async fn what_people_said_is_theirs() {
    let site = site(Database::Sqlite).await;
    hanna(&site).await;
    put(&site, "terms = 'Be fair.'").await.unwrap();
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let accepts = capeval_site::ids::digest("Be fair.");
    ada.post_json(PARTICIPATION, &json!({ "accepts": accepts, "affiliation": "Lab" })).await.expect(200);
    let kept = ada.get("/api/v1/me/contributions").await.expect(200).json();
    let said = &kept["participations"][0];
    assert_eq!((&said["benchmark"], &said["affiliation"]), (&json!("b"), &json!("Lab")));
    assert_eq!(
        (&said["accepted"][0]["version"], &said["accepted"][0]["digest"]),
        (&json!(1), &json!(accepts))
    );
    let account = people::by_email(&site.app.store, "ada@example.org").await.unwrap().unwrap().id;
    deletion::remove(&site.app, None, &account).await.unwrap();
    for sql in ["SELECT 1 FROM participant", "SELECT 1 FROM terms_acceptance"] {
        assert!(!site.app.store.exists(sql, args![]).await.unwrap(), "{sql}");
    }
}

async fn rules_of_admission_are_set_in_a_form() {
    let site = site(Database::Sqlite).await;
    let hanna = hanna(&site).await;
    put(&site, "").await.unwrap();
    let browser = site.person("Hanna", Role::Host).await;
    let mut fields = vec![
        ("title", "Benchmark"),
        ("slug", "b"),
        ("hosts", "hanna@example.org"),
        ("terms", "One\r\nTwo "),
        ("terms_version", "3"),
        ("admission", "approval"),
        ("allow", "@uni.edu\r\nA@b.org"),
        ("block", ""),
        ("team_size", "4"),
    ];
    browser.post("/b/b/settings", &fields).await.expect(303);
    let plan = hanna.get("/api/v1/host/benchmarks/b").await.expect(200).json();
    assert_eq!((&plan["terms"], &plan["terms_version"]), (&json!("One\nTwo"), &json!(3)));
    assert_eq!((&plan["allow"], &plan["block"]), (&json!(["@uni.edu", "a@b.org"]), &json!([])));
    assert_eq!((&plan["admission"], &plan["team_size"]), (&json!("approval"), &json!(4)));
    let page = browser.get("/b/b/settings").await.expect(200).text;
    assert!(page.contains("@uni.edu\na@b.org") && page.contains("<details open>"), "{page}");
    // An empty field is no limit.
    fields.last_mut().unwrap().1 = "";
    browser.post("/b/b/settings", &fields).await.expect(303);
    assert_eq!(hanna.get("/api/v1/host/benchmarks/b").await.expect(200).json().get("team_size"), None);
    // Only hosts read the lists.
    let shown = site.anybody().get("/api/v1/benchmarks").await.expect(200).text;
    assert!(!shown.contains("uni.edu"), "{shown}");
}

async fn a_declaration_of_external_data_is_a_column() {
    let site = site(Database::Sqlite).await;
    hanna(&site).await;
    put(&site, "").await.unwrap();
    let ada = site.program("Ada", Role::Member, Scope::Submit).await;
    let path = format!("/api/v1/phases/{}/submissions?method=m", phase(&site).await);
    let refused = ada.send(Request::post(&path), results(40, 5)).await.expect(422).json();
    assert_eq!(refused["detail"], "External data: this is required.");
    let made = submit(&site, &ada, 5, "").await.expect(201).json();
    assert_eq!(made["about"]["columns"]["external-data"], false);
    site.work().await;
    let entry = format!("/b/b/p/entries/{}", made["id"].as_str().unwrap());
    let page = site.anybody().get(&entry).await.expect(200).text;
    assert!(page.contains("External data"), "{page}");
}

async fn hosts_write_to_one_team(database: Database) {
    let site = site(database).await;
    let hanna = hanna(&site).await;
    put(&site, "").await.unwrap();
    let (ada, team) = team(&site, "Lab", &["Ada", "Bao"]).await;
    submit(&site, &ada, 5, &format!("&team={team}")).await.expect(201);
    let cam = site.program("Cam", Role::Member, Scope::Submit).await;
    submit(&site, &cam, 5, "").await.expect(201);
    let path = "/api/v1/host/benchmarks/b/announcements";
    let write = |team: &str| json!({ "title": "A word", "text": "Please call.", "team": team, "mail": true });
    assert_eq!(hanna.post_json(path, &write("Nowhere")).await.expect(422).json()["code"], "team");
    site.app.store.execute("DELETE FROM outbox", args![]).await.unwrap();
    hanna.post_json(path, &write("Lab")).await.expect(201);
    site.work_that_is_due().await;
    let told = "SELECT target FROM outbox WHERE about IS NOT NULL ORDER BY target";
    let told: Vec<String> = site.app.store.fetch(told, args![]).await.unwrap();
    assert_eq!(told, ["ada@example.org", "bao@example.org"]);
    let seen = async |client: &Client| {
        let list = client.get("/api/v1/benchmarks/b/announcements").await.expect(200).json();
        list["announcements"].as_array().unwrap().len()
    };
    assert_eq!(
        (seen(&ada).await, seen(&hanna).await, seen(&cam).await, seen(&site.anybody()).await),
        (1, 1, 0, 0)
    );
    for page in ["/b/b", "/b/b/announcements"] {
        let shown = |page: &str| page.contains("Please call.");
        assert!(shown(&site.person("Bao", Role::Member).await.get(page).await.expect(200).text), "{page}");
        assert!(!shown(&site.person("Cam", Role::Member).await.get(page).await.expect(200).text), "{page}");
        assert!(!shown(&site.anybody().get(page).await.expect(200).text), "{page}");
    }
}
