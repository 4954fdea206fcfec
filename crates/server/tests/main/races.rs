//! Two at once: of what is checked and then written, one is right about it, and limits that are counted hold.

use capeval_benchmarks::TEAMS_PER_PERSON;
use capeval_site::accounts::Role;
use capeval_site::accounts::tokens;
use capeval_site::args;
use capeval_site::settings::Settings;
use capeval_site::store::Store;
use capeval_site::web::Scope;
use futures_util::future::join_all;
use serde_json::json;

use crate::collections::{apply, captioner, open_pictures, png, sentence, upload};
use crate::organise;
use crate::support::{self, Answer, Client, Database, Page as _, Site, on_both};

on_both! {
    two_hosts_do_not_create_one_collection
    two_hosts_do_not_create_one_benchmark
    a_form_creates_and_changes_nothing_that_is_there
    people_make_no_more_teams_than_they_may
    people_join_no_more_teams_than_they_may
    people_have_no_more_tokens_than_they_may
    benchmarks_have_no_more_webhooks_than_they_may
    no_more_pictures_wait_than_may
    nobody_writes_one_caption_for_two_pictures
    reports_of_a_caption_are_counted_in_turn
    two_accounts_do_not_get_one_address
    phases_that_are_added_at_once_have_places_of_their_own
}

const ROUNDS: usize = 8;

const AT_ONCE: usize = 8;

async fn number(store: &Store, sql: &'static str) -> i64 {
    store.fetch_one(sql, args![]).await.unwrap()
}

/// How many answers have this status.
fn of_status(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status.as_u16() == status).count()
}

async fn two_hosts(site: &Site) -> [(Client, Client); 2] {
    let mut hosts = Vec::new();
    for name in ["Ada", "Bo"] {
        let program = site.program(name, Role::Host, Scope::Host).await;
        hosts.push((site.person(name, Role::Host).await, program));
    }
    hosts.try_into().unwrap_or_else(|_| unreachable!())
}

async fn two_hosts_do_not_create_one_collection(database: Database) {
    let site = Site::new(database).await;
    let hosts = two_hosts(&site).await;
    for round in 0..ROUNDS {
        let slug = format!("c{round}");
        let create = async |(browser, program): &(Client, Client), name: &str| {
            let host = format!("{name}@example.org");
            if round % 2 == 0 {
                let plan = json!({ "slug": slug, "title": name, "hosts": [host] });
                return program.post_json("/api/v1/host/collections", &plan).await;
            }
            let fields = [
                ("slug", slug.as_str()),
                ("title", name),
                ("hosts", &host),
                ("languages", "zh"),
                ("licences", "CC0-1.0"),
                ("captions", "1"),
                ("target", "1"),
                ("approvals", "1"),
            ];
            browser.post("/host/collections", &fields).await
        };
        let answers: [Answer; 2] = tokio::join!(create(&hosts[0], "ada"), create(&hosts[1], "bo")).into();
        let (created, refused) = if round % 2 == 0 { (201, [404, 409]) } else { (303, [409, 422]) };
        assert_eq!(of_status(&answers, created), 1, "{slug}: {answers:?}");
        assert!(answers.iter().any(|one| refused.contains(&one.status.as_u16())), "{slug}: {answers:?}");
        let first = answers.iter().position(|answer| answer.status.as_u16() == created).unwrap();
        let name = ["ada", "bo"][first];
        let shown = site.anybody().get(&format!("/api/v1/collections/{slug}")).await.expect(200).json();
        assert_eq!(shown["title"], name, "the other one has replaced it");
        hosts[first].0.get(&format!("/c/{slug}/settings")).await.expect(200);
        hosts[1 - first].0.get(&format!("/c/{slug}/settings")).await.expect(404);
    }
}

async fn two_hosts_do_not_create_one_benchmark(database: Database) {
    let site = Site::new(database).await;
    let hosts = two_hosts(&site).await;
    for round in 0..ROUNDS {
        let slug = format!("b{round}");
        let create = async |(browser, _): &(Client, Client), name: &str| {
            let host = format!("{name}@example.org");
            let fields = [
                ("slug", slug.as_str()),
                ("title", name),
                ("summary", "S"),
                ("rules", "R"),
                ("visibility", "public"),
                ("hosts", &host),
            ];
            browser.post("/host/benchmarks", &fields).await
        };
        let answers: [Answer; 2] = tokio::join!(create(&hosts[0], "ada"), create(&hosts[1], "bo")).into();
        assert_eq!((of_status(&answers, 303), of_status(&answers, 409)), (1, 1), "{slug}: {answers:?}");
        let first = answers.iter().position(|answer| answer.status == 303).unwrap();
        let shown = hosts[first].0.get(&format!("/b/{slug}/settings")).await.expect(200).text;
        assert!(shown.contains(&format!("value=\"{}\"", ["ada", "bo"][first])), "{shown}");
        hosts[1 - first].0.get(&format!("/b/{slug}/settings")).await.expect(404);
    }
}

