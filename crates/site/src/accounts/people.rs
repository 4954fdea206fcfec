//! Accounts in the database.

use serde::Deserialize;
use serde_json::json;
use unicode_normalization::UnicodeNormalization;

use super::{Role, Visitor, devices};
use crate::app::App;
use crate::fault::{Fault, Result};
use crate::paging::{At, List, Rows};
use crate::store::{Error, Store, Tx};
use crate::web::Attempt;
use crate::web::language::{Language, say};
use crate::{args, audit, clean_text, clock, columns, fault, ids, newest_first, outbox};

/// An account.
#[derive(Clone, Debug, Deserialize)]
pub struct Account {
    pub id: String,
    /// In small letters.
    pub email: String,
    pub name: String,
    /// The hash of the password.
    pub password: String,
    pub role: Role,
    pub created_at: i64,
    /// Since when it cannot sign in.
    pub disabled_at: Option<i64>,
}

pub struct NewAccount<'a> {
    pub email: &'a str,
    pub name: &'a str,
    /// The hash of the password.
    pub password: String,
    pub role: Role,
}

/// Creates an account, and returns its id.
pub async fn add(tx: &mut Tx, new: NewAccount<'_>) -> Result<String> {
    let email = address(new.email)?;
    let name = name(new.name)?;
    let id = ids::new_id();
    let row = columns! {
        id: &id, email, name, password: new.password, role: new.role.name(), created_at: clock::now(),
    };
    if !tx.add_row("account", row).await? {
        return Err(fault!(CONFLICT, "email-taken", "An account with this email address already exists."));
    }
    audit::note(tx, Some(&id), "account.add", &id, json!({ "role": new.role.name() })).await?;
    Ok(id)
}

/// An email address in the form in which addresses are stored and looked for: in small letters, and composed, so that
/// one mailbox is one address.
pub fn canonical(email: &str) -> String {
    email.trim().nfkc().collect::<String>().to_lowercase()
}

/// The email address in that form, if it is one.
pub fn address(text: &str) -> Result<String> {
    let text = canonical(text);
    let parts = text.split_once('@').filter(|(local, domain)| {
        !local.is_empty() && domain.contains('.') && !domain.starts_with('.') && !domain.ends_with('.')
    });
    let is_plain =
        text.chars().all(|c| !c.is_whitespace() && !clean_text::is_odd(c) && !"<>,;\"".contains(c));
    if parts.is_none() || !is_plain || text.len() > 254 || text.matches('@').count() != 1 {
        return Err(fault!(UNPROCESSABLE_ENTITY, "email", "This is not an email address: {}", text));
    }
    Ok(text)
}

/// A name without what only confuses.
pub fn name(text: &str) -> Result<String> {
    let name = clean_text::line(text);
    if name.is_empty() || name.chars().count() > 80 {
        return Err(fault!(UNPROCESSABLE_ENTITY, "name", "A name must have 1 to 80 characters."));
    }
    Ok(name)
}

pub async fn by_email(store: &Store, email: &str) -> Result<Option<Account>, Error> {
    store.fetch_optional("SELECT * FROM account WHERE email = $1", args![canonical(email)]).await
}

/// Networks from which the password of an account may be guessed as often as it may from one.
const NETWORKS: u32 = 10;

/// Limits how often someone may guess the password of an account: from one network, and from all together, unless they
/// have signed in from this browser before. The owner is told, at most once a day.
pub(super) async fn limit_guesses(app: &App, email: &str, from: &Attempt) -> Result<()> {
    let (email, per_minute) = (canonical(email), app.settings.sign_ins_per_minute);
    if let Some(device) = &from.device
        && devices::is_known(&app.store, from, &email).await?
    {
        return app.limits.take("device", device, per_minute);
    }
    let of_network = app.limits.take("account", &format!("{email} {}", from.network.0), per_minute);
    let limited = of_network
        .and_then(|()| app.limits.take("account-anywhere", &email, per_minute.saturating_mul(NETWORKS)));
    if limited.is_err() && app.limits.take("warning", &email, 1).is_ok() {
        warn(app, &email).await?;
    }
    limited
}

/// Tells the owner of an account that someone guesses its password.
async fn warn(app: &App, email: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let sql = "UPDATE account SET warned_at = $1 WHERE email = $2 AND disabled_at IS NULL \
               AND (warned_at IS NULL OR warned_at < $3) RETURNING language";
    let now = clock::now();
    let told: Option<Option<Language>> = tx.fetch_optional(sql, args![now, email, now - clock::DAY]).await?;
    let Some(language) = told else { return Ok(()) };
    let language = language.unwrap_or(Language::English);
    let body = language.t(say(
        "Someone has tried to sign in to your account with wrong passwords, more often than this site allows. A browser from which you have signed in before is not affected; from others you may have to wait for a minute. If your password is weak, set a new one by the link “Forgotten password”, which also lets you in.",
    ));
    let subject = language.fill("Your account at {}", &[&app.settings.title]);
    outbox::mail(&mut tx, app, email, &subject, &format!("{body}\n")).await?;
    Ok(app.commit(tx).await?)
}

