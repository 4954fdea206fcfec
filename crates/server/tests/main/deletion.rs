//! People delete their accounts: what they contributed goes, and nothing names them.

use std::collections::BTreeSet;
use std::io;

use axum::body::Body;
use axum::http::Request;
use capeval_site::accounts::{Role, deletion, invitations, people};
use capeval_site::args;
use capeval_site::testing::Clock;
use capeval_site::web::Scope;
use serde_json::json;

use crate::benchmarks::{benchmark, results};
use crate::collections::{
    GOOD, apply, asked, assert_consistent, captioner, counters, form, open_pictures, png, sentence,
};
use crate::support::{Database, Page as _, Site, dump, on_both};

on_both! {
    an_account_goes_with_all_that_names_its_owner
    only_what_stays_on_boards_has_the_number_of_a_deleted_account
    nothing_comes_after_the_end_of_an_account
    a_deletion_that_was_killed_is_finished
    the_quota_of_an_address_outlives_its_account
    a_team_that_has_used_more_than_a_new_member_keeps_what_it_has_used
}

/// Gives everyone the same password.
async fn set_passwords(site: &Site) {
    let hash = site.app.hasher.hash("a long password").await.unwrap();
    site.app.store.execute("UPDATE account SET password = $1", args![hash]).await.unwrap();
}

async fn an_account_goes_with_all_that_names_its_owner(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 2 })).await;
    open_pictures(&site, 1).await;
    let (zoe, bao) = (captioner(&site, "Zoelina").await, captioner(&site, "Bao").await);
    let program = site.program("Zoelina", Role::Member, Scope::Read).await;
    let wildcard = site.person("%", Role::Member).await;
    set_passwords(&site).await;
    let id = program.get("/api/v1/me").await.expect(200).json()["id"].as_str().unwrap().to_owned();
    let numbered = format!("Zoelina {}", &id[id.len() - 6..]);
    for name in ["Zoelina", &numbered] {
        zoe.post("/teams", &[("name", name)]).await.expect(303);
    }
    let mut image = String::new();
    for (k, person) in [&zoe, &bao].into_iter().enumerate() {
        image = asked(&person.get("/c/c/caption").await.expect(200).text);
        let caption = [("image", image.as_str()), ("language", "en"), ("text", &sentence(k))];
        person.post("/c/c/caption", &caption).await.expect(303);
    }
    assert_eq!(counters(&site, &image).await.1, 2);
    let page = zoe.get("/c/c/rate").await.expect(200).text;
    let item = page.field("item");
    zoe.post("/c/c/rate", &[("item", item), ("grade", "4")]).await.expect(303);
    let row = site.app.store.first("SELECT ratings FROM caption WHERE id = $1", args![item]).await;
    assert_eq!(row.unwrap().unwrap().get::<i64>("ratings").unwrap(), 1);

    // She came by one link, has asked for another, and has made a third.
    for used in [true, false] {
        let mut tx = site.app.store.begin().await.unwrap();
        invitations::add_for_address(&mut tx, "zoelina@example.org").await.unwrap();
        let sql = "UPDATE invitation SET used_at = 1, used_by = $1 WHERE email IS NOT NULL AND 1 = $2";
        tx.execute(sql, args![&id, used]).await.unwrap();
        tx.commit().await.unwrap();
    }
    let teams = zoe.get("/teams").await.expect(200).text;
    let team = teams.between("/teams/", "/");
    let page = zoe.post(&format!("/teams/{team}/invite"), &[]).await.expect(200).text;
    let link = page.link();
    let link = link.replace("/join/", "/teams/join/");
    bao.get(&link).await.expect(200);
    assert!(dump(&site).await.to_lowercase().contains("zoelina@example.org"));

    // The page asks for the password, with and without a script.
    assert!(zoe.get("/account").await.expect(200).text.contains("action=\"/account/delete\""));
    let wrong = zoe.post("/account/delete", &[("password", "another password")]).await.expect(422);
    assert!(wrong.text.contains("The password is incorrect."));
    let gone = zoe.post("/account/delete", &[("password", "a long password")]).await.expect(303);
    assert_eq!(gone.header("location"), "/?done=account-deleted");
    assert!(zoe.get("/account").await.expect(303).header("location").starts_with("/sign-in"));
    program.get("/api/v1/me").await.expect(401);
    let sign_in = [("email", "zoelina@example.org"), ("password", "a long password")];
    assert_eq!(site.anybody().post("/sign-in", &sign_in).await.status.as_u16(), 401);
    bao.get(&link).await.expect(410);
    assert_eq!(counters(&site, &image).await, ("open".into(), 1, 0));
    assert_consistent(&site).await;
    // Nothing in the database has the name or the address.
    for line in dump(&site).await.lines() {
        assert!(!line.to_lowercase().contains("zoelina"), "{line}");
    }

    // A team that is not called as its maker keeps its name, whatever the maker is called.
    wildcard.post("/teams", &[("name", "Vision Lab")]).await.expect(303);
    wildcard.post("/account/delete", &[("password", "a long password")]).await.expect(303);
    let kept = "SELECT id FROM team WHERE name = 'Vision Lab'";
    assert_eq!(site.app.store.all(kept, args![]).await.unwrap().len(), 1);

    // The only administrator stays, also of two who go at once.
    let root = site.person("Root", Role::Admin).await;
    set_passwords(&site).await;
    let refused = root.post("/account/delete", &[("password", "a long password")]).await.expect(409);
    assert!(refused.text.contains("This is the only administrator."), "{}", refused.text);
    root.get("/account").await.expect(200);
    for round in 0..3 {
        let [one, two] = [0, 1].map(|k| format!("Boss{round}{k}"));
        let (one, two) = (site.person(&one, Role::Admin).await, site.person(&two, Role::Admin).await);
        set_passwords(&site).await;
        let others =
            "UPDATE account SET disabled_at = 1 WHERE role = 'admin' AND name NOT LIKE 'Boss' || $1 || '%'";
        site.app.store.execute(others, args![round.to_string()]).await.unwrap();
        let password = [("password", "a long password")];
        let (one, two) =
            tokio::join!(one.post("/account/delete", &password), two.post("/account/delete", &password));
        let mut statuses = [one.status.as_u16(), two.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 409], "round {round}");
    }
}

