//! The audit log: who did what to what, written in the transaction that does it.

use serde::Deserialize;
use serde_json::Value;

use crate::store::{Error, Store, Tx};
use crate::{args, clock, ids};

/// Notes that `actor`, or the server itself, did `action` to `subject`.
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

#[derive(Debug, Deserialize)]
pub struct Note {
    pub at: i64,
    /// The name of the person; empty for the server itself.
    #[serde(rename = "actor_name")]
    pub actor: String,
    pub action: String,
    /// The id of what was changed.
    pub subject: String,
    /// JSON.
    pub detail: String,
}

/// The newest notes; those on one subject unless `subject` is empty.
pub async fn newest(store: &Store, subject: &str, most: i64) -> Result<Vec<Note>, Error> {
    macro_rules! notes {
        ($of:literal) => {
            concat!(
                "SELECT audit.*, COALESCE(account.name, '') AS actor_name FROM audit \
                 LEFT JOIN account ON account.id = audit.actor WHERE ",
                $of,
                " ORDER BY audit.id DESC LIMIT $2"
            )
        };
    }
    // Each has an index of its own.
    let sql = if subject.is_empty() { notes!("$1 = ''") } else { notes!("audit.subject = $1") };
    store.fetch(sql, args![subject, most]).await
}
