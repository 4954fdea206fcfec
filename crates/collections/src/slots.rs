//! The places of a picture: reserved, filled with captions, and free again, with counters that only conditional
//! statements change, so that no picture gets more captions than are wanted. A picture has a row of counters for each
//! goal of its collection: one for all languages together, or one for each language.
//!
//! Every transaction locks the row of the picture first, and what belongs to a person after it: no two can wait for
//! each other.
//!
//! The state of a picture is derived in the same transaction, so raising or lowering a number needs one statement. With
//! the number in the row, a partial index holds exactly the pictures with a free slot for a goal, in the order in which
//! people meet them, and finding the next one takes the same time in a queue of any length.

use capeval_api::ImageState;
use capeval_site::among;
use capeval_site::prelude::*;
use serde::Deserialize;

use super::records::Collection;
use super::rules::order::{self, Start};
use super::rules::states::CaptionState;
use super::settings::Goal;

/// The time from the last sign of a person to the end of a reservation.
pub const LEASE: i64 = 20 * 60_000;

/// A reservation that was prolonged within this time is not written again.
const FRESH: i64 = 60_000;

/// The longest time of a reservation, whatever its person types.
const LONGEST: i64 = 3 * 3_600_000;

/// The number of other pictures that are tried when someone else was faster.
const TRIES: usize = 30;

/// The most reservations that one request frees.
const SWEEP: i64 = 50;

/// Someone who describes pictures of a collection in one of its languages.
#[derive(Clone, Copy, Debug)]
pub struct Author<'a> {
    pub collection: &'a Collection,
    pub account: &'a str,
    pub language: &'a str,
}

impl<'a> Author<'a> {
    /// The goal for which their captions count.
    fn goal(&self) -> &'a str {
        if self.collection.is_by_language() { self.language } else { "" }
    }
}

/// A reservation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Assignment {
    /// The picture.
    pub image: String,
    /// Its end.
    pub expires_at: i64,
}

/// Pictures with a free place for the goal `$5` that a person, `$2`, may describe: neither their own, unless `$3`, nor
/// done, skipped or reported.
macro_rules! unmet {
    () => {
        "SELECT slots.image FROM image_slots AS slots JOIN image ON image.id = slots.image \
         WHERE slots.collection = $1 AND slots.language = $5 AND slots.is_shown = 1 AND slots.taken < slots.wanted \
         AND (image.uploader IS NULL OR image.uploader <> $2 OR $3 = 1) \
         AND NOT EXISTS (SELECT 1 FROM caption WHERE caption.image = slots.image AND caption.author = $2) \
         AND NOT EXISTS (SELECT 1 FROM skip WHERE skip.image = slots.image AND skip.account = $2) \
         AND NOT EXISTS (SELECT 1 FROM report WHERE report.subject = slots.image AND report.reporter = $2) \
         AND slots.image <> $4"
    };
}
const NEWEST: &str = concat!(unmet!(), " ORDER BY slots.image DESC LIMIT 1");
const AFTER: &str =
    concat!(unmet!(), " AND slots.accepted = $6 AND slots.shuffle >= $7 ORDER BY slots.shuffle LIMIT 1");
const BEFORE: &str =
    concat!(unmet!(), " AND slots.accepted = $6 AND slots.shuffle < $7 ORDER BY slots.shuffle LIMIT 1");
const LEVEL: &str = "SELECT MIN(accepted) FROM image_slots WHERE collection = $1 AND language = $2 AND is_shown = 1 \
                     AND taken < wanted AND accepted >= $3";

/// The statements that find the next picture, for tests of how they are found.
#[cfg(debug_assertions)]
pub const SEARCHES: [&str; 4] = [NEWEST, AFTER, BEFORE, LEVEL];

/// Takes a place of a picture, if there is one.
const TAKE: &str = "UPDATE image_slots SET taken = taken + 1 \
                    WHERE image = $1 AND language = $2 AND is_shown = 1 AND taken < wanted";

