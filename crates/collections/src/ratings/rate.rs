//! Giving a grade: the rating, the weight of its rater, and what becomes of the caption, in one transaction.

use capeval_site::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::gold;
use crate::rules::acceptance::{self, Grade, Mistake, Verdict};
use crate::rules::states::CaptionState;
use crate::slots;

/// A grade with the errors that the rater marked.
#[derive(Clone, Debug)]
pub struct NewRating<'a> {
    pub collection: &'a str,
    /// The rater.
    pub account: &'a str,
    pub grade: Grade,
    /// The errors.
    pub tags: Vec<Mistake>,
}

/// Rates what a person was given, whether its grade is known or not; `false` if nothing is stored, since they have
/// rated it before, it can no longer be rated, or their account has been disabled.
pub async fn rate_held(store: &Store, item: &str, given: &NewRating<'_>) -> Result<bool, Error> {
    let mut tx = store.begin().await?;
    if !people::is_enabled(&mut tx, given.account).await? {
        return Ok(false);
    }
    let is_stored = rate_gold(&mut tx, item, given).await? || rate(&mut tx, item, given).await?;
    tx.commit().await?;
    Ok(is_stored)
}

/// Deletes the rating of a person, which counts no more.
pub async fn take_back(tx: &mut Tx, caption: &str, account: &str) -> Result<(), Error> {
    let Some(image) = slots::picture_of(tx, caption).await? else { return Ok(()) };
    slots::lock(tx, &image).await?;
    tx.execute("DELETE FROM rating WHERE caption = $1 AND account = $2", args![caption, account]).await?;
    decide(tx, caption, &[CaptionState::Submitted]).await
}

/// The quality of a person's ratings.
#[derive(Clone, Copy, Deserialize)]
struct Standing {
    gold_rated: i64,
    gold_right: i64,
    weight: i64,
}

async fn standing(tx: &mut Tx, collection: &str, account: &str) -> Result<Standing, Error> {
    let sql = "SELECT gold_rated, gold_right, weight FROM rater WHERE collection = $1 AND account = $2";
    let known = tx.fetch_optional(sql, args![collection, account]).await?;
    Ok(known.unwrap_or(Standing { gold_rated: 0, gold_right: 0, weight: 1 }))
}

/// Rates a caption; `false` if the person has rated it before, or it can no longer be rated.
pub async fn rate(tx: &mut Tx, caption: &str, given: &NewRating<'_>) -> Result<bool, Error> {
    let NewRating { collection, account, grade, tags } = given;
    let Some(image) = slots::picture_of(tx, caption).await? else { return Ok(false) };
    slots::lock(tx, &image).await?;
    let Standing { weight, .. } = standing(tx, collection, account).await?;
    let now = clock::now();
    let added = tx
        .execute(
            "INSERT INTO rating (caption, account, grade, tags, weight, created_at) \
             SELECT caption.id, $2, $3, $4, $5, $6 FROM caption WHERE caption.id = $1 AND caption.collection = $7 \
             AND caption.state IN ('submitted', 'accepted', 'rejected', 'split') \
             AND (caption.author IS NULL OR caption.author <> $2) ON CONFLICT DO NOTHING",
            args![caption, *account, grade.number(), json!(tags).to_string(), weight, now, *collection],
        )
        .await?;
    finish(tx, given).await?;
    if added == 0 {
        return Ok(false);
    }
    let sql = "INSERT INTO rater (collection, account, ratings, gold_rated, gold_right, weight) VALUES ($1, $2, 1, 0, \
               0, 1) ON CONFLICT (collection, account) DO UPDATE SET ratings = rater.ratings + 1";
    tx.execute(sql, args![*collection, *account]).await?;
    decide(tx, caption, &[CaptionState::Submitted]).await?;
    audit::note(tx, Some(account), "rating.add", caption, json!({ "grade": grade.number() })).await?;
    Ok(true)
}

