//! Lists and leaderboards take as many queries for many rows as for few.

use std::path::Path;

use axum::http::Request;
use capeval_benchmarks::apply::apply;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::testing::counting;
use capeval_site::web::Scope;
use serde_json::json;

use crate::benchmarks::{benchmark, results};
use crate::support::{Client, Database, Site, on_both};

on_both! { the_number_of_queries_does_not_grow_with_the_rows }

async fn send(client: &Client, phase: &str, skill: usize) {
    let path = format!("/api/v1/phases/{phase}/submissions?method=M{skill}");
    client.send(Request::post(path), results(40, skill)).await.expect(201);
}

/// Judges all captions of a new evaluation.
async fn judge(site: &Site, admin: &Client, phase: &str, judge: &str) {
    let plan = json!({ "images": 3, "wanted": 1, "pictures": "https://example.org/{id}.jpg" });
    admin.post_json(&format!("/api/v1/host/phases/{phase}/judging"), &plan).await.expect(201);
    site.work().await;
    let store = &site.app.store;
    let judged = "INSERT INTO judgement (item, account, grade, is_machine, detail, created_at) \
                  SELECT id, CAST($1 AS TEXT), 4, 0, 3, 0 FROM evaluation_item WHERE judged = 0";
    assert!(store.execute(judged, args![judge]).await.unwrap() > 0);
    store.execute("UPDATE evaluation_item SET judged = 1", args![]).await.unwrap();
    store.execute("UPDATE evaluation SET state = 'closed'", args![]).await.unwrap();
}

/// Adds benchmarks of Helen, with a phase each.
async fn add_benchmarks(site: &Site, slugs: std::ops::Range<usize>) {
    for k in slugs {
        let plan = format!(
            "slug = 'more-{k}'\ntitle = 'More {k}'\nvisibility = 'hidden'\nhosts = ['helen@example.org']\n\
             [[phases]]\nslug = 'p'\ntitle = 'Phase'\nmetrics = ['bleu', 'cider-d']\n"
        );
        apply(&site.app, &toml::from_str(&plan).unwrap(), Path::new(""), None).await.unwrap();
    }
}

async fn the_number_of_queries_does_not_grow_with_the_rows(database: Database) {
    let site = Site::new(database).await;
    let phase = benchmark(&site, "per_day = 20").await;
    let judge_id = site.account("Judy", Role::Member).await;
    let admin = site.program("Root", Role::Admin, Scope::Host).await;
    let helen = site.program("Helen", Role::Host, Scope::Host).await;
    let people = [
        site.program("Ada", Role::Member, Scope::Submit).await,
        site.program("Bao", Role::Member, Scope::Submit).await,
        site.program("Cleo", Role::Member, Scope::Submit).await,
    ];
    let [ada, bao, cleo] = &people;
    let browser = site.person("Ada", Role::Member).await;
    let host = site.person("Helen", Role::Host).await;

    let submissions = format!("/api/v1/phases/{phase}/submissions");
    let board = format!("/api/v1/phases/{phase}/leaderboard");
    let entries = format!("/api/v1/host/phases/{phase}/entries");
    let lists = [
        (ada, submissions.as_str(), "\"method\""),
        (ada, board.as_str(), "\"kind\":\"system\""),
        (&helen, "/api/v1/benchmarks", "\"summary\""),
        (&admin, entries.as_str(), "\"used_today\""),
        (&browser, "/b/b/p/leaderboard", "<tr"),
        (&browser, "/b/b/p/leaderboard?q=m&column=bleu-1&sort=rouge-l&since=2020-01-01", "<tr"),
        (&host, "/host", "<section"),
    ];
    let count = async || {
        let mut counts = Vec::new();
        for (client, path, row) in lists {
            // The first request may note that the token or the session was used.
            client.get(path).await.expect(200);
            let (answer, queries) = counting(client.get(path)).await;
            counts.push((path, queries, answer.text.matches(row).count()));
        }
        for (what, sql) in [("all teams settle", "SELECT COUNT(*) FROM standing")] {
            let mut tx = site.app.store.begin().await.unwrap();
            let settling = capeval_benchmarks::board::all_changed(&mut tx, &phase);
            let (settled, queries) = counting(settling).await;
            settled.unwrap();
            let rows: i64 = tx.fetch_one(sql, args![]).await.unwrap();
            counts.push((what, queries, rows as usize));
        }
        counts
    };

    add_benchmarks(&site, 0..1).await;
    send(ada, &phase, 1).await;
    site.work().await;
    judge(&site, &admin, &phase, &judge_id).await;
    send(ada, &phase, 2).await;
    let few = count().await;

    add_benchmarks(&site, 1..5).await;
    site.work().await;
    for (person, skills) in [(ada, 3..5), (bao, 5..7), (cleo, 7..9)] {
        for skill in skills {
            send(person, &phase, skill).await;
        }
    }
    site.work().await;
    judge(&site, &admin, &phase, &judge_id).await;
    send(ada, &phase, 9).await;
    send(ada, &phase, 10).await;
    let many = count().await;

    for ((path, queries, rows), (_, queries_of_many, more)) in few.into_iter().zip(many) {
        assert!(
            queries > 0 && rows > 0 && more > rows,
            "{path}: {queries} queries, {rows} rows, then {more}"
        );
        assert_eq!(queries, queries_of_many, "{path}: {rows} rows, then {more}");
    }
}