/// Derives the states of the pictures that people may describe: they are complete for all goals, or open.
macro_rules! derive {
    () => {
        "UPDATE image SET state = CASE WHEN EXISTS (SELECT 1 FROM image_slots AS slots WHERE slots.image = image.id \
         AND slots.accepted < slots.wanted) THEN 'open' ELSE 'complete' END WHERE state IN ('open', 'complete') AND "
    };
}
const DERIVE: &str = concat!(derive!(), "id = $1");
const DERIVE_ALL: &str = concat!(derive!(), "collection = $1");

/// Gives pictures counters for the goal `$2` with the number `$3`; those that they have get this number.
macro_rules! provide {
    () => {
        "INSERT INTO image_slots (image, language, collection, wanted, taken, accepted, is_shown, shuffle) \
         SELECT image.id, $2, image.collection, $3, 0, 0, CASE WHEN image.state IN ('open', 'complete') THEN 1 ELSE 0 END, \
         image.shuffle FROM image WHERE image.state IN ('open', 'complete', 'quarantined') AND "
    };
}
macro_rules! or_change {
    () => {
        " ON CONFLICT (image, language) DO UPDATE SET wanted = excluded.wanted, is_shown = excluded.is_shown"
    };
}
const PROVIDE: &str = concat!(provide!(), "image.id = $1", or_change!());
const PROVIDE_ALL: &str = concat!(provide!(), "image.collection = $1", or_change!());

/// The captions and reservations that take places, and the captions that are accepted.
macro_rules! taken {
    () => {
        "((SELECT COUNT(*) FROM caption WHERE caption.image = image_slots.image \
         AND image_slots.language IN ('', caption.language) \
         AND caption.state IN ('submitted', 'accepted', 'split', 'quarantined')) \
         + (SELECT COUNT(*) FROM assignment WHERE assignment.image = image_slots.image \
         AND assignment.kind = 'caption' AND assignment.language = image_slots.language))"
    };
}
macro_rules! accepted {
    () => {
        "(SELECT COUNT(*) FROM caption WHERE caption.image = image_slots.image \
         AND image_slots.language IN ('', caption.language) AND caption.state = 'accepted')"
    };
}

/// Finds counters that count something else.
pub const MISCOUNTED: &str = concat!(
    "SELECT 'picture ' || image || ', language \"' || language || '\": ' || CAST(taken AS TEXT) || ' taken, ' \
     || CAST(accepted AS TEXT) || ' accepted' FROM image_slots WHERE taken <> ",
    taken!(),
    " OR accepted <> ",
    accepted!()
);

/// Finds pictures whose state does not follow from their counters, and counters that do not follow from it.
pub const MISPLACED: &str = "SELECT 'picture ' || id || ' is ' || state FROM image \
     WHERE state IN ('open', 'complete') AND (NOT EXISTS (SELECT 1 FROM image_slots AS slots WHERE slots.image = image.id) \
     OR (state = 'open') <> EXISTS (SELECT 1 FROM image_slots AS slots WHERE slots.image = image.id \
     AND slots.accepted < slots.wanted)) UNION ALL SELECT 'picture ' || image.id || ' is ' || image.state FROM image_slots \
     JOIN image ON image.id = image_slots.image WHERE image_slots.shuffle <> image.shuffle \
     OR (image_slots.is_shown = 1) <> (image.state IN ('open', 'complete')) \
     UNION ALL SELECT 'reservation of picture ' || image FROM assignment WHERE kind = 'caption' AND NOT EXISTS (SELECT 1 \
     FROM image_slots AS slots WHERE slots.image = assignment.image AND slots.language = assignment.language)";

/// Counts again.
macro_rules! recount {
    () => {
        concat!("UPDATE image_slots SET taken = ", taken!(), ", accepted = ", accepted!(), " WHERE ")
    };
}
const RECOUNT: &str = concat!(recount!(), "image = $1");
const RECOUNT_ALL: &str = concat!(recount!(), "collection = $1");

