//! The places of a picture: reserved, filled with captions, and free again, with counters that only conditional
//! statements change, so that no picture gets more captions than are wanted.
//!
//! Every transaction locks the row of the picture first, and what belongs to a person after it: no two can wait for
//! each other.

use capeval_api::ImageState;
use serde::Deserialize;

use super::records::Collection;
use super::rules::order::{self, Start};
use super::rules::states::CaptionState;
use crate::accounts::people;
use crate::app::App;
use crate::fault::Fault;
use crate::store::{Error, Store, Tx};
use crate::{args, clock, ids};

/// How long a reservation lasts from the last sign of its person.
pub const LEASE: i64 = 20 * 60_000;

/// A reservation that was prolonged within this time is not written again.
const FRESH: i64 = 60_000;

/// How long it lasts at most, whatever its person types.
const LONGEST: i64 = 3 * 3_600_000;

/// How often another picture is looked for when someone else was faster.
const TRIES: usize = 30;

/// The most reservations that one request frees.
const SWEEP: i64 = 50;

/// A reservation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Assignment {
    /// The picture.
    pub image: String,
    /// When it ends.
    pub expires_at: i64,
}

/// Pictures with a free place that a person, `$2`, may describe: neither their own, unless `$3`, nor done, skipped or
/// reported.
macro_rules! unmet {
    () => {
        "image.collection = $1 AND image.state = 'open' AND image.slots_taken < image.wanted \
         AND (image.uploader IS NULL OR image.uploader <> $2 OR $3 = 1) \
         AND NOT EXISTS (SELECT 1 FROM caption WHERE caption.image = image.id AND caption.author = $2) \
         AND NOT EXISTS (SELECT 1 FROM skip WHERE skip.image = image.id AND skip.account = $2) \
         AND NOT EXISTS (SELECT 1 FROM report WHERE report.subject = image.id AND report.reporter = $2) \
         AND image.id <> $4"
    };
}

/// Derives the states of the pictures that people may describe.
macro_rules! derive {
    () => {
        "UPDATE image SET state = CASE WHEN accepted >= wanted THEN 'complete' ELSE 'open' END \
         WHERE state IN ('open', 'complete') AND "
    };
}

const DERIVE: &str = concat!(derive!(), "id = $1");
const DERIVE_ALL: &str = concat!(derive!(), "collection = $1");

/// A picture that a person may describe, other than `but`, if there is one.
pub async fn candidate(
    store: &Store,
    collection: &Collection,
    account: &str,
    start: Start,
    but: &str,
) -> Result<Option<String>, Error> {
    const NEWEST: &str = concat!("SELECT id FROM image WHERE ", unmet!(), " ORDER BY id DESC LIMIT 1");
    const LEVEL: &str = "SELECT MIN(accepted) FROM image WHERE collection = $1 AND state = 'open' \
                         AND slots_taken < wanted AND accepted >= $2";
    const AFTER: &str = concat!(
        "SELECT id FROM image WHERE ",
        unmet!(),
        " AND image.accepted = $5 AND image.shuffle >= $6 ORDER BY image.shuffle LIMIT 1"
    );
    const BEFORE: &str = concat!(
        "SELECT id FROM image WHERE ",
        unmet!(),
        " AND image.accepted = $5 AND image.shuffle < $6 ORDER BY image.shuffle LIMIT 1"
    );
    let who = || args![&collection.id, account, collection.own_pictures, but];
    let shuffle = match start {
        Start::Newest => return store.fetch_optional(NEWEST, who()).await,
        Start::Fewest(shuffle) => shuffle,
    };
    let mut level = 0;
    loop {
        let accepted: Option<i64> = store.fetch_one(LEVEL, args![&collection.id, level]).await?;
        let Some(accepted) = accepted else { return Ok(None) };
        for sql in [AFTER, BEFORE] {
            let mut values = who();
            values.extend(args![accepted, shuffle]);
            if let Some(found) = store.fetch_optional(sql, values).await? {
                return Ok(Some(found));
            }
        }
        level = accepted + 1;
    }
}

/// The picture that a person describes now: the one they have reserved, or else a new one, `hint` if it is still free.
pub async fn next(
    app: &App,
    collection: &Collection,
    account: &str,
    hint: Option<&str>,
) -> Result<Option<Assignment>, Fault> {
    sweep(&app.store, account).await?;
    if let Some(own) = own(&app.store, &collection.id, account).await? {
        return Ok(Some(own));
    }
    let mut hint = hint.map(str::to_owned);
    for k in 0..TRIES {
        let image = match hint.take() {
            Some(hint) => Some(hint),
            None => {
                // People who lost the newest picture to others look elsewhere.
                let start =
                    if k == 0 { order::start(random()?) } else { Start::Fewest(order::place(random()?)) };
                let found = candidate(&app.store, collection, account, start, "").await?;
                match (found, start) {
                    (None, Start::Newest) => {
                        candidate(&app.store, collection, account, Start::Fewest(0), "").await?
                    }
                    (found, _) => found,
                }
            }
        };
        let Some(image) = image else { return Ok(None) };
        if let Some(claimed) = claim(&app.store, collection, account, &image).await? {
            return Ok(Some(claimed));
        }
        // Another request of the same person may have been faster.
        if let Some(own) = own(&app.store, &collection.id, account).await? {
            return Ok(Some(own));
        }
    }
    Ok(None)
}

