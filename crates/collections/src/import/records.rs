//! Imports in the database: what they have added, and what they have left out.

use std::collections::HashSet;

use capeval_site::newest_first;
use capeval_site::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::Order;
use super::admission::{AdmittedCaption, Room};
use super::left_out::{LeftOut, Number};
use super::source::Item;
use crate::captioning::submit::{self, New};
use crate::records::Collection;
use crate::rules::order;
use crate::rules::states::CaptionState;
use crate::slots;

capeval_choice::named! {
    /// The progress of an import.
    pub enum ImportState ("state of an import") {
        Running = "running", "Not finished";
        Done = "done", "Done";
        Removing = "removing", "Being removed";
        Removed = "removed", "Removed in part";
    }
}

/// An import with what is left of it.
#[derive(Debug, Deserialize)]
pub struct Import {
    pub id: String,
    pub name: String,
    pub licence: String,
    pub attribution: String,
    pub state: ImportState,
    #[serde(deserialize_with = "store::json")]
    pub left_out: Vec<Number>,
    pub created_at: i64,
    /// The name of the host who answers for it.
    pub host: Option<String>,
    pub pictures: i64,
    pub captions: i64,
    /// The number of both that are in a release.
    pub released: i64,
}

/// The imports of a collection.
pub const IMPORTS: List = newest_first!(
    "SELECT import.*, account.name AS host, \
     (SELECT COUNT(*) FROM import_item AS item WHERE item.import = import.id AND item.kind = 'image') AS pictures, \
     (SELECT COUNT(*) FROM import_item AS item WHERE item.import = import.id AND item.kind = 'caption') AS captions, \
     (SELECT COUNT(*) FROM import_item AS item WHERE item.import = import.id AND EXISTS \
      (SELECT 1 FROM release_item WHERE release_item.subject = item.subject)) AS released \
     FROM import LEFT JOIN account ON account.id = import.account WHERE import.collection = $3",
    "import.id"
);

/// Begins an import, or goes on with one that was interrupted.
pub(super) async fn begin(store: &Store, collection: &Collection, order: &Order) -> Result<String, Error> {
    const INTERRUPTED: &str = "SELECT id FROM import WHERE collection = $1 AND name = $2 AND licence = $3 \
                               AND attribution = $4 AND state = 'running'";
    let Order { source, licence, attribution, by, .. } = order;
    let mut tx = store.begin().await?;
    // Of two that begin at once, one goes on with what the other has begun.
    tx.lock("collection", &collection.id).await?;
    let interrupted = args![&collection.id, source, licence, attribution];
    if let Some(id) = tx.fetch_optional(INTERRUPTED, interrupted).await? {
        return Ok(id);
    }
    let id = ids::new_id();
    let row = columns! {
        id: &id, collection: &collection.id, account: by.as_deref(), name: source, licence, attribution,
        state: "running", left_out: "[]", created_at: clock::now(),
    };
    tx.insert_row("import", row).await?;
    let detail = json!({ "collection": collection.slug, "source": source });
    audit::note(&mut tx, by.as_deref(), "import.begin", &id, detail).await?;
    tx.commit().await?;
    Ok(id)
}

/// Ends an import; one that has added nothing is forgotten.
pub(super) async fn finish(store: &Store, import: &str, left_out: &LeftOut) -> Result<()> {
    let mut tx = store.begin().await?;
    let added = "SELECT 1 FROM import_item WHERE import = $1 LIMIT 1";
    if tx.exists(added, args![import]).await? {
        let left_out = serde_json::to_string(&left_out.numbers())?;
        tx.change_row("import", import, columns! { state: "done", left_out }).await?;
    } else {
        tx.execute("DELETE FROM import WHERE id = $1", args![import]).await?;
    }
    Ok(tx.commit().await?)
}

/// The hashes of the files of pictures that were rejected or withdrawn.
pub(super) async fn removed(store: &Store, collection: &str) -> Result<HashSet<String>, Error> {
    let sql = "SELECT source_hash FROM image WHERE collection = $1 AND state IN ('rejected', 'withdrawn')";
    Ok(store.fetch::<String>(sql, args![collection]).await?.into_iter().collect())
}

/// The picture that was made of a file with this hash, unless it was rejected or withdrawn.
pub(super) async fn find_image(store: &Store, collection: &str, hash: &str) -> Result<Option<String>, Error> {
    let sql = "SELECT id FROM image WHERE collection = $1 AND source_hash = $2 \
               AND state NOT IN ('rejected', 'withdrawn')";
    store.fetch_optional(sql, args![collection, hash]).await
}

/// Adds a picture that is still to be written; nothing if its file is there already.
pub(super) async fn add_picture(
    tx: &mut Tx,
    (collection, order, import): (&Collection, &Order, &str),
    item: &Item,
    hash: &str,
) -> Result<Option<String>> {
    let id = ids::new_id();
    // Each picture is a group of its own: who made it is not known.
    let row = columns! {
        id: &id, collection: &collection.id, licence: &order.licence, game: "", platform: "",
        source_hash: hash, split_group: ids::digest(&id), state: "processing",
        shuffle: order::place(slots::random()?), created_at: clock::now(),
    };
    let added = tx.add_row("image", row).await?;
    if !added {
        return Ok(None);
    }
    note(tx, import, "image", &id, item).await?;
    Ok(Some(id))
}

/// Adds captions to a picture, whose row is locked, and counts them.
pub(super) async fn add_captions(
    tx: &mut Tx,
    (collection, order, import): (&Collection, &Order, &str),
    item: &Item,
    image: &str,
    admitted: &[AdmittedCaption],
) -> Result<()> {
    let state = if order.are_accepted { CaptionState::Accepted } else { CaptionState::Submitted };
    for AdmittedCaption { language, text, warnings } in admitted {
        let new = New {
            collection,
            image,
            language,
            text,
            warnings: warnings.iter().map(String::as_str).collect(),
        };
        let id = submit::insert(tx, None, state, &new).await?;
        note(tx, import, "caption", &id, item).await?;
    }
    Ok(slots::recount(tx, image).await?)
}

async fn note(tx: &mut Tx, import: &str, kind: &str, subject: &str, item: &Item) -> Result<(), Error> {
    let row = columns! { subject, import, kind, source_id: &item.id, file_name: &item.file };
    tx.insert_row("import_item", row).await
}

/// [`room`] of a picture whose row stays locked until the transaction ends.
pub(super) async fn locked_room(tx: &mut Tx, collection: &Collection, image: &str) -> Result<Room, Error> {
    slots::lock(tx, image).await?;
    room(tx, collection, image).await
}

/// The captions that a picture has, and those that it can still get.
pub(super) async fn room(tx: &mut Tx, collection: &Collection, image: &str) -> Result<Room, Error> {
    const FREE: &str = "SELECT language, wanted - taken FROM image_slots WHERE image = $1";
    const HAS: &str = "SELECT language, text_norm, state FROM caption WHERE image = $1";
    let free: Vec<(String, i64)> = tx.fetch(FREE, args![image]).await?;
    let mut room = Room::new(collection);
    let is_counted = !free.is_empty();
    if is_counted {
        room.free = free;
    }
    for (language, norm, state) in tx.fetch::<(String, String, CaptionState)>(HAS, args![image]).await? {
        // No one may describe a picture yet that waits for a moderator, so nothing counts its captions.
        let goal = room.free.iter_mut().find(|(goal, _)| goal.is_empty() || *goal == language);
        if let Some((_, free)) = goal.filter(|_| !is_counted && state.has_slot()) {
            *free -= 1;
        }
        room.known.insert((language, norm));
    }
    Ok(room)
}
