//! Imports: pictures and captions from elsewhere, what is left out, and what goes on after an interruption.

use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::Request;
use capeval::corpus::ReadOptions;
use capeval::{MetricOptions, ScoreOptions, ScoreRequest};
use capeval_collections::import::{self, Order, Reason, Summary};
use capeval_collections::records;
use capeval_collections::release::selection::{self, Parameters};
use capeval_site::accounts::{Role, people};
use capeval_site::args;
use capeval_testkit::PAUSE;
use image::ImageFormat;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    apply, assert_consistent, captioner, encoded, moderator, open_pictures, picture, png, sentence, upload,
};
use crate::support::collections::{Collection, number};
use crate::support::process::{command, kills, program};
use crate::support::{Client, Database, Site, on_both};

on_both! {
    what_is_imported_is_rated_released_and_scored
    all_that_is_left_out_is_told
    an_import_goes_on_where_it_was_interrupted
    languages_have_their_own_places_and_pictures_get_more_captions
    pictures_that_look_like_others_wait_for_a_moderator
    an_import_is_removed_unless_someone_has_built_upon_it
}

/// Pictures in a folder, and what there is beside it.
pub struct Source {
    folder: TempDir,
}

impl Source {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("pictures")).unwrap();
        Self { folder }
    }

    pub fn pictures(&self) -> PathBuf {
        self.folder.path().join("pictures")
    }

    pub fn add(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.pictures().join(name), bytes).unwrap();
    }

    pub fn captions(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub fn order(&self, captions: &[PathBuf]) -> Order {
        Order {
            pictures: self.pictures(),
            captions: captions.to_vec(),
            source: "COCO".to_owned(),
            licence: "CC-BY-4.0".to_owned(),
            attribution: "The COCO consortium".to_owned(),
            ..Order::default()
        }
    }
}

/// A file in COCO's form, with captions of images.
fn coco(captions: &[(i64, String)]) -> String {
    let ids: std::collections::BTreeSet<i64> = captions.iter().map(|(id, _)| *id).collect();
    let images: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
    let annotations = captions
        .iter()
        .zip(1..)
        .map(|((image, caption), id)| json!({ "id": id, "image_id": image, "caption": caption }));
    json!({ "images": images, "annotations": annotations.collect::<Vec<_>>() }).to_string()
}

pub async fn run(site: &Site, order: &Order, is_check: bool) -> anyhow::Result<Summary> {
    let collection = records::by_slug(&site.app.store, "c").await?.unwrap();
    import::run(&site.app, &collection, order, is_check, |_, _| {}).await
}

/// Pictures, captions, and items of imports.
/// Counted by one statement: PostgreSQL may end the transaction of a program that was killed at any moment after that.
async fn counts(site: &Site) -> [i64; 3] {
    let sql = "SELECT (SELECT COUNT(*) FROM image), (SELECT COUNT(*) FROM caption), (SELECT COUNT(*) FROM import_item)";
    let (images, captions, items) = site.app.store.fetch_one(sql, args![]).await.unwrap();
    [images, captions, items]
}

async fn download(client: &Client, path: &str) -> Vec<u8> {
    use http_body_util::BodyExt;
    use tower::ServiceExt;
    let request = Request::get(path).header("host", "localhost");
    let request = request.header("cookie", client.cookie.as_deref().unwrap());
    let response = client.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    response.into_body().collect().await.unwrap().to_bytes().to_vec()
}

fn entry(archive: &[u8], path: &str) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut bytes = Vec::new();
    archive.by_name(path).unwrap_or_else(|_| panic!("no {path}")).read_to_end(&mut bytes).unwrap();
    bytes
}

