//! Accounts in the database.

use serde_json::json;

use super::Role;
use crate::fault;
use crate::fault::Fault;
use crate::store::{Error, Row, Store, Tx};
use crate::{args, audit, clock, ids};

/// An account.
#[derive(Clone, Debug)]
pub struct Account {
    /// The id.
    pub id: String,
    /// The mail address in small letters.
    pub email: String,
    /// The name that others see.
    pub name: String,
    /// The hash of the password.
    pub password: String,
    /// The role.
    pub role: Role,
    /// When it was made.
    pub created_at: i64,
    /// Since when it cannot sign in.
    pub disabled_at: Option<i64>,
}

impl Account {
    fn of(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.get("id")?,
            email: row.get("email")?,
            name: row.get("name")?,
            password: row.get("password")?,
            role: role(row)?,
            created_at: row.get("created_at")?,
            disabled_at: row.get("disabled_at")?,
        })
    }
}

/// The role in a row; a role that this program does not know is the least.
pub(super) fn role(row: &Row) -> Result<Role, Error> {
    Ok(row.get::<String>("role")?.parse().unwrap_or(Role::Member))
}

/// Who is to have an account.
pub struct NewAccount<'a> {
    /// The mail address.
    pub email: &'a str,
    /// The name.
    pub name: &'a str,
    /// The hash of the password.
    pub password: String,
    /// The role.
    pub role: Role,
}

/// Makes an account, and returns its id.
///
/// # Errors
/// If the address or the name is not one, or there is an account with this address.
pub async fn add(tx: &mut Tx, new: NewAccount<'_>) -> Result<String, Fault> {
    let email = address(new.email)?;
    let name = name(new.name)?;
    let id = ids::new_id();
    let added = tx
        .execute(
            "INSERT INTO account (id, email, name, password, role, created_at) VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (email) DO NOTHING",
            args![&id, &email, name, new.password, new.role.name(), clock::now()],
        )
        .await?;
    if added == 0 {
        return Err(fault!(CONFLICT, "email-taken", "An account with this email address already exists."));
    }
    audit::note(tx, Some(&id), "account.add", &id, json!({ "role": new.role.name() })).await?;
    Ok(id)
}

/// The mail address in small letters.
pub(super) fn address(text: &str) -> Result<String, Fault> {
    let text = text.trim().to_lowercase();
    let parts = text.split_once('@').filter(|(local, domain)| {
        !local.is_empty() && domain.contains('.') && !domain.starts_with('.') && !domain.ends_with('.')
    });
    let is_plain = text.chars().all(|c| !c.is_whitespace() && !c.is_control() && !"<>,;\"".contains(c));
    if parts.is_none() || !is_plain || text.len() > 254 || text.matches('@').count() != 1 {
        return Err(fault!(UNPROCESSABLE_ENTITY, "email", "This is not an email address: {}", text));
    }
    Ok(text)
}

/// A name without what only confuses: controls, marks of direction, space at the ends.
///
/// # Errors
/// If it is empty or too long.
pub fn name(text: &str) -> Result<String, Fault> {
    let is_odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let name = text.chars().filter(|c| !is_odd(*c)).collect::<String>().trim().to_owned();
    if name.is_empty() || name.chars().count() > 80 {
        return Err(fault!(UNPROCESSABLE_ENTITY, "name", "A name must have 1 to 80 characters."));
    }
    Ok(name)
}

/// The account with this mail address.
///
/// # Errors
/// If the database fails.
pub async fn by_email(store: &Store, email: &str) -> Result<Option<Account>, Error> {
    let row =
        store.first("SELECT * FROM account WHERE email = $1", args![email.trim().to_lowercase()]).await?;
    row.as_ref().map(Account::of).transpose()
}

/// The account with this id.
///
/// # Errors
/// If the database fails.
pub async fn by_id(store: &Store, id: &str) -> Result<Option<Account>, Error> {
    let row = store.first("SELECT * FROM account WHERE id = $1", args![id]).await?;
    row.as_ref().map(Account::of).transpose()
}