/// The tables with a row that has `text`.
async fn tables_with(site: &Site, text: &str) -> BTreeSet<String> {
    let (mut table, mut found) = (String::new(), BTreeSet::new());
    for line in dump(site).await.lines() {
        if line.starts_with('{') {
            let head: serde_json::Value = serde_json::from_str(line).unwrap();
            table = head["table"].as_str().unwrap().to_owned();
        } else if line.contains(text) {
            found.insert(table.clone());
        }
    }
    found
}

async fn only_what_stays_on_boards_has_the_number_of_a_deleted_account(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "").await;
    apply(&site, json!({ "captions": 2 })).await;
    let image = open_pictures(&site, 1).await.remove(0);
    let zoe = captioner(&site, "Zoelina").await;
    let program = site.program("Zoelina", Role::Member, Scope::Submit).await;
    let request = Request::post(format!("/api/v1/phases/{phase}/submissions?method=m"));
    program.send(request, results(40, 5)).await.expect(201);
    zoe.get("/c/c/caption").await.expect(200);
    let caption = [("image", image.as_str()), ("language", "en"), ("text", &sentence(1))];
    zoe.post("/c/c/caption", &caption).await.expect(303);
    site.work().await;
    let account = people::by_email(&site.app.store, "zoelina@example.org").await.unwrap().unwrap().id;
    for sql in [
        "INSERT INTO benchmark_host (benchmark, account) SELECT id, $1 FROM benchmark",
        "INSERT INTO collection_staff (collection, account, duty) SELECT id, $1, 'moderator' FROM collection",
        "INSERT INTO evaluation (id, phase, pictures, images, wanted, state, created_at) \
         SELECT 'e' || substr($1, 1, 1), id, '', 1, 1, 'open', 0 FROM phase",
        "INSERT INTO evaluation_rater (evaluation, account) SELECT id, $1 FROM evaluation",
        "INSERT INTO evaluation_item (id, evaluation, image, caption, position, judged) \
         SELECT 'i' || substr($1, 1, 1), id, '1', 'a dog', '0', 2 FROM evaluation",
        "INSERT INTO judgement (item, account, grade, is_machine, detail, created_at) \
         SELECT id, $1, 4, 1, 3, 0 FROM evaluation_item",
        "INSERT INTO outbox (id, kind, target, subject, body, attempt, run_after, created_at) \
         SELECT 'm', 'mail', email, id, '', 0, 0, 0 FROM account WHERE id = $1",
    ] {
        assert_eq!(site.app.store.execute(sql, args![&account]).await.unwrap(), 1, "{sql}");
    }
    let known = program.get("/api/v1/me/contributions").await.expect(200).json();
    let judged = json!([{
        "image": "1", "caption": "a dog", "grade": 4, "is_machine": true, "detail": 3, "at": "1970-01-01T00:00:00Z"
    }]);
    assert_eq!(known["judgements"], judged);
    let before = tables_with(&site, &account).await;
    for table in [
        "benchmark_host",
        "caption",
        "collection_staff",
        "evaluation_rater",
        "judgement",
        "outbox",
        "team_member",
    ] {
        assert!(before.contains(table), "{table}");
    }
    deletion::remove(&site.app, None, &account).await.unwrap();
    // Who has entered a phase with which team stays with the submissions, and so does the hash of
    // the address: no one enters the phase with a second team.
    let stays = ["account", "audit", "entry_member", "former_address", "job", "submission", "team"];
    assert_eq!(tables_with(&site, &account).await, BTreeSet::from(stays.map(str::to_owned)));
    // Another judge may judge the caption in her place.
    let judged: i64 = site.app.store.fetch_one("SELECT judged FROM evaluation_item", args![]).await.unwrap();
    assert_eq!(judged, 1);
}

