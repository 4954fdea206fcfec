//! Skipping a picture: others get it, and the person does not meet it again.

use capeval_api::SkipReason;
use capeval_site::fault::Fault;
use capeval_site::store::{Error, Store, Tx};
use capeval_site::{args, clock};

use crate::slots;

/// Gives up the reservation of a picture, which is not shown to the person again.
pub(super) async fn add(store: &Store, image: &str, account: &str, reason: SkipReason) -> Result<(), Fault> {
    let mut tx = store.begin().await?;
    slots::free(&mut tx, image, account, i64::MAX).await?;
    note(&mut tx, image, account, reason).await?;
    Ok(tx.commit().await?)
}

/// Notes that a person does not meet a picture again.
pub(crate) async fn note(tx: &mut Tx, image: &str, account: &str, reason: SkipReason) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO skip (image, account, reason, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        args![image, account, reason.name(), clock::now()],
    )
    .await
    .map(drop)
}