/// Twice the same form of one host, who may change what the first has created, but asked for a new one.
async fn a_form_creates_and_changes_nothing_that_is_there(database: Database) {
    let site = Site::new(database).await;
    let ada = site.person("Ada", Role::Host).await;
    let fields = |title: &'static str| {
        [
            ("slug", "b"),
            ("title", title),
            ("summary", "S"),
            ("rules", "R"),
            ("visibility", "public"),
            ("hosts", "ada@example.org"),
        ]
    };
    let [one, two] = [fields("One"), fields("Two")];
    let (one, two) = tokio::join!(ada.post("/host/benchmarks", &one), ada.post("/host/benchmarks", &two));
    let kept = if one.status == 303 { "One" } else { "Two" };
    let answers = [one, two];
    assert_eq!((of_status(&answers, 303), of_status(&answers, 409)), (1, 1), "{answers:?}");
    let shown = ada.get("/b/b/settings").await.expect(200).text;
    assert!(shown.contains(&format!("value=\"{kept}\"")), "{shown}");
}

async fn people_make_no_more_teams_than_they_may(database: Database) {
    let site = Site::with(support::settings(database).with(&TEAMS_PER_PERSON, 3)).await;
    let ada = site.person("Ada", Role::Member).await;
    let names: Vec<String> = (0..AT_ONCE).map(|n| format!("Ducks {n}")).collect();
    let fields: Vec<_> = names.iter().map(|name| [("name", name.as_str())]).collect();
    join_all(fields.iter().map(|fields| ada.post("/teams", fields))).await;
    assert_eq!(number(&site.app.store, "SELECT COUNT(*) FROM team").await, 3);
}

async fn people_join_no_more_teams_than_they_may(database: Database) {
    let site = Site::with(support::settings(database).with(&TEAMS_PER_PERSON, 2)).await;
    let mut links = Vec::new();
    for n in 0..AT_ONCE {
        let maker = site.program(&format!("Maker{n}"), Role::Member, Scope::Submit).await;
        let made = maker.post_json("/api/v1/teams", &json!({ "name": format!("Ducks {n}") })).await;
        let team = made.expect(201).json()["id"].as_str().unwrap().to_owned();
        let browser = site.person(&format!("Maker{n}"), Role::Member).await;
        let page = browser.post(&format!("/teams/{team}/invite"), &[]).await.expect(200).text;
        links.push(page.link().to_owned());
    }
    let bo = site.person("Bo", Role::Member).await;
    // Who follows the link is sent to the page of the team.
    let links: Vec<String> = links.iter().map(|link| link.replace("/join/", "/teams/join/")).collect();
    join_all(links.iter().map(|link| bo.post(link, &[]))).await;
    let sql = "SELECT COUNT(*) FROM team_member JOIN account ON account.id = team_member.account \
               WHERE account.email = 'bo@example.org'";
    assert_eq!(number(&site.app.store, sql).await, 2);
}

async fn people_have_no_more_tokens_than_they_may(database: Database) {
    let site = Site::new(database).await;
    let ada = site.account("Ada", Role::Member).await;
    let add = async || {
        let mut tx = site.app.store.begin().await.unwrap();
        let added = tokens::add(&mut tx, &ada, "test", Scope::Read).await;
        if added.is_ok() {
            tx.commit().await.unwrap();
        }
    };
    for _ in 0..49 {
        add().await;
    }
    join_all((0..AT_ONCE).map(|_| add())).await;
    assert_eq!(number(&site.app.store, "SELECT COUNT(*) FROM api_token").await, 50);
}

async fn benchmarks_have_no_more_webhooks_than_they_may(database: Database) {
    let site = Site::with(Settings { webhooks_private: true, ..support::settings(database) }).await;
    crate::benchmarks::benchmark(&site, "").await;
    let ada = site.person("Ada", Role::Admin).await;
    let urls: Vec<String> = (0..10 + AT_ONCE).map(|n| format!("https://example.org/{n}")).collect();
    let fields: Vec<_> = urls.iter().map(|url| [("url", url.as_str())]).collect();
    let (first, rest) = fields.split_at(9);
    let path =
        site.app.store.fetch_one::<String>("SELECT '/b/' || slug || '/webhooks' FROM benchmark", args![]);
    let path = path.await.unwrap();
    for fields in first {
        ada.post(&path, fields).await.expect(200);
    }
    join_all(rest.iter().map(|fields| ada.post(&path, fields))).await;
    assert_eq!(number(&site.app.store, "SELECT COUNT(*) FROM webhook").await, 10);
}