/// The process that deletes an account is killed after the account was disabled.
async fn a_deletion_that_was_killed_is_finished(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 2 })).await;
    open_pictures(&site, 12).await;
    let zoe = captioner(&site, "Zoelina").await;
    for k in 0..12 {
        let image = asked(&zoe.get("/c/c/caption").await.expect(200).text);
        let caption = [("image", image.as_str()), ("language", "en"), ("text", &sentence(k))];
        zoe.post("/c/c/caption", &caption).await.expect(303);
    }
    let (app, account) = (&site.app, people::by_email(&site.app.store, "zoelina@example.org").await);
    let account = account.unwrap().unwrap().id;
    let is_disabled = async || {
        let sql = "SELECT id FROM account WHERE id = $1 AND disabled_at IS NOT NULL";
        app.store.first(sql, args![&account]).await.unwrap().is_some()
    };
    let mut disabled = app.points.stop_at("account-disabled");
    tokio::select! {
        done = deletion::remove(app, None, &account) => panic!("{done:?}"),
        () = disabled.reached() => {}
    }
    assert!(is_disabled().await);
    assert!(dump(&site).await.contains("zoelina@example.org"));
    // Not before the process can be taken for dead.
    site.work_that_is_due().await;
    assert!(dump(&site).await.contains("zoelina@example.org"));
    site.work().await;
    for line in dump(&site).await.lines() {
        assert!(!line.to_lowercase().contains("zoelina"), "{line}");
    }
    assert!(is_disabled().await);
    assert_consistent(&site).await;
}

/// Requests whose account is disabled while their body arrives.
async fn nothing_comes_after_the_end_of_an_account(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "").await;
    apply(&site, json!({ "captions": 2 })).await;
    let image = open_pictures(&site, 1).await.remove(0);
    for name in ["Zoelina", "Bao"] {
        captioner(&site, name).await;
    }
    let zoe = site.program("Zoelina", Role::Member, Scope::Submit).await;
    let bao = site.program("Bao", Role::Member, Scope::Submit).await;
    let base = "/api/v1";
    let caption = |k: usize| json!({ "image": image, "text": sentence(k), "language": "en" });
    bao.post_json(&format!("{base}/collections/c/captions"), &caption(1)).await.expect(201);
    let given = zoe.get(&format!("{base}/collections/c/to-rate")).await.expect(200).json();
    let item = given["caption"]["item"].as_str().unwrap();

    let (kind, pictures) = form(&GOOD, &[("a.png", png(1))]);
    let rating = json!({ "item": item, "grade": 4 }).to_string();
    let entry = format!("phases/{phase}/submissions?method=m");
    let requests = [
        (
            "collections/c/captions",
            "application/json",
            caption(2).to_string().into_bytes(),
            (403, "disabled"),
        ),
        ("collections/c/pictures", kind.as_str(), pictures, (403, "disabled")),
        ("collections/c/ratings", "application/json", rating.into_bytes(), (409, "not-rated")),
        (&entry, "application/octet-stream", results(40, 5).into_bytes(), (403, "disabled")),
    ];
    for (what, kind, body, (status, code)) in requests {
        let store = site.app.store.clone();
        let body = Body::from_stream(futures_util::stream::once(async move {
            let sql = "UPDATE account SET disabled_at = 1 WHERE name = 'Zoelina'";
            store.execute(sql, args![]).await.unwrap();
            Ok::<_, io::Error>(body)
        }));
        let request = Request::post(format!("{base}/{what}")).header("content-type", kind);
        assert_eq!(zoe.send(request, body).await.expect(status).json()["code"], code, "{what}");
        let again = "UPDATE account SET disabled_at = NULL WHERE name = 'Zoelina'";
        site.app.store.execute(again, args![]).await.unwrap();
    }
    assert!(site.app.store.all("SELECT id FROM team", args![]).await.unwrap().is_empty());
    let data = zoe.get("/api/v1/me/contributions").await.expect(200).json();
    for name in ["pictures", "captions", "ratings", "declarations"] {
        assert_eq!(data[name], json!([]), "{name}");
    }
    assert_consistent(&site).await;
}

