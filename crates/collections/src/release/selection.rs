//! Creates a release: decides in one transaction what is in it, and which numbers and splits things have for good.

use capeval_site::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::build::BuildRelease;
use super::split::{self, DealtPicture, Shares, Split};

/// The parameters of a release.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// The percentage of pictures for validation.
    pub val: u32,
    /// The percentage of pictures for test.
    pub test: u32,
    /// The split whose captions are kept back.
    pub withheld: Option<Split>,
}

impl Parameters {
    /// The shares of pictures that are asked for.
    pub fn shares(&self) -> Shares {
        Shares { val: self.val, test: self.test }
    }
}

/// A picture of a release.
#[derive(Deserialize)]
struct Picture {
    id: String,
    split_group: String,
    phash: Option<String>,
    /// The split of an earlier release.
    earlier: Option<Split>,
}

/// A benchmark that has another split of the collection `$1` than `$2` as hidden references.
const PUBLISHED: &str = "SELECT 1 FROM publication JOIN release ON release.id = publication.release \
     WHERE release.collection = $1 AND publication.split <> $2";

/// Captions that count for a goal for which their picture is complete, or was in an earlier release: it may lack
/// captions again because more are wanted now.
macro_rules! counted {
    () => {
        "caption.state = 'accepted' AND EXISTS (SELECT 1 FROM image_slots AS slots \
         WHERE slots.image = caption.image AND slots.language IN ('', caption.language) \
         AND (slots.accepted >= slots.wanted OR EXISTS (SELECT 1 FROM release_item AS item \
         JOIN caption AS known ON known.id = item.subject WHERE known.image = caption.image \
         AND slots.language IN ('', known.language))))"
    };
}

/// The pictures of a release: those with such captions. `$1` is the collection.
const PICTURES: &str = concat!(
    "SELECT image.id, image.split_group, image.phash, \
     (SELECT MAX(item.split) FROM release_item AS item WHERE item.subject = image.id) AS earlier FROM image \
     WHERE image.collection = $1 AND image.state IN ('open', 'complete') \
     AND EXISTS (SELECT 1 FROM caption WHERE caption.image = image.id AND ",
    counted!(),
    ") ORDER BY image.id"
);

/// Its captions: `$1` is the release.
const CAPTIONS: &str = concat!(
    "INSERT INTO release_item (release, kind, subject, number, split) \
     SELECT $1, 'caption', caption.id, 0, item.split FROM caption \
     JOIN release_item AS item ON item.subject = caption.image AND item.release = $1 WHERE ",
    counted!()
);

/// Gives numbers to things that have none: `$1` is the collection, `$2` the release.
const NUMBER_IMAGES: &str = "INSERT INTO coco_id (collection, kind, number, subject) \
     SELECT $1, 'image', (SELECT COALESCE(MAX(number), 0) FROM coco_id WHERE collection = $1 AND kind = 'image') \
     + ROW_NUMBER() OVER (ORDER BY item.subject), item.subject FROM release_item AS item \
     WHERE item.release = $2 AND item.kind = 'image' \
     AND NOT EXISTS (SELECT 1 FROM coco_id WHERE coco_id.subject = item.subject)";
const NUMBER_CAPTIONS: &str = "INSERT INTO coco_id (collection, kind, number, subject) \
     SELECT $1, 'caption', (SELECT COALESCE(MAX(number), 0) FROM coco_id WHERE collection = $1 AND kind = 'caption') \
     + ROW_NUMBER() OVER (ORDER BY item.subject), item.subject FROM release_item AS item \
     WHERE item.release = $2 AND item.kind = 'caption' \
     AND NOT EXISTS (SELECT 1 FROM coco_id WHERE coco_id.subject = item.subject)";

/// Records the things that earlier releases had and that may not be shown any more: `$1` is the collection, `$2` the
/// release, `$3` the time.
const BURY_IMAGES: &str = "INSERT INTO tombstone (collection, kind, number, reason, withdrawn_at) \
     SELECT $1, 'image', coco_id.number, COALESCE(image.state, 'removed'), $3 FROM coco_id \
     LEFT JOIN image ON image.id = coco_id.subject WHERE coco_id.collection = $1 AND coco_id.kind = 'image' \
     AND NOT EXISTS (SELECT 1 FROM release_item AS item WHERE item.release = $2 AND item.subject = coco_id.subject) \
     ON CONFLICT DO NOTHING";
