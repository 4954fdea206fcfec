//! One's own data: all that a person has contributed as a file, and its deletion.

use std::io::{Cursor, Write};

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::{Map, Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::ratings::give;
use super::records::{Caption, Image};
use super::{mine, moderation};
use crate::app::App;
use crate::fault;
use crate::fault::Fault;
use crate::store::{Error, Row, Store, Tx};
use crate::web::route::{get, post};
use crate::web::{Access, Person, Route, Scope};
use crate::{args, audit};

/// The most bytes of pictures in a file; whoever has more gets the rest from their list.
const PICTURES: u64 = 512 << 20;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/account/contributions.zip",
            Access::Person(Scope::Read),
            "All that one has contributed, as a file",
            export,
        ),
        get(
            "/api/v1/me/contributions",
            Access::Person(Scope::Read),
            "All that one has contributed",
            export_json,
        ),
        post(
            "/account/contributions/delete",
            Access::Person(Scope::Host),
            "Delete all that one has contributed",
            delete,
        ),
    ]
}

/// What is exported: a name, and the statement that has one's own rows.
const TABLES: [(&str, &str, &[&str]); 7] = [
    (
        "pictures",
        "SELECT image.id, collection.slug AS collection, image.game, image.platform, image.licence, image.state, \
         CAST(image.created_at AS TEXT) AS at FROM image JOIN collection ON collection.id = image.collection \
         WHERE image.uploader = $1 ORDER BY image.id",
        &["id", "collection", "game", "platform", "licence", "state", "at"],
    ),
    (
        "captions",
        "SELECT caption.id, caption.image, caption.language, caption.text, caption.state, \
         CAST(caption.created_at AS TEXT) AS at FROM caption WHERE caption.author = $1 ORDER BY caption.id",
        &["id", "image", "language", "text", "state", "at"],
    ),
    (
        "drafts",
        "SELECT image, text, CAST(changed_at AS TEXT) AS at FROM draft WHERE account = $1 ORDER BY image",
        &["image", "text", "at"],
    ),
    (
        "ratings",
        "SELECT caption, CAST(grade AS TEXT) AS grade, tags, CAST(created_at AS TEXT) AS at FROM rating \
         WHERE account = $1 ORDER BY caption",
        &["caption", "grade", "tags", "at"],
    ),
    (
        "skips",
        "SELECT image, reason, CAST(created_at AS TEXT) AS at FROM skip WHERE account = $1 ORDER BY image",
        &["image", "reason", "at"],
    ),
    (
        "reports",
        "SELECT kind, subject, reason, note, state, CAST(created_at AS TEXT) AS at FROM report \
         WHERE reporter = $1 ORDER BY id",
        &["kind", "subject", "reason", "note", "state", "at"],
    ),
    (
        "declarations",
        "SELECT licence, declaration, CAST(created_at AS TEXT) AS at FROM consent WHERE account = $1 ORDER BY id",
        &["licence", "declaration", "at"],
    ),
];

/// All rows of a person, by what they are.
async fn rows(store: &Store, account: &str) -> Result<Value, Error> {
    let mut data = Map::new();
    for (name, sql, columns) in TABLES {
        let value = |row: &Row| {
            let pairs = columns.iter().map(|column| {
                let text: String = row.get(column)?;
                let value = match *column {
                    "at" => text.parse().map_or(Value::Null, |time| crate::clock::iso(time).into()),
                    "grade" => text.parse::<i64>().unwrap_or(0).into(),
                    _ => text.into(),
                };
                Ok(((*column).to_owned(), value))
            });
            Ok(Value::Object(pairs.collect::<Result<_, Error>>()?))
        };
        let list: Result<Vec<Value>, Error> =
            store.all(sql, args![account]).await?.iter().map(value).collect();
        data.insert(name.to_owned(), list?.into());
    }
    Ok(data.into())
}

async fn export_json(State(app): State<App>, Person(visitor): Person) -> Result<Response, Fault> {
    let mut data = rows(&app.store, &visitor.id).await?;
    data["name"] = visitor.name.into();
    data["email"] = visitor.email.into();
    Ok(axum::Json(data).into_response())
}

