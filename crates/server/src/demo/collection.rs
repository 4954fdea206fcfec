//! A collection in the middle of its life: pictures that the program draws, captions in both languages, ratings, a
//! queue for moderators, and a release whose hidden split is a benchmark.

use std::time::Duration;

use anyhow::Context;
use capeval_benchmarks::records::BoardKind;
use capeval_collections::captioning::submit::{self as captions, New};
use capeval_collections::ratings::gold_captions;
use capeval_collections::ratings::rate::{self, NewRating};
use capeval_collections::records::{self, Collection};
use capeval_collections::release::publish::{self, WantedBenchmark};
use capeval_collections::release::records::ReleaseState;
use capeval_collections::release::selection::{self, Parameters};
use capeval_collections::release::split::Split;
use capeval_collections::rules::acceptance::{Grade, Mistake};
use capeval_collections::rules::text;
use capeval_collections::settings::{self, Plan};
use capeval_collections::{agreement, rules, slots};
use capeval_site::pictures::{self, RewrittenPicture};
use capeval_site::prelude::*;
use image::codecs::png::PngEncoder;
use serde_json::json;

use super::scenes::Scene;

/// The part of its addresses.
const SLUG: &str = "screens";

/// The number of pictures; the last ones wait for a moderator.
const PICTURES: usize = 28;
const WAITING: usize = 3;

/// Pictures with all captions, rated.
const COMPLETE: usize = 22;

/// The people who upload, describe and rate.
const UPLOADERS: [&str; 2] = ["Ada", "Bao"];
const AUTHORS: [&str; 4] = ["Chen", "Dina", "Emil", "Host"];
const RATERS: [&str; 3] = ["Ada", "Bao", "Admin"];

/// Makes the collection, with `visitors` as its people.
pub async fn fill(app: &App, visitors: &[Visitor]) -> anyhow::Result<()> {
    let plan: Plan = serde_json::from_value(json!({
        "slug": SLUG, "title": "并不存在的游戏截图 / Screenshots of imaginary games",
        "summary": "用中文或英文描述程序绘制的画面。Describe pictures that this program has drawn, in Chinese or English.",
        "languages": ["zh", "en"], "captions": 4, "target": 40, "licences": ["CC0-1.0"],
        "details": settings::OF_GAMES,
        "hosts": ["host@example.org"], "moderators": ["ada@example.org"],
    }))?;
    settings::apply(app, &plan, Slug::UnusedOrOwn, None).await?;
    let id: String = app.store.fetch_one("SELECT id FROM collection WHERE slug = $1", args![SLUG]).await?;
    let collection = records::collection_of(&app.store, &id).await?;
    let person = |name: &str| {
        visitors.iter().find(|visitor| visitor.name == name).context("an account of the demo is missing")
    };
    for visitor in visitors {
        join(app, &id, &visitor.id).await?;
    }
    let mut images = Vec::new();
    for number in 0..PICTURES {
        let uploader = person(UPLOADERS[number / 2 % UPLOADERS.len()])?;
        images.push(upload(app, &collection, &uploader.id, number).await?);
    }
    for (number, image) in images.iter().enumerate().take(PICTURES - WAITING) {
        for (k, author) in AUTHORS.iter().enumerate() {
            if number < COMPLETE || (number + k) % 3 == 0 {
                describe(app, &collection, person(author)?, image, (number, k)).await?;
            }
        }
    }
    rate(
        app,
        &collection,
        &RATERS.map(|name| person(name).map(|visitor| visitor.id.as_str()).unwrap_or_default()),
    )
    .await?;
    gold_captions::grow(&app.store, &id, None).await?;
    agreement::refresh(app, &id).await?;
    let parameters = Parameters { val: 15, test: 25, withheld: Some(Split::Test) };
    selection::create(app, &id, "", &parameters, None).await?;
    let (app, host) = (app.clone(), person("Host")?.clone());
    tokio::spawn(async move {
        if let Err(error) = publish(&app, &collection, &host).await {
            tracing::error!(%error, "the release of the demo cannot be published");
        }
    });
    Ok(())
}

async fn join(app: &App, collection: &str, account: &str) -> anyhow::Result<()> {
    let values = || args![collection, account, clock::now()];
    let store = &app.store;
    let sql = "INSERT INTO quiz (collection, account, attempts, passed_at) VALUES ($1, $2, 1, $3) ON CONFLICT DO \
               NOTHING";
    store.execute(sql, values()).await?;
    let sql = "INSERT INTO contributor (collection, account, on_board, created_at) VALUES ($1, $2, 1, $3) \
               ON CONFLICT DO NOTHING";
    store.execute(sql, values()).await?;
    Ok(())
}