async fn what_is_imported_is_rated_released_and_scored(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 2, "languages": ["en"] })).await;
    let source = Source::new();
    let mut captions = Vec::new();
    for k in 0..5_usize {
        source.add(&format!("COCO_val2014_{:012}.png", 100 + k), &png(k as u32));
        captions.push((100 + k as i64, sentence(2 * k)));
        captions.push((100 + k as i64, sentence(2 * k + 1)));
    }
    let order = source.order(&[source.captions("captions.json", coco(&captions))]);
    let foreseen = run(&site, &order, true).await.unwrap();
    assert_eq!((foreseen.pictures, foreseen.captions["en"]), (5, 10));
    assert_eq!((counts(&site).await, foreseen.left_out.numbers().len()), ([0, 0, 0], 0));
    let done = run(&site, &order, false).await.unwrap();
    assert_eq!((done.pictures, done.captions["en"], done.waiting), (5, 10, 0));
    assert_eq!(counts(&site).await, [5, 10, 15]);
    assert_consistent(&site).await;

    // People rate what was imported, and the board names none of its authors.
    let id = records::by_slug(&site.app.store, "c").await.unwrap().unwrap().id;
    let collection = Collection { id, slug: "c".to_owned() };
    let raters = [captioner(&site, "Ann").await, captioner(&site, "Bob").await];
    for rater in &raters {
        assert!(!rater.get("/c/c/caption").await.expect(200).text.contains("data-image"));
        assert_eq!(collection.rate_all(rater, |_| 4).await, 10);
    }
    let complete = "SELECT COUNT(*) AS n FROM image WHERE state = 'complete' AND collection = $1";
    assert_eq!(number(&site, complete, &collection.id).await, 5);
    assert!(site.anybody().get("/c/c").await.expect(200).text.contains("No entries yet"));

    let parameters = Parameters { val: 0, test: 0, withheld: None };
    selection::create(&site.app, &collection.id, "First", &parameters, None).await.unwrap();
    site.work().await;
    let archive = download(&site.person("Root", Role::Admin).await, "/c/c/releases/1/c-1.zip").await;
    let annotations = entry(&archive, "annotations/captions_train.json");
    let read: Value = serde_json::from_slice(&annotations).unwrap();
    let first = &read["images"][0];
    assert_eq!(first["id"], 1);
    assert_eq!((&first["source"], &first["source_id"]), (&json!("COCO"), &json!(100)));
    assert_eq!(first["source_file_name"], "COCO_val2014_000000000100.png");
    assert_eq!(
        (&read["annotations"][0]["source"], read["annotations"][0].get("author")),
        (&json!("COCO"), None)
    );
    let licence = String::from_utf8(entry(&archive, "LICENSE.txt")).unwrap();
    assert!(licence.contains("  COCO: CC-BY-4.0; The COCO consortium\n"), "{licence}");
    let card = String::from_utf8(entry(&archive, "README.md")).unwrap();
    assert!(card.contains("| COCO | 5 | 10 | CC-BY-4.0 | The COCO consortium |"), "{card}");
    let ratings: Value = serde_json::from_slice(&entry(&archive, "ratings.json")).unwrap();
    assert_eq!(ratings.as_array().unwrap().len(), 20);

    // The engine reads the release as references.
    let references = ReadOptions::references();
    let references = capeval::corpus::read_bytes(&annotations, "captions_train.json", &references).unwrap();
    assert_eq!(references.len(), 10);
    let mut own = capeval::corpus::Captions::new("own");
    for image in 1..=5_i64 {
        own.push(image.into(), &sentence(2 * (image as usize - 1)));
    }
    let report = capeval::score(ScoreRequest {
        options: ScoreOptions { metrics: MetricOptions::new(["rouge-l"]), ..ScoreOptions::default() },
        ..ScoreRequest::new(references, [("own", own)])
    })
    .unwrap();
    assert_eq!(report.systems[0].scores, [1.0]);
    // What was released can be imported into another collection, by the same ids.
    let again = run(&site, &order, false).await.unwrap();
    assert_eq!((again.pictures, again.known_pictures, again.known_captions), (0, 5, 10));
}

