//! Sets a caption aside instead of rating it: reports it, or skips its picture.

use capeval_api::{NewReport, ReportReason, ReportedKind, SkipReason};
use capeval_site::prelude::*;

use super::queue::ToRate;
use crate::captioning::skips;
use crate::records::SeenCollection;
use crate::reports;

/// Reports a caption.
pub(super) async fn report(
    store: &Store,
    seen: &SeenCollection,
    visitor: &Visitor,
    held: &ToRate,
    reason: ReportReason,
) -> Result<()> {
    let mut tx = store.begin().await?;
    // A caption with a known grade is a person's caption elsewhere; here it is only skipped.
    if tx.exists("SELECT 1 FROM caption WHERE id = $1", args![&held.item]).await? {
        let subject = held.item.clone();
        let (note, to) = (String::new(), String::new());
        let report = NewReport { kind: ReportedKind::Caption, subject, reason, note, to };
        reports::add(&mut tx, seen, visitor, &report).await?;
    } else {
        add_skip(&mut tx, &seen.collection.id, visitor, held).await?;
    }
    Ok(tx.commit().await?)
}

/// Skips a picture: people who cannot judge it neither rate its captions nor describe it.
pub(super) async fn skip(store: &Store, collection: &str, visitor: &Visitor, held: &ToRate) -> Result<()> {
    let mut tx = store.begin().await?;
    add_skip(&mut tx, collection, visitor, held).await?;
    Ok(tx.commit().await?)
}

async fn add_skip(tx: &mut Tx, collection: &str, visitor: &Visitor, held: &ToRate) -> Result<()> {
    let sql = "DELETE FROM assignment WHERE collection = $1 AND account = $2 AND kind = 'rating'";
    tx.execute(sql, args![collection, &visitor.id]).await?;
    Ok(skips::note(tx, &held.image.id, &visitor.id, SkipReason::Unclear).await?)
}
