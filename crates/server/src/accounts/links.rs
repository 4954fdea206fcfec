//! Links that set a new password, or confirm a new email address: they work once and for a day.

use serde::Deserialize;
use serde_json::json;

use crate::fault;
use crate::fault::Fault;
use crate::store::{Store, Tx};
use crate::{args, audit, clock, ids};

/// The hours for which a link works.
const HOURS: i64 = 24;

const HOUR: i64 = 3_600_000;

/// Links that may be sent to one address in a minute.
pub(super) const PER_MINUTE: u32 = 2;

/// The change that a link makes.
#[derive(Clone, Debug, Deserialize)]
pub struct Link {
    pub account: String,
    /// The new address; `None` if the link sets a new password.
    pub email: Option<String>,
}

/// Creates a link to set a new password, and returns its path, which cannot be shown again.
pub async fn for_password(tx: &mut Tx, actor: Option<&str>, account: &str) -> Result<String, Fault> {
    Ok(format!("/reset/{}", add(tx, actor, account, None).await?))
}

/// Creates a link to change the email address, and returns its path, which cannot be shown again.
pub(super) async fn for_address(tx: &mut Tx, account: &str, email: &str) -> Result<String, Fault> {
    Ok(format!("/address/{}", add(tx, Some(account), account, Some(email)).await?))
}

async fn add(tx: &mut Tx, actor: Option<&str>, account: &str, email: Option<&str>) -> Result<String, Fault> {
    let (secret, now) = (ids::secret()?, clock::now());
    // An account has one link of a kind at a time, the newest.
    let sql =
        "DELETE FROM account_link WHERE account = $1 AND (email IS NULL) = ($2 = 1) OR expires_at <= $3";
    tx.execute(sql, args![account, email.is_none(), now]).await?;
    let added = tx
        .execute(
            "INSERT INTO account_link (hash, account, email, created_at, expires_at) \
             SELECT $1, id, $2, $3, $4 FROM account WHERE id = $5 AND disabled_at IS NULL",
            args![ids::digest(&secret), email, now, now + HOURS * HOUR, account],
        )
        .await?;
    if added == 0 {
        return Err(fault!(CONFLICT, "disabled", "This account is disabled."));
    }
    let changes = if email.is_none() { "password" } else { "address" };
    audit::note(tx, actor, "account.link", account, json!({ "changes": changes })).await?;
    Ok(secret)
}

const FIND: &str = "SELECT account, account_link.email FROM account_link JOIN account ON account.id = account \
    WHERE hash = $1 AND (account_link.email IS NULL) = ($2 = 1) AND expires_at > $3 AND disabled_at IS NULL";

/// The link with this secret that sets a password, or that changes an address, if it can still be used.
pub(super) async fn find(store: &Store, secret: &str, sets_password: bool) -> Result<Link, Fault> {
    let found = store.fetch_optional(FIND, args![ids::digest(secret), sets_password, clock::now()]).await?;
    found.ok_or_else(gone)
}

/// The same, which cannot be used again.
pub(super) async fn take(tx: &mut Tx, secret: &str, sets_password: bool) -> Result<Link, Fault> {
    let hash = ids::digest(secret);
    let found = tx.fetch_optional(FIND, args![&hash, sets_password, clock::now()]).await?.ok_or_else(gone)?;
    let taken = tx.execute("DELETE FROM account_link WHERE hash = $1", args![&hash]).await?;
    if taken == 0 { Err(gone()) } else { Ok(found) }
}

fn gone() -> Fault {
    fault!(
        GONE,
        "link",
        "This link has already been used or is more than {} hours old. Ask for a new one.",
        HOURS
    )
}