/// Draws a picture and adds it; returns its id.
async fn upload(app: &App, collection: &Collection, uploader: &str, number: usize) -> anyhow::Result<String> {
    let scene = Scene::of(number);
    let blobs = app.blobs.clone();
    let draw = move || -> anyhow::Result<(Scene, String)> {
        let mut draft = blobs.draft()?;
        scene.draw().write_with_encoder(PngEncoder::new(&mut draft))?;
        Ok((scene, blobs.keep(draft)?))
    };
    let (scene, source) = tokio::task::spawn_blocking(draw).await??;
    let rewritten = pictures::rewrite(app, &source).await;
    let RewrittenPicture { pictured, blob, thumb, size } =
        rewritten.map_err(|failure| anyhow::anyhow!("a picture cannot be drawn: {failure:?}"))?;
    let id = ids::new_id();
    let mut tx = app.store.begin().await?;
    let row = columns! {
        id: &id, collection: &collection.id, uploader, licence: "CC0-1.0", game: scene.game(),
        platform: "PC", source_hash: source, blob, thumb, kind: pictured.kind, width: pictured.width,
        height: pictured.height, size: size as i64, phash: pictured.phash,
        split_group: format!("{uploader} {}", scene.game()), state: "pending",
        shuffle: rules::order::place(slots::random()?), created_at: clock::now(),
    };
    tx.insert_row("image", row).await?;
    if number < PICTURES - WAITING {
        slots::open(&mut tx, &id).await?;
    }
    tx.commit().await?;
    Ok(id)
}

/// Adds a caption; one in thirteen is wrong.
async fn describe(
    app: &App,
    collection: &Collection,
    author: &Visitor,
    image: &str,
    (number, k): (usize, usize),
) -> anyhow::Result<()> {
    let language = if k % 2 == 0 { "zh" } else { "en" };
    let scene = Scene::of(number);
    let sentence = match (number * 4 + k) % 13 {
        6 => scene.mistaken(language),
        _ => scene.sentence(language, number + k),
    };
    let sentence = text::clean(&sentence);
    let new = New { collection, image, language, text: &sentence, warnings: Vec::new() };
    let mut tx = app.store.begin().await?;
    captions::add(&mut tx, author, new).await?;
    Ok(tx.commit().await?)
}

/// Rates the captions of the first pictures: two agree on most, and ask a third about some.
async fn rate(app: &App, collection: &Collection, raters: &[&str; 3]) -> anyhow::Result<()> {
    let captions = "SELECT id, text FROM caption WHERE collection = $1 ORDER BY id";
    let captions: Vec<(String, String)> = app.store.fetch(captions, args![&collection.id]).await?;
    let n = captions.len() - captions.len() / 9;
    for (k, (id, _)) in captions.iter().enumerate().take(n) {
        let is_wrong = k % 13 == 6;
        for (r, rater) in raters.iter().enumerate().take(if k % 11 == 5 { 3 } else { 2 }) {
            let grade = match (is_wrong, (k + r) % 5) {
                (true, 0) => 1,
                (true, _) => 2,
                (false, 4) => 3,
                (false, _) => 4,
            };
            let grade = if k % 11 == 5 && r < 2 { 2 + 2 * r as i64 } else { grade };
            let grade = Grade::new(grade).context("a grade is 1 to 4")?;
            let tags = if grade.number() < 3 { vec![Mistake::Object] } else { Vec::new() };
            let given = NewRating { collection: &collection.id, account: rater, grade, tags };
            let mut tx = app.store.begin().await?;
            rate::rate(&mut tx, id, &given).await?;
            tx.commit().await?;
        }
    }
    Ok(())
}

/// Publishes the hidden split as soon as the release is ready.
async fn publish(app: &App, collection: &Collection, host: &Visitor) -> anyhow::Result<()> {
    let release = loop {
        let sql = "SELECT id, state FROM release WHERE collection = $1";
        let (id, state): (String, ReleaseState) = app.store.fetch_one(sql, args![&collection.id]).await?;
        match state {
            ReleaseState::Preparing => tokio::time::sleep(Duration::from_millis(300)).await,
            ReleaseState::Ready => break id,
            other => anyhow::bail!("the release is {other}"),
        }
    };
    let wanted =
        WantedBenchmark { slug: SLUG.to_owned(), per_day: 3, in_total: 30, board: BoardKind::Public };
    publish::publish(app, collection, &release, &wanted, host).await?;
    Ok(())
}
