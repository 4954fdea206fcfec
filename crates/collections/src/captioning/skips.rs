//! Skipping a picture: others get it, and the person does not meet it again.

use capeval_api::SkipReason;
use capeval_site::prelude::*;

use crate::slots;

/// Gives up the reservation of a picture, which is not shown to the person again.
pub(super) async fn add(store: &Store, image: &str, account: &str, reason: SkipReason) -> Result<()> {
    let mut tx = store.begin().await?;
    slots::free(&mut tx, image, account, i64::MAX).await?;
    note(&mut tx, image, account, reason).await?;
    Ok(tx.commit().await?)
}

/// Notes that a person does not meet a picture again.
pub(crate) async fn note(tx: &mut Tx, image: &str, account: &str, reason: SkipReason) -> Result<(), Error> {
    let row = columns! { image, account, reason: reason.name(), created_at: clock::now() };
    tx.add_row("skip", row).await.map(drop)
}
