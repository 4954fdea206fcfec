//! Chooses the caption that a person rates next.

use capeval_site::prelude::*;
use serde::Deserialize;

use super::gold;
use crate::records::{self, Image};
use crate::rules::order;
use crate::slots;

/// The time for which a person holds a caption to rate.
const LEASE: i64 = 10 * 60_000;

/// The numbers of ratings that captions may have already, in the order in which they are taken: those that are nearly
/// decided come first.
const LEVELS: [i64; 4] = [3, 2, 1, 0];

/// A caption to rate. Nothing in it says whether its grade is known.
#[derive(Clone, Debug)]
pub struct ToRate {
    /// The id of the caption, or of one whose grade is known.
    pub item: String,
    /// The picture.
    pub image: Image,
    pub language: String,
    pub text: String,
}

/// Captions that a person, `$2`, may rate, with `$3` ratings; `$4` is the time and `$5` a place in their order.
macro_rules! unrated {
    () => {
        "SELECT caption.id, caption.image, caption.language, caption.text FROM caption JOIN image ON image.id = caption.image \
         WHERE caption.collection = $1 AND caption.state = 'submitted' AND caption.ratings = $3 \
         AND caption.ratings < caption.ratings_wanted AND image.state IN ('open', 'complete') \
         AND (caption.author IS NULL OR caption.author <> $2) \
         AND NOT EXISTS (SELECT 1 FROM rating WHERE rating.caption = caption.id AND rating.account = $2) \
         AND NOT EXISTS (SELECT 1 FROM skip WHERE skip.image = caption.image AND skip.account = $2) \
         AND NOT EXISTS (SELECT 1 FROM report WHERE report.subject IN (caption.id, caption.image) \
             AND report.reporter = $2) \
         AND (SELECT COUNT(*) FROM assignment WHERE assignment.caption = caption.id AND assignment.account <> $2 \
             AND assignment.expires_at > $4) < caption.ratings_wanted - caption.ratings"
    };
}
const AFTER: &str = concat!(unrated!(), " AND caption.shuffle >= $5 ORDER BY caption.shuffle LIMIT 1");
const BEFORE: &str = concat!(unrated!(), " AND caption.shuffle < $5 ORDER BY caption.shuffle LIMIT 1");

/// A known caption that a person, `$2`, has not rated, of the picture `$3` or of any; they begin at different ones.
const GOLD: &str = "SELECT gold.id, gold.image, gold.language, gold.text FROM gold JOIN image ON image.id = gold.image \
     WHERE gold.collection = $1 AND gold.retired_at IS NULL AND image.state IN ('open', 'complete') \
     AND ($3 = '' OR gold.image = $3) AND NOT EXISTS \
     (SELECT 1 FROM gold_rating WHERE gold_rating.gold = gold.id AND gold_rating.account = $2) \
     AND NOT EXISTS (SELECT 1 FROM skip WHERE skip.image = gold.image AND skip.account = $2) \
     AND NOT EXISTS (SELECT 1 FROM report WHERE report.subject = gold.image AND report.reporter = $2) \
     ORDER BY gold.id LIMIT 1";

/// The row of a caption to rate.
#[derive(Deserialize)]
struct WaitingCaption {
    id: String,
    image: String,
    language: String,
    text: String,
}

impl WaitingCaption {
    async fn with_picture(self, store: &Store) -> Result<ToRate> {
        let Self { id, image, language, text } = self;
        Ok(ToRate { item: id, image: records::by_id(store, &image).await?, language, text })
    }
}

/// The number of captions that a person has rated.
pub async fn done(store: &Store, collection: &str, account: &str) -> Result<i64, Error> {
    let sql = "SELECT ratings + gold_rated FROM rater WHERE collection = $1 AND account = $2";
    Ok(store.fetch_optional(sql, args![collection, account]).await?.unwrap_or(0))
}

/// The caption that a person rates now: the one they hold, or else a new one.
pub async fn next(store: &Store, collection: &str, account: &str) -> Result<Option<ToRate>> {
    if let Some(own) = held(store, collection, account).await? {
        return Ok(Some(own));
    }
    if gold::is_turn(account, done(store, collection, account).await?)
        && let Some(found) =
            store.fetch_optional::<WaitingCaption>(GOLD, args![collection, account, ""]).await?
    {
        hold(store, collection, account, &found.image, None).await?;
        return found.with_picture(store).await.map(Some);
    }
    let place = order::place(slots::random()?);
    for level in LEVELS {
        for sql in [AFTER, BEFORE] {
            let values = args![collection, account, level, clock::now(), place];
            if let Some(found) = store.fetch_optional::<WaitingCaption>(sql, values).await? {
                hold(store, collection, account, &found.image, Some(&found.id)).await?;
                return found.with_picture(store).await.map(Some);
            }
        }
    }
    Ok(None)
}

/// The caption that a person holds, if it can still be rated.
pub async fn held(store: &Store, collection: &str, account: &str) -> Result<Option<ToRate>> {
    const HELD: &str = "SELECT image, caption FROM assignment WHERE collection = $1 AND account = $2 \
         AND kind = 'rating' AND expires_at > $3";
    const STILL: &str = "SELECT caption.id, caption.image, caption.language, caption.text FROM caption \
         JOIN image ON image.id = caption.image \
         WHERE caption.id = $1 AND caption.state = 'submitted' AND image.state IN ('open', 'complete') \
         AND NOT EXISTS (SELECT 1 FROM rating WHERE rating.caption = caption.id AND rating.account = $2) \
         AND NOT EXISTS (SELECT 1 FROM report WHERE report.subject IN (caption.id, caption.image) \
             AND report.reporter = $2)";
    let held: Option<(String, Option<String>)> =
        store.fetch_optional(HELD, args![collection, account, clock::now()]).await?;
    let found: Option<WaitingCaption> = match held {
        None => None,
        Some((image, None)) => store.fetch_optional(GOLD, args![collection, account, image]).await?,
        Some((_, Some(caption))) => store.fetch_optional(STILL, args![caption, account]).await?,
    };
    match found {
        Some(found) => found.with_picture(store).await.map(Some),
        None => Ok(None),
    }
}

async fn hold(
    store: &Store,
    collection: &str,
    account: &str,
    image: &str,
    caption: Option<&str>,
) -> Result<()> {
    let now = clock::now();
    let sql = "INSERT INTO assignment (collection, account, kind, image, caption, created_at, expires_at) \
               VALUES ($1, $2, 'rating', $3, $4, $5, $6) ON CONFLICT (collection, account, kind) DO UPDATE SET \
               image = excluded.image, caption = excluded.caption, created_at = excluded.created_at, \
               expires_at = excluded.expires_at";
    store.execute(sql, args![collection, account, image, caption, now, now + LEASE]).await?;
    Ok(())
}