async fn all_that_is_left_out_is_told(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 2, "languages": ["en", "zh"] })).await;
    let source = Source::new();
    source.add("1.png", &png(1));
    source.add("2.png", &png(2));
    source.add("3.png", &png(3)[..900]);
    source.add("4.png", b"");
    source.add("5.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>");
    let mut bomb = png(6);
    bomb[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
    source.add("6.png", &bomb);
    source.add("7.png", &png(1));
    source.add("8.webp", &encoded(&picture(2), ImageFormat::WebP));
    source.add("other.png", &png(9));
    // Folders are looked into; a link to a folder above is followed once.
    let more = source.pictures().join("more");
    std::fs::create_dir(&more).unwrap();
    source.add("more/11.png", &png(11));
    source.add("12.png", &png(12));
    source.add("more/12.png", &png(13));
    #[cfg(unix)]
    std::os::unix::fs::symlink(source.pictures(), more.join("round")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere.png", more.join("lost.png")).unwrap();
    let rows = [
        (1, "en", sentence(1)),
        (1, "en", "a dog".to_owned()),
        (1, "en", format!("{}!", sentence(1))),
        (1, "de", "Ein Hund läuft über eine Wiese und bellt laut".to_owned()),
        (1, "en-GB", sentence(2)),
        (1, "en", sentence(3)),
        (2, "zh", "红色的战士站在古老的石桥上望着远方".to_owned()),
        (2, "en", "write to me at dog@example.org if you have seen this dog".to_owned()),
        (3, "en", sentence(4)),
        (4, "en", sentence(5)),
        (5, "en", sentence(6)),
        (6, "en", sentence(7)),
        (7, "en", sentence(8)),
        (8, "en", sentence(9)),
        (10, "en", sentence(10)),
        (10, "en", sentence(11)),
        (11, "en", sentence(12)),
        (12, "en", sentence(13)),
    ];
    let lines = rows.iter().map(|(id, language, caption)| {
        json!({ "image_id": id, "caption": caption, "lang": language }).to_string() + "\n"
    });
    let captions = source.captions("captions.jsonl", lines.collect::<String>());
    let order = source.order(&[captions]);
    for is_check in [true, false, true, false] {
        let is_again = counts(&site).await != [0, 0, 0];
        let summary = run(&site, &order, is_check).await.unwrap();
        let told = |reason: Reason| {
            let first = summary.left_out.first(reason).iter();
            first
                .map(|told| (told.place.rsplit('/').next().unwrap().to_owned(), told.why.clone()))
                .collect::<Vec<_>>()
        };
        let why = |reason: Reason, place: &str| -> String {
            let found = told(reason).into_iter().find(|told| told.0 == place);
            found.unwrap_or_else(|| panic!("{reason} {place}: {:?}", told(reason))).1
        };
        if is_again {
            assert_eq!((summary.pictures, summary.known_pictures, summary.known_captions), (0, 3, 5));
            assert!(summary.captions.is_empty());
        } else {
            assert_eq!((summary.pictures, summary.known_pictures, summary.known_captions), (3, 0, 0));
            assert_eq!(
                summary.captions.iter().map(|(of, n)| (of.as_str(), *n)).collect::<Vec<_>>(),
                [("en", 3), ("zh", 1)]
            );
            assert!(
                why(Reason::SameCaption, "captions.jsonl, line 3, image 1").contains("in armour number 0")
            );
            assert!(why(Reason::Surplus, "captions.jsonl, line 6, image 1").contains("all its captions"));
        }
        assert!(why(Reason::Rule, "captions.jsonl, line 2, image 1").contains("“a dog”"));
        assert!(why(Reason::Rule, "captions.jsonl, line 8, image 2").contains("dog@example.org"));
        assert!(why(Reason::OtherLanguage, "captions.jsonl, line 4, image 1").contains("de"));
        assert!(why(Reason::Unfit, "3.png, image 3").contains("damaged or not complete"));
        assert!(why(Reason::Unfit, "4.png, image 4").contains("empty"));
        assert!(why(Reason::NotAPicture, "5.png, image 5").contains("begins"));
        assert!(!why(Reason::Unfit, "6.png, image 6").is_empty());
        assert!(why(Reason::SamePicture, "7.png, image 7").contains("image 1"));
        assert!(why(Reason::SamePicture, "8.webp, image 8").contains("the same"));
        assert!(why(Reason::MissingPicture, "captions.jsonl, image 10").contains("no file"));
        assert!(why(Reason::Unnamed, "other.png").contains("names it"));
        let both = why(Reason::MissingPicture, "captions.jsonl, image 12");
        assert_eq!(both, "both 12.png and more/12.png are named after it");
        if cfg!(unix) {
            assert!(why(Reason::NotAPicture, "round").contains("a link to a folder"));
            assert!(why(Reason::Unnamed, "lost.png").contains("names it"));
        }
        // Each caption is somewhere.
        let n = |reason| summary.left_out.n(reason);
        let taken: usize = summary.captions.values().sum();
        let left = [
            Reason::Rule,
            Reason::OtherLanguage,
            Reason::SameCaption,
            Reason::Surplus,
            Reason::WithoutPicture,
        ];
        assert_eq!(taken + summary.known_captions + left.map(n).iter().sum::<usize>(), rows.len());
    }
    assert_eq!(counts(&site).await, [3, 4, 7]);
    assert_consistent(&site).await;

    // What a moderator has rejected does not come back.
    let image = site
        .app
        .store
        .first("SELECT subject AS id FROM import_item WHERE file_name = '1.png' AND kind = 'image'", args![])
        .await
        .unwrap()
        .unwrap();
    let image: String = image.get("id").unwrap();
    let refuse = [("action", "refuse"), ("reason", "copyright")];
    moderator(&site).await.post(&format!("/c/c/moderate/images/{image}"), &refuse).await.expect(303);
    let summary = run(&site, &order, false).await.unwrap();
    assert_eq!((summary.pictures, summary.left_out.n(Reason::Removed)), (0, 2), "1.png and its copy");

    // A collection that asks for fewer words takes the short caption, too.
    let host = site.person("Host", Role::Host).await;
    let fewer = json!({
        "captions": 2, "languages": ["en", "zh"], "shortest": { "en": 2 }, "hosts": ["host@example.org"],
    });
    apply(&site, fewer).await;
    let short =
        source.captions("short.jsonl", "{\"image_id\": 11, \"caption\": \"a dog\", \"lang\": \"en\"}\n");
    let summary = run(&site, &source.order(&[short]), false).await.unwrap();
    assert_eq!((summary.known_pictures, summary.captions.get("en")), (1, Some(&1)));
    let page = host.get("/c/c/settings").await.expect(200).text;
    assert!(page.contains("name=\"shortest-en\" value=\"2\"") && page.contains("placeholder=\"10\""));

    // What cannot be imported at all is an error.
    let refused = async |order: Order, words: &str| {
        for is_check in [true, false] {
            let error = format!("{:#}", run(&site, &order, is_check).await.unwrap_err());
            assert!(error.contains(words), "{words}: {error}");
        }
    };
    let file = |name: &str, bytes: &[u8]| source.order(&[source.captions(name, bytes)]);
    refused(file("cut.json", br#"{"annotations": [{"image_id": 1, "cap"#), "cut.json").await;
    refused(file("latin.csv", b"image,caption\n1.png,caf\xe9\n"), "UTF-8").await;
    refused(file("empty.json", b""), "empty").await;
    refused(file("lines.txt", b"a dog runs\na cat sits\n"), "no ids of images").await;
    let other = coco(&[(77, sentence(1))]);
    refused(Order { language: Some("en".to_owned()), ..file("other.json", other.as_bytes()) }, "named after")
        .await;
    refused(file("unsaid.json", coco(&[(1, sentence(1))]).as_bytes()), "--language").await;
    let order = source.order(&[]);
    refused(Order { language: Some("de".to_owned()), ..order.clone() }, "no captions in de").await;
    refused(Order { source: " ".to_owned(), ..order.clone() }, "--source").await;
    refused(Order { licence: String::new(), ..order.clone() }, "--licence").await;
    refused(Order { pictures: source.folder.path().join("nowhere"), ..order.clone() }, "nowhere").await;
    refused(Order { captions: vec![source.folder.path().join("none.json")], ..order }, "none.json").await;
    assert_eq!(counts(&site).await[0], 3);
}

async fn an_import_goes_on_where_it_was_interrupted(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 1, "languages": ["en"] })).await;
    let source = Source::new();
    let mut captions = Vec::new();
    for k in 0..5_usize {
        source.add(&format!("{k}.png"), &png(k as u32));
        captions.push((k as i64, sentence(k)));
    }
    let order = source.order(&[source.captions("captions.json", coco(&captions))]);
    let collection = records::by_slug(&site.app.store, "c").await.unwrap().unwrap();
    for (round, point) in
        ["picture-added", "picture-imported", "picture-added", "picture-imported"].iter().enumerate()
    {
        let mut stopped = site.app.points.stop_at(point);
        let running = {
            let (app, collection, order) = (site.app.clone(), collection.clone(), order.clone());
            tokio::spawn(
                async move { import::run(&app, &collection, &order, false, |_, _| {}).await.map(drop) },
            )
        };
        stopped.reached().await;
        running.abort();
        assert!(running.await.unwrap_err().is_cancelled());
        let done = (round as i64 + 1) / 2;
        assert_eq!(counts(&site).await, [done, done, 2 * done], "{round} {point}");
        assert_consistent(&site).await;
    }
    let running = "SELECT COUNT(*) AS n FROM import WHERE state = 'running' AND collection = $1";
    assert_eq!(number(&site, running, &collection.id).await, 1);
    let summary = run(&site, &order, false).await.unwrap();
    assert_eq!((summary.pictures, summary.known_pictures, summary.known_captions), (3, 2, 2));
    assert_eq!(counts(&site).await, [5, 5, 10]);
    assert_eq!(number(&site, running, &collection.id).await, 0);
    let imports = "SELECT COUNT(*) AS n FROM import WHERE state = 'done' AND collection = $1";
    assert_eq!(number(&site, imports, &collection.id).await, 1);
    // Two at once add nothing twice, and one that finds nothing new leaves no trace.
    for k in 5..9_usize {
        source.add(&format!("{k}.png"), &png(k as u32));
        captions.push((k as i64, sentence(k)));
    }
    source.captions("captions.json", coco(&captions));
    let (one, two) = tokio::join!(run(&site, &order, false), run(&site, &order, false));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!((one.pictures + two.pictures, one.known_pictures + two.known_pictures), (4, 14));
    assert_eq!(counts(&site).await, [9, 9, 18]);
    run(&site, &order, false).await.unwrap();
    assert_eq!(number(&site, imports, &collection.id).await, 2);
    assert_consistent(&site).await;
}

