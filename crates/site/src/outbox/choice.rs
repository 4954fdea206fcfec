//! The people who want announcements by email, and the links by which they end them.

use crate::store::{Error, Store, Tx};
use crate::{args, clock, ids};

/// Someone who gets announcements by email.
pub struct Reader {
    pub(super) email: String,
    secret: String,
}

impl Reader {
    /// The reader with this account and address.
    pub async fn of(tx: &mut Tx, account: &str, email: &str) -> anyhow::Result<Self> {
        let new =
            "INSERT INTO mail_choice (account, secret) VALUES ($1, $2) ON CONFLICT (account) DO NOTHING";
        tx.execute(new, args![account, ids::secret()?]).await?;
        let known = "SELECT secret FROM mail_choice WHERE account = $1";
        Ok(Self { email: email.to_owned(), secret: tx.fetch_one(known, args![account]).await? })
    }

    /// The path of the link by which they get no more announcements.
    pub fn path(&self) -> String {
        format!("/unsubscribe/{}", self.secret)
    }
}

/// Returns true if a person gets announcements by email.
pub async fn wants_mail(store: &Store, account: &str) -> Result<bool, Error> {
    let declined = "SELECT 1 FROM mail_choice WHERE account = $1 AND declined_at IS NOT NULL";
    Ok(!store.exists(declined, args![account]).await?)
}

/// Says whether a person gets announcements by email.
pub async fn choose(tx: &mut Tx, account: &str, email: &str, wants_mail: bool) -> anyhow::Result<()> {
    Reader::of(tx, account, email).await?;
    let declined_at = (!wants_mail).then(clock::now);
    let sql = "UPDATE mail_choice SET declined_at = $1 WHERE account = $2";
    tx.execute(sql, args![declined_at, account]).await?;
    forget_unsent(tx, account, wants_mail).await?;
    Ok(())
}

/// Returns true if a link that ends announcements is valid.
pub async fn is_link(store: &Store, secret: &str) -> Result<bool, Error> {
    store.exists("SELECT 1 FROM mail_choice WHERE secret = $1", args![secret]).await
}

/// Ends announcements by email to the person who has this link; `false` if there is none.
pub async fn decline(tx: &mut Tx, secret: &str) -> Result<bool, Error> {
    let sql =
        "UPDATE mail_choice SET declined_at = COALESCE(declined_at, $1) WHERE secret = $2 RETURNING account";
    let account: Option<String> = tx.fetch_optional(sql, args![clock::now(), secret]).await?;
    let Some(account) = account else { return Ok(false) };
    forget_unsent(tx, &account, false).await?;
    Ok(true)
}

/// Forgets announcements that were not sent to a person who does not want them any more.
async fn forget_unsent(tx: &mut Tx, account: &str, wants_mail: bool) -> Result<(), Error> {
    let sql = "DELETE FROM outbox WHERE about IS NOT NULL AND sent_at IS NULL AND $2 = 0 \
               AND target IN (SELECT email FROM account WHERE id = $1)";
    tx.execute(sql, args![account, wants_mail]).await.map(drop)
}
