//! Uploads: what is taken, what is refused and with which words, and who sees it.

use axum::http::Request;
use capeval_site::accounts::Role;
use capeval_site::args;
use image::ImageFormat;
use image::imageops::FilterType;
use serde_json::json;

use super::{apply, encoded, moderator, picture, png, upload, upload_with};
use crate::support::{Client, Database, Site, on_sqlite};

on_sqlite! {
    pictures_go_from_the_upload_to_the_people_who_describe_them
    the_same_picture_is_taken_once_and_a_similar_one_is_looked_at
    hostile_files_are_refused_in_words
    an_upload_that_is_too_large_is_refused_in_words
    uploads_need_rights_and_a_licence
}

/// The id of the newest picture.
async fn newest(site: &Site) -> String {
    let row = site.app.store.first("SELECT id FROM image ORDER BY id DESC LIMIT 1", args![]).await;
    row.unwrap().unwrap().get("id").unwrap()
}

async fn state(site: &Site, image: &str) -> String {
    super::counters(site, image).await.0
}

async fn pictures_go_from_the_upload_to_the_people_who_describe_them() {
    let site = Site::new(Database::Sqlite).await;
    apply(&site, json!({ "approvals": 2 })).await;
    let (ada, bao, mo) = (
        site.person("Ada", Role::Member).await,
        site.person("Bao", Role::Member).await,
        moderator(&site).await,
    );
    let form = ada.get("/c/c/upload").await.expect(200).text;
    assert!(form.contains("CC-BY-4.0") && form.contains("multiple"));
    let answer = upload(&ada, &[("a.png", png(1))]).await.expect(303);
    assert_eq!(answer.header("location"), "/c/c/mine?done=uploaded");
    let image = newest(&site).await;
    assert_eq!(state(&site, &image).await, "processing");
    let page = ada.get("/c/c/mine").await.expect(200).text;
    assert!(page.contains("being processed") && page.contains("data-live="));
    ada.get(&format!("/media/{image}")).await.expect(404);
    site.work().await;

    // Until it is approved, only its uploader and moderators see it.
    assert_eq!(state(&site, &image).await, "pending");
    let media = ada.get(&format!("/media/{image}")).await.expect(200);
    assert_eq!(media.header("content-type"), "image/png");
    assert_eq!(media.header("x-content-type-options"), "nosniff");
    assert_eq!(media.header("content-security-policy"), "default-src 'none'; sandbox");
    assert_eq!(media.header("cache-control"), "private, no-cache");
    let again = Request::get(format!("/media/{image}")).header("if-none-match", media.header("etag"));
    ada.send(again, "").await.expect(304);
    assert_eq!(
        ada.get(&format!("/media/{image}/small")).await.expect(200).header("content-type"),
        "image/jpeg"
    );
    bao.get(&format!("/media/{image}")).await.expect(404);
    site.anybody().get(&format!("/media/{image}")).await.expect(303);
    bao.get("/c/c/moderate").await.expect(404);
    bao.post(&format!("/c/c/moderate/images/{image}"), &[("action", "approve")]).await.expect(404);
    let queue = mo.get("/c/c/moderate").await.expect(200).text;
    assert!(queue.contains(&image) && queue.contains("Dragons") && queue.contains("Ada"));
    mo.post(&format!("/c/c/moderate/images/{image}"), &[("action", "approve")]).await.expect(303);
    assert_eq!(state(&site, &image).await, "open");
    bao.get(&format!("/media/{image}")).await.expect(200);

    // A second approval, and Ada needs none any more; Bao does.
    upload(&ada, &[("b.png", png(2))]).await.expect(303);
    site.work().await;
    let second = newest(&site).await;
    mo.post(&format!("/c/c/moderate/images/{second}"), &[("action", "approve")]).await.expect(303);
    upload(&ada, &[("c.png", png(3))]).await.expect(303);
    site.work().await;
    assert_eq!(state(&site, &newest(&site).await).await, "open");
    upload(&bao, &[("d.png", png(4))]).await.expect(303);
    site.work().await;
    let refused = newest(&site).await;
    assert_eq!(state(&site, &refused).await, "pending");
    let reason = [("action", "refuse"), ("reason", "personal-data")];
    mo.post(&format!("/c/c/moderate/images/{refused}"), &reason).await.expect(303);
    site.work().await;
    let page = bao.get("/c/c/mine").await.expect(200).text;
    assert!(page.contains("Personal data, such as player names or chat"), "{page}");
    mo.get(&format!("/media/{refused}")).await.expect(404);

    // Only the pictures that rows name are on the disk.
    let rows = site.app.store.all("SELECT blob FROM image WHERE blob IS NOT NULL", args![]).await.unwrap();
    assert_eq!(site.app.blobs.list().unwrap().len(), rows.len() * 2);
    // What is withdrawn is gone for everyone.
    ada.post(&format!("/c/c/mine/images/{image}"), &[]).await.expect(303);
    bao.post(&format!("/c/c/mine/images/{second}"), &[]).await.expect(404);
    for person in [&ada, &bao, &mo] {
        person.get(&format!("/media/{image}")).await.expect(410);
    }
}