const BURY_CAPTIONS: &str = "INSERT INTO tombstone (collection, kind, number, reason, withdrawn_at) \
     SELECT $1, 'caption', coco_id.number, COALESCE(caption.state, 'removed'), $3 FROM coco_id \
     LEFT JOIN caption ON caption.id = coco_id.subject WHERE coco_id.collection = $1 AND coco_id.kind = 'caption' \
     AND NOT EXISTS (SELECT 1 FROM release_item AS item WHERE item.release = $2 AND item.subject = coco_id.subject) \
     ON CONFLICT DO NOTHING";

/// Decides what the next release of a collection has, and has its files made; returns its number.
///
/// # Errors
/// If no picture is complete, the numbers make no sense, or the database fails.
pub async fn create(
    app: &App,
    collection: &str,
    title: &str,
    parameters: &Parameters,
    actor: Option<&str>,
) -> Result<i64> {
    if parameters.val + parameters.test > 90 {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "shares", "Validation and test together have at most 90 % of the pictures."
        });
    }
    let mut tx = app.store.begin().await?;
    // Two releases at once have different numbers.
    tx.lock("collection", collection).await?;
    let number = add(&mut tx, collection, title, parameters, actor).await?;
    app.commit(tx).await?;
    Ok(number)
}

async fn add(
    tx: &mut Tx,
    collection: &str,
    title: &str,
    parameters: &Parameters,
    actor: Option<&str>,
) -> Result<i64> {
    let now = clock::now();
    let pictures: Vec<Picture> = tx.fetch(PICTURES, args![collection]).await?;
    if pictures.is_empty() {
        return Err(fault! {
            CONFLICT, "nothing-to-release",
            "No picture has all its captions yet, so there is nothing to release."
        });
    }
    let withheld = parameters.withheld.map_or("", Split::name);
    if tx.exists(PUBLISHED, args![collection, withheld]).await? {
        return Err(fault! {
            CONFLICT, "split-is-hidden",
            "A benchmark uses the captions of one split as hidden references, so releases must withhold that split."
        });
    }
    let number = "SELECT COALESCE(MAX(number), 0) + 1 FROM release WHERE collection = $1";
    let number: i64 = tx.fetch_one(number, args![collection]).await?;
    let id = ids::new_id();
    let row = columns! {
        id: &id, collection, number, title, state: "preparing",
        parameters: serde_json::to_string(parameters)?, created_by: actor, created_at: now,
    };
    tx.insert_row("release", row).await?;
    let splits = deal(&pictures, parameters, collection);
    for (picture, split) in pictures.iter().zip(splits) {
        let row = columns! {
            release: &id, kind: "image", subject: &picture.id, number: 0_i64, split: split.name(),
        };
        tx.insert_row("release_item", row).await?;
    }
    tx.execute(CAPTIONS, args![&id]).await?;
    give_numbers(tx, collection, &id, now).await?;
    jobs::add::<BuildRelease>(tx, &id, Priority::Awaited).await?;
    audit::note(tx, actor, "release.make", &id, json!({ "collection": collection, "number": number }))
        .await?;
    Ok(number)
}

/// Gives numbers to what has none, and buries what earlier releases had and this one does not.
async fn give_numbers(tx: &mut Tx, collection: &str, release: &str, now: i64) -> Result<(), Error> {
    for statement in [NUMBER_IMAGES, NUMBER_CAPTIONS] {
        tx.execute(statement, args![collection, release]).await?;
    }
    let sql = "UPDATE release_item SET number = (SELECT coco_id.number FROM coco_id WHERE coco_id.subject = \
               release_item.subject) WHERE release = $1";
    tx.execute(sql, args![release]).await?;
    let sql = "DELETE FROM tombstone WHERE collection = $1 AND EXISTS (SELECT 1 FROM release_item AS item \
               WHERE item.release = $2 AND item.kind = tombstone.kind AND item.number = tombstone.number)";
    // What was taken away and has come back is not withdrawn any more.
    tx.execute(sql, args![collection, release]).await?;
    for statement in [BURY_IMAGES, BURY_CAPTIONS] {
        tx.execute(statement, args![collection, release, now]).await?;
    }
    Ok(())
}

fn deal(pictures: &[Picture], parameters: &Parameters, collection: &str) -> Vec<Split> {
    let dealt = pictures.iter().map(|picture| DealtPicture {
        group: &picture.split_group,
        hash: picture.phash.as_ref().and_then(|hash| u64::from_str_radix(hash, 16).ok()),
        earlier: picture.earlier,
    });
    split::deal(&dealt.collect::<Vec<_>>(), parameters.shares(), collection)
}