async fn export(State(app): State<App>, Person(visitor): Person) -> Result<Response, Fault> {
    app.limits.take("exports", &visitor.id, 2)?;
    let mut data = rows(&app.store, &visitor.id).await?;
    data["name"] = visitor.name.into();
    data["email"] = visitor.email.into();
    let text = serde_json::to_vec_pretty(&data)?;
    let sql = "SELECT * FROM image WHERE uploader = $1 AND blob IS NOT NULL ORDER BY id";
    let images = app.store.all(sql, args![&visitor.id]).await?;
    let images = images.iter().map(Image::of).collect::<Result<Vec<_>, _>>()?;
    let blobs = app.blobs.clone();
    let pack = move || -> std::io::Result<Vec<u8>> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default();
        archive.start_file("contributions.json", options)?;
        archive.write_all(&text)?;
        let mut size = 0;
        for image in images {
            let Some(blob) = &image.blob else { continue };
            let bytes = blobs.read(blob)?;
            size += bytes.len() as u64;
            if size > PICTURES {
                break;
            }
            let ending = if image.kind.as_deref() == Some("image/jpeg") { "jpg" } else { "png" };
            let stored = options.compression_method(CompressionMethod::Stored);
            archive.start_file(format!("pictures/{}.{ending}", image.id), stored)?;
            archive.write_all(&bytes)?;
        }
        Ok(archive.finish()?.into_inner())
    };
    let bytes = tokio::task::spawn_blocking(pack).await??;
    let headers = [
        (header::CONTENT_TYPE, "application/zip"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"contributions.zip\""),
    ];
    Ok((headers, bytes).into_response())
}

async fn delete(State(app): State<App>, Person(visitor): Person) -> Result<Response, Fault> {
    forget(&app, &visitor.id).await?;
    app.wake.notify();
    Ok(Redirect::to("/account?done=removed").into_response())
}

/// Deletes what a person has contributed: pictures and captions are withdrawn, their content goes, and nothing names
/// the person any more. Each thing is a transaction of its own, so that others need not wait; if the process is killed,
/// the person asks again.
///
/// # Errors
/// If the database fails, or a moderator has to decide about something first.
pub async fn forget(app: &App, account: &str) -> Result<(), Fault> {
    let store = &app.store;
    for row in &store.all("SELECT * FROM caption WHERE author = $1", args![account]).await? {
        let caption = Caption::of(row)?;
        let mut tx = store.begin().await?;
        mine::withdraw(&mut tx, &caption).await?;
        tx.execute(
            "UPDATE caption SET author = NULL, text = '', text_norm = '' WHERE id = $1",
            args![&caption.id],
        )
        .await?;
        tx.commit().await?;
    }
    for row in &store.all("SELECT * FROM image WHERE uploader = $1", args![account]).await? {
        let image = Image::of(row)?;
        let mut tx = store.begin().await?;
        moderation::take_away(&mut tx, &image, "withdrawn", None).await?;
        tx.execute(
            "UPDATE image SET uploader = NULL, consent = NULL, game = '', platform = '', source_hash = id, phash = NULL \
             WHERE id = $1",
            args![&image.id],
        )
        .await?;
        tx.commit().await?;
    }
    let rated = "SELECT caption FROM rating WHERE account = $1";
    for row in &store.all(rated, args![account]).await? {
        let mut tx = store.begin().await?;
        give::take_back(&mut tx, &row.get::<String>("caption")?, account).await?;
        tx.commit().await?;
    }
    let held = store.all("SELECT image FROM assignment WHERE account = $1", args![account]).await?;
    for row in &held {
        super::slots::give_up(store, &row.get::<String>("image")?, account).await?;
    }
    let mut tx = store.begin().await?;
    clear(&mut tx, account).await?;
    audit::note(&mut tx, Some(account), "account.contributions-delete", account, json!({})).await?;
    Ok(tx.commit().await?)
}

/// Deletes what no counter depends on.
///
/// # Errors
/// If the database fails, or anything else is left.
pub async fn clear(tx: &mut Tx, account: &str) -> Result<(), Fault> {
    for sql in [
        "DELETE FROM draft WHERE account = $1",
        "DELETE FROM skip WHERE account = $1",
        "DELETE FROM gold_rating WHERE account = $1",
        "DELETE FROM rater WHERE account = $1",
        "DELETE FROM quiz WHERE account = $1",
        "DELETE FROM contributor WHERE account = $1",
        "DELETE FROM consent WHERE account = $1",
        "DELETE FROM assignment WHERE account = $1 AND kind = 'rating'",
        "UPDATE report SET reporter = NULL, note = '' WHERE reporter = $1",
        "UPDATE download SET account = NULL WHERE account = $1",
    ] {
        tx.execute(sql, args![account]).await?;
    }
    let left = "SELECT 1 AS one FROM image WHERE uploader = $1 \
        UNION ALL SELECT 1 AS one FROM caption WHERE author = $1 \
        UNION ALL SELECT 1 AS one FROM rating WHERE account = $1 \
        UNION ALL SELECT 1 AS one FROM assignment WHERE account = $1";
    if tx.first(left, args![account]).await?.is_some() {
        return Err(fault!(
            CONFLICT,
            "still-contributing",
            "Something was contributed meanwhile. Please try again."
        )
        .passing());
    }
    Ok(())
}
