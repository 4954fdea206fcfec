//! Links that set a new password, or confirm a new email address: they work once and for a day.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use serde::Deserialize;
use serde_json::json;

use super::devices;
use crate::app::App;
use crate::fault::{Fault, Result};
use crate::jobs::{Failure, Job, Lane, Work};
use crate::store::{Error, Store, Tx};
use crate::web::language::{Language, say};
use crate::{args, audit, clock, fault, ids, outbox};

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
pub async fn for_password(tx: &mut Tx, actor: Option<&str>, account: &str) -> Result<String> {
    Ok(format!("/reset/{}", add(tx, actor, account, None).await?))
}

/// Creates a link to change the email address, and returns its path, which cannot be shown again.
pub(super) async fn for_address(tx: &mut Tx, account: &str, email: &str) -> Result<String> {
    Ok(format!("/address/{}", add(tx, Some(account), account, Some(email)).await?))
}

async fn add(tx: &mut Tx, actor: Option<&str>, account: &str, email: Option<&str>) -> Result<String> {
    let (secret, now) = (ids::secret()?, clock::now());
    // An account has one link of a kind at a time, the newest.
    let sql =
        "DELETE FROM account_link WHERE account = $1 AND (email IS NULL) = ($2 = 1) OR expires_at <= $3";
    tx.execute(sql, args![account, email.is_none(), now]).await?;
    let sql = "INSERT INTO account_link (hash, account, email, created_at, expires_at) \
               SELECT $1, id, $2, $3, $4 FROM account WHERE id = $5 AND disabled_at IS NULL";
    let added = tx.execute(sql, args![ids::digest(&secret), email, now, now + HOURS * HOUR, account]).await?;
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
pub(super) async fn find(store: &Store, secret: &str, sets_password: bool) -> Result<Link> {
    let found = store.fetch_optional(FIND, args![ids::digest(secret), sets_password, clock::now()]).await?;
    found.ok_or_else(gone)
}

/// The same, which cannot be used again.
pub(super) async fn take(tx: &mut Tx, secret: &str, sets_password: bool) -> Result<Link> {
    let hash = ids::digest(secret);
    let found = tx.fetch_optional(FIND, args![&hash, sets_password, clock::now()]).await?.ok_or_else(gone)?;
    let taken = tx.execute("DELETE FROM account_link WHERE hash = $1", args![&hash]).await?;
    if taken == 0 { Err(gone()) } else { Ok(found) }
}

/// Forgets links, invitations and sessions that have ended; returns how many there were.
pub async fn sweep(tx: &mut Tx) -> Result<u64, Error> {
    let mut removed = 0;
    for sql in [
        "DELETE FROM account_link WHERE expires_at <= $1",
        "DELETE FROM invitation WHERE expires_at <= $1 AND used_at IS NULL",
        "DELETE FROM session WHERE expires_at <= $1",
    ] {
        removed += tx.execute(sql, args![clock::now()]).await?;
    }
    Ok(removed + devices::sweep(tx).await?)
}

fn gone() -> Fault {
    fault! {
        GONE, "link",
        "This link has already been used or is more than {} hours old. Ask for a new one.", HOURS
    }
}

/// A link to a new password that someone has asked for.
pub struct AskedLink {
    /// The id of the account; another id if there is none with the address.
    pub account: String,
    /// The language of the page.
    pub language: Language,
}

impl Display for AskedLink {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.account, self.language.tag())
    }
}

impl FromStr for AskedLink {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (account, tag) = text.split_once('/').ok_or(())?;
        Ok(Self { account: account.to_owned(), language: Language::of(tag).ok_or(())? })
    }
}

/// Sends a link that sets a new password, to those who have an account.
pub struct SendPasswordLink;

impl Work for SendPasswordLink {
    const KIND: &'static str = "password-link";
    const LANE: Lane = Lane::Errands;
    type Subject = AskedLink;
    type Output = ();

    async fn run(_: &App, _: &Job<AskedLink>) -> Result<(), Failure> {
        Ok(())
    }

    async fn finish(app: &App, tx: &mut Tx, job: &Job<AskedLink>, _: Result<(), String>) -> Result<()> {
        let AskedLink { account, language } = &job.subject;
        let sql = "SELECT email FROM account WHERE id = $1 AND disabled_at IS NULL";
        let Some(email) = tx.fetch_optional::<String>(sql, args![account]).await? else { return Ok(()) };
        let path = for_password(tx, None, account).await?;
        let sentence =
            language.t(say("Set a new password here. If you did not ask for this, ignore this email."));
        let subject = language.fill("Your account at {}", &[&app.settings.title]);
        Ok(outbox::mail_link(tx, app, (&email, &subject), sentence, &path).await?)
    }
}
