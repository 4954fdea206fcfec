//! Sessions of browsers: a random token in a cookie, of which only the hash is stored.

use axum::http::HeaderValue;

use super::{Role, Visitor, people};
use crate::settings::Settings;
use crate::store::{Error, Row, Store, Tx};
use crate::web::Scope;
use crate::{args, clock, ids};

/// The name of the cookie; over TLS, browsers guard names that begin like the first.
pub fn cookie_name(settings: &Settings) -> &'static str {
    if settings.is_secure() { "__Host-capeval" } else { "capeval" }
}

/// Begins a session, and returns the cookie to set.
///
/// # Errors
/// If the database fails.
pub async fn begin(tx: &mut Tx, settings: &Settings, account: &str) -> anyhow::Result<HeaderValue> {
    let token = ids::secret()?;
    let now = clock::now();
    let expires = now + settings.session_days * clock::DAY;
    tx.execute("DELETE FROM session WHERE expires_at < $1", args![now]).await?;
    tx.execute(
        "INSERT INTO session (token_hash, account, created_at, expires_at) VALUES ($1, $2, $3, $4)",
        args![ids::digest(&token), account, now, expires],
    )
    .await?;
    Ok(set(settings, &token, settings.session_days * clock::DAY / 1000)?)
}

/// The cookie that ends a session in the browser.
///
/// # Errors
/// Never, as long as names of cookies are plain.
pub fn forget(settings: &Settings) -> anyhow::Result<HeaderValue> {
    Ok(set(settings, "", 0)?)
}

fn set(
    settings: &Settings,
    value: &str,
    seconds: i64,
) -> Result<HeaderValue, axum::http::header::InvalidHeaderValue> {
    let secure = if settings.is_secure() { "; Secure" } else { "" };
    let name = cookie_name(settings);
    HeaderValue::from_str(&format!(
        "{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}"
    ))
}

/// Ends a session.
///
/// # Errors
/// If the database fails.
pub async fn end(store: &Store, token_hash: &str) -> Result<(), Error> {
    store.execute("DELETE FROM session WHERE token_hash = $1", args![token_hash]).await.map(drop)
}

/// The person with this token.
///
/// # Errors
/// If the database fails.
pub async fn visitor(store: &Store, token: &str) -> Result<Option<Visitor>, Error> {
    let hash = ids::digest(token);
    let row = store
        .first(
            "SELECT account.* FROM session JOIN account ON account.id = session.account \
             WHERE session.token_hash = $1 AND session.expires_at > $2 AND account.disabled_at IS NULL",
            args![&hash, clock::now()],
        )
        .await?;
    row.map(|row| of_row(&row, Scope::ALL.to_vec(), Some(hash))).transpose()
}

/// The visitor in a row of accounts.
pub(super) fn of_row(row: &Row, scopes: Vec<Scope>, session: Option<String>) -> Result<Visitor, Error> {
    let role: Role = people::role(row)?;
    Ok(Visitor {
        id: row.get("id")?,
        name: row.get("name")?,
        email: row.get("email")?,
        role,
        scopes,
        session,
    })
}
