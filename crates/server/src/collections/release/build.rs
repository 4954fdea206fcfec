//! The work behind releases: gathering what is in one from the database, and writing its archives.

use std::collections::HashMap;

use tempfile::NamedTempFile;

use super::archive;
use super::card;
use super::content::{Caption, Content, Picture, Rating, Withdrawn};
use super::make::Parameters;
use crate::app::App;
use crate::blobs::Blobs;
use crate::collections::processing;
use crate::fault::Fault;
use crate::jobs::{Failure, Job, Work};
use crate::store::{Row, Store, Tx};
use crate::web::language::Language;
use crate::{args, clock};

/// Makes the files of a release.
pub struct BuildRelease;

const PICTURES: &str = "SELECT item.number, item.split, image.* FROM release_item AS item \
     JOIN image ON image.id = item.subject WHERE item.release = $1 AND item.kind = 'image' ORDER BY item.number";
const CAPTIONS: &str = "SELECT item.number, caption.* FROM release_item AS item \
     JOIN caption ON caption.id = item.subject WHERE item.release = $1 AND item.kind = 'caption' ORDER BY item.number";
/// Ratings that count, given before the release.
const RATINGS: &str = "SELECT rating.* FROM release_item AS item JOIN rating ON rating.caption = item.subject \
     WHERE item.release = $1 AND item.kind = 'caption' AND rating.weight > 0 AND rating.created_at <= $2 \
     ORDER BY rating.caption, rating.created_at, rating.account";
const WITHDRAWN: &str = "SELECT tombstone.* FROM tombstone WHERE collection = $1 AND withdrawn_at <= $2 \
     AND NOT EXISTS (SELECT 1 FROM release_item AS item WHERE item.release = $3 AND item.kind = tombstone.kind \
     AND item.number = tombstone.number) ORDER BY kind, number";

/// What a release has, by its rows.
///
/// # Errors
/// If there is no such release, or the database fails.
pub async fn content(store: &Store, release: &str) -> Result<Content, Fault> {
    let row = store
        .first(
            "SELECT release.*, collection.slug, collection.title AS collection_title, collection.summary, \
             collection.licences FROM release JOIN collection ON collection.id = release.collection \
             WHERE release.id = $1",
            args![release],
        )
        .await?
        .ok_or_else(Fault::not_found)?;
    let created_at: i64 = row.get("created_at")?;
    let collection: String = row.get("collection")?;
    let parameters: Parameters = serde_json::from_str(&row.get::<String>("parameters")?)?;
    let licences: Vec<String> = serde_json::from_str(&row.get::<String>("licences")?)?;
    let mut ratings: HashMap<String, Vec<Rating>> = HashMap::new();
    for row in store.all(RATINGS, args![release, created_at]).await? {
        let rating = Rating {
            rater: row.get("account")?,
            grade: row.get("grade")?,
            tags: serde_json::from_str(&row.get::<String>("tags")?)?,
        };
        ratings.entry(row.get("caption")?).or_default().push(rating);
    }
    let mut captions: HashMap<String, Vec<Caption>> = HashMap::new();
    for row in store.all(CAPTIONS, args![release]).await? {
        let caption = Caption {
            number: row.get("number")?,
            language: row.get("language")?,
            text: row.get("text")?,
            script: row.get("script")?,
            // Everybody whose data were deleted is one nobody.
            author: row.get::<Option<String>>("author")?.unwrap_or_default(),
            ratings: ratings.remove(&row.get::<String>("id")?).unwrap_or_default(),
        };
        captions.entry(row.get("image")?).or_default().push(caption);
    }
    let mut pictures = Vec::new();
    for row in store.all(PICTURES, args![release]).await? {
        let captions = captions.remove(&row.get::<String>("id")?).unwrap_or_default();
        pictures.push(picture(&row, captions)?);
    }
    let withdrawn = store.all(WITHDRAWN, args![&collection, created_at, release]).await?;
    let withdrawn = withdrawn.iter().map(|row| {
        Ok(Withdrawn {
            kind: row.get("kind")?,
            number: row.get("number")?,
            reason: row.get("reason")?,
            at: row.get("withdrawn_at")?,
        })
    });
    Ok(Content {
        id: release.to_owned(),
        slug: row.get("slug")?,
        title: row.get("collection_title")?,
        summary: row.get("summary")?,
        licence: licences.join(", "),
        number: row.get("number")?,
        created_at,
        withheld: parameters.withheld,
        pictures,
        withdrawn: withdrawn.collect::<Result<_, crate::store::Error>>()?,
    })
}

