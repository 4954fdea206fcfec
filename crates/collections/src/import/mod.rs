//! Importing pictures and captions from elsewhere. Each picture is added with its captions in one transaction, and what
//! is there already is known by its content: an import that was interrupted goes on when it is run again.
//!
//! It keeps no list of what is still to do: a picture is there if the hash of its file is, a caption if its picture has
//! its text. A check is the same run without the transactions. The command encodes pictures in child processes, like
//! the server, but not as jobs: the files of an administrator are read where they are, without a copy of each picture.

mod admission;
mod examine;
mod left_out;
mod pages;
pub mod records;
pub mod removal;
mod source;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::pin::pin;

use anyhow::Context;
use capeval_site::pictures::EncodedPicture;
use capeval_site::prelude::*;
use futures_util::{StreamExt, TryStreamExt, stream};

use self::admission::Room;
use self::examine::{Examination, ExaminedPicture};
use self::source::Item;
use super::records::Collection;
use super::{processing, similarity};

pub use self::left_out::{LeftOut, Reason};
pub(super) use self::pages::routes;

/// The things to import, and their description.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// The folder of the pictures.
    pub pictures: PathBuf,
    /// Files with their captions; without one, all pictures of the folder are imported.
    pub captions: Vec<PathBuf>,
    /// The column of ids, if it has no usual name.
    pub id_column: Option<String>,
    /// The columns of captions, if they have no usual names.
    pub caption_columns: Option<Vec<String>>,
    /// The language of all captions, if files do not say it.
    pub language: Option<String>,
    /// The source of all of it.
    pub source: String,
    /// The licence of the pictures and captions there.
    pub licence: String,
    /// Whom that licence asks to name.
    pub attribution: String,
    /// True if captions count without ratings.
    pub are_accepted: bool,
    /// The account of the host who answers for it.
    pub by: Option<String>,
}

/// The result of an import, or of its check.
#[derive(Debug, Default)]
pub struct Summary {
    pub pictures: usize,
    /// The number of pictures that wait for a moderator, since they look like another.
    pub waiting: usize,
    /// Captions by language.
    pub captions: BTreeMap<String, usize>,
    /// The number of pictures that were there already.
    pub known_pictures: usize,
    pub known_captions: usize,
    pub left_out: LeftOut,
}

/// The most characters of a licence, and of an attribution.
const LICENCE: usize = 80;
const ATTRIBUTION: usize = 1_000;

impl Order {
    /// The same with texts as they are stored.
    ///
    /// # Errors
    /// With what is wrong in words.
    fn checked(&self, collection: &Collection) -> anyhow::Result<Self> {
        let source = people::name(&self.source).map_err(|_| {
            anyhow::anyhow!(
                "the name of the source has no character, or more than 80; give it another with --source"
            )
        })?;
        let (licence, attribution) = (clean_text::line(&self.licence), clean_text::line(&self.attribution));
        anyhow::ensure!(
            !licence.is_empty() && licence.chars().count() <= LICENCE,
            "the licence has no character, or more than {LICENCE}; name it with --licence, such as CC-BY-4.0"
        );
        anyhow::ensure!(
            attribution.chars().count() <= ATTRIBUTION,
            "the attribution has more than {ATTRIBUTION} characters; shorten it"
        );
        if let Some(language) = &self.language {
            anyhow::ensure!(
                collection.languages.contains(language),
                "the collection has no captions in {language}; choose from {}",
                collection.languages.join(", ")
            );
        }
        Ok(Self { source, licence, attribution, ..self.clone() })
    }
}

const STOPPED: &str = "the import has stopped; run the command again to go on";
const CHECK_STOPPED: &str = "the check has stopped";

/// Imports pictures and captions, or only tells what would be imported. `advance` is told how many pictures of how many
/// are done.
///
/// # Errors
/// If nothing can be imported at all, or the import cannot go on; what is done by then stays.
pub async fn run(
    app: &App,
    collection: &Collection,
    order: &Order,
    is_check: bool,
    advance: impl Fn(usize, usize),
) -> anyhow::Result<Summary> {
    let order = order.checked(collection)?;
    let mut summary = Summary::default();
    let items = source::read(app, collection, &order, &mut summary.left_out).await?;
    let n = items.len();
    let import = match is_check {
        true => None,
        false => Some(records::begin(&app.store, collection, &order).await?),
    };
    let target = Target { app, collection, order: &order, import: import.as_deref() };
    let removed = records::removed(&app.store, &collection.id).await?;
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    let examine = |item| examine::examine(app, collection, &order, &removed, item);
    let mut examined = pin!(stream::iter(items).map(examine).buffered(at_once));
    let (mut seen, mut done) = (SeenPictures::default(), 0);
    let stopped = if is_check { CHECK_STOPPED } else { STOPPED };
    while let Some(ExaminedPicture { item, found }) = examined.try_next().await.context(stopped)? {
        target.take(&item, found, &mut seen, &mut summary).await.context(stopped)?;
        done += 1;
        advance(done, n);
    }
    if let Some(import) = &import {
        records::finish(&app.store, import, &summary.left_out).await?;
    }
    Ok(summary)
}

/// The pictures so far, for what the database does not know of them.
#[derive(Default)]
struct SeenPictures {
    /// The ids of images by the hash of their file.
    files: HashMap<String, String>,
    /// The pictures of a check, which are not added to the database: by the hash of what would be kept, with their
    /// look.
    pictures: HashMap<String, String>,
    hashes: Vec<String>,
}

