//! Tests abuse: reports of everything, floods, texts that attack, requests without an account.

use capeval_site::accounts::Role;
use capeval_site::args;
use serde_json::json;

use super::{
    apply, asked, assert_consistent, captioner, counters, moderator, open_pictures, png, sentence,
    upload_with,
};
use crate::hostile::{PAYLOADS, assert_is_text};
use crate::support::{Client, Database, Site, on_both, on_sqlite};

on_both! {
    two_reports_hide_a_thing_and_refused_reports_end_the_power
}

on_sqlite! {
    anybody_may_ask_for_a_picture_to_be_taken_down
    floods_are_slowed_down
    attacks_stay_text_on_every_page_of_collections
}

async fn report(client: &Client, kind: &str, subject: &str) -> crate::support::Answer {
    client
        .post(
            "/c/c/report",
            &[("kind", kind), ("subject", subject), ("reason", "offensive"), ("note", "look")],
        )
        .await
}

async fn two_reports_hide_a_thing_and_refused_reports_end_the_power(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 5 })).await;
    let pictures = open_pictures(&site, 8).await;
    let (ada, bao, mo) =
        (captioner(&site, "Ada").await, captioner(&site, "Bao").await, moderator(&site).await);
    let image = asked(&ada.get("/c/c/caption").await.expect(200).text);

    // One report hides it from its reporter, again and again counts once.
    for _ in 0..3 {
        report(&ada, "image", &image).await.expect(303);
    }
    assert_eq!(counters(&site, &image).await, ("open".into(), 0, 0));
    ada.get(&format!("/media/{image}")).await.expect(410);
    assert_ne!(asked(&ada.get(&format!("/c/c/caption?next={image}")).await.expect(200).text), image);
    assert_eq!(asked(&bao.get(&format!("/c/c/caption?next={image}")).await.expect(200).text), image);
    // The second reporter hides it from everyone, and who describes it hears so.
    let cleo = captioner(&site, "Cleo").await;
    assert_eq!(asked(&cleo.get(&format!("/c/c/caption?next={image}")).await.expect(200).text), image);
    report(&bao, "image", &image).await.expect(303);
    assert_eq!(counters(&site, &image).await.0, "quarantined");
    cleo.get(&format!("/media/{image}")).await.expect(410);
    let late =
        cleo.post("/c/c/caption", &[("image", &image), ("language", "en"), ("text", &sentence(1))]).await;
    assert!(late.expect(303).header("location").contains("notice=gone"));
    let queue = mo.get("/c/c/moderate").await.expect(200).text;
    assert!(queue.contains("Offensive: look"), "{queue}");
    // The moderator lets it stay: it is there again, and the reports are refused.
    mo.post(&format!("/c/c/moderate/images/{image}"), &[("action", "approve")]).await.expect(303);
    assert_eq!(counters(&site, &image).await.0, "open");

    // Captions likewise; their place is kept until it is decided.
    let written = asked(&cleo.get("/c/c/caption").await.expect(200).text);
    cleo.post("/c/c/caption", &[("image", &written), ("language", "en"), ("text", &sentence(2))])
        .await
        .expect(303);
    let row = site.app.store.first("SELECT id FROM caption", args![]).await.unwrap().unwrap();
    let caption: String = row.get("id").unwrap();
    report(&ada, "caption", &caption).await.expect(303);
    report(&bao, "caption", &caption).await.expect(303);
    let state = async || -> String {
        let row = site.app.store.first("SELECT state FROM caption WHERE id = $1", args![&caption]).await;
        row.unwrap().unwrap().get("state").unwrap()
    };
    assert_eq!(state().await, "quarantined");
    mo.post(&format!("/c/c/moderate/captions/{caption}"), &[("action", "approve")]).await.expect(303);
    assert_eq!(state().await, "submitted");

    // Someone reports everything; after five refusals no report of theirs hides anything.
    let mut refused = 0;
    for image in &pictures {
        let answer = report(&ada, "image", image).await;
        if answer.status.as_u16() == 403 {
            assert!(answer.text.contains("Moderators have rejected 5 of your reports"), "{}", answer.text);
            refused += 1;
        } else {
            mo.post(&format!("/c/c/moderate/images/{image}"), &[("action", "approve")]).await.expect(303);
        }
    }
    assert!(refused >= 3, "{refused}");
    report(&bao, "image", "nothing").await.expect(404);
    report(&bao, "team", &pictures[0]).await.expect(400);
    assert_consistent(&site).await;
}