async fn languages_have_their_own_places_and_pictures_get_more_captions(database: Database) {
    let site = Site::new(database).await;
    let languages = json!([{ "language": "zh", "captions": 2 }, { "language": "en", "captions": 1 }]);
    apply(&site, json!({ "languages": languages, "approvals": 0 })).await;
    // A picture that a person has uploaded, and describes.
    let una = captioner(&site, "Una").await;
    upload(&una, &[("a.png", png(1))]).await.expect(303);
    site.work().await;
    let ben = captioner(&site, "Ben").await;
    let page = ben.get("/c/c/caption?language=en").await.expect(200).text;
    let image = super::asked(&page);
    let form =
        [("image", image.as_str()), ("text", &sentence(30)), ("language", "en"), ("action", "hand-in")];
    ben.post("/c/c/caption", &form).await.expect(303);

    let source = Source::new();
    source.add("x.png", &png(1));
    source.add("y.png", &png(2));
    let zh = [
        "红色的战士站在古老的石桥上望着远方",
        "一位穿红衣的战士正独自守着石头桥",
        "桥上的战士举起长剑面对着对岸的敌人",
    ];
    let table = format!(
        "image,caption,language\nx.png,{},en\nx.png,{},zh\ny.png,{},en\ny.png,{},zh\ny.png,{},zh\ny.png,{},zh\n",
        sentence(1),
        zh[0],
        sentence(2),
        zh[0],
        zh[1],
        zh[2]
    );
    let order = source.order(&[source.captions("table.csv", table)]);
    let order = Order { are_accepted: true, ..order };
    let foreseen = run(&site, &order, true).await.unwrap();
    let summary = run(&site, &order, false).await.unwrap();
    for summary in [foreseen, summary] {
        assert_eq!((summary.pictures, summary.known_pictures), (1, 1));
        // The place for English was taken.
        assert_eq!((summary.captions["en"], summary.captions["zh"]), (1, 3));
        assert_eq!(summary.left_out.n(Reason::Surplus), 2);
    }
    assert_consistent(&site).await;
    assert_eq!(super::counters_in(&site, &image, "zh").await, ("open".to_owned(), 1, 1));
    assert_eq!(super::counters_in(&site, &image, "en").await, ("open".to_owned(), 1, 0));
    let complete =
        "SELECT COUNT(*) AS n FROM image WHERE state = 'complete' AND uploader IS NULL AND $1 = ''";
    assert_eq!(number(&site, complete, "").await, 1);
    // What is accepted at once is not rated.
    assert!(!ben.get("/c/c/rate").await.expect(200).text.contains("name=\"item\""));
    // Pictures alone, to be described.
    let more = Source::new();
    more.add("z.png", &png(3));
    let summary = run(&site, &more.order(&[]), false).await.unwrap();
    assert_eq!((summary.pictures, summary.captions.len()), (1, 0));
    let page = ben.get("/c/c/caption?language=en").await.expect(200).text;
    assert!(page.contains("data-image=\""));
}

