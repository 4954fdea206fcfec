//! The captions with a known grade: created from accepted ones, and watched by the hosts.

use std::collections::HashSet;

use capeval_site::oldest_first;
use capeval_site::prelude::*;
use serde::Deserialize;
use serde_json::json;

/// The pairs, of a fitting and an unrelated caption, that are made at once.
const PAIRS: usize = 5;

/// A caption with a known grade.
#[derive(Deserialize)]
pub(super) struct GoldCaption {
    pub id: String,
    pub image: String,
    pub text: String,
    pub grade: i64,
    /// The number of ratings.
    pub rated: i64,
    /// The number of right ones among them.
    #[serde(rename = "n_right")]
    pub right: i64,
}

/// A person who rates.
#[derive(Deserialize)]
pub(super) struct Rater {
    pub name: String,
    pub ratings: i64,
    pub gold_rated: i64,
    pub gold_right: i64,
    pub weight: i64,
}

/// The captions that are in use.
pub const KNOWN: List = oldest_first!(
    "SELECT gold.id, gold.image, gold.text, gold.grade, \
     (SELECT COUNT(*) FROM gold_rating WHERE gold_rating.gold = gold.id) AS rated, \
     (SELECT COUNT(*) FROM gold_rating WHERE gold_rating.gold = gold.id AND is_right = 1) AS n_right \
     FROM gold WHERE gold.collection = $3 AND gold.retired_at IS NULL",
    "gold.id"
);

/// The people who rate, with those whose ratings do not count first.
pub(super) async fn raters(store: &Store, collection: &str) -> Result<Vec<Rater>, Error> {
    const RATERS: &str = "SELECT rater.*, account.name FROM rater JOIN account ON account.id = rater.account \
        WHERE rater.collection = $1 ORDER BY rater.weight, rater.ratings DESC, account.id";
    store.fetch(RATERS, args![collection]).await
}

/// Stops asking for the grade of a caption; `false` if it is not in use.
pub(super) async fn retire(store: &Store, collection: &str, id: &str) -> Result<bool, Error> {
    let sql = "UPDATE gold SET retired_at = $1 WHERE id = $2 AND collection = $3 AND retired_at IS NULL";
    Ok(store.execute(sql, args![clock::now(), id, collection]).await? == 1)
}

/// A caption that all its raters gave the best grade.
#[derive(Deserialize)]
struct Best {
    image: String,
    language: String,
    text: String,
    split_group: String,
}

/// Creates captions with known grades: some that all raters gave the best grade, and as many that belong to a picture
/// of another group. Returns how many were created.
pub async fn grow(store: &Store, collection: &str, actor: Option<&str>) -> Result<usize> {
    const BEST: &str = "SELECT caption.image, caption.language, caption.text, image.split_group FROM caption \
         JOIN image ON image.id = caption.image WHERE caption.collection = $1 AND caption.state = 'accepted' \
         AND image.state IN ('open', 'complete') \
         AND NOT EXISTS (SELECT 1 FROM rating WHERE rating.caption = caption.id AND rating.grade < 4) \
         AND (SELECT COUNT(*) FROM rating WHERE rating.caption = caption.id AND rating.weight > 0) >= 2 \
         AND NOT EXISTS (SELECT 1 FROM gold WHERE gold.collection = $1 AND gold.text = caption.text) \
         ORDER BY caption.shuffle LIMIT 200";
    let mut tx = store.begin().await?;
    tx.lock("collection", collection).await?;
    let best: Vec<Best> = tx.fetch(BEST, args![collection]).await?;
    let mut made = 0;
    let mut pictures = HashSet::new();
    for first in &best {
        if made == 2 * PAIRS {
            break;
        }
        if !pictures.insert(&first.image) {
            continue;
        }
        let is_other = |other: &&Best| other.split_group != first.split_group && other.image != first.image;
        let Some(other) = best.iter().find(is_other) else { continue };
        let mut pair = [(first, 4), (other, 1)];
        // The fitting caption comes first in every other pair.
        if made % 4 >= 2 {
            pair.reverse();
        }
        for (of, grade) in pair {
            add(&mut tx, collection, &first.image, of, grade, actor).await?;
        }
        made += 2;
    }
    if made > 0 {
        audit::note(&mut tx, actor, "gold.make", collection, json!({ "made": made })).await?;
        tx.commit().await?;
    }
    Ok(made)
}

async fn add(
    tx: &mut Tx,
    collection: &str,
    image: &str,
    of: &Best,
    grade: i64,
    actor: Option<&str>,
) -> Result<(), Error> {
    let row = columns! {
        id: ids::new_id(), collection, image, language: &of.language, text: &of.text, grade,
        created_by: actor, created_at: clock::now(),
    };
    tx.insert_row("gold", row).await
}