async fn the_quota_of_an_address_outlives_its_account(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 2\nin_total = 3").await;
    let submit = async |name: &str, skill: usize| {
        let person = site.program(name, Role::Member, Scope::Submit).await;
        let path = format!("/api/v1/phases/{phase}/submissions?method=m");
        person.send(Request::post(path), results(40, skill)).await
    };
    let delete = async |name: &str| {
        let email = format!("{}@example.org", name.to_lowercase());
        let account = people::by_email(&site.app.store, &email).await.unwrap().unwrap().id;
        deletion::remove(&site.app, None, &account).await.unwrap();
    };
    submit("Zoelina", 1).await.expect(201);
    submit("Zoelina", 2).await.expect(201);
    for _ in 0..2 {
        delete("Zoelina").await;
        assert_eq!(submit("Zoelina", 3).await.expect(429).json()["code"], "day-used");
    }
    // An account that leaves its address to another one leaves its quota there too.
    submit("Yann", 1).await.expect(201);
    submit("Yann", 2).await.expect(201);
    let yann = people::by_email(&site.app.store, "yann@example.org").await.unwrap().unwrap().id;
    let admin = site.person("Ada", Role::Admin).await;
    let page = admin.post(&format!("/admin/accounts/{yann}/link"), &[]).await.expect(200).text;
    site.anybody().post(page.link(), &[("password", "a quite new password")]).await.expect(303);
    let moved = [("email", "yann@example.net"), ("password", "a quite new password")];
    site.person("Yann", Role::Member).await.post("/account/address", &moved).await.expect(303);
    assert_eq!(submit("Yann", 3).await.expect(429).json()["code"], "day-used");
    // Another address has a quota of its own.
    submit("Bao", 3).await.expect(201);
    let clock = Clock::of_thread().unwrap();
    clock.move_to(clock.now() + 86_400_000);
    submit("Zoelina", 4).await.expect(201);
    assert_eq!(submit("Zoelina", 5).await.expect(429).json()["code"], "total-used");
}

async fn a_team_that_has_used_more_than_a_new_member_keeps_what_it_has_used(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 5\nin_total = 5").await;
    let submit = async |name: &str, skill: usize| {
        let person = site.program(name, Role::Member, Scope::Submit).await;
        let path = format!("/api/v1/phases/{phase}/submissions?method=m");
        person.send(Request::post(path), results(40, skill)).await.expect(201);
    };
    submit("Zoelina", 1).await;
    let zoe = people::by_email(&site.app.store, "zoelina@example.org").await.unwrap().unwrap().id;
    deletion::remove(&site.app, None, &zoe).await.unwrap();
    for skill in 1..=3 {
        submit("Bao", skill).await;
    }
    // Who comes back brings the one submission of before, of which the team has made more.
    let bao = site.program("Bao", Role::Member, Scope::Submit).await;
    let teams = bao.get("/api/v1/teams").await.expect(200).json();
    let path = format!("/api/v1/teams/{}/invites", teams["teams"][0]["id"].as_str().unwrap());
    let link = bao.post_json(&path, &json!({})).await.expect(201).json();
    let page = link["link"].as_str().unwrap().replace("http://127.0.0.1:8080/join", "/teams/join");
    site.person("Zoelina", Role::Member).await.post(&page, &[]).await.expect(303);
    let quota = bao.get(&format!("/api/v1/phases/{phase}/quota")).await.expect(200).json();
    assert_eq!((&quota["used_today"], &quota["used_in_total"]), (&json!(3), &json!(3)), "{quota}");
}
