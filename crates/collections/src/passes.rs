//! The people who have passed the quiz of a collection, which comes before a person's first caption or rating.

use capeval_site::prelude::*;

use super::contributors;
use super::records::SeenCollection;

/// Returns true if a person has passed the quiz.
pub(super) async fn has_passed(store: &Store, collection: &str, account: &str) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM quiz WHERE collection = $1 AND account = $2 AND passed_at IS NOT NULL";
    store.exists(sql, args![collection, account]).await
}

/// Notes an attempt, and that the person takes part. People who have passed once have passed for good.
pub(super) async fn note(
    store: &Store,
    collection: &str,
    account: &str,
    is_passed: bool,
) -> Result<(), Error> {
    let mut tx = store.begin().await?;
    let sql = "INSERT INTO quiz (collection, account, attempts, passed_at) VALUES ($1, $2, 1, $3) \
               ON CONFLICT (collection, account) DO UPDATE SET attempts = quiz.attempts + 1, \
               passed_at = COALESCE(quiz.passed_at, excluded.passed_at)";
    tx.execute(sql, args![collection, account, is_passed.then(clock::now)]).await?;
    contributors::join(&mut tx, collection, account).await?;
    tx.commit().await
}

/// Refuses to let a person contribute if the collection is closed, or if they have not passed its quiz.
pub(super) async fn require(store: &Store, seen: &SeenCollection, visitor: &Visitor) -> Result<()> {
    seen.collection.require_open()?;
    if !has_passed(store, &seen.collection.id, &visitor.id).await? {
        return Err(fault!(CONFLICT, "quiz", "First pass the quiz on the instructions page."));
    }
    Ok(())
}
