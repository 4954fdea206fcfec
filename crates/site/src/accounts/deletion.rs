//! Deleting an account: its contributions are deleted, no one can sign in to it, and nothing names the person.

use serde_json::json;

use super::own_data::{self, Leaving};
use super::people;
use crate::app::App;
use crate::fault::{Fault, Result};
use crate::jobs::queue::{self, Priority};
use crate::jobs::{self, Failure, Job, Lane, Work};
use crate::store::{Error, Tx};
use crate::{args, audit, clock};

/// Finishes a deletion whose process was killed.
pub struct FinishDeletion;

/// The milliseconds after which a deletion is one of a process that was killed. If it was not, two processes delete the
/// same things, and each finds less to delete.
const ABANDONED: i64 = 60_000;

/// Deletes an account with all that it contributed to collections, for its owner or for an administrator. Its row stays
/// without a name, since the submissions of its teams stay on boards.
pub async fn remove(app: &App, actor: Option<&str>, account: &str) -> Result<()> {
    // From now on the account cannot contribute, so nothing is added after the deletion has begun.
    let mut tx = app.store.begin().await?;
    if !people::is_known(&mut tx, account).await? {
        return Err(Fault::not_found());
    }
    people::set_role(&mut tx, actor, account, None).await?;
    let later = clock::now() + ABANDONED;
    jobs::add_at::<FinishDeletion>(&mut tx, &account.to_owned(), Priority::Background, later).await?;
    tx.commit().await?;
    #[cfg(debug_assertions)]
    app.points.pass("account-disabled").await;
    let erased = erase(app, account).await;
    if erased.is_err() {
        let mut tx = app.store.begin().await?;
        enable(&mut tx, account).await?;
        queue::cancel(&mut tx, account, false).await?;
        tx.commit().await?;
    }
    erased
}

/// Lets a person sign in again whose account could not be deleted.
async fn enable(tx: &mut Tx, account: &str) -> Result<(), Error> {
    let sql = "UPDATE account SET disabled_at = NULL WHERE id = $1 AND email <> 'deleted-' || id";
    tx.execute(sql, args![account]).await.map(drop)
}

impl Work for FinishDeletion {
    const KIND: &'static str = "account-deletion";
    const LANE: Lane = Lane::Errands;
    type Subject = String;
    type Output = ();

    async fn run(app: &App, job: &Job) -> Result<(), Failure> {
        let sql =
            "SELECT 1 FROM account WHERE id = $1 AND disabled_at IS NOT NULL AND email <> 'deleted-' || id";
        if app.store.exists(sql, args![&job.subject]).await? {
            erase(app, &job.subject).await?;
        }
        Ok(())
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<(), String>) -> Result<()> {
        if let Err(reason) = outcome {
            tracing::error!(
                account = job.subject,
                reason,
                "an account cannot be deleted; its owner can sign in again"
            );
            enable(tx, &job.subject).await?;
        }
        Ok(())
    }
}

async fn erase(app: &App, account: &str) -> Result<()> {
    own_data::withdraw(app, account).await?;
    let mut tx = app.store.begin().await?;
    let sql = tx.pick(
        "SELECT id, email, name FROM account WHERE id = $1",
        "SELECT id, email, name FROM account WHERE id = $1 FOR NO KEY UPDATE",
    );
    let person: Leaving = tx.fetch_optional(sql, args![account]).await?.ok_or_else(Fault::not_found)?;
    own_data::forget(&mut tx, app, &person).await?;
    if own_data::is_remembered(&mut tx, app, account).await? {
        people::remember_address(&mut tx, account, &person.email).await?;
    } else {
        tx.execute("DELETE FROM former_address WHERE account = $1", args![account]).await?;
    }
    for sql in [
        "DELETE FROM session WHERE account = $1",
        "DELETE FROM api_token WHERE account = $1",
        "DELETE FROM account_link WHERE account = $1",
        "DELETE FROM known_device WHERE account = $1",
        "DELETE FROM identity WHERE account = $1",
        "DELETE FROM invitation WHERE used_by = $1 OR created_by = $1 AND used_at IS NULL",
    ] {
        tx.execute(sql, args![account]).await?;
    }
    tx.execute("DELETE FROM invitation WHERE email = $1", args![&person.email]).await?;
    let sql = "UPDATE account SET email = 'deleted-' || id, name = 'Deleted account', password = '-', role = 'member', \
               language = NULL, totp_secret = NULL, confirmed_at = NULL WHERE id = $1";
    tx.execute(sql, args![account]).await?;
    audit::note(&mut tx, Some(account), "account.delete", account, json!({})).await?;
    queue::cancel(&mut tx, account, false).await?;
    Ok(tx.commit().await?)
}
