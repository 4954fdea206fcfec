//! Many people at once: no picture gets more captions than are wanted, and no one meets one twice.

use std::time::Instant;

use capeval_collections::slots;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::store::Store;
use capeval_site::web::Scope;
use capeval_testkit::{PATIENCE, PAUSE};
use serde_json::json;

use super::{
    apply, asked, assert_consistent, captioner, counters, counters_in, decide, open_pictures, sentence,
};
use crate::support::{Database, Site, on_both, on_sqlite};

on_both! {
    forty_people_clicking_twice_fill_every_place_once
    forty_people_fill_every_place_of_each_language_once
    each_language_is_complete_by_itself
    goals_can_change_from_all_languages_to_each_and_back
    more_or_fewer_captions_change_what_is_complete
}

on_sqlite! {
    reservations_run_out_gently
    the_next_of_many_pictures_is_found_at_once
}

const PICTURES: usize = 40;
const PEOPLE: usize = 40;
const WANTED: usize = 5;

async fn number(store: &Store, sql: &'static str) -> i64 {
    store.first(sql, args![]).await.unwrap().unwrap().get("n").unwrap()
}

/// As many pictures as people, for 5 captions each; everyone asks and submits twice at once.
async fn forty_people_clicking_twice_fill_every_place_once(database: Database) {
    let settings =
        crate::support::settings(database).with(&capeval_collections::CAPTIONS_PER_MINUTE, 1_000_000);
    let site = Site::with(settings).await;
    apply(&site, json!({ "captions": WANTED, "languages": ["en"] })).await;
    open_pictures(&site, PICTURES).await;
    let mut racing = tokio::task::JoinSet::new();
    for person in 0..PEOPLE {
        let client = captioner(&site, &format!("p{person}")).await;
        let store = site.app.store.clone();
        racing.spawn(async move {
            let (start, mut round) = (Instant::now(), 0_usize);
            // People come back until all captions are there: places may be reserved by others who then give them up.
            while number(&store, "SELECT COUNT(*) AS n FROM caption").await < (PICTURES * WANTED) as i64 {
                assert!(start.elapsed() < PATIENCE, "not all captions arrive");
                let (one, two) = tokio::join!(client.get("/c/c/caption"), client.get("/c/c/caption"));
                let (one, two) = (one.expect(200).text, two.expect(200).text);
                if !one.contains("data-image") {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
                let image = asked(&one);
                if two.contains("data-image") {
                    assert_eq!(asked(&two), image, "two pictures at once");
                }
                let text = sentence(person * 1_000 + round);
                let fields = [("image", image.as_str()), ("text", &text)];
                let (one, two) =
                    tokio::join!(client.post("/c/c/caption", &fields), client.post("/c/c/caption", &fields));
                one.expect(303);
                two.expect(303);
                round += 1;
            }
            round
        });
    }
    let rounds: usize = racing.join_all().await.into_iter().sum();
    assert!(rounds >= PICTURES * WANTED, "{rounds}");
    assert_consistent(&site).await;
    let store = &site.app.store;
    let rows = store.all("SELECT taken FROM image_slots", args![]).await.unwrap();
    let slots: Vec<i64> = rows.iter().map(|row| row.get("taken").unwrap()).collect();
    assert_eq!(slots, vec![WANTED as i64; PICTURES]);
    let captions =
        store.first("SELECT COUNT(*) AS n, COUNT(DISTINCT image || author) AS pairs FROM caption", args![]);
    let row = captions.await.unwrap().unwrap();
    let (n, pairs): (i64, i64) = (row.get("n").unwrap(), row.get("pairs").unwrap());
    assert_eq!((n, pairs), ((PICTURES * WANTED) as i64, (PICTURES * WANTED) as i64));
    assert!(store.all("SELECT * FROM assignment", args![]).await.unwrap().is_empty());
}

/// The same with two languages: every fourth person changes the language with each picture.
async fn forty_people_fill_every_place_of_each_language_once(database: Database) {
    const EACH: [(&str, usize); 2] = [("zh", 3), ("en", 2)];
    let settings =
        crate::support::settings(database).with(&capeval_collections::CAPTIONS_PER_MINUTE, 1_000_000);
    let site = Site::with(settings).await;
    let languages = EACH.map(|(language, captions)| json!({ "language": language, "captions": captions }));
    apply(&site, json!({ "languages": languages })).await;
    open_pictures(&site, PICTURES).await;
    let mut racing = tokio::task::JoinSet::new();
    for person in 0..PEOPLE {
        let client = captioner(&site, &format!("p{person}")).await;
        let store = site.app.store.clone();
        racing.spawn(async move {
            let (start, mut round) = (Instant::now(), 0_usize);
            while number(&store, "SELECT COUNT(*) AS n FROM caption").await < (PICTURES * 5) as i64 {
                assert!(start.elapsed() < PATIENCE, "not all captions arrive");
                let language = EACH[(person + if person % 4 == 0 { round } else { 0 }) % 2].0;
                let path = format!("/c/c/caption?language={language}");
                let (one, two) = tokio::join!(client.get(&path), client.get(&path));
                let (one, two) = (one.expect(200).text, two.expect(200).text);
                round += 1;
                if !one.contains("data-image") {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
                let image = asked(&one);
                if two.contains("data-image") {
                    assert_eq!(asked(&two), image, "two pictures at once");
                }
                let text = match language {
                    "zh" => format!("一位骑士站在第{person}座城堡的第{round}扇大门前面等待"),
                    _ => sentence(person * 1_000 + round),
                };
                let fields = [("image", image.as_str()), ("text", &text), ("language", language)];
                let (one, two) =
                    tokio::join!(client.post("/c/c/caption", &fields), client.post("/c/c/caption", &fields));
                one.expect(303);
                two.expect(303);
            }
        });
    }
    racing.join_all().await;
    assert_consistent(&site).await;
    let store = &site.app.store;
    for (language, captions) in EACH {
        let sql = "SELECT taken FROM image_slots WHERE language = $1";
        let rows = store.all(sql, args![language]).await.unwrap();
        let taken: Vec<i64> = rows.iter().map(|row| row.get("taken").unwrap()).collect();
        assert_eq!(taken, vec![captions as i64; PICTURES], "{language}");
    }
    assert_eq!(number(store, "SELECT COUNT(*) AS n FROM caption").await, (PICTURES * 5) as i64);
    assert_eq!(
        number(store, "SELECT COUNT(DISTINCT image || author) AS n FROM caption").await,
        (PICTURES * 5) as i64
    );
    assert!(store.all("SELECT * FROM assignment", args![]).await.unwrap().is_empty());
}

/// Chinese captions complete a picture for Chinese alone, and raising or lowering its number changes nothing for
/// English.
async fn each_language_is_complete_by_itself(database: Database) {
    let site = Site::new(database).await;
    let goals = |zh: u32, en: u32| {
        json!({ "languages": [{ "language": "zh", "captions": zh }, { "language": "en", "captions": en, "target": 3 }],
            "target": 7 })
    };
    apply(&site, goals(1, 1)).await;
    let image = open_pictures(&site, 1).await.remove(0);
    let (ada, bao, cleo) =
        (captioner(&site, "Ada").await, captioner(&site, "Bao").await, captioner(&site, "Cleo").await);
    let page = ada.get("/c/c/caption?language=zh").await.expect(200).text;
    assert_eq!(asked(&page), image);
    assert!(page.contains("name=\"language\" value=\"zh\""), "{page}");
    // There is no place for Chinese while Ada has it, and one for English.
    assert!(
        bao.get("/c/c/caption?language=zh").await.expect(200).text.contains("There is no picture for you")
    );
    let page = bao.get("/c/c/caption").await.expect(200).text;
    assert!(page.contains("name=\"language\" value=\"en\""), "{page}");
    // Ada changes her mind, and back: she keeps the picture while it has a place, and it waits for nothing.
    assert!(
        ada.get("/c/c/caption?language=en").await.expect(200).text.contains("There is no picture for you")
    );
    assert_eq!(counters_in(&site, &image, "zh").await, ("open".into(), 0, 0));
    assert_eq!(asked(&ada.get("/c/c/caption?language=zh").await.expect(200).text), image);
    let chinese = "一位骑士站在燃烧的城堡大门前面等待同伴";
    let fields = [("image", image.as_str()), ("language", "zh"), ("text", chinese)];
    let answer = ada.post("/c/c/caption", &fields).await.expect(303);
    assert!(answer.header("location").contains("language=zh"), "{}", answer.header("location"));
    assert_eq!(counters_in(&site, &image, "zh").await, ("open".into(), 1, 0));
    assert_eq!(counters_in(&site, &image, "en").await, ("open".into(), 1, 0));
    let of = async |language: &str| {
        let sql = "SELECT id FROM caption WHERE language = $1";
        site.app.store.first(sql, args![language]).await.unwrap().unwrap().get::<String>("id").unwrap()
    };
    let first = of("zh").await;
    decide(&site, &first, "submitted", "accepted").await;
    assert_eq!(counters_in(&site, &image, "zh").await, ("open".into(), 1, 1));
    let shown = site.anybody().get("/api/v1/collections/c").await.expect(200).json();
    assert_eq!(
        (&shown["complete"], &shown["captions_per_picture"], &shown["target"]),
        (&json!(0), &json!(2), &json!(7))
    );
    assert_eq!(
        shown["goals"],
        json!([
            { "language": "zh", "captions_per_picture": 1, "target": 7, "complete": 1, "accepted_captions": 1 },
            { "language": "en", "captions_per_picture": 1, "target": 3, "complete": 0, "accepted_captions": 0 },
        ])
    );
    let page = ada.get("/c/c").await.expect(200).text;
    for words in
        ["Complete pictures, 中文: 1 of 7", "Complete pictures, English: 0 of 3", "Accepted captions: 中文"]
    {
        assert!(page.contains(words), "{words}\n{page}");
    }
    let fields = [("image", image.as_str()), ("language", "en"), ("text", &sentence(1))];
    bao.post("/c/c/caption", &fields).await.expect(303);
    let second = of("en").await;
    decide(&site, &second, "submitted", "accepted").await;
    assert_eq!(counters_in(&site, &image, "en").await, ("complete".into(), 1, 1));
    assert!(cleo.get("/c/c/caption").await.expect(200).text.contains("There is no picture for you"));

    apply(&site, goals(2, 1)).await;
    assert_eq!(counters_in(&site, &image, "zh").await, ("open".into(), 1, 1));
    assert!(cleo.get("/c/c/caption?language=en").await.expect(200).text.contains("Describe pictures: 中文"));
    let page = cleo.get("/c/c/caption").await.expect(200).text;
    assert!(page.contains("name=\"language\" value=\"zh\""), "{page}");
    apply(&site, goals(1, 1)).await;
    assert_eq!(counters_in(&site, &image, "zh").await, ("complete".into(), 2, 1));
    assert!(cleo.get("/c/c/caption").await.expect(200).text.contains("There is no picture for you"));
    assert_eq!(counters_in(&site, &image, "zh").await, ("complete".into(), 1, 1));
    apply(&site, goals(1, 2)).await;
    assert_eq!(counters_in(&site, &image, "en").await, ("open".into(), 1, 1));
    // A program learns for which language a picture is reserved, and how far it is.
    let program = site.program("Cleo", Role::Member, Scope::Submit).await;
    let given = program.get("/api/v1/collections/c/to-describe").await.expect(200).json();
    assert_eq!((&given["language"], &given["picture"]["captions_per_picture"]), (&json!("en"), &json!(3)));
    assert_eq!(
        given["picture"]["languages"],
        json!([
            { "language": "zh", "accepted_captions": 1, "captions_per_picture": 1 },
            { "language": "en", "accepted_captions": 1, "captions_per_picture": 2 },
        ])
    );
    let none = program.get("/api/v1/collections/c/to-describe?language=zh").await.expect(200).json();
    assert_eq!(none["picture"], json!(null));
    program.get("/api/v1/collections/c/to-describe?language=fr").await.expect(422);
    let caption = json!({ "image": image, "text": sentence(5) });
    program.post_json("/api/v1/collections/c/captions", &caption).await.expect(201);
    assert_eq!(counters_in(&site, &image, "en").await, ("open".into(), 2, 1));
    // A caption that is taken back opens its language again.
    decide(&site, &second, "accepted", "withdrawn").await;
    assert_eq!(counters_in(&site, &image, "en").await, ("open".into(), 1, 0));
    assert_consistent(&site).await;
}

/// Captions that counted together count for each language, and together again.
async fn goals_can_change_from_all_languages_to_each_and_back(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 2 })).await;
    let images = open_pictures(&site, 3).await;
    for (k, (name, language)) in [("Ada", "zh"), ("Bao", "en"), ("Cleo", "zh")].into_iter().enumerate() {
        let person = captioner(&site, name).await;
        for (n, image) in images[..2].iter().enumerate() {
            let text = match language {
                "zh" => format!("一位骑士站在第{k}座城堡的第{n}扇大门前面等待"),
                _ => sentence(n),
            };
            let fields = [("image", image.as_str()), ("language", language), ("text", &text)];
            let answer = person.post("/c/c/caption", &fields).await.expect(303);
            assert_eq!(answer.header("location").contains("notice=full"), k == 2);
        }
    }
    let sql = "SELECT id FROM caption ORDER BY id";
    for row in site.app.store.all(sql, args![]).await.unwrap() {
        decide(&site, &row.get::<String>("id").unwrap(), "submitted", "accepted").await;
    }
    assert_eq!(counters(&site, &images[0]).await, ("complete".into(), 2, 2));
    // Someone holds a picture while the goals change.
    let dara = captioner(&site, "Dara").await;
    dara.get("/c/c/caption").await.expect(200);
    apply(
        &site,
        json!({ "languages": [{ "language": "zh", "captions": 1 }, { "language": "en", "captions": 2 }] }),
    )
    .await;
    assert_eq!(counters_in(&site, &images[0], "zh").await, ("open".into(), 1, 1));
    assert_eq!(counters_in(&site, &images[0], "en").await, ("open".into(), 1, 1));
    assert_eq!(counters_in(&site, &images[2], "en").await, ("open".into(), 0, 0));
    assert_consistent(&site).await;
    // They go on.
    dara.get("/c/c/caption").await.expect(200);
    assert_consistent(&site).await;
    apply(&site, json!({ "languages": [{ "language": "zh", "captions": 1 }] })).await;
    assert_eq!(counters_in(&site, &images[0], "zh").await, ("complete".into(), 1, 1));
    apply(&site, json!({ "captions": 2 })).await;
    assert_eq!(counters(&site, &images[0]).await, ("complete".into(), 2, 2));
    assert_consistent(&site).await;
}