/// The account with this address, if it is enabled and has this password; guesses are limited.
pub(super) async fn with_password(
    app: &App,
    email: &str,
    password: &str,
    from: &Attempt,
) -> Result<Option<Account>> {
    limit_guesses(app, email, from).await?;
    let account = by_email(&app.store, email).await?.filter(|account| account.disabled_at.is_none());
    let stored = account.as_ref().map(|account| account.password.as_str());
    let is_right = app.hasher.verify(password, stored).await?;
    if !is_right {
        let account = account.as_ref().map(|account| account.id.as_str());
        tracing::warn!(account, "a password is wrong");
    }
    Ok(account.filter(|_| is_right))
}

/// Refuses a password that is not that of someone who is signed in; guesses with a stolen session are limited, whatever
/// others try.
pub(super) async fn require_password(app: &App, by: &Visitor, password: &str) -> Result<()> {
    app.limits.take("account-signed-in", &by.id, app.settings.sign_ins_per_minute)?;
    let account = by_id(&app.store, &by.id).await?;
    let stored = account.as_ref().map(|account| account.password.as_str());
    if app.hasher.verify(password, stored).await? {
        return Ok(());
    }
    tracing::warn!(account = by.id, "a password is wrong");
    Err(fault!(UNPROCESSABLE_ENTITY, "password", "The password is incorrect."))
}

pub async fn by_id(store: &Store, id: &str) -> Result<Option<Account>, Error> {
    store.fetch_optional("SELECT * FROM account WHERE id = $1", args![id]).await
}

/// Accounts that have not been deleted, by a part of their name or address as a pattern.
pub const FOUND: List = newest_first!(
    "SELECT * FROM account WHERE (email LIKE $3 ESCAPE '\\' OR LOWER(name) LIKE $3 ESCAPE '\\') \
     AND email <> 'deleted-' || id",
    "id"
);

/// The newest accounts whose name or address contains `part`.
pub async fn search(store: &Store, part: &str, at: At) -> Result<Rows<Account>, Error> {
    let escaped = part.trim().to_lowercase().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    FOUND.page(store, at, args![format!("%{escaped}%")], |account: &Account| &account.id).await
}

pub async fn count(store: &Store) -> Result<i64, Error> {
    store.fetch_one("SELECT COUNT(*) FROM account", args![]).await
}

/// Changes the name that others see. A deleted account does not get its name back.
pub(super) async fn rename(store: &Store, id: &str, name: &str) -> Result<(), Error> {
    let sql = "UPDATE account SET name = $1 WHERE id = $2 AND disabled_at IS NULL";
    store.execute(sql, args![name, id]).await.map(drop)
}

/// Sets the language of a person's email.
pub(super) async fn set_language(tx: &mut Tx, id: &str, language: Language) -> Result<(), Error> {
    tx.change_row("account", id, columns! { language: language.tag() }).await
}

/// Changes a password. Anyone who knew the old one is signed out everywhere, and may have created tokens.
pub(super) async fn set_password(tx: &mut Tx, id: &str, hash: &str) -> Result<(), Error> {
    tx.change_row("account", id, columns! { password: hash }).await?;
    for sql in [
        "DELETE FROM session WHERE account = $1",
        "DELETE FROM api_token WHERE account = $1",
        "DELETE FROM account_link WHERE account = $1",
        "DELETE FROM known_device WHERE account = $1",
    ] {
        tx.execute(sql, args![id]).await?;
    }
    audit::note(tx, Some(id), "account.password", id, json!({})).await
}

/// Returns true if an account has this address.
pub(super) async fn has_address(tx: &mut Tx, email: &str) -> Result<bool, Error> {
    tx.exists("SELECT 1 FROM account WHERE email = $1", args![email]).await
}

/// Gives an account another email address, and returns the old one.
pub(super) async fn set_address(tx: &mut Tx, id: &str, email: &str) -> Result<String> {
    tx.lock("account", id).await?;
    let old: String = tx.fetch_one("SELECT email FROM account WHERE id = $1", args![id]).await?;
    if has_address(tx, email).await? {
        return Err(fault!(CONFLICT, "email-taken", "An account with this email address already exists."));
    }
    tx.change_row("account", id, columns! { email, confirmed_at: None::<i64> }).await?;
    remember_address(tx, id, &old).await?;
    tx.execute("DELETE FROM account_link WHERE account = $1", args![id]).await?;
    tx.execute("DELETE FROM invitation WHERE email IN ($1, $2)", args![&old, email]).await?;
    tx.execute("DELETE FROM outbox WHERE kind = 'mail' AND target = $1", args![&old]).await?;
    audit::note(tx, Some(id), "account.address", id, json!({})).await?;
    Ok(old)
}

