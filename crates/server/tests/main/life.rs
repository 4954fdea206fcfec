//! The whole life of a collection over HTTP: from uploads to a submission that is scored against its hidden split.

use axum::http::Request;
use capeval_collections::release::build;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::web::Scope;
use serde_json::{Value, json};

use crate::collections::{RIGHT, apply, asked, moderator, png, sentence, upload_with};
use crate::support::collections::{Collection, number, row};
use crate::support::{Client, Database, Site, assert_consistent, on_both, settings};

on_both! { pictures_become_a_benchmark }

/// Someone who has passed the quiz.
async fn people(site: &Site, names: &[&str]) -> Vec<Client> {
    let mut people = Vec::new();
    for name in names {
        let person = site.person(name, Role::Member).await;
        person.post("/c/c/quiz", RIGHT).await.expect(303);
        people.push(person);
    }
    people
}

/// Describes a picture with the sentence of this number; `false` if there is none left for this person.
async fn describe(person: &Client, number: usize) -> bool {
    let page = person.get("/c/c/caption").await.expect(200).text;
    if !page.contains("data-image=\"") {
        return false;
    }
    let (image, text) = (asked(&page), sentence(number));
    let form = [("image", image.as_str()), ("text", &text), ("language", "en"), ("action", "hand-in")];
    person.post("/c/c/caption", &form).await.expect(303);
    true
}

async fn pictures_become_a_benchmark(database: Database) {
    let site = Site::with(settings(database).with(&capeval_collections::CAPTIONS_PER_MINUTE, 10_000)).await;
    let host = site.person("Host", Role::Host).await;
    let plan = json!({ "languages": ["en"], "captions": 5, "target": 30, "hosts": ["host@example.org"] });
    apply(&site, plan).await;
    let moderator = moderator(&site).await;

    // Two people upload 15 pictures each, of three games, and a moderator approves them.
    let uploaders = people(&site, &["Una", "Udo"]).await;
    for (who, uploader) in uploaders.iter().enumerate() {
        for game in 0..3 {
            let seed = |k: usize| (1 + who * 15 + game * 5 + k) as u32;
            let files: Vec<(String, Vec<u8>)> = (0..5).map(|k| (format!("{k}.png"), png(seed(k)))).collect();
            let files: Vec<(&str, Vec<u8>)> =
                files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
            let game = format!("Game {game}");
            let fields =
                [("game", game.as_str()), ("platform", "PC"), ("licence", "CC-BY-4.0"), ("rights", "1")];
            upload_with(uploader, &fields, &files).await.expect(303);
        }
    }
    site.work().await;
    let pending = site.app.store.all("SELECT id FROM image WHERE state = 'pending'", args![]).await.unwrap();
    assert_eq!(pending.len(), 30);
    for row in pending {
        let path = format!("/c/c/moderate/images/{}", row.get::<String>("id").unwrap());
        moderator.post(&path, &[("action", "approve")]).await.expect(303);
    }
    site.work().await;

    // Six people describe them, five each, and three rate what they wrote.
    let captioners = people(&site, &["Ada", "Ben", "Cho", "Dee", "Eli", "Fay"]).await;
    let mut described = 0;
    for round in 0..40 {
        for (k, captioner) in captioners.iter().enumerate() {
            described += usize::from(describe(captioner, k * 40 + round).await);
        }
    }
    assert_eq!(described, 150);
    assert_eq!(
        number(&site, "SELECT COUNT(*) AS n FROM image_slots WHERE taken = 5 AND image <> $1", "").await,
        30
    );
    let raters = people(&site, &["Rae", "Rob", "Ria"]).await;
    let id = row(&site, "SELECT id FROM collection WHERE slug = $1", "c").await.get("id").unwrap();
    let collection = Collection { id, slug: "c".to_owned() };
    let mut ratings = 0;
    loop {
        let before = ratings;
        for rater in &raters {
            let Some((item, text)) = collection.to_rate(rater).await else { continue };
            let grade = if text.len() % 3 == 0 { "3" } else { "4" };
            rater.post("/c/c/rate", &[("item", &item), ("grade", grade)]).await.expect(303);
            ratings += 1;
        }
        if ratings == before {
            break;
        }
    }
    assert_eq!(ratings, 300);
    assert!(site.anybody().get("/c/c").await.expect(200).text.contains("Complete pictures: 30 of 30"));

    // The release is for contributors.
    host.post("/c/c/releases", &[("val", "10"), ("test", "10"), ("withheld", "test")]).await.expect(303);
    site.work().await;
    let file = "/c/c/releases/1/c-1.zip";
    for contributor in captioners.iter().chain(&uploaders).chain([&host, &moderator]) {
        assert_eq!(contributor.get(file).await.expect(200).header("content-type"), "application/zip");
    }
    for other in raters.iter().chain([&site.anybody(), &site.person("Zoe", Role::Member).await]) {
        other.get(file).await.expect(404);
    }

    // Its hidden split is a phase, against which a file of results is scored.
    let form = [("benchmark", "c"), ("per_day", "2"), ("in_total", "5"), ("board", "public")];
    let board = host.post("/c/c/releases/1/publish", &form).await.expect(303).header("location").to_owned();
    site.work().await;
    let release: String =
        row(&site, "SELECT id FROM release WHERE collection = $1", &collection.id).await.get("id").unwrap();
    let content = build::content(&site.app.store, &release).await.unwrap();
    let hidden = content.pictures.iter().filter(|picture| Some(picture.split) == content.withheld);
    let results: Vec<Value> = hidden
        .map(|picture| json!({ "image_id": picture.number, "caption": "A knight stands near an old tower" }))
        .collect();
    assert_eq!(results.len(), 5);
    let phase: String = row(&site, "SELECT phase AS id FROM publication WHERE release = $1", &release)
        .await
        .get("id")
        .unwrap();
    let team = site.program("Team", Role::Member, Scope::Submit).await;
    let path = format!("/api/v1/phases/{phase}/submissions?method=towers");
    team.send(Request::post(path), json!(results).to_string()).await.expect(201);
    site.work().await;
    let page = site.anybody().get(&board).await.expect(200).text;
    assert!(page.contains("towers") && page.contains("CIDEr-D") && page.contains("People"), "{page}");
    assert_consistent(&site).await;
}