/// Raising the number opens complete pictures again, lowering it completes open ones.
async fn more_or_fewer_captions_change_what_is_complete(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 2 })).await;
    let image = open_pictures(&site, 1).await.remove(0);
    let mut captions = Vec::new();
    for k in 0..2 {
        let person = captioner(&site, &format!("p{k}")).await;
        let page = person.get("/c/c/caption").await.expect(200).text;
        assert_eq!(asked(&page), image);
        person
            .post("/c/c/caption", &[("image", &image), ("language", "en"), ("text", &sentence(k))])
            .await
            .expect(303);
    }
    for row in site.app.store.all("SELECT id FROM caption", args![]).await.unwrap() {
        captions.push(row.get::<String>("id").unwrap());
    }
    assert_eq!(counters(&site, &image).await, ("open".into(), 2, 0));
    let third = captioner(&site, "third").await;
    assert!(third.get("/c/c/caption").await.expect(200).text.contains("There is no picture for you"));
    decide(&site, &captions[0], "submitted", "accepted").await;
    decide(&site, &captions[1], "submitted", "accepted").await;
    assert_eq!(counters(&site, &image).await, ("complete".into(), 2, 2));

    apply(&site, json!({ "captions": 3 })).await;
    assert_eq!(counters(&site, &image).await, ("open".into(), 2, 2));
    assert_eq!(asked(&third.get("/c/c/caption").await.expect(200).text), image);
    apply(&site, json!({ "captions": 1 })).await;
    assert_eq!(counters(&site, &image).await, ("complete".into(), 3, 2));
    // The reservation of a complete picture is given up.
    assert!(third.get("/c/c/caption").await.expect(200).text.contains("There is no picture for you"));
    assert_eq!(counters(&site, &image).await, ("complete".into(), 2, 2));
    apply(&site, json!({ "captions": 2 })).await;
    // A caption that is taken back opens its picture again.
    decide(&site, &captions[0], "accepted", "withdrawn").await;
    assert_eq!(counters(&site, &image).await, ("open".into(), 1, 1));
    assert_eq!(asked(&third.get("/c/c/caption").await.expect(200).text), image);
    assert_consistent(&site).await;
}