async fn pictures_that_look_like_others_wait_for_a_moderator(database: Database) {
    let site = Site::new(database).await;
    apply(&site, json!({ "captions": 2, "languages": ["en"] })).await;
    let source = Source::new();
    source.add("a.png", &png(1));
    source.add("b.jpg", &encoded(&picture(1), ImageFormat::Jpeg));
    let table = format!(
        "image,caption\na.png,{}\nb.jpg,{}\nb.jpg,{}\nb.jpg,{}\n",
        sentence(1),
        sentence(2),
        sentence(3),
        sentence(4)
    );
    let order = source.order(&[source.captions("table.csv", table)]);
    for is_check in [true, false] {
        let summary = run(&site, &order, is_check).await.unwrap();
        assert_eq!((summary.pictures, summary.waiting, summary.captions["en"]), (2, 1, 3));
        assert_eq!(summary.left_out.n(Reason::Surplus), 1);
    }
    // The places of a picture that waits are counted as well.
    let again = run(&site, &order, false).await.unwrap();
    assert_eq!((again.known_captions, again.left_out.n(Reason::Surplus)), (3, 1));
    let waiting = "SELECT id FROM image WHERE state = 'pending'";
    let image: String = site.app.store.first(waiting, args![]).await.unwrap().unwrap().get("id").unwrap();
    let mo = moderator(&site).await;
    assert!(mo.get("/c/c/moderate").await.expect(200).text.contains("imported from COCO"));
    mo.post(&format!("/c/c/moderate/images/{image}"), &[("action", "approve")]).await.expect(303);
    assert_eq!(super::counters(&site, &image).await, ("open".to_owned(), 2, 0));
    assert_consistent(&site).await;
}

