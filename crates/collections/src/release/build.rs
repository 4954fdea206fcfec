//! The work behind releases: gathering what is in one from the database, and writing its archives.

use std::collections::HashMap;

use capeval_choice::SegmentId;
use capeval_site::blobs::Blobs;
use capeval_site::prelude::*;
use serde::Deserialize;
use serde_json::json;
use tempfile::NamedTempFile;

use super::content::{Caption, Content, Origin, Picture, Rating};
use super::selection::Parameters;
use super::{archive, card};
use crate::processing;

/// Makes the files of a release.
pub struct BuildRelease;

const PICTURES: &str = "SELECT item.number, item.split, image.*, import.name AS source, origin.source_id, \
     origin.file_name FROM release_item AS item JOIN image ON image.id = item.subject \
     LEFT JOIN import_item AS origin ON origin.subject = item.subject LEFT JOIN import ON import.id = origin.import WHERE item.release = $1 AND item.kind = 'image' ORDER BY item.number";
const CAPTIONS: &str = "SELECT item.number, caption.*, import.name AS source FROM release_item AS item \
     JOIN caption ON caption.id = item.subject \
     LEFT JOIN import_item AS origin ON origin.subject = item.subject LEFT JOIN import ON import.id = origin.import WHERE item.release = $1 AND item.kind = 'caption' ORDER BY item.number";
/// Ratings that count, given before the release.
const RATINGS: &str = "SELECT rating.* FROM release_item AS item JOIN rating ON rating.caption = item.subject \
     WHERE item.release = $1 AND item.kind = 'caption' AND rating.weight > 0 AND rating.created_at <= $2 \
     ORDER BY rating.caption, rating.created_at, rating.account";
const SOURCES: &str = "SELECT DISTINCT import.name, import.licence, import.attribution FROM release_item AS item \
     JOIN import_item AS origin ON origin.subject = item.subject JOIN import ON import.id = origin.import \
     WHERE item.release = $1 ORDER BY import.name, import.licence, import.attribution";
const WITHDRAWN: &str = "SELECT tombstone.* FROM tombstone WHERE collection = $1 AND withdrawn_at <= $2 \
     AND NOT EXISTS (SELECT 1 FROM release_item AS item WHERE item.release = $3 AND item.kind = tombstone.kind \
     AND item.number = tombstone.number) ORDER BY kind, number";

const RELEASE: &str = "SELECT release.collection, release.number, release.created_at, release.parameters, \
     collection.slug, collection.title, collection.summary, collection.licences, collection.details FROM release \
     JOIN collection ON collection.id = release.collection WHERE release.id = $1";

#[derive(Deserialize)]
struct ReleaseRow {
    collection: String,
    number: i64,
    created_at: i64,
    #[serde(deserialize_with = "store::json")]
    parameters: Parameters,
    slug: String,
    title: String,
    summary: String,
    #[serde(deserialize_with = "store::json")]
    licences: Vec<String>,
    #[serde(deserialize_with = "store::json")]
    details: Vec<String>,
}

#[derive(Deserialize)]
struct PictureRow {
    id: String,
    source: Option<String>,
    #[serde(deserialize_with = "store::or_default")]
    source_id: String,
    #[serde(deserialize_with = "store::or_default")]
    file_name: String,
    picture: Picture,
}

#[derive(Deserialize)]
struct CaptionRow {
    id: String,
    image: String,
    caption: Caption,
}

/// A rating, and the id of the caption.
#[derive(Deserialize)]
struct RatingRow {
    caption: String,
    rating: Rating,
}

/// The content of a release, by its rows.
pub async fn content(store: &Store, release: &str) -> Result<Content> {
    let of: Option<ReleaseRow> = store.fetch_optional(RELEASE, args![release]).await?;
    let of = of.ok_or_else(Fault::not_found)?;
    let mut ratings: HashMap<String, Vec<Rating>> = HashMap::new();
    for row in store.fetch::<RatingRow>(RATINGS, args![release, of.created_at]).await? {
        ratings.entry(row.caption).or_default().push(row.rating);
    }
    let mut captions: HashMap<String, Vec<Caption>> = HashMap::new();
    for CaptionRow { id, image, caption } in store.fetch(CAPTIONS, args![release]).await? {
        let ratings = ratings.remove(&id).unwrap_or_default();
        captions.entry(image).or_default().push(Caption { ratings, ..caption });
    }
    let mut pictures = Vec::new();
    for row in store.fetch::<PictureRow>(PICTURES, args![release]).await? {
        let PictureRow { id, source, source_id, file_name, picture } = row;
        let origin =
            source.map(|source| Origin { source, id: SegmentId::from_untyped(&source_id), file_name });
        let captions = captions.remove(&id).unwrap_or_default();
        pictures.push(Picture { origin, captions, ..picture });
    }
    Ok(Content {
        id: release.to_owned(),
        slug: of.slug,
        title: of.title,
        summary: of.summary,
        licence: of.licences.join(", "),
        number: of.number,
        created_at: of.created_at,
        details: of.details,
        shares: of.parameters.shares(),
        withheld: of.parameters.withheld,
        pictures,
        sources: store.fetch(SOURCES, args![release]).await?,
        withdrawn: store.fetch(WITHDRAWN, args![&of.collection, of.created_at, release]).await?,
    })
}