/// The newest accounts whose name or address contains `part`.
///
/// # Errors
/// If the database fails.
pub async fn search(store: &Store, part: &str, most: i64) -> Result<Vec<Account>, Error> {
    let escaped = part.trim().to_lowercase().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    let rows = store
        .all(
            "SELECT * FROM account WHERE email LIKE $1 ESCAPE '\\' OR LOWER(name) LIKE $1 ESCAPE '\\' \
             ORDER BY id DESC LIMIT $2",
            args![format!("%{escaped}%"), most],
        )
        .await?;
    rows.iter().map(Account::of).collect()
}

/// The number of accounts.
///
/// # Errors
/// If the database fails.
pub async fn count(store: &Store) -> Result<i64, Error> {
    let row = store.first("SELECT COUNT(*) AS n FROM account", args![]).await?;
    row.map_or(Ok(0), |row| row.get("n"))
}

/// Gives an account another role, or disables it, and ends its sessions and the links for accounts that it has made.
///
/// # Errors
/// If there is no such account, or it is the last administrator.
pub async fn set_role(tx: &mut Tx, actor: Option<&str>, id: &str, role: Option<Role>) -> Result<(), Fault> {
    // Two administrators who disable each other, or delete their accounts, at once must not both succeed.
    let admins = tx.pick(
        "SELECT id FROM account WHERE role = 'admin' ORDER BY id",
        "SELECT id FROM account WHERE role = 'admin' ORDER BY id FOR NO KEY UPDATE",
    );
    let admins = tx.all(admins, args![]).await?;
    let changed = match role {
        Some(role) => {
            tx.execute(
                "UPDATE account SET role = $1, disabled_at = NULL WHERE id = $2",
                args![role.name(), id],
            )
            .await?
        }
        None => {
            tx.execute("UPDATE account SET disabled_at = $1 WHERE id = $2", args![clock::now(), id]).await?
        }
    };
    if changed == 0 {
        return Err(Fault::not_found());
    }
    let left = "SELECT 1 AS one FROM account WHERE role = 'admin' AND disabled_at IS NULL";
    if !admins.is_empty() && tx.first(left, args![]).await?.is_none() {
        return Err(fault!(
            CONFLICT,
            "last-admin",
            "This is the only administrator. Appoint another one first."
        ));
    }
    tx.execute("DELETE FROM session WHERE account = $1", args![id]).await?;
    tx.execute(
        "DELETE FROM invitation WHERE created_by = $1 AND used_at IS NULL AND (team IS NULL OR $2 = 1)",
        args![id, role.is_none()],
    )
    .await?;
    let role = role.map_or("disabled", |role| role.name());
    audit::note(tx, actor, "account.role", id, json!({ "role": role })).await?;
    Ok(())
}

/// Whether an account can be used, which stays as it is until the transaction ends: nothing that a person contributes
/// comes after the end of their account.
///
/// # Errors
/// If the database fails.
pub async fn is_enabled(tx: &mut Tx, id: &str) -> Result<bool, Error> {
    let sql = tx.pick(
        "SELECT 1 AS one FROM account WHERE id = $1 AND disabled_at IS NULL",
        "SELECT 1 AS one FROM account WHERE id = $1 AND disabled_at IS NULL FOR SHARE",
    );
    Ok(tx.first(sql, args![id]).await?.is_some())
}

/// Refuses what somebody contributes whose account has been disabled since they asked.
///
/// # Errors
/// If it has been.
pub async fn require_enabled(tx: &mut Tx, id: &str) -> Result<(), Fault> {
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
        for wrong in
            ["", "ada", "@example.org", "ada@", "ada@example", "a b@c.de", "a@b@c.de", "<a@b.c>", "a@.c"]
        {
            assert!(address(wrong).is_err(), "{wrong}");
        }
        assert_eq!(name(" Ada\u{202e} Lovelace\n").unwrap(), "Ada Lovelace");
        assert!(name("\u{200b} ").is_err() && name(&"a".repeat(81)).is_err());
    }
}
