//! The audit log: who did what to what, written in the transaction that does it.

use serde::Deserialize;
use serde_json::Value;

use crate::paging::{At, List, Rows};
use crate::store::{Error, Store, Tx};
use crate::{args, clock, ids, newest_first};

/// Notes that `actor`, or the server itself, did `action` to `subject`.
pub async fn note(
    tx: &mut Tx,
    actor: Option<&str>,
    action: &'static str,
    subject: &str,
    detail: Value,
) -> Result<(), Error> {
    note_in(tx, None, actor, action, subject, detail).await
}

/// The same in the log of a place, such as a benchmark, to which the subject belongs.
pub async fn note_in(
    tx: &mut Tx,
    place: Option<&str>,
    actor: Option<&str>,
    action: &'static str,
    subject: &str,
    detail: Value,
) -> Result<(), Error> {
    let sql = "INSERT INTO audit (id, at, actor, action, subject, place, detail) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let values = args![ids::new_id(), clock::now(), actor, action, subject, place, detail.to_string()];
    tx.execute(sql, values).await.map(drop)
}

#[derive(Debug, Deserialize)]
pub struct Note {
    pub id: String,
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

macro_rules! notes {
    ($of:literal) => {
        newest_first!(
            concat!(
                "SELECT audit.*, COALESCE(account.name, '') AS actor_name FROM audit \
                 LEFT JOIN account ON account.id = audit.actor WHERE ",
                $of
            ),
            "audit.id"
        )
    };
}

/// All notes; `$3` is empty.
pub const ALL: List = notes!("$3 = ''");

/// Those on one subject.
pub const OF_SUBJECT: List = notes!("audit.subject = $3");

/// Those in the log of a place.
pub const OF_PLACE: List = notes!("audit.place = $3");

/// A page of notes, the newest first.
pub async fn page(store: &Store, list: &List, of: &str, at: At) -> Result<Rows<Note>, Error> {
    list.page(store, at, args![of], |note: &Note| &note.id).await
}
