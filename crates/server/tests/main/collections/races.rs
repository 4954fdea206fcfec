//! Many people at once: no picture gets more captions than are wanted, and no one meets one twice.

use std::time::Instant;

use capeval_server::args;
use capeval_server::store::Store;
use capeval_testkit::{PATIENCE, PAUSE};
use serde_json::json;

use super::{apply, asked, assert_consistent, captioner, counters, decide, open_pictures, sentence};
use crate::support::{Database, Site, on_both, on_sqlite};

on_both! {
    forty_people_clicking_twice_fill_every_place_once
    more_or_fewer_captions_change_what_is_complete
}

on_sqlite! {
    reservations_run_out_gently
    the_next_of_many_pictures_is_found_at_once
}

const PICTURES: usize = 100;
const PEOPLE: usize = 40;
const WANTED: usize = 5;

async fn number(store: &Store, sql: &'static str) -> i64 {
    store.first(sql, args![]).await.unwrap().unwrap().get("n").unwrap()
}

/// 100 pictures for 5 captions each, and 40 people who ask and submit twice at once.
async fn forty_people_clicking_twice_fill_every_place_once(database: Database) {
    let settings = capeval_server::settings::Settings {
        captions_per_minute: 1_000_000,
        ..crate::support::settings(database)
    };
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
    let rows = store.all("SELECT slots_taken FROM image", args![]).await.unwrap();
    let slots: Vec<i64> = rows.iter().map(|row| row.get("slots_taken").unwrap()).collect();
    assert_eq!(slots, vec![WANTED as i64; PICTURES]);
    let captions =
        store.first("SELECT COUNT(*) AS n, COUNT(DISTINCT image || author) AS pairs FROM caption", args![]);
    let row = captions.await.unwrap().unwrap();
    let (n, pairs): (i64, i64) = (row.get("n").unwrap(), row.get("pairs").unwrap());
    assert_eq!((n, pairs), ((PICTURES * WANTED) as i64, (PICTURES * WANTED) as i64));
    assert!(store.all("SELECT * FROM assignment", args![]).await.unwrap().is_empty());
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

/// In a queue of 100,000 pictures the next one is found at once, whatever was done before.
async fn the_next_of_many_pictures_is_found_at_once() {
    let site = Site::new(Database::Sqlite).await;
    apply(&site, json!({ "captions": 5 })).await;
    open_pictures(&site, 2_000).await;
    let person = captioner(&site, "Ada").await;
    let mut plans = Vec::new();
    for sql in [
        "EXPLAIN QUERY PLAN SELECT id FROM image WHERE image.collection = 'x' AND image.state = 'open' \
         AND image.slots_taken < image.wanted AND image.accepted = 0 AND image.shuffle >= 5 ORDER BY image.shuffle LIMIT 1",
        "EXPLAIN QUERY PLAN SELECT MIN(accepted) AS accepted FROM image WHERE collection = 'x' AND state = 'open' \
         AND slots_taken < wanted AND accepted >= 0",
    ] {
        let rows = site.app.store.all(sql, args![]).await.unwrap();
        plans.extend(rows.iter().map(|row| row.get::<String>("detail").unwrap()));
    }
    assert!(
        plans.iter().all(|plan| plan.contains("USING COVERING INDEX image_free")
            || plan.contains("USING INDEX image_free")),
        "{plans:?}"
    );
    assert!(person.get("/c/c/caption").await.expect(200).text.contains("data-next="));
}
