//! The audit log: who did what to what, written in the transaction that does it.

use serde_json::Value;

use crate::store::{Error, Tx};
use crate::{args, clock, ids};

/// Notes that `actor`, or the server itself, did `action` to `subject`.
///
/// # Errors
/// If the database refuses it.
pub async fn note(
    tx: &mut Tx,
    actor: Option<&str>,
    action: &'static str,
    subject: &str,
    detail: Value,
) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO audit (id, at, actor, action, subject, detail) VALUES ($1, $2, $3, $4, $5, $6)",
        args![ids::new_id(), clock::now(), actor, action, subject, detail.to_string()],
    )
    .await
    .map(drop)
}
