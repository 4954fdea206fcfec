//! Deleting one's account: what the person contributed goes, nobody can sign in to it any more, and nothing names the
//! person.

use axum::extract::Form;
use axum::http::header::SET_COOKIE;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;

use super::{Visitor, pages, people, sessions};
use crate::app::App;
use crate::collections::own_data;
use crate::fault;
use crate::fault::Fault;
use crate::store::Tx;
use crate::web::route::post;
use crate::web::{Access, Attempt, Route, Scope, Signed};
use crate::{args, audit, clock};

pub(super) fn routes() -> Vec<Route> {
    vec![post("/account/delete", Access::Person(Scope::Host), "Delete one's account", delete)]
}

#[derive(Deserialize)]
struct Confirmed {
    password: String,
}

async fn delete(signed: Signed, _: Attempt, Form(given): Form<Confirmed>) -> Result<Response, Fault> {
    let Signed { app, visitor, .. } = &signed;
    let stored = people::by_id(&app.store, &visitor.id).await?.map(|account| account.password);
    if !app.hasher.verify(&given.password, stored.as_deref()).await? {
        let fault = fault!(UNPROCESSABLE_ENTITY, "password", "The password is not right.");
        return pages::show_account(&signed, None, Some(&fault)).await;
    }
    match remove(app, visitor).await {
        Ok(()) => {}
        Err(fault) if fault.status.is_server_error() => return Err(fault),
        Err(fault) => return pages::show_account(&signed, None, Some(&fault)).await,
    }
    app.wake.notify();
    let gone = sessions::forget(&app.settings)?;
    Ok(([(SET_COOKIE, gone)], Redirect::to("/?done=account-deleted")).into_response())
}

/// Deletes an account with all that it contributed to collections. Its row stays without a name, since the submissions
/// of its teams stay on boards.
///
/// # Errors
/// If nobody else administers the site, something was contributed meanwhile, or the database fails.
pub async fn remove(app: &App, visitor: &Visitor) -> Result<(), Fault> {
    let mut tx = app.store.begin().await?;
    require_another_admin(&mut tx, visitor).await?;
    drop(tx);
    own_data::forget(app, visitor).await?;
    let mut tx = app.store.begin().await?;
    require_another_admin(&mut tx, visitor).await?;
    let account = visitor.id.as_str();
    for sql in [
        "DELETE FROM session WHERE account = $1",
        "DELETE FROM api_token WHERE account = $1",
        "DELETE FROM benchmark_host WHERE account = $1",
        "DELETE FROM collection_staff WHERE account = $1",
        "DELETE FROM evaluation_rater WHERE account = $1",
        "DELETE FROM team_member WHERE account = $1",
        "DELETE FROM outbox WHERE kind = 'mail' AND target = (SELECT email FROM account WHERE id = $1)",
        // A team of one person may have their name.
        "UPDATE team SET name = 'Team ' || id WHERE created_by = $1 \
         AND NOT EXISTS (SELECT 1 FROM team_member WHERE team_member.team = team.id) \
         AND name LIKE (SELECT name FROM account WHERE id = $1) || '%'",
        "UPDATE account SET email = 'deleted-' || id, name = 'Deleted account', password = '-', role = 'member', \
         language = NULL, totp_secret = NULL WHERE id = $1",
    ] {
        tx.execute(sql, args![account]).await?;
    }
    tx.execute("UPDATE account SET disabled_at = $1 WHERE id = $2", args![clock::now(), account]).await?;
    audit::note(&mut tx, Some(account), "account.delete", account, json!({})).await?;
    Ok(tx.commit().await?)
}

/// A site keeps at least one administrator.
async fn require_another_admin(tx: &mut Tx, visitor: &Visitor) -> Result<(), Fault> {
    let others = "SELECT 1 AS one FROM account WHERE role = 'admin' AND id <> $1 AND disabled_at IS NULL";
    if visitor.is_admin() && tx.first(others, args![&visitor.id]).await?.is_none() {
        return Err(fault!(
            CONFLICT,
            "last-admin",
            "You are the only administrator. Make somebody else one first."
        ));
    }
    Ok(())
}
