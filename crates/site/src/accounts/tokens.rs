//! Tokens of programs: shown once, stored as a hash with the beginning to recognise them by.

use capeval_api::Token;
use serde::Deserialize;
use serde_json::json;

use super::{Visitor, people};
use crate::fault::{Fault, Result};
use crate::store::{Error, Store, Tx};
use crate::web::Scope;
use crate::{args, audit, clock, columns, fault, ids};

/// The prefix of tokens, by which scanners find leaked ones.
const PREFIX: &str = "cev_";

/// The most tokens of an account.
const MOST: i64 = 50;

/// Creates a token, and returns it; it cannot be shown again.
pub async fn add(tx: &mut Tx, account: &str, name: &str, scope: Scope) -> Result<String> {
    tx.lock("account", account).await?;
    let count: i64 =
        tx.fetch_one("SELECT COUNT(*) FROM api_token WHERE account = $1", args![account]).await?;
    if count >= MOST {
        return Err(fault!(CONFLICT, "tokens", "You already have {} tokens. Remove one first.", MOST));
    }
    let name = people::name(if name.trim().is_empty() { scope.name() } else { name })?;
    let token = format!("{PREFIX}{}", ids::secret()?);
    let id = ids::new_id();
    let row = columns! {
        id: &id, account, name, prefix: &token[..PREFIX.len() + 6], hash: ids::digest(&token),
        scopes: scope.name(), created_at: clock::now(),
    };
    tx.insert_row("api_token", row).await?;
    audit::note(tx, Some(account), "token.add", &id, json!({ "scope": scope.name() })).await?;
    Ok(token)
}

pub(super) async fn of_account(store: &Store, account: &str) -> Result<Vec<Token>, Error> {
    store.fetch("SELECT * FROM api_token WHERE account = $1 ORDER BY id", args![account]).await
}

/// Removes a token of a person, unless it allows more than they may do.
pub(super) async fn remove(tx: &mut Tx, visitor: &Visitor, id: &str) -> Result<()> {
    let sql = "DELETE FROM api_token WHERE id = $1 AND account = $2 RETURNING scopes";
    let widest: Option<Scope> = tx.fetch_optional(sql, args![id, &visitor.id]).await?;
    if !visitor.has(widest.ok_or_else(Fault::not_found)?) {
        return Err(fault! {
            FORBIDDEN, "scope-larger", "A token cannot remove a token with a wider scope than its own."
        });
    }
    Ok(audit::note(tx, Some(&visitor.id), "token.remove", id, json!({})).await?)
}

/// A token that is used.
#[derive(Deserialize)]
struct UsedToken {
    visitor: Visitor,
    scopes: Scope,
    used_at: Option<i64>,
}

/// The person in whose name a program with this token asks.
pub(super) async fn visitor(store: &Store, token: &str) -> Result<Option<Visitor>> {
    let hash = ids::digest(token);
    let sql = "SELECT account.*, api_token.scopes AS scopes, api_token.used_at AS used_at \
               FROM api_token JOIN account ON account.id = api_token.account \
               WHERE api_token.hash = $1 AND account.disabled_at IS NULL";
    let used: Option<UsedToken> = store.fetch_optional(sql, args![&hash]).await?;
    let Some(UsedToken { visitor, scopes: widest, used_at }) = used else { return Ok(None) };
    let now = clock::now();
    if used_at.is_none_or(|used| now - used > 3_600_000) {
        let sql = "UPDATE api_token SET used_at = $1 WHERE hash = $2";
        fault::beside_reading(store.execute(sql, args![now, &hash]).await.map(drop))?;
    }
    let scopes = Scope::ALL.iter().copied().filter(|scope| *scope <= widest).collect();
    Ok(Some(Visitor { scopes, ..visitor }))
}