/// An archive that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub name: String,
    /// The hash of its content.
    pub blob: String,
    /// The size in bytes.
    pub size: u64,
}

/// Writes the archives of a release, each of at most `largest` bytes, and keeps them among the blobs.
pub fn write(content: &Content, blobs: &Blobs, largest: u64) -> anyhow::Result<Vec<Part>> {
    let parts = archive::parts(archive::entries(content), largest);
    let mut written = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        let mut file = NamedTempFile::new_in(blobs.drafts())?;
        archive::write(part, blobs, file.as_file_mut())?;
        let size = file.as_file().metadata()?.len();
        let name = archive::name(&content.slug, content.number, k + 1, parts.len());
        written.push(Part { name, blob: blobs.put(file.reopen()?)?, size });
    }
    Ok(written)
}

/// The files of a release, and what its page says.
pub struct BuiltRelease {
    parts: Vec<Part>,
    card: String,
    card_zh: String,
    images: usize,
    captions: usize,
}

impl Work for BuildRelease {
    const KIND: &'static str = "release";
    const LANE: Lane = Lane::Checks;
    type Subject = String;
    type Output = BuiltRelease;

    async fn run(app: &App, job: &Job) -> Result<BuiltRelease, Failure> {
        let content = content(&app.store, &job.subject).await?;
        let blobs = app.blobs.clone();
        let make = move || {
            Ok::<_, anyhow::Error>(BuiltRelease {
                parts: write(&content, &blobs, archive::LARGEST)?,
                card: card::card(&content, Language::English),
                card_zh: card::card(&content, Language::Chinese),
                images: content.pictures.len(),
                captions: content.pictures.iter().map(|picture| picture.captions.len()).sum(),
            })
        };
        Ok(tokio::task::spawn_blocking(make).await??)
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<BuiltRelease, String>) -> Result<()> {
        let BuiltRelease { parts, card, card_zh, images, captions } = match outcome {
            Ok(built) => built,
            Err(reason) => {
                let sql =
                    "UPDATE release SET state = 'failed', reason = $1 WHERE id = $2 AND state = 'preparing'";
                tx.execute(sql, args![reason, &job.subject]).await?;
                return Ok(());
            }
        };
        tx.execute("DELETE FROM release_part WHERE release = $1", args![&job.subject]).await?;
        for (position, Part { name, blob, size }) in parts.into_iter().enumerate() {
            let row = columns! { release: &job.subject, position, name, blob, size: size as i64 };
            tx.insert_row("release_part", row).await?;
        }
        let row = columns! {
            state: "ready", reason: None::<String>, card, card_zh, images, captions, ready_at: clock::now(),
        };
        tx.change_row("release", &job.subject, row).await?;
        retire(tx, &job.subject).await
    }
}

/// Has a release built again that failed.
pub async fn build_again(app: &App, release: &str, actor: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let sql = "UPDATE release SET state = 'preparing', reason = NULL WHERE id = $1 AND state = 'failed'";
    if tx.execute(sql, args![release]).await? == 0 {
        return Err(fault!(CONFLICT, "release-not-failed", "This release has not failed."));
    }
    jobs::add::<BuildRelease>(&mut tx, &release.to_owned(), Priority::Awaited).await?;
    audit::note(&mut tx, Some(actor), "release.build", release, json!({})).await?;
    Ok(app.commit(tx).await?)
}

/// Earlier releases with something that was withdrawn are not given out any more, and their files go.
async fn retire(tx: &mut Tx, newest: &str) -> Result<()> {
    const OLD: &str = "SELECT release.id FROM release WHERE release.state = 'ready' AND release.id <> $1 \
         AND release.collection = (SELECT collection FROM release WHERE id = $1) AND EXISTS \
         (SELECT 1 FROM release_item AS item JOIN tombstone ON tombstone.collection = release.collection \
         AND tombstone.kind = item.kind AND tombstone.number = item.number WHERE item.release = release.id)";
    for id in tx.fetch::<String>(OLD, args![newest]).await? {
        let files = "SELECT blob FROM release_part WHERE release = $1";
        let files: Vec<String> = tx.fetch(files, args![&id]).await?;
        tx.execute("DELETE FROM release_part WHERE release = $1", args![&id]).await?;
        tx.change_row("release", &id, columns! { state: "retired" }).await?;
        for file in files {
            processing::discard(tx, &file).await?;
        }
    }
    Ok(())
}