async fn no_more_pictures_wait_than_may(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({})).await;
    let ada = captioner(&site, "Ada").await;
    upload(&ada, &[("0.png", png(0))]).await;
    let sql = "INSERT INTO image (id, collection, uploader, licence, game, platform, source_hash, split_group, state, \
               shuffle, created_at) SELECT $1, collection, uploader, licence, game, platform, $1, split_group, \
               'pending', shuffle, created_at FROM image LIMIT 1";
    for n in 0..198 {
        site.app.store.execute(sql, args![format!("{n}")]).await.unwrap();
    }
    let files: Vec<_> = (1..=AT_ONCE as u32).map(|n| [("more.png", png(n))]).collect();
    join_all(files.iter().map(|file| upload(&ada, file))).await;
    let waiting = "SELECT COUNT(*) FROM image WHERE state IN ('processing', 'pending')";
    assert_eq!(number(&site.app.store, waiting).await, 200);
}

async fn nobody_writes_one_caption_for_two_pictures(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 5, "languages": ["en"] })).await;
    let images = open_pictures(&site, AT_ONCE).await;
    let ada = captioner(&site, "Ada").await;
    let text = sentence(1);
    let fields: Vec<_> = images.iter().map(|image| [("image", image.as_str()), ("text", &text)]).collect();
    join_all(fields.iter().map(|fields| ada.post("/c/c/caption", fields))).await;
    assert_eq!(number(&site.app.store, "SELECT COUNT(*) FROM caption").await, 1);
}

async fn reports_of_a_caption_are_counted_in_turn(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 5, "languages": ["en"] })).await;
    let image = open_pictures(&site, 1).await.remove(0);
    let ada = captioner(&site, "Ada").await;
    ada.post("/c/c/caption", &[("image", &image), ("text", &sentence(1))]).await.expect(303);
    let caption: String = site.app.store.fetch_one("SELECT id FROM caption", args![]).await.unwrap();
    let mut reporters = Vec::new();
    for n in 0..3 {
        reporters.push(site.program(&format!("Reporter{n}"), Role::Member, Scope::Submit).await);
    }
    let report = json!({ "kind": "caption", "subject": caption, "reason": "offensive" });
    let answers =
        join_all(reporters.iter().map(|by| by.post_json("/api/v1/collections/c/reports", &report))).await;
    assert!(answers.iter().all(|answer| answer.status.is_success()), "{answers:?}");
    let state: String = site.app.store.fetch_one("SELECT state FROM caption", args![]).await.unwrap();
    assert_eq!(state, "quarantined");
}

async fn two_accounts_do_not_get_one_address(database: Database) {
    use capeval_site::accounts::password::Hasher;
    let site = Site::new(database).await;
    let hash = Hasher::new().hash("a long password").await.unwrap();
    let mut people = Vec::new();
    for n in 0..4 {
        people.push(site.person(&format!("P{n}"), Role::Member).await);
    }
    site.app.store.execute("UPDATE account SET password = $1", args![hash]).await.unwrap();
    let fields = [("email", "new@example.org"), ("password", "a long password")];
    let answers = join_all(people.iter().map(|person| person.post("/account/address", &fields))).await;
    assert_eq!(of_status(&answers, 303), 1, "{answers:?}");
    assert_eq!(of_status(&answers, 409), 3, "{answers:?}");
}

async fn phases_that_are_added_at_once_have_places_of_their_own(database: Database) {
    let site = Site::new(database).await;
    let ada = site.person("Ada", Role::Host).await;
    let fields = [
        ("slug", "b"),
        ("title", "B"),
        ("summary", "S"),
        ("rules", "R"),
        ("visibility", "public"),
        ("hosts", "ada@example.org"),
    ];
    ada.post("/host/benchmarks", &fields).await.expect(303);
    let slugs: Vec<String> = (0..4).map(|n| format!("p{n}")).collect();
    let add = async |slug: &String| {
        let mut fields = organise::PHASE;
        fields[1] = ("slug", slug);
        let files = [
            ("references.0.file", "c5.json", "[]".to_owned()),
            ("baselines.0.file", "base.json", "[]".to_owned()),
        ];
        organise::send(&ada, "/b/b/new-phase", &fields, &files).await.expect(303);
    };
    join_all(slugs.iter().map(add)).await;
    let positions = "SELECT COUNT(DISTINCT position) FROM phase";
    assert_eq!(number(&site.app.store, positions).await, 4);
}