/// A picture that a person may describe, other than `but`, if there is one.
pub async fn candidate(
    store: &Store,
    author: Author<'_>,
    start: Start,
    but: &str,
) -> Result<Option<String>, Error> {
    let Author { collection, account, .. } = author;
    let who = || args![&collection.id, account, collection.own_pictures, but, author.goal()];
    let shuffle = match start {
        Start::Newest => return store.fetch_optional(NEWEST, who()).await,
        Start::Fewest(shuffle) => shuffle,
    };
    let mut level = 0;
    loop {
        let accepted: Option<i64> =
            store.fetch_one(LEVEL, args![&collection.id, author.goal(), level]).await?;
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
pub async fn next(app: &App, author: Author<'_>, hint: Option<&str>) -> Result<Option<Assignment>> {
    let Author { collection, account, .. } = author;
    sweep(&app.store, account).await?;
    // People who go on in another language do so with the same picture, if it has a place.
    let left = leave(&app.store, author).await?;
    if let Some(own) = own(&app.store, &collection.id, account).await? {
        return Ok(Some(own));
    }
    let mut hint = hint.map(str::to_owned).or(left);
    for k in 0..TRIES {
        let image = match hint.take() {
            Some(hint) => Some(hint),
            None => {
                // People who lost the newest picture to others look elsewhere.
                let start =
                    if k == 0 { order::start(random()?) } else { Start::Fewest(order::place(random()?)) };
                let found = candidate(&app.store, author, start, "").await?;
                match (found, start) {
                    (None, Start::Newest) => candidate(&app.store, author, Start::Fewest(0), "").await?,
                    (found, _) => found,
                }
            }
        };
        let Some(image) = image else { return Ok(None) };
        if let Some(claimed) = claim(&app.store, author, &image).await? {
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

/// The language for which a person has reserved a picture; empty if it is for any.
pub async fn reserved_in(store: &Store, collection: &str, account: &str) -> Result<Option<String>, Error> {
    let sql = "SELECT language FROM assignment WHERE collection = $1 AND account = $2 AND kind = 'caption'";
    store.fetch_optional(sql, args![collection, account]).await
}

/// Gives up what a person has reserved for another goal; returns the picture.
async fn leave(store: &Store, author: Author<'_>) -> Result<Option<String>, Error> {
    const OTHER: &str = "SELECT image FROM assignment WHERE collection = $1 AND account = $2 \
                         AND kind = 'caption' AND language <> $3";
    let other = args![&author.collection.id, author.account, author.goal()];
    let left: Option<String> = store.fetch_optional(OTHER, other).await?;
    if let Some(image) = &left {
        give_up(store, image, author.account).await?;
    }
    Ok(left)
}

/// The reservation of a person, which lasts longer from now on; one of a picture that no one may describe any more is
/// given up.
async fn own(store: &Store, collection: &str, account: &str) -> Result<Option<Assignment>, Error> {
    const OWN: &str = "SELECT image, expires_at, (SELECT COUNT(*) FROM image_slots AS slots \
                       WHERE slots.image = assignment.image AND slots.language = assignment.language \
                       AND slots.is_shown = 1 AND slots.accepted < slots.wanted) FROM assignment \
                       WHERE collection = $1 AND account = $2 AND kind = 'caption'";
    let own: Option<(String, i64, bool)> = store.fetch_optional(OWN, args![collection, account]).await?;
    let Some((image, expires_at, is_wanted)) = own else { return Ok(None) };
    if !is_wanted {
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
    let sql = "UPDATE assignment SET expires_at = CASE WHEN created_at + $1 < $2 THEN created_at + $1 ELSE $2 END \
               WHERE image = $3 AND account = $4 AND kind = 'caption' RETURNING expires_at";
    tx.fetch_optional(sql, args![LONGEST, clock::now() + LEASE, image, account]).await
}

/// Reserves a place of a picture; nothing if there is none left for this person.
async fn claim(store: &Store, author: Author<'_>, image: &str) -> Result<Option<Assignment>, Error> {
    // Whether the picture suits the person is asked once its row is locked.
    const ASSIGN: &str = "INSERT INTO assignment (collection, account, kind, image, language, created_at, expires_at) \
        SELECT image.collection, $2, 'caption', image.id, $7, $5, $6 FROM image \
        WHERE image.id = $4 AND image.collection = $1 \
        AND (image.uploader IS NULL OR image.uploader <> $2 OR $3 = 1) \
        AND NOT EXISTS (SELECT 1 FROM caption WHERE caption.image = $4 AND caption.author = $2) \
        AND NOT EXISTS (SELECT 1 FROM skip WHERE skip.image = $4 AND skip.account = $2) \
        AND NOT EXISTS (SELECT 1 FROM report WHERE report.subject = $4 AND report.reporter = $2) \
        ON CONFLICT DO NOTHING";
    let Author { collection, account, .. } = author;
    let mut tx = store.begin().await?;
    lock(&mut tx, image).await?;
    if tx.execute(TAKE, args![image, author.goal()]).await? == 0 {
        return Ok(None);
    }
    if !people::is_enabled(&mut tx, account).await? {
        return Ok(None);
    }
    let now = clock::now();
    let expires_at = now + LEASE;
    let own = collection.own_pictures;
    let values = args![&collection.id, account, own, image, now, expires_at, author.goal()];
    if tx.execute(ASSIGN, values).await? == 0 {
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
    let Some(goal) = unreserve(tx, image, account, now).await? else { return Ok(false) };
    release(tx, image, &goal).await?;
    Ok(true)
}

/// Deletes a reservation that ended before `now`; returns the goal whose place is not free yet.
async fn unreserve(tx: &mut Tx, image: &str, account: &str, now: i64) -> Result<Option<String>, Error> {
    let sql = "DELETE FROM assignment WHERE image = $1 AND account = $2 AND kind = 'caption' AND expires_at < $3 \
               RETURNING language";
    tx.fetch_optional(sql, args![image, account, now]).await
}

async fn release(tx: &mut Tx, image: &str, goal: &str) -> Result<(), Error> {
    let sql = "UPDATE image_slots SET taken = taken - 1 WHERE image = $1 AND language = $2";
    tx.execute(sql, args![image, goal]).await.map(drop)
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
    let sql = "UPDATE image SET shuffle = shuffle WHERE id = $1 RETURNING state";
    tx.fetch_optional(sql, args![image]).await
}

/// Returns true if a caption of a person may take a place of a picture: the one they have reserved, or one that is
/// still free.
pub async fn fill(tx: &mut Tx, author: Author<'_>, image: &str) -> Result<bool, Error> {
    const WANTED: &str =
        "SELECT 1 FROM image_slots WHERE image = $1 AND language = $2 AND is_shown = 1 AND accepted < wanted";
    lock(tx, image).await?;
    match unreserve(tx, image, author.account, i64::MAX).await? {
        Some(goal) if goal == author.goal() => return tx.exists(WANTED, args![image, goal]).await,
        // What was reserved for another language is not needed there any more.
        Some(goal) => release(tx, image, &goal).await?,
        None => {}
    }
    Ok(tx.execute(TAKE, args![image, author.goal()]).await? == 1)
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
    let sql = "UPDATE caption SET state = $1, state_before = $2, reason = $3, changed_at = $4, \
               decided_at = CASE WHEN $1 IN ('accepted', 'rejected') THEN $4 ELSE decided_at END \
               WHERE id = $5 AND state = $2";
    let changed = tx.execute(sql, args![to.name(), from.name(), reason, now, caption]).await?;
    if changed == 0 {
        return Ok(false);
    }
    if from == CaptionState::Accepted {
        let sql = "DELETE FROM gold WHERE EXISTS (SELECT 1 FROM caption WHERE caption.id = $1 \
                   AND caption.collection = gold.collection AND caption.text = gold.text)";
        // No one rates a copy of it any more.
        tx.execute(sql, args![caption]).await?;
    }
    let (slots, accepted) = from.change(to);
    let sql = "UPDATE image_slots SET taken = taken + $1, accepted = accepted + $2 \
               WHERE image = $3 AND language IN ('', (SELECT caption.language FROM caption WHERE caption.id = $4))";
    tx.execute(sql, args![slots, accepted, &image, caption]).await?;
    tx.execute(DERIVE, args![&image]).await?;
    Ok(true)
}

/// Locks all pictures of a collection, in the order of their ids, before its goals are changed.
pub async fn lock_all(tx: &mut Tx, collection: &str) -> Result<(), Error> {
    let sql = tx.pick(
        // Only one transaction writes at a time.
        "SELECT id FROM image WHERE collection = $1 LIMIT 0",
        "SELECT id FROM image WHERE collection = $1 ORDER BY id FOR UPDATE",
    );
    tx.fetch::<String>(sql, args![collection]).await.map(drop)
}

/// Changes the goals of the pictures of a collection, which are locked: a raised number opens complete pictures again,
/// a lowered one completes open ones. If other languages have goals now, captions are counted again, and reservations
/// end.
pub async fn set_goals(tx: &mut Tx, collection: &str, goals: &[Goal]) -> Result<(), Error> {
    let known = "SELECT DISTINCT language FROM image_slots WHERE collection = $1 ORDER BY language";
    let known: Vec<String> = tx.fetch(known, args![collection]).await?;
    for language in known.iter().filter(|known| goals.iter().all(|goal| goal.language != **known)) {
        let sql = "DELETE FROM image_slots WHERE collection = $1 AND language = $2";
        tx.execute(sql, args![collection, language]).await?;
    }
    for Goal { language, captions, .. } in goals {
        tx.execute(PROVIDE_ALL, args![collection, language, *captions]).await?;
    }
    if known.len() != goals.len() || goals.iter().any(|goal| !known.contains(&goal.language)) {
        let sql = "DELETE FROM assignment WHERE collection = $1 AND kind = 'caption'";
        tx.execute(sql, args![collection]).await?;
        tx.execute(RECOUNT_ALL, args![collection]).await?;
    }
    tx.execute(DERIVE_ALL, args![collection]).await.map(drop)
}

#[derive(Deserialize)]
struct Goals {
    #[serde(deserialize_with = "store::json")]
    goals: Vec<Goal>,
}

/// Lets people describe a picture that was processed or waited, and derives its state.
pub async fn open(tx: &mut Tx, image: &str) -> Result<(), Error> {
    // The row of the collection is locked against a change of its goals.
    let sql = tx.pick(
        "SELECT goals FROM collection WHERE id = (SELECT collection FROM image WHERE id = $1)",
        "SELECT goals FROM collection WHERE id = (SELECT collection FROM image WHERE id = $1) FOR SHARE",
    );
    let Goals { goals } = tx.fetch_one(sql, args![image]).await?;
    let sql = "UPDATE image SET state = 'open', reason = NULL WHERE id = $1 AND state IN ('pending', 'quarantined')";
    tx.execute(sql, args![image]).await?;
    for Goal { language, captions, .. } in &goals {
        tx.execute(PROVIDE, args![image, language, *captions]).await?;
    }
    recount(tx, image).await
}

/// Counts the captions of a picture again, whose row is locked, and derives its state.
pub async fn recount(tx: &mut Tx, image: &str) -> Result<(), Error> {
    tx.execute(RECOUNT, args![image]).await?;
    tx.execute(DERIVE, args![image]).await.map(drop)
}

/// Notes that no one may describe a picture any more, or not for now.
pub async fn hide(tx: &mut Tx, image: &str) -> Result<(), Error> {
    tx.execute("UPDATE image_slots SET is_shown = 0 WHERE image = $1", args![image]).await.map(drop)
}

/// The progress of a picture with a goal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Need {
    pub image: String,
    /// Empty for all languages together.
    pub language: String,
    /// Accepted captions that are wanted.
    pub wanted: i64,
    pub accepted: i64,
}

/// The progress of the pictures of a collection whose ids lie between two, both included.
pub async fn needs(store: &Store, collection: &str, from: &str, to: &str) -> Result<Vec<Need>, Error> {
    let sql = "SELECT * FROM image_slots WHERE image >= $2 AND image <= $3 AND collection = $1 \
               ORDER BY image, language DESC";
    store.fetch(sql, args![collection, from, to]).await
}

/// The progress of pictures.
pub async fn needs_of(store: &Store, images: &[&str]) -> Result<Vec<Need>, Error> {
    let sql =
        among!(store, "SELECT * FROM image_slots WHERE image IN (", "$1", ") ORDER BY image, language DESC");
    store.fetch(sql, args![store::list(images)?]).await
}
