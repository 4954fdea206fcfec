//! Browsers from which someone has signed in before, so that guesses of others do not keep them out.

use axum::http::HeaderValue;
use axum::http::header::SET_COOKIE;
use axum::response::Response;
use cookie::time::Duration;
use cookie::{Cookie, SameSite};

use crate::fault::Result;
use crate::settings::Settings;
use crate::store::{Error, Store, Tx};
use crate::web::Attempt;
use crate::web::network::device_cookie;
use crate::{args, clock, columns, ids};

/// The days for which a browser is known after the last time that someone signed in from it.
const DAYS: i64 = 180;

/// Returns true if the owner of an address has signed in from this browser before.
pub(super) async fn is_known(store: &Store, from: &Attempt, email: &str) -> Result<bool, Error> {
    let Some(device) = &from.device else { return Ok(false) };
    let sql = "SELECT 1 FROM known_device JOIN account ON account.id = known_device.account \
               WHERE hash = $1 AND email = $2 AND seen_at > $3";
    store.exists(sql, args![device, email, clock::now() - DAYS * clock::DAY]).await
}

/// Remembers that someone has signed in from this browser; returns the secret of its cookie if it is new to it.
pub(super) async fn remember(tx: &mut Tx, from: &Attempt, account: &str) -> Result<Option<String>> {
    let now = clock::now();
    let known = "UPDATE known_device SET seen_at = $1 WHERE hash = $2 AND account = $3";
    if tx.execute(known, args![now, from.device.as_deref(), account]).await? > 0 {
        return Ok(None);
    }
    let secret = ids::secret()?;
    tx.insert_row("known_device", columns! { hash: ids::digest(&secret), account, seen_at: now }).await?;
    Ok(Some(secret))
}

/// Forgets browsers from which no one has signed in for long; returns how many there were.
pub(super) async fn sweep(tx: &mut Tx) -> Result<u64, Error> {
    let sql = "DELETE FROM known_device WHERE seen_at <= $1";
    tx.execute(sql, args![clock::now() - DAYS * clock::DAY]).await
}

/// The answer with the cookie of a browser that is new.
pub(super) fn with_cookie(mut response: Response, settings: &Settings, secret: Option<String>) -> Response {
    let Some(secret) = secret else { return response };
    let cookie = Cookie::build((device_cookie(settings), secret))
        .path("/")
        .max_age(Duration::days(DAYS))
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(settings.is_secure())
        .build();
    if let Ok(value) = HeaderValue::from_str(&cookie.to_string()) {
        response.headers_mut().append(SET_COOKIE, value);
    }
    response
}
