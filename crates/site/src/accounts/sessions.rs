//! Sessions of browsers: a random token in a cookie, of which only the hash is stored.

use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Redirect, Response};
use cookie::time::Duration;
use cookie::{Cookie, SameSite};

use super::Visitor;
use crate::settings::Settings;
use crate::store::{Error, Store, Tx};
use crate::web::Scope;
use crate::web::network::session_cookie;
use crate::{args, clock, columns, ids};

/// Begins a session, and returns the cookie to set.
pub async fn begin(tx: &mut Tx, settings: &Settings, account: &str) -> anyhow::Result<Cookie<'static>> {
    let token = ids::secret()?;
    let now = clock::now();
    let expires = now.saturating_add(settings.session_days.saturating_mul(clock::DAY));
    tx.execute("DELETE FROM session WHERE expires_at < $1", args![now]).await?;
    let row = columns! { token_hash: ids::digest(&token), account, created_at: now, expires_at: expires };
    tx.insert_row("session", row).await?;
    Ok(cookie(settings, token, settings.session_days))
}

/// The cookie that ends a session in the browser.
pub(super) fn forget(settings: &Settings) -> Cookie<'static> {
    cookie(settings, String::new(), 0)
}

fn cookie(settings: &Settings, value: String, days: i64) -> Cookie<'static> {
    Cookie::build((session_cookie(settings), value))
        .path("/")
        .max_age(Duration::seconds(days.saturating_mul(86_400)))
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(settings.is_secure())
        .build()
}

/// Sets a cookie and sends the browser on to the page `to`.
pub(super) fn redirect(cookie: &Cookie<'_>, to: &str) -> Response {
    ([(SET_COOKIE, cookie.to_string())], Redirect::to(to)).into_response()
}

/// Ends a session.
pub(super) async fn end(store: &Store, token_hash: &str) -> Result<(), Error> {
    store.execute("DELETE FROM session WHERE token_hash = $1", args![token_hash]).await.map(drop)
}

/// Ends all sessions of an account.
pub(super) async fn end_all(store: &Store, account: &str) -> Result<(), Error> {
    store.execute("DELETE FROM session WHERE account = $1", args![account]).await.map(drop)
}

/// The person with this token.
pub(super) async fn visitor(store: &Store, token: &str) -> Result<Option<Visitor>, Error> {
    let hash = ids::digest(token);
    let sql = "SELECT account.* FROM session JOIN account ON account.id = session.account \
               WHERE session.token_hash = $1 AND session.expires_at > $2 AND account.disabled_at IS NULL";
    let visitor: Option<Visitor> = store.fetch_optional(sql, args![&hash, clock::now()]).await?;
    Ok(visitor.map(|visitor| Visitor { scopes: Scope::ALL.to_vec(), session: Some(hash), ..visitor }))
}
