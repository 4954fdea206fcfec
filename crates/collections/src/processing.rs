//! The job that takes a picture from the upload to the queue of moderators, or to the people who describe it.
//!
//! Each upload is encoded again in the sandbox (`pictures.rs` of the base). Near-duplicates are found by a 64-bit
//! difference hash in eight parts, of which two pictures with at most seven different bits share one.

use capeval_api::ImageState;
use capeval_site::named_files;
use capeval_site::pictures::{REFUSALS, RewrittenPicture, rewrite};
use capeval_site::prelude::*;

use super::records::{self, Contribution, Image};
use super::{similarity, slots};

/// Processes a picture.
pub struct ProcessPicture;

/// Removes a file that no row names any more.
pub struct DiscardFile;

/// The same picture is there already.
const SAME: &str = say("The same picture is in this collection already.");

/// The message to the uploader where nothing more precise can be said.
const FAILED: &str = say("The picture could not be processed.");

impl Work for ProcessPicture {
    const KIND: &'static str = "picture";
    const LANE: Lane = Lane::Errands;
    type Subject = String;
    /// `None` if the picture was withdrawn before it was processed.
    type Output = Option<RewrittenPicture>;

    async fn run(app: &App, job: &Job) -> Result<Self::Output, Failure> {
        let sql = "SELECT upload FROM image WHERE id = $1";
        let upload: Option<Option<String>> = app.store.fetch_optional(sql, args![&job.subject]).await?;
        Ok(match upload.flatten() {
            Some(upload) => Some(rewrite(app, &upload).await?),
            None => None,
        })
    }

    async fn finish(app: &App, tx: &mut Tx, job: &Job, outcome: Result<Self::Output, String>) -> Result<()> {
        slots::lock(tx, &job.subject).await?;
        let image: Option<Image> = tx.fetch_optional(Image::BY_ID, args![&job.subject]).await?;
        let Some(image) = image else { return Ok(()) };
        if image.state != ImageState::Processing {
            return Ok(());
        }
        match outcome {
            Ok(Some(rewritten)) if has(tx, &image.collection, &image.id, &rewritten.blob).await? => {
                refuse(tx, &image.id, SAME).await?;
            }
            Ok(Some(rewritten)) => add(app, tx, &image, rewritten).await?,
            Ok(None) => refuse(tx, &image.id, FAILED).await?,
            Err(reason) => {
                let known = REFUSALS.into_iter().find(|known| *known == reason);
                refuse(tx, &image.id, known.unwrap_or(FAILED)).await?;
            }
        }
        if let Some(upload) = &image.upload {
            discard(tx, upload).await?;
        }
        Ok(())
    }
}

/// Adds a picture to the queue of moderators, or lets people describe it if its uploader is trusted.
async fn add(app: &App, tx: &mut Tx, image: &Image, rewritten: RewrittenPicture) -> Result<()> {
    let near = settle(tx, &image.collection, &image.id, rewritten).await?;
    let collection = records::collection_of(&app.store, &image.collection).await?;
    if near.is_none() && approved(tx, image).await? >= i64::from(collection.approvals) {
        approve(tx, &image.id, None).await?;
    }
    Ok(())
}

/// Writes what is known about a picture, which then waits for a moderator; returns one that is nearly the same.
pub(super) async fn settle(
    tx: &mut Tx,
    collection: &str,
    image: &str,
    rewritten: RewrittenPicture,
) -> Result<Option<String>, Error> {
    let RewrittenPicture { pictured, blob, thumb, size } = rewritten;
    let near = near(tx, collection, &pictured.phash).await?;
    let row = columns! {
        blob, thumb, kind: pictured.kind, width: pictured.width, height: pictured.height,
        size: size as i64, phash: &pictured.phash, near: near.clone(), upload: None::<String>,
        state: "pending",
    };
    tx.change_row("image", image, row).await?;
    for band in similarity::bands(&pictured.phash) {
        tx.add_row("image_band", columns! { collection, band, image }).await?;
    }
    Ok(near)
}

async fn refuse(tx: &mut Tx, image: &str, reason: &'static str) -> Result<(), Error> {
    tx.change_row("image", image, columns! { state: "rejected", reason, upload: None::<String> }).await
}

/// Lets people describe a picture.
pub(super) async fn approve(tx: &mut Tx, image: &str, by: Option<&str>) -> Result<(), Error> {
    slots::open(tx, image).await?;
    tx.change_row("image", image, columns! { approved_at: clock::now(), approved_by: by }).await
}

/// The number of the uploader's approved pictures.
async fn approved(tx: &mut Tx, image: &Image) -> Result<i64, Error> {
    let sql = "SELECT COUNT(*) FROM image WHERE uploader = $1 AND collection = $2 AND approved_at IS NOT NULL \
               AND state IN ('open', 'complete')";
    tx.fetch_one(sql, args![image.uploader.clone(), &image.collection]).await
}

/// Returns true if the collection has another picture with the same pixels.
pub(super) async fn has(tx: &mut Tx, collection: &str, image: &str, blob: &str) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM image WHERE blob = $1 AND collection = $2 AND id <> $3 \
               AND state NOT IN ('rejected', 'withdrawn')";
    tx.exists(sql, args![blob, collection, image]).await
}

/// The picture of the collection that is most like this one, if any is nearly the same.
pub(super) async fn near(tx: &mut Tx, collection: &str, phash: &str) -> Result<Option<String>, Error> {
    const CLOSE: &str = "SELECT DISTINCT image.id, image.phash FROM image_band \
        JOIN image ON image.id = image_band.image WHERE image_band.collection = $1 \
        AND image_band.band IN ($2, $3, $4, $5, $6, $7, $8, $9) AND image.state NOT IN ('rejected', 'withdrawn')";
    let mut values = args![collection];
    values.extend(similarity::bands(phash).into_iter().map(Into::into));
    let mut nearest: Option<(u32, String)> = None;
    for (id, other) in tx.fetch::<(String, String)>(CLOSE, values).await? {
        let distance = similarity::distance(phash, &other);
        if distance <= similarity::NEAR && nearest.as_ref().is_none_or(|(least, _)| distance < *least) {
            nearest = Some((distance, id));
        }
    }
    Ok(nearest.map(|(_, id)| id))
}

/// Removes a file among the blobs, once the transaction is committed and unless a row names it then.
pub(super) async fn discard(tx: &mut Tx, hash: &str) -> Result<(), Error> {
    jobs::add::<DiscardFile>(tx, &hash.to_owned(), Priority::Background).await
}

impl Work for DiscardFile {
    const KIND: &'static str = "discard";
    const LANE: Lane = Lane::Errands;
    /// The hash of the file.
    type Subject = String;
    type Output = ();

    async fn run(app: &App, job: &Job) -> Result<(), Failure> {
        // What no row names is never named again, so nothing that may still be rolled back depends on it.
        if !named_files::is_named(&mut app.store.snapshot().await?, app.features, &job.subject).await? {
            let (blobs, hash) = (app.blobs.clone(), job.subject.clone());
            tokio::task::spawn_blocking(move || blobs.remove(&hash)).await??;
        }
        Ok(())
    }

    async fn finish(_: &App, _: &mut Tx, _: &Job, _: Result<(), String>) -> Result<()> {
        Ok(())
    }
}
