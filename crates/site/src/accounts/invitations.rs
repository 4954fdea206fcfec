//! Invitations: links that work once and for a week, for a new account or for a place in a team.

use serde::Deserialize;
use serde_json::json;

use super::{Role, people};
use crate::fault::Result;
use crate::store::{Store, Tx};
use crate::{args, audit, clock, columns, fault, ids};

/// The days for which a link works.
const DAYS: i64 = 7;

/// An invitation that has not been used.
#[derive(Clone, Debug, Deserialize)]
pub struct Invitation {
    pub id: String,
    /// The role of the new account.
    pub role: Role,
    /// The team to join.
    pub team: Option<String>,
    /// The only address that the account may have.
    pub email: Option<String>,
}

/// Creates an invitation, and returns the path of its link, which cannot be shown again.
pub async fn add(tx: &mut Tx, actor: Option<&str>, role: Role, team: Option<&str>) -> Result<String> {
    insert(tx, actor, role, team, None).await
}

/// Creates an invitation for one email address, whose owner proves by using it that the address is theirs.
pub async fn add_for_address(tx: &mut Tx, email: &str) -> Result<String> {
    // An address has one link at a time, the newest.
    tx.execute("DELETE FROM invitation WHERE email = $1 AND used_at IS NULL", args![email]).await?;
    insert(tx, None, Role::Member, None, Some(email)).await
}

async fn insert(
    tx: &mut Tx,
    actor: Option<&str>,
    role: Role,
    team: Option<&str>,
    email: Option<&str>,
) -> Result<String> {
    let secret = ids::secret()?;
    let (id, now) = (ids::new_id(), clock::now());
    let row = columns! {
        id: &id, hash: ids::digest(&secret), role: role.name(), team, created_by: actor, created_at: now,
        expires_at: now + DAYS * clock::DAY, email,
    };
    tx.insert_row("invitation", row).await?;
    audit::note(tx, actor, "invitation.add", &id, json!({ "role": role.name(), "team": team })).await?;
    Ok(format!("/join/{secret}"))
}

/// The invitation of a link, if it can still be used.
pub async fn find(store: &Store, secret: &str) -> Result<Invitation> {
    let found = store
        .fetch_optional(
            // The link for the first administrator ends once there is an account, however that was created.
            "SELECT * FROM invitation WHERE hash = $1 AND used_at IS NULL AND expires_at > $2 \
             AND NOT (created_by IS NULL AND role = 'admin' AND EXISTS (SELECT 1 FROM account))",
            args![ids::digest(secret), clock::now()],
        )
        .await?;
    found.ok_or_else(|| {
        fault! {
            GONE, "invitation",
            "This link has already been used or is more than {} days old. Ask for a new one.", DAYS
        }
    })
}

/// Uses an invitation up, unless it has been used since it was found.
pub async fn take(tx: &mut Tx, invitation: &Invitation, account: &str) -> Result<()> {
    let sql = "UPDATE invitation SET used_at = $1, used_by = $2 WHERE id = $3 AND used_at IS NULL";
    let taken = tx.execute(sql, args![clock::now(), account, &invitation.id]).await?;
    if taken == 0 {
        return Err(fault!(GONE, "invitation-used", "This link has already been used."));
    }
    Ok(())
}

/// The path of a link for the first administrator, if there is no account yet. Links of earlier starts end.
pub async fn for_first_administrator(store: &Store) -> anyhow::Result<Option<String>> {
    if people::count(store).await? > 0 {
        return Ok(None);
    }
    let mut tx = store.begin().await?;
    let sql = "DELETE FROM invitation WHERE created_by IS NULL AND role = 'admin' AND used_at IS NULL";
    tx.execute(sql, args![]).await?;
    let path = add(&mut tx, None, Role::Admin, None).await?;
    tx.commit().await?;
    Ok(Some(path))
}
