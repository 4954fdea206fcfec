//! Programs upload, list, describe and rate as people do, with tokens.

use axum::http::Request;
use capeval_site::accounts::Role;
use capeval_site::args;
use capeval_site::web::Scope;
use serde_json::json;

use super::{GOOD, apply, assert_consistent, captioner, form, moderator, open_pictures, png, sentence};
use crate::support::{Client, Database, Site, on_both};

on_both! { programs_do_what_people_do }

const BASE: &str = "/api/v1/collections/c";

async fn upload(client: &Client, files: &[(&str, Vec<u8>)]) -> crate::support::Answer {
    let (kind, body) = form(&GOOD, files);
    let request = Request::post(format!("{BASE}/pictures")).header("content-type", kind);
    client.send(request.header("content-length", body.len()), body).await
}

async fn programs_do_what_people_do(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 2, "approvals": 1 })).await;
    let mo = moderator(&site).await;
    for name in ["Ada", "Bao", "Cleo"] {
        captioner(&site, name).await;
    }
    let reader = site.program("Ada", Role::Member, Scope::Read).await;
    let [ada, bao, cleo] = [
        site.program("Ada", Role::Member, Scope::Submit).await,
        site.program("Bao", Role::Member, Scope::Submit).await,
        site.program("Cleo", Role::Member, Scope::Submit).await,
    ];

    // A token that may only read uploads nothing; each file of an upload is answered for.
    assert_eq!(upload(&reader, &[("a.png", png(1))]).await.expect(403).json()["code"], "scope");
    let taken = upload(&ada, &[("a.png", png(1)), ("b.png", b"no".to_vec())]).await.expect(201).json();
    let image = taken["pictures"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(taken["pictures"][1]["code"], "type");
    assert_eq!(
        upload(&ada, &[("b.png", b"no".to_vec())]).await.expect(422).json()["pictures"][0]["name"],
        "b.png"
    );
    site.work().await;

    // What waiting for a moderator is seen by its uploader only.
    let mine = reader.get("/api/v1/me/contributions").await.expect(200).json();
    assert_eq!(
        (&mine["pictures"][0]["id"], &mine["pictures"][0]["state"]),
        (&json!(image), &json!("pending"))
    );
    let list = format!("{BASE}/pictures");
    assert_eq!(bao.get(&list).await.expect(200).json()["pictures"], json!([]));
    let file = format!("/api/v1/pictures/{image}");
    reader.get(&file).await.expect(200);
    bao.get(&file).await.expect(404);
    mo.post(&format!("/c/c/moderate/images/{image}"), &[("action", "approve")]).await.expect(303);
    assert!(bao.get(&file).await.expect(200).header("content-type").starts_with("image/"));
    assert_eq!(bao.get(&list).await.expect(200).json()["pictures"][0]["own"], false);

    // The next picture is reserved until it is described or skipped; no one describes their own.
    let next = format!("{BASE}/to-describe");
    assert_eq!(ada.get(&next).await.expect(200).json()["picture"], json!(null));
    for _ in 0..2 {
        assert_eq!(bao.get(&next).await.expect(200).json()["picture"]["id"], json!(image));
    }
    let captions = format!("{BASE}/captions");
    let short = json!({ "image": image, "text": "Too short.", "language": "en" });
    let refused = bao.post_json(&captions, &short).await.expect(422).json();
    assert_eq!((&refused["code"], &refused["problems"][0]["code"]), (&json!("caption"), &json!("few-words")));
    assert_eq!(bao.get(&next).await.json()["draft"], "Too short.");
    let long = json!({ "image": image, "text": "many words ".repeat(200), "language": "en" });
    assert_eq!(bao.post_json(&captions, &long).await.expect(422).json()["code"], "caption-long");
    let good = |k: usize| json!({ "image": image, "text": sentence(k), "language": "en" });
    let id = bao.post_json(&captions, &good(1)).await.expect(201).json()["id"].as_str().unwrap().to_owned();
    assert_eq!(bao.post_json(&captions, &good(2)).await.expect(409).json()["code"], "described");
    assert_eq!(ada.post_json(&captions, &good(3)).await.expect(409).json()["code"], "own-picture");
    let skip = json!({ "image": image, "reason": "unclear" });
    cleo.post_json(&format!("{BASE}/skips"), &skip).await.expect(204);
    assert_eq!(cleo.get(&next).await.expect(200).json()["picture"], json!(null));

    // Only what one was given is rated, and nothing says whose it is.
    let (given, ratings) = (format!("{BASE}/to-rate"), format!("{BASE}/ratings"));
    let answer = ada.get(&given).await.expect(200);
    assert!(!answer.text.contains("author") && !answer.text.contains("Bao"), "{}", answer.text);
    assert_eq!(answer.json()["caption"]["item"], json!(id));
    let rating =
        |item: &str, grade: i64| json!({ "item": item, "grade": grade, "errors": ["count", "nonsense"] });
    assert_eq!(ada.post_json(&ratings, &rating(&id, 5)).await.expect(422).json()["code"], "grade");
    assert_eq!(ada.post_json(&ratings, &rating("other", 4)).await.expect(409).json()["code"], "not-given");
    ada.post_json(&ratings, &rating(&id, 4)).await.expect(201);
    // A person with the id of what they may not rate is told that nothing is stored.
    let hold = "INSERT INTO assignment (collection, account, kind, image, caption, created_at, expires_at) \
                SELECT collection, author, 'rating', image, id, 0, 9000000000000000 FROM caption WHERE id = $1";
    site.app.store.execute(hold, args![&id]).await.unwrap();
    assert_eq!(bao.post_json(&ratings, &rating(&id, 4)).await.expect(409).json()["code"], "not-rated");
    assert_eq!(ada.get(&given).await.expect(200).json()["caption"], json!(null));
    let data = ada.get("/api/v1/me/contributions").await.expect(200).json();
    assert_eq!(data["ratings"][0]["tags"], "[\"count\"]");
    let report = json!({ "kind": "image", "subject": image, "reason": "spam" });
    bao.post_json(&format!("{BASE}/reports"), &report).await.expect(204);
    bao.get(&file).await.expect(410);
    assert_eq!(bao.get(&list).await.expect(200).json()["pictures"], json!([]));

    // Lists go on after their last picture; a person who has not passed the quiz is told so.
    open_pictures(&site, 120).await;
    let first = cleo.get(&list).await.expect(200).json();
    let after = first["next"].as_str().unwrap();
    let second = cleo.get(&format!("{list}?after={after}")).await.expect(200).json();
    let n = |page: &serde_json::Value| page["pictures"].as_array().unwrap().len();
    assert_eq!((n(&first), n(&second), &second["next"]), (100, 21, &json!(null)));
    let eve = site.program("Eve", Role::Member, Scope::Submit).await;
    assert_eq!(eve.get(&next).await.expect(409).json()["code"], "quiz");
    assert_consistent(&site).await;
}