/// A reservation that has ended goes to someone else, and the first may still submit if there is a place.
async fn reservations_run_out_gently() {
    let site = Site::new(Database::Sqlite).await;
    apply(&site, json!({ "captions": 1 })).await;
    let image = open_pictures(&site, 1).await.remove(0);
    let (ada, bao) = (captioner(&site, "Ada").await, captioner(&site, "Bao").await);
    assert_eq!(asked(&ada.get("/c/c/caption").await.expect(200).text), image);
    assert!(bao.get("/c/c/caption").await.expect(200).text.contains("There is no picture for you"));
    let expire = || site.app.store.execute("UPDATE assignment SET expires_at = 1", args![]);
    expire().await.unwrap();
    // No one else has asked since then, so it is still hers.
    ada.post("/c/c/caption", &[("image", &image), ("text", "half a"), ("action", "draft")]).await.expect(303);
    assert!(ada.get("/c/c/caption").await.expect(200).text.contains("half a"));
    expire().await.unwrap();
    assert_eq!(asked(&bao.get("/c/c/caption").await.expect(200).text), image);
    let late = [("image", image.as_str()), ("language", "en"), ("text", &sentence(1))];
    let answer = ada.post("/c/c/caption", &late).await.expect(303);
    assert!(answer.header("location").contains("notice=full"), "{}", answer.header("location"));
    assert!(ada.get("/c/c/mine").await.expect(200).text.contains(&sentence(1)), "the text is lost");
    bao.post("/c/c/caption", &[("image", &image), ("language", "en"), ("text", &sentence(2))])
        .await
        .expect(303);
    assert_eq!(counters(&site, &image).await, ("open".into(), 1, 0));
    assert_consistent(&site).await;
    // Uploaders do not meet their own pictures, by whatever address.
    let own = open_pictures(&site, 1).await.remove(0);
    let uploader = captioner(&site, "Cleo").await;
    let sql =
        "UPDATE image SET uploader = (SELECT id FROM account WHERE email = 'cleo@example.org') WHERE id = $1";
    site.app.store.execute(sql, args![&own]).await.unwrap();
    let page = uploader.get(&format!("/c/c/caption?next={own}")).await.expect(200).text;
    assert!(page.contains("There is no picture for you"));
    let refused =
        uploader.post("/c/c/caption", &[("image", &own), ("language", "en"), ("text", &sentence(3))]).await;
    assert!(refused.expect(409).text.contains("In this collection, you cannot describe your own pictures."));
}

/// In a queue of any length the next picture is found at once, whatever was done before: each search walks an index of
/// the pictures with a free place for the goal, in the order in which it wants them.
async fn the_next_of_many_pictures_is_found_at_once() {
    let site = Site::new(Database::Sqlite).await;
    apply(&site, json!({ "languages": [{ "language": "zh", "captions": 5 }, "en"] })).await;
    open_pictures(&site, 2_000).await;
    let person = captioner(&site, "Ada").await;
    let searches = slots::SEARCHES.into_iter().zip([("newest", 5), ("free", 7), ("free", 7), ("free", 3)]);
    for (sql, (index, n_values)) in searches {
        let explain: &'static str = format!("EXPLAIN QUERY PLAN {sql}").leak();
        let values = (0..n_values).map(|_| "x".into()).collect();
        let rows = site.app.store.all(explain, values).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get("detail").unwrap()).collect();
        let first = &plan[0];
        assert!(
            first.contains(&format!("INDEX image_slots_{index} (collection=? AND language=?")),
            "{plan:?}"
        );
        assert!(!plan.iter().any(|line| line.contains("TEMP B-TREE")), "{plan:?}");
    }
    assert!(person.get("/c/c/caption").await.expect(200).text.contains("data-next="));
}