/// Notes that the address of an account is known to be that of its owner, if it is this one.
pub(super) async fn confirm(tx: &mut Tx, id: &str, email: &str) -> Result<(), Error> {
    let sql = "UPDATE account SET confirmed_at = COALESCE(confirmed_at, $1) WHERE id = $2 AND email = $3";
    tx.execute(sql, args![clock::now(), id, email]).await.map(drop)
}

/// Keeps an address that an account has no longer, as a hash, for quotas that belong to it.
pub(super) async fn remember_address(tx: &mut Tx, id: &str, email: &str) -> Result<(), Error> {
    tx.add_row("former_address", columns! { account: id, hash: address_hash(id, email) }).await.map(drop)
}

/// Gives an account another role, or disables it, and ends its sessions and the links for accounts that it has created.
pub async fn set_role(tx: &mut Tx, actor: Option<&str>, id: &str, role: Option<Role>) -> Result<()> {
    // Two administrators who disable each other, or delete their accounts, at once must not both succeed.
    let admins = tx.pick(
        "SELECT id FROM account WHERE role = 'admin' ORDER BY id",
        "SELECT id FROM account WHERE role = 'admin' ORDER BY id FOR NO KEY UPDATE",
    );
    let admins: Vec<String> = tx.fetch(admins, args![]).await?;
    let (sql, value) = match role {
        Some(role) => (
            "UPDATE account SET role = $1, disabled_at = NULL WHERE id = $2 AND email <> 'deleted-' || id",
            role.name().into(),
        ),
        None => ("UPDATE account SET disabled_at = $1 WHERE id = $2", clock::now().into()),
    };
    if tx.execute(sql, vec![value, id.into()]).await? == 0 {
        return Err(Fault::not_found());
    }
    let left = "SELECT 1 FROM account WHERE role = 'admin' AND disabled_at IS NULL";
    if !admins.is_empty() && !tx.exists(left, args![]).await? {
        return Err(fault! {
            CONFLICT, "last-admin", "This is the only administrator. Appoint another one first."
        });
    }
    tx.execute("DELETE FROM session WHERE account = $1", args![id]).await?;
    let sql = "DELETE FROM invitation WHERE created_by = $1 AND used_at IS NULL AND (team IS NULL OR $2 = 1)";
    tx.execute(sql, args![id, role.is_none()]).await?;
    let role = role.map_or("disabled", |role| role.name());
    Ok(audit::note(tx, actor, "account.role", id, json!({ "role": role })).await?)
}

/// The hash that remains of an address that an account no longer has.
pub fn address_hash(account: &str, email: &str) -> String {
    ids::digest(format!("{account} {email}"))
}

/// Returns true if an account exists that has not been deleted.
pub(super) async fn is_known(tx: &mut Tx, id: &str) -> Result<bool, Error> {
    tx.exists("SELECT 1 FROM account WHERE id = $1 AND email <> 'deleted-' || id", args![id]).await
}

/// Returns true if an account can be used. It cannot be disabled before the transaction ends, so nothing is contributed
/// after the end of an account.
pub async fn is_enabled(tx: &mut Tx, id: &str) -> Result<bool, Error> {
    let sql = tx.pick(
        "SELECT 1 FROM account WHERE id = $1 AND disabled_at IS NULL",
        "SELECT 1 FROM account WHERE id = $1 AND disabled_at IS NULL FOR SHARE",
    );
    tx.exists(sql, args![id]).await
}

/// Refuses a contribution if the account has been disabled since the request.
pub async fn require_enabled(tx: &mut Tx, id: &str) -> Result<()> {
    match is_enabled(tx, id).await? {
        true => Ok(()),
        false => Err(fault!(FORBIDDEN, "disabled", "This account is disabled.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_names_are_checked() {
        assert_eq!(address(" Ada@Example.org ").unwrap(), "ada@example.org");
        // One mailbox is one account, however its address is typed.
        for same in ["ada@ex\u{e4}mple.org", "ADA@exa\u{308}mple.org", "\u{ff41}da@ex\u{e4}mple.org"] {
            assert_eq!(address(same).unwrap(), "ada@ex\u{e4}mple.org");
        }
        assert!(address("ada\u{200b}@example.org").is_err() && address("ada\u{200f}@example.org").is_err());
        for wrong in
            ["", "ada", "@example.org", "ada@", "ada@example", "a b@c.de", "a@b@c.de", "<a@b.c>", "a@.c"]
        {
            assert!(address(wrong).is_err(), "{wrong}");
        }
        assert_eq!(name(" Ada\u{202e} Lovelace\n").unwrap(), "Ada Lovelace");
        assert!(name("\u{200b} ").is_err() && name(&"a".repeat(81)).is_err());
    }
}