fn picture(row: &Row, captions: Vec<Caption>) -> Result<Picture, Fault> {
    let lost = || Fault::internal(&"a released picture has no file");
    Ok(Picture {
        number: row.get("number")?,
        blob: row.get::<Option<String>>("blob")?.ok_or_else(lost)?,
        size: row.get::<Option<i64>>("size")?.unwrap_or(0).unsigned_abs(),
        extension: extension(&row.get::<Option<String>>("kind")?.unwrap_or_default()).to_owned(),
        width: row.get::<Option<i64>>("width")?.unwrap_or(0),
        height: row.get::<Option<i64>>("height")?.unwrap_or(0),
        game: row.get("game")?,
        platform: row.get("platform")?,
        licence: row.get("licence")?,
        split: row.get::<String>("split")?.parse().map_err(|_| Fault::internal(&"a split is unknown"))?,
        captions,
    })
}

/// The end of the name of a file with this media type.
fn extension(kind: &str) -> &str {
    if kind == "image/jpeg" { "jpg" } else { "png" }
}

/// An archive that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name.
    pub name: String,
    /// The hash of its content.
    pub blob: String,
    /// The size in bytes.
    pub size: u64,
}

/// Writes the archives of a release, each of at most `largest` bytes, and keeps them among the blobs.
///
/// # Errors
/// If a picture is missing, or the disk refuses it.
pub fn write(content: &Content, blobs: &Blobs, largest: u64) -> anyhow::Result<Vec<Part>> {
    let parts = archive::parts(archive::entries(content), largest);
    let mut written = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        let mut file = NamedTempFile::new_in(blobs.folder().join("new"))?;
        archive::write(part, blobs, file.as_file_mut())?;
        let size = file.as_file().metadata()?.len();
        let name = archive::name(&content.slug, content.number, k + 1, parts.len());
        written.push(Part { name, blob: blobs.put(file.reopen()?)?, size });
    }
    Ok(written)
}

/// The files of a release, and what its page says.
pub struct Built {
    parts: Vec<Part>,
    card: String,
    card_zh: String,
    images: usize,
    captions: usize,
}

impl Work for BuildRelease {
    const KIND: &'static str = "release";
    type Subject = String;
    type Done = Built;

    async fn run(app: &App, job: &Job) -> Result<Built, Failure> {
        let content = content(&app.store, &job.subject).await?;
        let blobs = app.blobs.clone();
        let make = move || {
            Ok::<_, anyhow::Error>(Built {
                parts: write(&content, &blobs, archive::LARGEST)?,
                card: card::card(&content, Language::English),
                card_zh: card::card(&content, Language::Chinese),
                images: content.pictures.len(),
                captions: content.pictures.iter().map(|picture| picture.captions.len()).sum(),
            })
        };
        Ok(tokio::task::spawn_blocking(make).await??)
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<Built, String>) -> Result<(), Fault> {
        let Built { parts, card, card_zh, images, captions } = match outcome {
            Ok(built) => built,
            Err(reason) => {
                tx.execute(
                    "UPDATE release SET state = 'failed', reason = $1 WHERE id = $2 AND state = 'preparing'",
                    args![reason, &job.subject],
                )
                .await?;
                return Ok(());
            }
        };
        tx.execute("DELETE FROM release_part WHERE release = $1", args![&job.subject]).await?;
        for (position, Part { name, blob, size }) in parts.into_iter().enumerate() {
            tx.execute(
                "INSERT INTO release_part (release, position, name, blob, size) VALUES ($1, $2, $3, $4, $5)",
                args![&job.subject, position, name, blob, size as i64],
            )
            .await?;
        }
        tx.execute(
            "UPDATE release SET state = 'ready', reason = NULL, card = $1, images = $2, captions = $3, ready_at = $4, \
             card_zh = $6 WHERE id = $5",
            args![card, images, captions, clock::now(), &job.subject, card_zh],
        )
        .await?;
        retire(tx, &job.subject).await
    }
}

/// Earlier releases with something that was withdrawn are not given out any more, and their files go.
async fn retire(tx: &mut Tx, newest: &str) -> Result<(), Fault> {
    const OLD: &str = "SELECT release.id FROM release WHERE release.state = 'ready' AND release.id <> $1 \
         AND release.collection = (SELECT collection FROM release WHERE id = $1) AND EXISTS \
         (SELECT 1 FROM release_item AS item JOIN tombstone ON tombstone.collection = release.collection \
         AND tombstone.kind = item.kind AND tombstone.number = item.number WHERE item.release = release.id)";
    for row in tx.all(OLD, args![newest]).await? {
        let id: String = row.get("id")?;
        let files = tx.all("SELECT blob FROM release_part WHERE release = $1", args![&id]).await?;
        tx.execute("DELETE FROM release_part WHERE release = $1", args![&id]).await?;
        tx.execute("UPDATE release SET state = 'retired' WHERE id = $1", args![&id]).await?;
        for file in files {
            processing::discard(tx, &file.get::<String>("blob")?).await?;
        }
    }
    Ok(())
}