async fn an_import_is_removed_unless_someone_has_built_upon_it(database: Database) {
    let site = Site::new(database).await;
    let host = site.person("Host", Role::Host).await;
    apply(&site, json!({ "captions": 3, "languages": ["en"], "hosts": ["host@example.org"] })).await;
    let own = open_pictures(&site, 1).await;
    let source = Source::new();
    let mut captions = Vec::new();
    for k in 0..4_usize {
        source.add(&format!("{k}.png"), &png(k as u32));
        captions.push((k as i64, sentence(k)));
    }
    let by = people::by_email(&site.app.store, "host@example.org").await.unwrap().unwrap().id;
    let order = source.order(&[source.captions("captions.json", coco(&captions))]);
    let order = Order { by: Some(by.clone()), ..order };
    run(&site, &order, false).await.unwrap();
    let id = "SELECT id FROM import";
    let import: String = site.app.store.first(id, args![]).await.unwrap().unwrap().get("id").unwrap();
    let page = host.get("/c/c/imports").await.expect(200).text;
    assert!(
        page.contains("<h2>COCO</h2>") && page.contains("The COCO consortium") && page.contains("Host"),
        "{page}"
    );
    let exported = download(&host, "/account/contributions.zip").await;
    let exported: Value = serde_json::from_slice(&entry(&exported, "contributions.json")).unwrap();
    assert_eq!(exported["imports"][0]["name"], "COCO", "{exported}");

    // Someone describes one of the pictures, and someone rates the caption of another.
    let ann = captioner(&site, "Ann").await;
    let of = "SELECT image.id FROM image JOIN import_item ON subject = image.id WHERE file_name = $1";
    let image = async |file: &str| -> String {
        site.app.store.first(of, args![file]).await.unwrap().unwrap().get("id").unwrap()
    };
    let (described, rated) = (image("0.png").await, image("1.png").await);
    let form =
        [("image", described.as_str()), ("text", &sentence(20)), ("language", "en"), ("action", "hand-in")];
    ann.post("/c/c/caption", &form).await.expect(303);
    let ann_id = people::by_email(&site.app.store, "ann@example.org").await.unwrap().unwrap().id;
    let sql = "INSERT INTO rating (caption, account, grade, tags, weight, created_at) \
               SELECT id, $2, 4, '[]', 0, 1 FROM caption WHERE image = $1";
    site.app.store.execute(sql, args![&rated, &ann_id]).await.unwrap();

    let stranger = site.person("Eve", Role::Host).await;
    stranger.post(&format!("/c/c/imports/{import}/remove"), &[]).await.expect(404);
    host.post("/c/c/imports/nothing/remove", &[]).await.expect(404);
    host.post(&format!("/c/c/imports/{import}/remove"), &[]).await.expect(303);
    host.post(&format!("/c/c/imports/{import}/remove"), &[]).await.expect(409);
    site.work().await;
    // The picture that is described stays, but not its imported caption; the one with a rating stays with it.
    assert_eq!(counts(&site).await, [3, 2, 3]);
    assert_eq!(super::counters(&site, &described).await, ("open".to_owned(), 1, 0));
    assert_eq!(super::counters(&site, &own[0]).await.0, "open");
    assert_consistent(&site).await;
    let page = host.get("/c/c/imports").await.expect(200).text;
    assert!(
        page.contains("Removed in part")
            && page.contains("0 pictures and captions are in a release, 3 are not"),
        "{page}"
    );
    let blobs = site.app.blobs.list().unwrap().len();
    assert_eq!(
        blobs,
        1 + 4,
        "the one of the test's own pictures; those of two pictures, each with a small one"
    );
    // What was removed can be imported again, and another import without anything built upon it goes at all.
    let again = Order { source: "Again".to_owned(), ..order };
    assert_eq!(run(&site, &again, false).await.unwrap().pictures, 2);
    let id = "SELECT id FROM import WHERE name = 'Again'";
    let import: String = site.app.store.first(id, args![]).await.unwrap().unwrap().get("id").unwrap();
    host.post(&format!("/c/c/imports/{import}/remove"), &[]).await.expect(303);
    site.work().await;
    assert_eq!(counts(&site).await, [3, 2, 3]);
    assert!(!host.get("/c/c/imports").await.expect(200).text.contains("<h2>Again</h2>"));
    assert_consistent(&site).await;
}