async fn the_same_picture_is_taken_once_and_a_similar_one_is_looked_at() {
    let site = Site::new(Database::Sqlite).await;
    apply(&site, json!({ "approvals": 0 })).await;
    let (ada, bao) = (site.person("Ada", Role::Member).await, site.person("Bao", Role::Member).await);
    upload(&ada, &[("a.png", png(1))]).await.expect(303);
    let same = upload(&bao, &[("b.png", png(1)), ("c.png", png(2))]).await.expect(422).text;
    assert!(
        same.contains("The same picture is in this collection already.") && same.contains("Accepted: 1"),
        "{same}"
    );
    site.work().await;
    // The same pixels in another file.
    upload(&bao, &[("d.webp", encoded(&picture(1), ImageFormat::WebP))]).await.expect(303);
    site.work().await;
    let page = bao.get("/c/c/mine").await.expect(200).text;
    assert!(page.contains("The same picture is in this collection already."), "{page}");
    // Nearly the same pixels.
    let smaller = picture(1).resize_exact(300, 168, FilterType::Triangle);
    upload(&bao, &[("e.jpg", encoded(&smaller, ImageFormat::Jpeg))]).await.expect(303);
    site.work().await;
    assert_eq!(state(&site, &newest(&site).await).await, "pending");
    let queue = moderator(&site).await.get("/c/c/moderate").await.expect(200).text;
    assert!(queue.contains("Nearly the same as another picture"));
}

async fn hostile_files_are_refused_in_words() {
    let settings = crate::support::settings(Database::Sqlite).with(&capeval_collections::PICTURE_MIB, 1);
    let site = Site::with(settings).await;
    apply(&site, json!({ "approvals": 0 })).await;
    let ada = site.person("Ada", Role::Member).await;
    let whole = png(1);
    let jpeg = encoded(&picture(2), ImageFormat::Jpeg);
    let resized = |width: u32, height: u32| {
        let mut bomb = whole.clone();
        bomb[16..20].copy_from_slice(&width.to_be_bytes());
        bomb[20..24].copy_from_slice(&height.to_be_bytes());
        let mut sum = flate2::Crc::new();
        sum.update(&bomb[12..29]);
        bomb[29..33].copy_from_slice(&sum.sum().to_be_bytes());
        bomb
    };
    let mut polyglot = jpeg.clone();
    polyglot.extend(b"<script>alert(1)</script><?php echo 1; ?>PK\x03\x04");
    let (wrong, damaged) = ("It is not a JPEG, PNG or WebP picture.", "The file is damaged or not complete.");
    let size = "A picture has 64 to 8,192 pixels on each side, and at most 40 million pixels in all.";
    // What is uploaded, under which name, and what the uploader reads.
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty.png", Vec::new(), wrong),
        ("text.png", b"not a picture".to_vec(), wrong),
        ("page.jpg", b"<html><script>alert(1)</script>".to_vec(), wrong),
        ("vector.svg", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>".to_vec(), wrong),
        ("moving.gif", b"GIF89a\x01\0\x01\0\x80\0\0".to_vec(), wrong),
        ("paper.pdf", b"%PDF-1.7".to_vec(), wrong),
        ("program.png", b"\x7fELF\x02\x01\x01".to_vec(), wrong),
        ("archive.png", b"PK\x03\x04".to_vec(), wrong),
        ("half.png", whole[..whole.len() / 2].to_vec(), damaged),
        ("half.jpg", jpeg[..jpeg.len() / 2].to_vec(), damaged),
        ("almost.jpg", jpeg[..jpeg.len() - 2].to_vec(), damaged),
        ("head.png", whole[..8].to_vec(), damaged),
        ("wide.png", resized(60_000, 60_000), size),
        ("long.png", resized(8_193, 64), size),
        ("bomb.png", resized(8_000, 8_000), size),
        ("tiny.png", resized(1, 1), size),
        ("large.png", [whole.clone(), vec![0; 1 << 20]].concat(), "The picture is larger than 1 MiB."),
    ];
    for (name, bytes, words) in &cases {
        let answer = upload(&ada, &[(name, bytes.clone())]).await;
        let text = match answer.status.as_u16() {
            422 => answer.text,
            303 => {
                site.work().await;
                ada.get("/c/c/mine").await.expect(200).text
            }
            other => panic!("{name}: {other}"),
        };
        assert!(text.contains(words), "{name}: {text}");
        site.app.store.execute("DELETE FROM image", args![]).await.unwrap();
    }
    // What hides behind a whole picture does not come out again.
    upload(&ada, &[("polyglot.jpg", polyglot)]).await.expect(303);
    site.work().await;
    let row = site.app.store.first("SELECT id, state FROM image", args![]).await.unwrap().unwrap();
    assert_eq!(row.get::<String>("state").unwrap(), "open");
    let sent = ada.get(&format!("/media/{}", row.get::<String>("id").unwrap())).await.expect(200);
    assert!(!sent.text.contains("script") && !sent.text.contains("php"));
}