/// The target of an import; none, for a check.
struct Target<'a> {
    app: &'a App,
    collection: &'a Collection,
    order: &'a Order,
    import: Option<&'a str>,
}

/// The reason why a picture with the same content as another is left out.
const SAME: &str = "the same picture is in this collection already";

impl Target<'_> {
    /// Takes a picture with its captions, or leaves it out with them.
    async fn take(
        &self,
        item: &Item,
        found: Examination,
        seen: &mut SeenPictures,
        summary: &mut Summary,
    ) -> anyhow::Result<()> {
        let hash = match &found {
            Examination::LeftOut(reason, why) => {
                summary.left_out.picture(item, *reason, why);
                return Ok(());
            }
            Examination::Known { hash, .. } | Examination::New { hash, .. } => hash.clone(),
        };
        if let Some(first) = seen.files.get(&hash) {
            let why = format!("the file is the same as that of image {first}");
            summary.left_out.picture(item, Reason::SamePicture, &why);
            return Ok(());
        }
        seen.files.insert(hash.clone(), item.id.clone());
        match (found, self.import) {
            (Examination::Known { image, .. }, import) => self.extend(import, item, &image, summary).await,
            (Examination::New { encoded, .. }, Some(import)) => {
                self.add(import, item, &hash, encoded, summary).await
            }
            (Examination::New { encoded, .. }, None) => self.foresee(item, &encoded, seen, summary).await,
            (Examination::LeftOut(..), _) => Ok(()),
        }
    }

    /// Adds captions to a picture that is there already.
    async fn extend(
        &self,
        import: Option<&str>,
        item: &Item,
        image: &str,
        summary: &mut Summary,
    ) -> anyhow::Result<()> {
        summary.known_pictures += 1;
        let Some(import) = import else {
            let mut tx = self.app.store.snapshot().await?;
            let mut room = records::room(&mut tx, self.collection, image).await?;
            room.admit(self.collection, item, summary);
            return Ok(());
        };
        let mut tx = self.app.store.begin().await?;
        self.describe(&mut tx, import, item, image, summary).await?;
        Ok(tx.commit().await?)
    }

    /// Adds the captions of an image to a picture, in the places that are free.
    async fn describe(
        &self,
        tx: &mut Tx,
        import: &str,
        item: &Item,
        image: &str,
        summary: &mut Summary,
    ) -> anyhow::Result<()> {
        let mut room = records::locked_room(tx, self.collection, image).await?;
        let admitted = room.admit(self.collection, item, summary);
        Ok(records::add_captions(tx, (self.collection, self.order, import), item, image, &admitted).await?)
    }

    /// Adds a picture with its captions.
    async fn add(
        &self,
        import: &str,
        item: &Item,
        hash: &str,
        encoded: EncodedPicture,
        summary: &mut Summary,
    ) -> anyhow::Result<()> {
        let rewritten =
            encoded.keep(&self.app.blobs).await.map_err(|failure| anyhow::anyhow!("{failure}"))?;
        let blob = rewritten.blob.clone();
        let mut tx = self.app.store.begin().await?;
        let Some(image) =
            records::add_picture(&mut tx, (self.collection, self.order, import), item, hash).await?
        else {
            // Another process was faster.
            drop(tx);
            let known = records::find_image(&self.app.store, &self.collection.id, hash).await?;
            let image = known.ok_or_else(|| Fault::internal(&"a picture was added and removed at once"))?;
            return self.extend(Some(import), item, &image, summary).await;
        };
        if processing::has(&mut tx, &self.collection.id, &image, &blob).await? {
            summary.left_out.picture(item, Reason::SamePicture, SAME);
            return Ok(());
        }
        let near = processing::settle(&mut tx, &self.collection.id, &image, rewritten).await?;
        self.describe(&mut tx, import, item, &image, summary).await?;
        match near {
            None => processing::approve(&mut tx, &image, self.order.by.as_deref()).await?,
            Some(_) => summary.waiting += 1,
        }
        #[cfg(debug_assertions)]
        self.app.points.pass("picture-added").await;
        tx.commit().await?;
        #[cfg(debug_assertions)]
        self.app.points.pass("picture-imported").await;
        summary.pictures += 1;
        Ok(())
    }

    /// Tells what would become of a picture.
    async fn foresee(
        &self,
        item: &Item,
        encoded: &EncodedPicture,
        seen: &mut SeenPictures,
        summary: &mut Summary,
    ) -> anyhow::Result<()> {
        let (blob, phash) = (encoded.hash()?, &encoded.pictured.phash);
        let mut tx = self.app.store.snapshot().await?;
        if let Some(first) = seen.pictures.get(&blob) {
            let why = format!("the picture is the same as that of image {first}");
            summary.left_out.picture(item, Reason::SamePicture, &why);
            return Ok(());
        }
        if processing::has(&mut tx, &self.collection.id, "", &blob).await? {
            summary.left_out.picture(item, Reason::SamePicture, SAME);
            return Ok(());
        }
        let is_near = |other: &String| similarity::distance(other, phash) <= similarity::NEAR;
        if seen.hashes.iter().any(is_near)
            || processing::near(&mut tx, &self.collection.id, phash).await?.is_some()
        {
            summary.waiting += 1;
        }
        seen.pictures.insert(blob, item.id.clone());
        seen.hashes.push(phash.clone());
        Room::new(self.collection).admit(self.collection, item, summary);
        summary.pictures += 1;
        Ok(())
    }
}