mod killed {
    use super::*;

    on_both! { in real time: a_program_that_is_killed_goes_on }

    async fn a_program_that_is_killed_goes_on(database: Database) {
        let site = Site::new(database).await;
        apply(&site, json!({ "captions": 2, "languages": ["en"] })).await;
        let source = Source::new();
        let mut captions = Vec::new();
        for k in 0..60_usize {
            source.add(&format!("{k}.png"), &png(k as u32));
            captions.extend([(k as i64, sentence(2 * k)), (k as i64, sentence(2 * k + 1))]);
        }
        let captions = source.captions("captions.json", coco(&captions));
        let (folder, url) = (site.app.folder.clone(), site.app.settings.database.clone());
        let known = async || counts(&site).await;
        let mut killed = 0;
        for round in 0..kills() {
            let before = known().await[0];
            let mut running = program(&folder, &url).args(arguments(&source, &captions)).spawn().unwrap();
            // It is killed once it has added some pictures, unless it has ended by then.
            let more = before + 1 + round as i64 % 3;
            let ended = loop {
                if let Some(status) = running.try_wait().unwrap() {
                    break Some(status);
                }
                if known().await[0] >= more {
                    break None;
                }
                tokio::time::sleep(PAUSE).await;
            };
            match ended {
                Some(status) => assert!(status.success()),
                None => {
                    running.kill().unwrap();
                    running.wait().unwrap();
                    killed += 1;
                }
            }
            let [pictures, captions, items] = known().await;
            assert_eq!((captions, items), (2 * pictures, 3 * pictures), "round {round}");
        }
        let (source, captions) = (&source, &captions);
        let told = tokio::task::block_in_place(|| command(&folder, &url, &arguments(source, captions), ""));
        let total = known().await;
        println!("{killed} kills; {told}");
        assert_eq!(total, [60, 120, 180], "{told}");
        assert_consistent(&site).await;
    }

    fn arguments<'a>(source: &'a Source, captions: &'a Path) -> Vec<&'a str> {
        let pictures = Box::leak(source.pictures().into_boxed_path()).to_str().unwrap();
        let import = ["admin", "collection", "import", "c", "--pictures", pictures, "--captions"];
        let said = ["--source", "COCO", "--licence", "CC-BY-4.0"];
        [&import[..], &[captions.to_str().unwrap()], &said].concat()
    }
}