async fn an_upload_that_is_too_large_is_refused_in_words() {
    let settings =
        capeval_site::settings::Settings { upload_mib: 1, ..crate::support::settings(Database::Sqlite) };
    let site = Site::with(settings).await;
    apply(&site, json!({})).await;
    let ada = site.person("Ada", Role::Member).await;
    let answer = upload(&ada, &[("a.png", png(1)), ("b.png", vec![0; 1 << 20])]).await.expect(413);
    assert!(answer.text.contains("The pictures have more than 1 MiB in total."), "{}", answer.text);
}

async fn uploads_need_rights_and_a_licence() {
    let site = Site::new(Database::Sqlite).await;
    apply(&site, json!({})).await;
    let ada = site.person("Ada", Role::Member).await;
    let good = [("game", "Dragons"), ("platform", ""), ("licence", "CC-BY-4.0"), ("rights", "1")];
    let try_with = async |client: &Client, name: &str, value: Option<&str>, files: usize| {
        let fields: Vec<(&str, &str)> = good
            .iter()
            .filter_map(|(field, known)| {
                if *field == name { value.map(|value| (*field, value)) } else { Some((*field, *known)) }
            })
            .collect();
        let files: Vec<(&str, Vec<u8>)> = (0..files).map(|k| ("a.png", png(k as u32))).collect();
        upload_with(client, &fields, &files).await
    };
    for (name, value, files, words) in [
        ("rights", None, 1, "Confirm that the pictures are yours."),
        ("rights", Some("false"), 1, "Confirm that the pictures are yours."),
        ("rights", Some(""), 1, "Confirm that the pictures are yours."),
        ("licence", Some("mine"), 1, "Choose a licence that this collection offers."),
        ("licence", Some("research-only"), 1, "Choose a licence that this collection offers."),
        ("game", Some(&"x".repeat(81)[..]), 1, "can have at most 80 characters"),
        ("platform", Some(&"x".repeat(81)[..]), 1, "can have at most 80 characters"),
        ("", None, 0, "Choose 1 to 20 pictures."),
        ("", None, 21, "Choose 1 to 20 pictures."),
    ] {
        let answer = try_with(&ada, name, value, files).await.expect(422);
        assert!(answer.text.contains(words), "{name} {value:?}: {}", answer.text);
    }
    assert!(site.app.store.all("SELECT id FROM image", args![]).await.unwrap().is_empty());
    try_with(&ada, "rights", Some("yes"), 1).await.expect(303);
    // Without a word about what they show, pictures of one upload belong together, and others do not.
    let two: Vec<(&str, Vec<u8>)> = (21..23).map(|k| ("a.png", png(k))).collect();
    upload_with(&ada, &good[1..], &two).await.expect(303);
    upload_with(&ada, &good[1..], &[("a.png", png(23))]).await.expect(303);
    let groups: Vec<i64> = site
        .app
        .store
        .fetch("SELECT COUNT(*) FROM image GROUP BY split_group ORDER BY COUNT(*)", args![])
        .await
        .unwrap();
    assert_eq!(groups, [1, 1, 2]);
    apply(&site, json!({ "state": "paused" })).await;
    let answer = try_with(&ada, "", None, 1).await.expect(409);
    assert!(answer.text.contains("The hosts have paused this collection."));
    site.anybody().post("/c/c/upload", &[]).await.expect(303);
}