/// Rates a caption whose grade is known, and reweighs the person's ratings; `false` if they have rated it before.
pub async fn rate_gold(tx: &mut Tx, gold: &str, given: &NewRating<'_>) -> Result<bool, Error> {
    let NewRating { collection, account, grade, .. } = given;
    let known = "SELECT grade FROM gold WHERE id = $1 AND collection = $2";
    let Some(known) = tx.fetch_optional(known, args![gold, *collection]).await? else { return Ok(false) };
    let is_right = gold::is_right(grade.number(), known);
    let row = columns! { gold, account: *account, grade: grade.number(), is_right, created_at: clock::now() };
    let added = tx.add_row("gold_rating", row).await?;
    finish(tx, given).await?;
    if !added {
        return Ok(false);
    }
    let before = standing(tx, collection, account).await?;
    let (rated, right) = (before.gold_rated + 1, before.gold_right + i64::from(is_right));
    let weight = gold::weight(right, rated);
    if weight == 0 && before.weight > 0 {
        // Pictures are locked before what belongs to a person.
        discount(tx, collection, account).await?;
    }
    let sql = "INSERT INTO rater (collection, account, ratings, gold_rated, gold_right, weight) VALUES ($1, $2, 0, \
               $3, $4, $5) ON CONFLICT (collection, account) DO UPDATE SET gold_rated = excluded.gold_rated, \
               gold_right = excluded.gold_right, weight = excluded.weight";
    tx.execute(sql, args![*collection, *account, rated, right, weight]).await?;
    Ok(true)
}

/// The person no longer holds a caption to rate.
async fn finish(tx: &mut Tx, given: &NewRating<'_>) -> Result<(), Error> {
    let sql = "DELETE FROM assignment WHERE collection = $1 AND account = $2 AND kind = 'rating'";
    tx.execute(sql, args![given.collection, given.account]).await.map(drop)
}

/// The grades of a caption that count.
async fn grades(tx: &mut Tx, caption: &str) -> Result<Vec<Grade>, Error> {
    let sql = "SELECT grade FROM rating WHERE caption = $1 AND weight > 0";
    Ok(tx.fetch(sql, args![caption]).await?.into_iter().filter_map(Grade::new).collect())
}

/// Brings a caption into the state that its ratings say, if it is in one of the states `from`.
async fn decide(tx: &mut Tx, caption: &str, from: &[CaptionState]) -> Result<(), Error> {
    let grades = grades(tx, caption).await?;
    let verdict = acceptance::decide(&grades);
    let (to, wanted) = match verdict {
        Verdict::Waits(wanted) => (CaptionState::Submitted, wanted),
        Verdict::Accepted => (CaptionState::Accepted, grades.len()),
        Verdict::Rejected => (CaptionState::Rejected, grades.len()),
        Verdict::Split => (CaptionState::Split, grades.len()),
    };
    let state = "SELECT state FROM caption WHERE id = $1";
    let state: Option<CaptionState> = tx.fetch_optional(state, args![caption]).await?;
    let due = state.filter(|state| from.contains(state));
    let wanted = if due.is_some() { wanted } else { 0 };
    let sql = "UPDATE caption SET ratings = $1, ratings_wanted = CASE WHEN $2 = 0 THEN ratings_wanted ELSE $2 END \
               WHERE id = $3";
    tx.execute(sql, args![grades.len(), wanted, caption]).await?;
    if let Some(from) = due.filter(|from| *from != to) {
        let reason = (to == CaptionState::Rejected).then_some("ratings");
        slots::change_caption(tx, caption, from, to, reason).await?;
    }
    Ok(())
}

/// Takes the weight from a person's ratings, and reconsiders what they had decided, unless a release has it.
async fn discount(tx: &mut Tx, collection: &str, account: &str) -> Result<(), Error> {
    const RATED: &str = "SELECT caption.id, caption.image FROM rating JOIN caption ON caption.id = rating.caption \
         WHERE caption.collection = $1 AND rating.account = $2 AND rating.weight > 0 \
         AND caption.state IN ('submitted', 'split', 'accepted') \
         AND NOT EXISTS (SELECT 1 FROM release_item AS item WHERE item.subject = caption.id) \
         ORDER BY caption.image, caption.id";
    for (caption, image) in tx.fetch::<(String, String)>(RATED, args![collection, account]).await? {
        slots::lock(tx, &image).await?;
        let was_accepted = acceptance::decide(&grades(tx, &caption).await?) == Verdict::Accepted;
        let sql = "UPDATE rating SET weight = 0 WHERE caption = $1 AND account = $2";
        tx.execute(sql, args![&caption, account]).await?;
        let undecided = [CaptionState::Submitted, CaptionState::Split, CaptionState::Accepted];
        // A caption that ratings had not accepted was accepted by a moderator, whose word stands.
        let n = if was_accepted { 3 } else { 2 };
        decide(tx, &caption, &undecided[..n]).await?;
    }
    audit::note(tx, Some(account), "rater.discount", collection, json!({})).await
}