/// A random number.
pub fn random() -> std::io::Result<u64> {
    let mut bytes = [0; 8];
    ids::random(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// The reservation of a person, which lasts longer from now on; one of a picture that no one may describe any more is
/// given up.
async fn own(store: &Store, collection: &str, account: &str) -> Result<Option<Assignment>, Error> {
    const OWN: &str = "SELECT assignment.image, assignment.expires_at, image.state FROM assignment \
                       JOIN image ON image.id = assignment.image WHERE assignment.collection = $1 \
                       AND assignment.account = $2 AND assignment.kind = 'caption'";
    let own: Option<(String, i64, ImageState)> =
        store.fetch_optional(OWN, args![collection, account]).await?;
    let Some((image, expires_at, state)) = own else { return Ok(None) };
    if state != ImageState::Open {
        give_up(store, &image, account).await?;
        return Ok(None);
    }
    if expires_at - clock::now() > LEASE - FRESH {
        // Reloading a page writes nothing.
        return Ok(Some(Assignment { image, expires_at }));
    }
    let mut tx = store.begin().await?;
    let expires_at = extend(&mut tx, &image, account).await?;
    tx.commit().await?;
    Ok(expires_at.map(|expires_at| Assignment { image, expires_at }))
}

/// Makes a reservation last longer; returns until when, or nothing if it is gone.
pub async fn extend(tx: &mut Tx, image: &str, account: &str) -> Result<Option<i64>, Error> {
    tx.fetch_optional(
        "UPDATE assignment SET expires_at = CASE WHEN created_at + $1 < $2 THEN created_at + $1 ELSE $2 END \
             WHERE image = $3 AND account = $4 AND kind = 'caption' RETURNING expires_at",
        args![LONGEST, clock::now() + LEASE, image, account],
    )
    .await
}

/// Reserves a place of a picture; nothing if there is none left for this person.
async fn claim(
    store: &Store,
    collection: &Collection,
    account: &str,
    image: &str,
) -> Result<Option<Assignment>, Error> {
    const TAKE: &str = "UPDATE image SET slots_taken = slots_taken + 1 \
                        WHERE id = $1 AND collection = $2 AND state = 'open' AND slots_taken < wanted";
    // Whether the picture still suits the person is asked once its row is locked.
    const ASSIGN: &str = "INSERT INTO assignment (collection, account, kind, image, created_at, expires_at) \
        SELECT $1, $2, 'caption', image.id, $5, $6 FROM image WHERE image.id = $4 \
        AND (image.uploader IS NULL OR image.uploader <> $2 OR $3 = 1) \
        AND NOT EXISTS (SELECT 1 FROM caption WHERE caption.image = $4 AND caption.author = $2) \
        AND NOT EXISTS (SELECT 1 FROM skip WHERE skip.image = $4 AND skip.account = $2) \
        AND NOT EXISTS (SELECT 1 FROM report WHERE report.subject = $4 AND report.reporter = $2) \
        ON CONFLICT DO NOTHING";
    let mut tx = store.begin().await?;
    if tx.execute(TAKE, args![image, &collection.id]).await? == 0 {
        return Ok(None);
    }
    if !people::is_enabled(&mut tx, account).await? {
        return Ok(None);
    }
    let now = clock::now();
    let expires_at = now + LEASE;
    let own = collection.own_pictures;
    let assigned = tx.execute(ASSIGN, args![&collection.id, account, own, image, now, expires_at]).await?;
    if assigned == 0 {
        return Ok(None);
    }
    tx.commit().await?;
    Ok(Some(Assignment { image: image.to_owned(), expires_at }))
}

/// Gives up the reservation of a picture, if the person has one.
pub async fn give_up(store: &Store, image: &str, account: &str) -> Result<(), Error> {
    let mut tx = store.begin().await?;
    free(&mut tx, image, account, i64::MAX).await?;
    tx.commit().await
}

/// Frees a place whose reservation ended before `now`; the transaction may go on.
pub async fn free(tx: &mut Tx, image: &str, account: &str, now: i64) -> Result<bool, Error> {
    lock(tx, image).await?;
    let gone = tx
        .execute(
            "DELETE FROM assignment WHERE image = $1 AND account = $2 AND kind = 'caption' AND expires_at < $3",
            args![image, account, now],
        )
        .await?;
    if gone == 0 {
        return Ok(false);
    }
    tx.execute("UPDATE image SET slots_taken = slots_taken - 1 WHERE id = $1", args![image]).await?;
    Ok(true)
}

/// Frees places whose reservation has ended, other than those of a person who is back.
async fn sweep(store: &Store, account: &str) -> Result<(), Error> {
    const ENDED: &str = "SELECT image, account FROM assignment WHERE expires_at < $1 AND account <> $2 \
                         AND kind = 'caption' LIMIT $3";
    let now = clock::now();
    for (image, account) in store.fetch::<(String, String)>(ENDED, args![now, account, SWEEP]).await? {
        let mut tx = store.begin().await?;
        free(&mut tx, &image, &account, now).await?;
        tx.commit().await?;
    }
    Ok(())
}

/// Locks the row of a picture until the transaction ends; `None` if there is none, or else its state.
pub async fn lock(tx: &mut Tx, image: &str) -> Result<Option<ImageState>, Error> {
    let sql = "UPDATE image SET slots_taken = slots_taken WHERE id = $1 RETURNING state";
    tx.fetch_optional(sql, args![image]).await
}

/// Whether a caption of a person may take a place of a picture: the one they have reserved, or one that is still free.
pub async fn fill(tx: &mut Tx, image: &str, account: &str) -> Result<bool, Error> {
    if lock(tx, image).await? != Some(ImageState::Open) {
        return Ok(false);
    }
    let reserved = "DELETE FROM assignment WHERE image = $1 AND account = $2 AND kind = 'caption'";
    if tx.execute(reserved, args![image, account]).await? == 1 {
        return Ok(true);
    }
    let free = "UPDATE image SET slots_taken = slots_taken + 1 WHERE id = $1 AND slots_taken < wanted";
    Ok(tx.execute(free, args![image]).await? == 1)
}

/// The picture of a caption, whose row is locked before that of the caption.
pub async fn picture_of(tx: &mut Tx, caption: &str) -> Result<Option<String>, Error> {
    tx.fetch_optional("SELECT image FROM caption WHERE id = $1", args![caption]).await
}

/// Moves a caption from one state to another, and the counters and the state of its picture with it; `false` if it
/// is not in the first state any more.
pub async fn change_caption(
    tx: &mut Tx,
    caption: &str,
    from: CaptionState,
    to: CaptionState,
    reason: Option<&str>,
) -> Result<bool, Error> {
    let Some(image) = picture_of(tx, caption).await? else { return Ok(false) };
    lock(tx, &image).await?;
    let now = clock::now();
    let changed = tx
        .execute(
            "UPDATE caption SET state = $1, state_before = $2, reason = $3, changed_at = $4, \
             decided_at = CASE WHEN $1 IN ('accepted', 'rejected') THEN $4 ELSE decided_at END \
             WHERE id = $5 AND state = $2",
            args![to.name(), from.name(), reason, now, caption],
        )
        .await?;
    if changed == 0 {
        return Ok(false);
    }
    if from == CaptionState::Accepted {
        // No one rates a copy of it any more.
        tx.execute(
            "DELETE FROM gold WHERE EXISTS (SELECT 1 FROM caption WHERE caption.id = $1 \
             AND caption.collection = gold.collection AND caption.text = gold.text)",
            args![caption],
        )
        .await?;
    }
    let (slots, accepted) = from.change(to);
    tx.execute(
        "UPDATE image SET slots_taken = slots_taken + $1, accepted = accepted + $2 WHERE id = $3",
        args![slots, accepted, &image],
    )
    .await?;
    tx.execute(DERIVE, args![&image]).await?;
    Ok(true)
}

/// Changes how many captions each picture of a collection gets: raising it opens complete pictures again, lowering it
/// completes open ones.
pub async fn set_wanted(tx: &mut Tx, collection: &str, wanted: u32) -> Result<(), Error> {
    tx.execute("UPDATE collection SET wanted = $1 WHERE id = $2", args![wanted, collection]).await?;
    tx.execute("UPDATE image SET wanted = $1 WHERE collection = $2", args![wanted, collection]).await?;
    tx.execute(DERIVE_ALL, args![collection]).await.map(drop)
}

/// Lets people describe a picture that was processed or waited, and derives its state.
pub async fn open(tx: &mut Tx, image: &str) -> Result<(), Error> {
    // The row of the collection is locked against a change of its number.
    let sql = tx.pick(
        "SELECT wanted FROM collection WHERE id = (SELECT collection FROM image WHERE id = $1)",
        "SELECT wanted FROM collection WHERE id = (SELECT collection FROM image WHERE id = $1) FOR SHARE",
    );
    let wanted: i64 = tx.fetch_one(sql, args![image]).await?;
    tx.execute(
        "UPDATE image SET state = 'open', wanted = $1, reason = NULL \
         WHERE id = $2 AND state IN ('pending', 'quarantined')",
        args![wanted, image],
    )
    .await?;
    tx.execute(DERIVE, args![image]).await.map(drop)
}
