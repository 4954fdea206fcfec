//! Collections: from an upload to complete pictures, and what people may try on the way.

mod abuse;
mod api;
mod captions;
pub mod imports;
mod kills;
mod languages;
mod pictures;
mod races;

use std::io::Cursor;

use axum::http::Request;
use capeval_collections::settings::{self, Plan};
use capeval_collections::slots;
use capeval_site::accounts::Role;
use capeval_site::accounts::people;
use capeval_site::args;
use capeval_site::web::Slug;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::json;

pub use crate::support::assert_consistent;
use crate::support::{Answer, Client, Page as _, Site};

/// Makes or changes the collection `c`, with fields beyond the usual ones as JSON.
pub async fn apply(site: &Site, more: serde_json::Value) {
    let mut plan = json!({
        "slug": "c", "title": "Screenshots", "languages": ["zh", "en"], "licences": ["CC-BY-4.0", "CC0-1.0"],
        "moderators": ["mo@example.org"],
    });
    plan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let plan: Plan = serde_json::from_value(plan).unwrap();
    if people::by_email(&site.app.store, "mo@example.org").await.unwrap().is_none() {
        site.account("Mo", Role::Member).await;
    }
    settings::apply(&site.app, &plan, Slug::UnusedOrOwn, None).await.unwrap();
}

/// The moderator of the collection, who is made by [`apply`].
pub async fn moderator(site: &Site) -> Client {
    let id = people::by_email(&site.app.store, "mo@example.org").await.unwrap().unwrap().id;
    let mut tx = site.app.store.begin().await.unwrap();
    let cookie = capeval_site::accounts::sessions::begin(&mut tx, &site.app.settings, &id).await.unwrap();
    tx.commit().await.unwrap();
    let cookie = cookie.stripped().to_string();
    Client { cookie: Some(cookie), ..site.anybody() }
}

/// Someone who has passed the quiz.
pub async fn captioner(site: &Site, name: &str) -> Client {
    let person = site.person(name, Role::Member).await;
    person.post("/c/c/quiz", RIGHT).await.expect(303);
    person
}

/// The right answers.
pub const RIGHT: &[(&str, &str)] = &[("q0", "1"), ("q1", "2"), ("q2", "0"), ("q3", "1"), ("q4", "2")];

/// A picture that differs for each seed.
pub fn picture(seed: u32) -> DynamicImage {
    DynamicImage::ImageRgb8(RgbImage::from_fn(320, 180, |x, y| {
        let block = (x / 40)
            .wrapping_mul(2_654_435_761)
            .wrapping_add((y / 22).wrapping_mul(40_503))
            .wrapping_add(seed.wrapping_mul(97_531));
        let value = (block ^ block >> 13).wrapping_mul(1_274_126_177) >> 24;
        Rgb([value as u8, (value / 2) as u8, (seed % 256) as u8])
    }))
}

pub fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

pub fn png(seed: u32) -> Vec<u8> {
    encoded(&picture(seed), ImageFormat::Png)
}

/// The type and the body of a form with files.
pub fn form(fields: &[(&str, &str)], files: &[(&str, Vec<u8>)]) -> (String, Vec<u8>) {
    let boundary = "x".repeat(24);
    let mut body = Vec::new();
    for (name, value) in fields {
        let part =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend(part.bytes());
    }
    for (name, bytes) in files {
        let head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        body.extend(head.bytes());
        body.extend(bytes);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{boundary}--\r\n").bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}

/// Uploads files with these fields.
pub async fn upload_with(client: &Client, fields: &[(&str, &str)], files: &[(&str, Vec<u8>)]) -> Answer {
    let (kind, body) = form(fields, files);
    let request =
        Request::post("/c/c/upload").header("content-type", kind).header("content-length", body.len());
    client.send(request, body).await
}

/// The declaration of an uploader.
pub const GOOD: [(&str, &str); 4] =
    [("game", "Dragons"), ("platform", "PC"), ("licence", "CC-BY-4.0"), ("rights", "1")];

pub async fn upload(client: &Client, files: &[(&str, Vec<u8>)]) -> Answer {
    upload_with(client, &GOOD, files).await
}

/// Adds pictures that may be described at once, and returns their ids.
pub async fn open_pictures(site: &Site, n: usize) -> Vec<String> {
    let app = &site.app;
    let mut tx = app.store.begin().await.unwrap();
    let row = tx.first("SELECT id FROM collection WHERE slug = 'c'", args![]).await.unwrap().unwrap();
    let collection: String = row.get("id").unwrap();
    let blob = app.blobs.put(&b"picture"[..]).unwrap();
    let mut ids = Vec::new();
    for k in 0..n {
        let id = capeval_site::ids::new_id();
        tx.execute(
            "INSERT INTO image (id, collection, licence, game, platform, source_hash, blob, thumb, split_group, state, \
             shuffle, created_at) VALUES ($1, $2, 'CC0-1.0', 'Game', 'PC', $1, $4, $4, 'g', 'pending', $3, 0)",
            args![&id, &collection, (k * 7_919 % 10_007) as i64 * 1_000_000, &blob],
        )
        .await
        .unwrap();
        slots::open(&mut tx, &id).await.unwrap();
        ids.push(id);
    }
    tx.commit().await.unwrap();
    ids
}

/// The picture that a page asks to describe.
pub fn asked(page: &str) -> String {
    page.between("data-image=\"", "\"").to_owned()
}

/// A caption of a picture that keeps all rules and differs for each `k`.
pub fn sentence(k: usize) -> String {
    let who = ["knight", "wizard", "farmer", "archer", "robot", "dragon", "pirate"][k % 7];
    let place = ["bridge", "tower", "field", "harbour", "forest"][k / 7 % 5];
    format!("A {who} in armour number {} stands near an old {place} at night", k / 35)
}

/// One row with the columns of a picture: state, places taken, accepted captions.
pub async fn counters(site: &Site, image: &str) -> (String, i64, i64) {
    counters_in(site, image, "").await
}

/// The same for one language.
pub async fn counters_in(site: &Site, image: &str, language: &str) -> (String, i64, i64) {
    let sql = "SELECT image.state, COALESCE(slots.taken, 0) AS taken, COALESCE(slots.accepted, 0) AS accepted \
               FROM image LEFT JOIN image_slots AS slots ON slots.image = image.id AND slots.language = $2 \
               WHERE image.id = $1";
    let row = site.app.store.first(sql, args![image, language]).await.unwrap().unwrap();
    (row.get("state").unwrap(), row.get("taken").unwrap(), row.get("accepted").unwrap())
}

/// Brings a caption into another state, as ratings do.
pub async fn decide(site: &Site, caption: &str, from: &str, to: &str) {
    let mut tx = site.app.store.begin().await.unwrap();
    let (from, to) = (from.parse().unwrap(), to.parse().unwrap());
    let changed = slots::change_caption(&mut tx, caption, from, to, None).await;
    assert!(changed.unwrap(), "{from} {to}");
    tx.commit().await.unwrap();
}
