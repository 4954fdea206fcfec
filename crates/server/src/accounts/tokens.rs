//! Tokens of programs: shown once, stored as a hash with the beginning to recognise them by.

use serde::Serialize;
use serde_json::json;

use super::{Visitor, sessions};
use crate::fault;
use crate::fault::Fault;
use crate::store::{Error, Row, Store, Tx};
use crate::web::Scope;
use crate::{args, audit, clock, ids};

/// How tokens begin, so that they are found where they should not lie.
const PREFIX: &str = "cev_";

/// The most tokens of an account.
const MOST: i64 = 50;

/// A token as its owner sees it.
#[derive(Clone, Debug, Serialize)]
pub struct Token {
    /// The id.
    pub id: String,
    /// What its owner calls it.
    pub name: String,
    /// Its beginning.
    pub prefix: String,
    /// What it allows.
    pub scopes: String,
    /// When it was made.
    pub created_at: i64,
    /// When it was last used, to the hour.
    pub used_at: Option<i64>,
}

/// Makes a token, and returns it; it cannot be shown again.
///
/// # Errors
/// If the account has too many, or the database fails.
pub async fn add(tx: &mut Tx, account: &str, name: &str, scope: Scope) -> Result<String, Fault> {
    let count = tx.first("SELECT COUNT(*) AS n FROM api_token WHERE account = $1", args![account]).await?;
    if count.map_or(Ok(0), |row| row.get::<i64>("n"))? >= MOST {
        return Err(fault!(CONFLICT, "tokens", "You already have {} tokens. Remove one first.", MOST));
    }
    let name = super::people::name(if name.trim().is_empty() { scope.name() } else { name })?;
    let token = format!("{PREFIX}{}", ids::secret()?);
    let id = ids::new_id();
    tx.execute(
        "INSERT INTO api_token (id, account, name, prefix, hash, scopes, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        args![
            &id,
            account,
            name,
            &token[..PREFIX.len() + 6],
            ids::digest(&token),
            scope.name(),
            clock::now()
        ],
    )
    .await?;
    audit::note(tx, Some(account), "token.add", &id, json!({ "scope": scope.name() })).await?;
    Ok(token)
}

/// The tokens of an account.
///
/// # Errors
/// If the database fails.
pub async fn of_account(store: &Store, account: &str) -> Result<Vec<Token>, Error> {
    let rows = store.all("SELECT * FROM api_token WHERE account = $1 ORDER BY id", args![account]).await?;
    rows.iter()
        .map(|row| {
            Ok(Token {
                id: row.get("id")?,
                name: row.get("name")?,
                prefix: row.get("prefix")?,
                scopes: row.get("scopes")?,
                created_at: row.get("created_at")?,
                used_at: row.get("used_at")?,
            })
        })
        .collect()
}

/// Removes a token of a person.
///
/// # Errors
/// If they have no such token, or it allows more than they may do.
pub async fn remove(tx: &mut Tx, visitor: &Visitor, id: &str) -> Result<(), Fault> {
    let sql = "DELETE FROM api_token WHERE id = $1 AND account = $2 RETURNING scopes";
    let removed = tx.first(sql, args![id, &visitor.id]).await?.ok_or_else(Fault::not_found)?;
    if !visitor.has(widest(&removed)?) {
        return Err(fault!(
            FORBIDDEN,
            "scope-larger",
            "A token cannot remove a token with a wider scope than its own."
        ));
    }
    Ok(audit::note(tx, Some(&visitor.id), "token.remove", id, json!({})).await?)
}

/// The largest scope in a row.
fn widest(row: &Row) -> Result<Scope, Error> {
    Ok(row.get::<String>("scopes")?.parse().unwrap_or(Scope::Read))
}

/// The person in whose name a program with this token asks.
///
/// # Errors
/// If the database fails.
pub async fn visitor(store: &Store, token: &str) -> Result<Option<Visitor>, Error> {
    let hash = ids::digest(token);
    let row = store
        .first(
            "SELECT account.*, api_token.scopes AS scopes, api_token.used_at AS used_at \
             FROM api_token JOIN account ON account.id = api_token.account \
             WHERE api_token.hash = $1 AND account.disabled_at IS NULL",
            args![&hash],
        )
        .await?;
    let Some(row) = row else { return Ok(None) };
    let now = clock::now();
    if row.get::<Option<i64>>("used_at")?.is_none_or(|used| now - used > 3_600_000) {
        store.execute("UPDATE api_token SET used_at = $1 WHERE hash = $2", args![now, &hash]).await?;
    }
    let widest = widest(&row)?;
    let scopes = Scope::ALL.iter().copied().take_while(|scope| *scope != widest).chain([widest]).collect();
    sessions::of_row(&row, scopes, None).map(Some)
}
