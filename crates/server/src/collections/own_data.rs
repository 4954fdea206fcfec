//! What collections keep about a person: pictures, captions, ratings, and what came of them.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::ratings::give;
use super::records::{Caption, Image};
use super::{mine, moderation};
use crate::accounts::own_data::{Export, Leaving, PersonalData};
use crate::app::App;
use crate::args;
use crate::fault;
use crate::fault::Fault;
use crate::store::{Error, Row, Store, Tx};

/// What collections keep about people.
pub struct OwnData;

impl PersonalData for OwnData {
    fn export<'a>(&'a self, app: &'a App, account: &'a str) -> BoxFuture<'a, Result<Export, Fault>> {
        Box::pin(async move {
            let data = rows(&app.store, account).await?;
            Ok(Export { data, files: pictures(&app.store, account).await? })
        })
    }

    fn withdraw<'a>(&'a self, app: &'a App, account: &'a str) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(withdraw(&app.store, account))
    }

    fn clear<'a>(&'a self, tx: &'a mut Tx, account: &'a str) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(clear(tx, account))
    }

    fn forget<'a>(&'a self, tx: &'a mut Tx, person: &'a Leaving) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            tx.execute("DELETE FROM collection_staff WHERE account = $1", args![&person.id]).await?;
            Ok(())
        })
    }
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
async fn rows(store: &Store, account: &str) -> Result<Map<String, Value>, Error> {
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
    Ok(data)
}

/// The files of a person's pictures.
async fn pictures(store: &Store, account: &str) -> Result<Vec<(String, String)>, Error> {
    let sql = "SELECT * FROM image WHERE uploader = $1 AND blob IS NOT NULL ORDER BY id";
    let mut files = Vec::new();
    for row in &store.all(sql, args![account]).await? {
        let image = Image::of(row)?;
        let ending = if image.kind.as_deref() == Some("image/jpeg") { "jpg" } else { "png" };
        files.extend(image.blob.map(|blob| (format!("pictures/{}.{ending}", image.id), blob)));
    }
    Ok(files)
}

/// Withdraws pictures and captions: their content goes, and nothing names the person any more.
async fn withdraw(store: &Store, account: &str) -> Result<(), Fault> {
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
    Ok(())
}

/// Deletes what no counter depends on.
async fn clear(tx: &mut Tx, account: &str) -> Result<(), Fault> {
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
        return Err(
            fault!(CONFLICT, "still-contributing", "New contributions arrived. Please try again.").passing()
        );
    }
    Ok(())
}