async fn anybody_may_ask_for_a_picture_to_be_taken_down() {
    let settings = capeval_site::settings::Settings {
        sign_ins_per_minute: 2,
        ..crate::support::settings(Database::Sqlite)
    };
    let site = Site::with(settings).await;
    apply(&site, json!({})).await;
    let image = open_pictures(&site, 1).await.remove(0);
    let (anybody, mo) = (site.anybody(), moderator(&site).await);
    let empty =
        anybody.post("/c/c/takedown", &[("what", "it"), ("why", " "), ("contact", "")]).await.expect(422);
    assert!(empty.text.contains("Say which picture it is"));
    let what = format!("https://example.org/media/{image}");
    let fields = [("what", what.as_str()), ("why", "My chat is on it"), ("contact", "me@example.org")];
    assert!(anybody.post("/c/c/takedown", &fields).await.expect(200).text.contains("Thank you."));
    // A request alone hides nothing, or everyone could empty a collection.
    assert_eq!(counters(&site, &image).await.0, "open");
    anybody.post("/c/c/takedown", &fields).await.expect(429);
    let queue = mo.get("/c/c/moderate").await.expect(200).text;
    assert!(queue.contains("My chat is on it") && queue.contains(&format!("/c/c/moderate/images/{image}")));
    let refuse = [("action", "refuse"), ("reason", "copyright")];
    mo.post(&format!("/c/c/moderate/images/{image}"), &refuse).await.expect(303);
    assert_eq!(counters(&site, &image).await.0, "rejected");
    let row = site.app.store.first("SELECT id FROM report WHERE kind = 'takedown'", args![]).await.unwrap();
    let id: String = row.unwrap().get("id").unwrap();
    mo.post(&format!("/c/c/moderate/reports/{id}"), &[("action", "refuse")]).await.expect(303);
    mo.post(&format!("/c/c/moderate/reports/{id}"), &[("action", "refuse")]).await.expect(404);
    assert!(mo.get("/c/c/moderate").await.expect(200).text.contains("Nothing to review."));
}

async fn floods_are_slowed_down() {
    let settings = crate::support::settings(Database::Sqlite)
        .with(&capeval_collections::CAPTIONS_PER_MINUTE, 3)
        .with(&capeval_collections::PICTURES_PER_MINUTE, 2);
    let site = Site::with(settings).await;
    apply(&site, json!({})).await;
    open_pictures(&site, 6).await;
    let ada = captioner(&site, "Ada").await;
    let mut statuses = Vec::new();
    for k in 0..4 {
        let image = asked(&ada.get("/c/c/caption").await.expect(200).text);
        let answer =
            ada.post("/c/c/caption", &[("image", &image), ("language", "en"), ("text", &sentence(k))]).await;
        if answer.status.as_u16() == 429 {
            assert!(answer.text.contains("Too many requests.") && !answer.header("retry-after").is_empty());
            assert!(ada.get("/c/c/caption").await.expect(200).text.contains("data-image"));
        }
        statuses.push(answer.status.as_u16());
    }
    assert_eq!(statuses, [303, 303, 303, 429]);
    let files: Vec<(&str, Vec<u8>)> = (0..3).map(|k| ("a.png", png(k))).collect();
    let refused = super::upload(&ada, &files).await.expect(422).text;
    assert!(refused.contains("Accepted: 2") && refused.contains("Too many requests."));
}

async fn attacks_stay_text_on_every_page_of_collections() {
    let site = Site::new(Database::Sqlite).await;
    let root = site.person("Root", Role::Admin).await;
    let mo = {
        apply(&site, json!({ "approvals": 100 })).await;
        moderator(&site).await
    };
    for (k, payload) in PAYLOADS.iter().enumerate() {
        let texts = json!({ "title": format!("{k}{payload}"), "summary": payload, "guide": payload, "approvals": 100 });
        apply(&site, texts).await;
        let person = captioner(&site, &format!("p{k}")).await;
        person.post("/account/name", &[("name", payload)]).await.expect(303);
        person.post("/c/c/board", &[("show", "1")]).await.expect(303);
        let fields = [("game", *payload), ("platform", payload), ("licence", "CC-BY-4.0"), ("rights", "1")];
        let answer = upload_with(
            &person,
            &fields,
            &[("x.png", png(k as u32)), (&payload.replace('"', ""), b"no".to_vec())],
        )
        .await;
        assert_is_text(&answer.text, payload);
        let image = open_pictures(&site, 1).await.remove(0);
        let caption = format!("One two three four five six seven {payload}");
        for (language, text) in [("en", caption.as_str()), ("zh", payload)] {
            let fields =
                [("image", image.as_str()), ("language", language), ("text", text), ("next", payload)];
            assert_is_text(&person.post("/c/c/caption", &fields).await.text, payload);
        }
        let sql = "UPDATE caption SET state = 'split' WHERE image = $1";
        site.app.store.execute(sql, args![&image]).await.unwrap();
        person
            .post(
                "/c/c/report",
                &[("kind", "image"), ("subject", &image), ("reason", "spam"), ("note", payload)],
            )
            .await
            .expect(303);
        let fields = [("what", *payload), ("why", payload), ("contact", payload)];
        assert_is_text(&site.anybody().post("/c/c/takedown", &fields).await.text, payload);
        let fields = [("slug", *payload), ("title", payload), ("guide", payload), ("hosts", payload)];
        assert_is_text(&root.post("/host/collections", &fields).await.text, payload);
        for path in ["/c/c/mine", "/c/c/caption", "/c/c/upload"] {
            assert_is_text(&person.get(path).await.text, payload);
        }
        for path in ["/c/c", "/c/c/guide", "/collections", "/c/c/takedown"] {
            let page = site.anybody().get(path).await.expect(200).text;
            // Quotation marks may stand in the paragraphs that Markdown gives.
            if payload.contains('<') || !path.ends_with("guide") {
                assert_is_text(&page, payload);
            }
        }
    }
    site.work().await;
    let queue = mo.get("/c/c/moderate").await.expect(200).text;
    let pages = [
        queue,
        root.get("/c/c/settings").await.expect(200).text,
        root.get("/host/collections").await.expect(200).text,
    ];
    for page in &pages {
        PAYLOADS.iter().for_each(|payload| assert_is_text(page, payload));
    }
    assert!(pages[0].contains("&#60;script&#62;alert(1)&#60;/script&#62;"), "the attacks are in the queue");
}
