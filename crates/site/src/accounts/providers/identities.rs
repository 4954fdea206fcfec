//! The accounts of other sites that belong to accounts of this one.

use capeval_api::Time;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::exchange::Identity;
use crate::accounts::people::{self, Account};
use crate::fault::{Fault, Result};
use crate::settings::Settings;
use crate::store::{Error, Store, Tx};
use crate::{args, audit, clock, fault, ids};

/// The value in place of a password, for an account without one.
pub(super) const NO_PASSWORD: &str = "-";

/// To whom an identity belongs here.
pub(super) enum Owner {
    /// An account that it belongs to already.
    Linked(Account),
    /// An account with the address that the provider confirms, and that is known to be that of its owner.
    SameAddress(Account),
    /// No one, or an account whose password must be asked for.
    Unknown,
}

/// The owner of an identity.
pub(super) async fn owner(store: &Store, identity: &Identity) -> Result<Owner, Error> {
    let sql = "SELECT account.* FROM identity JOIN account ON account.id = identity.account \
               WHERE issuer = $1 AND subject = $2";
    if let Some(account) = store.fetch_optional(sql, args![&identity.issuer, &identity.subject]).await? {
        return Ok(Owner::Linked(account));
    }
    let Some(email) = identity.email.as_ref().filter(|_| identity.is_verified) else {
        return Ok(Owner::Unknown);
    };
    // Someone may have created an account with the address of another person, and wait for them.
    let sql = "SELECT * FROM account WHERE email = $1 AND confirmed_at IS NOT NULL";
    let account: Option<Account> = store.fetch_optional(sql, args![email]).await?;
    Ok(account.map_or(Owner::Unknown, Owner::SameAddress))
}

/// Lets an identity sign in to an account; `false` if it could before.
pub(super) async fn link(tx: &mut Tx, identity: &Identity, account: &str) -> Result<bool> {
    let sql = "INSERT INTO identity (id, issuer, subject, account, created_at) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (issuer, subject) DO NOTHING";
    let values = args![ids::new_id(), &identity.issuer, &identity.subject, account, clock::now()];
    if tx.execute(sql, values).await? == 0 {
        let own = "SELECT 1 FROM identity WHERE issuer = $1 AND subject = $2 AND account = $3";
        if !tx.exists(own, args![&identity.issuer, &identity.subject, account]).await? {
            return Err(fault!(CONFLICT, "identity", "This sign-in belongs to another account."));
        }
        return Ok(false);
    }
    if let Some(email) = identity.email.as_ref().filter(|_| identity.is_verified) {
        people::confirm(tx, account, email).await?;
    }
    let detail = json!({ "issuer": identity.issuer });
    audit::note(tx, Some(account), "account.identity-add", account, detail).await?;
    Ok(true)
}

/// An identity on the account page.
#[derive(Deserialize)]
struct LinkedIdentity {
    id: String,
    issuer: String,
    created_at: i64,
}

/// The identities of an account: id, the name of the provider, and since when.
pub async fn of_account(
    store: &Store,
    settings: &Settings,
    account: &str,
) -> Result<Vec<(String, String, i64)>, Error> {
    let sql = "SELECT id, issuer, created_at FROM identity WHERE account = $1 ORDER BY id";
    let linked: Vec<LinkedIdentity> = store.fetch(sql, args![account]).await?;
    let name = |issuer: String| {
        let provider = settings.providers.iter().find(|provider| provider.issuer == issuer);
        provider.map_or(issuer, |provider| provider.name.clone())
    };
    Ok(linked
        .into_iter()
        .map(|LinkedIdentity { id, issuer, created_at }| (id, name(issuer), created_at))
        .collect())
}

/// An identity in the export of what a person has.
#[derive(Deserialize, Serialize)]
pub struct ExportedIdentity {
    issuer: String,
    /// The id by which the provider knows the person.
    subject: String,
    #[serde(deserialize_with = "clock::time_of_column")]
    created_at: Time,
}

/// The identities of an account, for the person.
pub async fn exported(store: &Store, account: &str) -> Result<Vec<ExportedIdentity>, Error> {
    let sql = "SELECT issuer, subject, created_at FROM identity WHERE account = $1 ORDER BY id";
    store.fetch(sql, args![account]).await
}

/// Takes an identity from an account, unless no one could sign in to it any more.
pub async fn remove(tx: &mut Tx, account: &str, id: &str) -> Result<()> {
    tx.lock("account", account).await?;
    let password: String = tx.fetch_one("SELECT password FROM account WHERE id = $1", args![account]).await?;
    let sql = "DELETE FROM identity WHERE id = $1 AND account = $2";
    if tx.execute(sql, args![id, account]).await? == 0 {
        return Err(Fault::not_found());
    }
    let other = "SELECT 1 FROM identity WHERE account = $1";
    if password == NO_PASSWORD && !tx.exists(other, args![account]).await? {
        return Err(fault! {
            CONFLICT, "last-identity",
            "This is the only way to sign in to your account. Set a password first, by the link “Forgotten password”."
        });
    }
    Ok(audit::note(tx, Some(account), "account.identity-remove", account, json!({})).await?)
}

/// Takes all identities from an account.
pub async fn forget(tx: &mut Tx, account: &str) -> Result<(), Error> {
    tx.execute("DELETE FROM identity WHERE account = $1", args![account]).await.map(drop)
}
