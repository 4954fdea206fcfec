//! The data that collections keep about a person: pictures, captions, ratings, and what came of them.

use capeval_api::{ImageState, Time};
use capeval_site::accounts::own_data::{Export, Leaving, PersonalData};
use capeval_site::prelude::*;
use capeval_site::store::Record;
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::changes;
use crate::moderation::decisions;
use crate::ratings::rate;
use crate::records::{Caption, Image};
use crate::rules::reports::ReportState;
use crate::rules::states::CaptionState;
use crate::slots;

/// The data that collections keep about people.
pub struct OwnData;

impl PersonalData for OwnData {
    fn kept(&self) -> Option<&'static str> {
        Some(say(
            "In collections: pictures, captions and drafts, ratings, skipped pictures and reports. Files of a \
             release that others have downloaded cannot be called back.",
        ))
    }

    fn export<'a>(&'a self, app: &'a App, account: &'a str) -> BoxFuture<'a, Result<Export>> {
        Box::pin(async move {
            let data = rows(&app.store, account).await?;
            Ok(Export { data, files: pictures(&app.store, account).await? })
        })
    }

    fn withdraw<'a>(&'a self, app: &'a App, account: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(withdraw(&app.store, account))
    }

    fn clear<'a>(&'a self, tx: &'a mut Tx, account: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(clear(tx, account))
    }

    fn forget<'a>(&'a self, tx: &'a mut Tx, person: &'a Leaving) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            for sql in [
                "DELETE FROM collection_staff WHERE account = $1",
                "UPDATE import SET account = NULL WHERE account = $1",
            ] {
                tx.execute(sql, args![&person.id]).await?;
            }
            Ok(())
        })
    }
}

/// Rows as they are exported, by the names of their columns.
macro_rules! exported {
    ($($name:ident { $($field:ident: $type:ty),* })*) => {$(
        #[derive(Deserialize, Serialize)]
        struct $name {
            $($field: $type,)*
            #[serde(deserialize_with = "clock::time_of_column")]
            at: Time,
        }
    )*};
}

exported! {
    Picture { id: String, collection: String, game: String, platform: String, licence: String, state: ImageState }
    Written { id: String, image: String, language: String, text: String, state: CaptionState }
    Draft { image: String, text: String }
    Rating { caption: String, grade: i64, tags: String }
    Skip { image: String, reason: String }
    Report { kind: String, subject: String, reason: String, note: String, state: ReportState }
    Declaration { licence: String, declaration: String }
    Import { collection: String, name: String, licence: String }
}

/// All rows of a person, by what they are.
async fn rows(store: &Store, account: &str) -> Result<Map<String, Value>> {
    const PICTURES: &str = "SELECT image.id, collection.slug AS collection, image.game, image.platform, \
        image.licence, image.state, image.created_at AS at FROM image \
        JOIN collection ON collection.id = image.collection WHERE image.uploader = $1 ORDER BY image.id";
    const CAPTIONS: &str = "SELECT id, image, language, text, state, created_at AS at FROM caption \
        WHERE author = $1 ORDER BY id";
    const DRAFTS: &str = "SELECT image, text, changed_at AS at FROM draft WHERE account = $1 ORDER BY image";
    const RATINGS: &str = "SELECT caption, grade, tags, created_at AS at FROM rating WHERE account = $1 \
        ORDER BY caption";
    const SKIPS: &str = "SELECT image, reason, created_at AS at FROM skip WHERE account = $1 ORDER BY image";
    const REPORTS: &str = "SELECT kind, subject, reason, note, state, created_at AS at FROM report \
        WHERE reporter = $1 ORDER BY id";
    const DECLARATIONS: &str = "SELECT licence, declaration, created_at AS at FROM consent WHERE account = $1 \
        ORDER BY id";
    const IMPORTS: &str = "SELECT collection.slug AS collection, import.name, import.licence, \
        import.created_at AS at FROM import JOIN collection ON collection.id = import.collection \
        WHERE import.account = $1 ORDER BY import.id";
    let lists = [
        ("pictures", list::<Picture>(store, PICTURES, account).await?),
        ("captions", list::<Written>(store, CAPTIONS, account).await?),
        ("drafts", list::<Draft>(store, DRAFTS, account).await?),
        ("ratings", list::<Rating>(store, RATINGS, account).await?),
        ("skips", list::<Skip>(store, SKIPS, account).await?),
        ("reports", list::<Report>(store, REPORTS, account).await?),
        ("declarations", list::<Declaration>(store, DECLARATIONS, account).await?),
        ("imports", list::<Import>(store, IMPORTS, account).await?),
    ];
    Ok(lists.into_iter().map(|(name, rows)| (name.to_owned(), rows)).collect())
}

async fn list<T: Record + Serialize>(store: &Store, sql: &'static str, account: &str) -> Result<Value> {
    Ok(serde_json::to_value(store.fetch::<T>(sql, args![account]).await?)?)
}

/// The files of a person's pictures.
async fn pictures(store: &Store, account: &str) -> Result<Vec<(String, String)>, Error> {
    let sql = "SELECT * FROM image WHERE uploader = $1 AND blob IS NOT NULL ORDER BY id";
    let images: Vec<Image> = store.fetch(sql, args![account]).await?;
    let file = |image: Image| {
        let ending = if image.media_type() == "image/jpeg" { "jpg" } else { "png" };
        Some((format!("pictures/{}.{ending}", image.id), image.blob?))
    };
    Ok(images.into_iter().filter_map(file).collect())
}

/// Withdraws pictures and captions: their content goes, and nothing names the person any more.
async fn withdraw(store: &Store, account: &str) -> Result<()> {
    let captions = "SELECT * FROM caption WHERE author = $1";
    for caption in store.fetch::<Caption>(captions, args![account]).await? {
        let mut tx = store.begin().await?;
        changes::withdraw_caption(&mut tx, &caption).await?;
        let sql = "UPDATE caption SET author = NULL, text = '', text_norm = '' WHERE id = $1";
        tx.execute(sql, args![&caption.id]).await?;
        tx.commit().await?;
    }
    let images = "SELECT * FROM image WHERE uploader = $1";
    for image in store.fetch::<Image>(images, args![account]).await? {
        let mut tx = store.begin().await?;
        decisions::remove(&mut tx, &image, ImageState::Withdrawn, None).await?;
        let sql = "UPDATE image SET uploader = NULL, consent = NULL, game = '', platform = '', source_hash = id, \
                   phash = NULL WHERE id = $1";
        tx.execute(sql, args![&image.id]).await?;
        tx.commit().await?;
    }
    let rated = "SELECT caption FROM rating WHERE account = $1";
    for caption in store.fetch::<String>(rated, args![account]).await? {
        let mut tx = store.begin().await?;
        rate::take_back(&mut tx, &caption, account).await?;
        tx.commit().await?;
    }
    let held = "SELECT image FROM assignment WHERE account = $1";
    for image in store.fetch::<String>(held, args![account]).await? {
        slots::give_up(store, &image, account).await?;
    }
    Ok(())
}

/// Deletes what no counter depends on.
async fn clear(tx: &mut Tx, account: &str) -> Result<()> {
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
    let left = "SELECT 1 FROM image WHERE uploader = $1 UNION ALL SELECT 1 FROM caption WHERE author = $1 \
        UNION ALL SELECT 1 FROM rating WHERE account = $1 \
        UNION ALL SELECT 1 FROM assignment WHERE account = $1";
    if tx.exists(left, args![account]).await? {
        return Err(Fault::still_contributing());
    }
    Ok(())
}
