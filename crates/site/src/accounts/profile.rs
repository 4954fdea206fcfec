//! Your own account: its page, what can be changed there, and the same for programs as far as they may.

use askama::Template;
use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use capeval_api::{Account, CreatedToken, NewToken, Token, Tokens};
use schemars::JsonSchema;
use serde::Deserialize;

use super::providers::identities;
use super::registration::send_if_new;
use super::{Role, Visitor, deletion, links, people, sessions, tokens, totp};
use crate::app::App;
use crate::fault::{Fault, Result};
use crate::web::language::say;
use crate::web::route::{delete, get, post};
use crate::web::{Access, Answer, Attempt, Body, Created, NoContent, Page, Route, Scope};
use crate::{fault, outbox};

pub(super) fn routes() -> Vec<Route> {
    let [read, submit, host] = [Scope::Read, Scope::Submit, Scope::Host].map(Access::Person);
    vec![
        get("/account", read, "Show your account", show),
        get("/api/v1/me", read, "Show whose token this is", me),
        post("/account/name", host, "Change your name", change_name),
        post("/account/address", host, "Change your email address", change_address),
        post("/account/password", host, "Change your password", change_password),
        post("/account/sessions/end", host, "Sign out everywhere", end_sessions),
        post("/account/second-factor", host, "Set up two-factor authentication", set_up_totp),
        post("/account/second-factor/remove", host, "Turn off two-factor authentication", remove_totp),
        get("/api/v1/me/tokens", read, "List your tokens, without their secrets", list_tokens),
        post("/account/tokens", host, "Create a token for programs", add_token),
        post("/api/v1/me/tokens", submit, "Create a token with no wider scope", add_token_by_token),
        post("/account/tokens/{id}/remove", host, "Remove a token", remove_token),
        delete("/api/v1/me/tokens/{id}", submit, "Remove a token", remove_token),
        post("/account/delete", host, "Delete your account", delete_account),
    ]
}

async fn me(by: Visitor) -> Answer<Account> {
    let Visitor { id, name, email, role, scopes, .. } = by;
    let scopes = scopes.into_iter().map(Into::into).collect();
    Answer::json(&Account { id, name, email, role: role.into(), scopes })
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage<'a> {
    page: &'a Page,
    name: &'a str,
    email: &'a str,
    role: Role,
    /// True if announcements come by email; `None` if the site sends none.
    wants_mail: Option<bool>,
    /// Accounts of other sites: id, the name of the provider, and since when.
    identities: Vec<(String, String, i64)>,
    tokens: Vec<Token>,
    scopes: &'static [Scope],
    new_token: Option<String>,
    /// The secret and the address of a second factor to set up; `None` if there is one.
    totp: Option<(String, String)>,
    /// True while it is being set up.
    sets_up: bool,
    /// The new address to which a link was sent.
    asked: Option<String>,
}

/// The outcome that the page shows once, after a change.
#[derive(Default)]
struct Outcome {
    new_token: Option<String>,
    /// The secret that an authenticator app knows already.
    secret: Option<String>,
    /// The new address to which a link was sent.
    asked: Option<String>,
}

async fn show(app: App, page: Page, by: Visitor) -> Result<Response> {
    show_after(&app, &page, &by, Outcome::default()).await
}

/// The answer to a form, or the page again with what was wrong.
async fn answer(
    app: &App,
    page: &Page,
    by: &Visitor,
    done: impl Future<Output = Result<Response>> + Send,
) -> Result<Response> {
    match done.await {
        Err(fault) => show_after(app, &page.refused(fault)?, by, Outcome::default()).await,
        done => done,
    }
}

async fn show_after(app: &App, page: &Page, by: &Visitor, outcome: Outcome) -> Result<Response> {
    let Outcome { new_token, secret, asked } = outcome;
    let sets_up = secret.is_some();
    let totp = match totp::is_on(&app.store, &by.id).await? {
        true => None,
        false => {
            let secret = secret.map_or_else(totp::new_secret, Ok)?;
            let address = totp::address(&app.settings.title, &by.email, &secret);
            Some((secret, address))
        }
    };
    let wants_mail = match app.settings.sends_mail() {
        true => Some(outbox::choice::wants_mail(&app.store, &by.id).await?),
        false => None,
    };
    page.show(&AccountPage {
        page,
        wants_mail,
        identities: identities::of_account(&app.store, &app.settings, &by.id).await?,
        name: &by.name,
        email: &by.email,
        role: by.role,
        tokens: tokens::of_account(&app.store, &by.id).await?,
        scopes: Scope::ALL,
        new_token,
        totp,
        sets_up,
        asked,
    })
}

fn saved() -> Response {
    Redirect::to("/account?done=saved").into_response()
}

#[derive(Deserialize, JsonSchema)]
struct NewName {
    name: String,
}

async fn change_name(app: App, page: Page, by: Visitor, Body(given): Body<NewName>) -> Result<Response> {
    answer(&app, &page, &by, async {
        people::rename(&app.store, &by.id, &people::name(&given.name)?).await?;
        Ok(saved())
    })
    .await
}

#[derive(Deserialize, JsonSchema)]
struct NewAddress {
    email: String,
    password: String,
}

/// Sends a link to the new address, whose owner proves by using it that it is theirs. A site
/// that sends no email changes the address at once.
async fn change_address(
    app: App,
    page: Page,
    by: Visitor,
    _: Attempt,
    Body(given): Body<NewAddress>,
) -> Result<Response> {
    let checked = async {
        people::require_password(&app, &by, &given.password).await?;
        people::address(&given.email)
    };
    let email = match checked.await {
        Ok(email) => email,
        Err(fault) => return show_after(&app, &page.refused(fault)?, &by, Outcome::default()).await,
    };
    let mut tx = app.store.begin().await?;
    if !app.settings.sends_mail() {
        let changed = async {
            people::set_address(&mut tx, &by.id, &email).await?;
            tx.commit().await?;
            Ok(saved())
        };
        return answer(&app, &page, &by, changed).await;
    }
    app.limits.take("links", &email, links::PER_MINUTE)?;
    // The page does not tell whether the address has an account; the email to its owner does.
    let path = links::for_address(&mut tx, &by.id, &email).await?;
    let sentence = say(
        "Confirm here that this is the new address of your account. If you did not ask for this, ignore this email.",
    );
    send_if_new(&mut tx, (&app, &page), &email, sentence, &path).await?;
    app.commit(tx).await?;
    show_after(&app, &page, &by, Outcome { asked: Some(email), ..Outcome::default() }).await
}

#[derive(Deserialize, JsonSchema)]
struct NewPassword {
    old: String,
    new: String,
}

async fn change_password(
    app: App,
    page: Page,
    by: Visitor,
    _: Attempt,
    Body(given): Body<NewPassword>,
) -> Result<Response> {
    answer(&app, &page, &by, async {
        people::require_password(&app, &by, &given.old).await?;
        let hash = app.hasher.hash(&given.new).await?;
        let mut tx = app.store.begin().await?;
        people::set_password(&mut tx, &by.id, &hash).await?;
        let cookie = sessions::begin(&mut tx, &app.settings, &by.id).await?;
        tx.commit().await?;
        Ok(sessions::redirect(&cookie, "/account?done=saved"))
    })
    .await
}

async fn end_sessions(app: App, by: Visitor) -> Result<Response> {
    sessions::end_all(&app.store, &by.id).await?;
    Ok(sessions::redirect(&sessions::forget(&app.settings), "/?done=signed-out"))
}

#[derive(Deserialize, JsonSchema)]
struct SecondFactor {
    #[serde(default)]
    secret: String,
    code: String,
    password: String,
}

async fn set_up_totp(
    app: App,
    page: Page,
    by: Visitor,
    _: Attempt,
    Body(given): Body<SecondFactor>,
) -> Result<Response> {
    let set_up = async {
        people::require_password(&app, &by, &given.password).await?;
        let mut tx = app.store.begin().await?;
        totp::set_up(&mut tx, &by.id, &given.secret, &given.code).await?;
        Ok::<_, Fault>(tx.commit().await?)
    };
    if let Err(fault) = set_up.await {
        // The app knows this secret, and would give wrong codes for another.
        let secret = Some(given.secret).filter(|secret| totp::is_secret(secret));
        return show_after(&app, &page.refused(fault)?, &by, Outcome { secret, ..Outcome::default() }).await;
    }
    Ok(saved())
}

async fn remove_totp(
    app: App,
    page: Page,
    by: Visitor,
    _: Attempt,
    Body(given): Body<SecondFactor>,
) -> Result<Response> {
    app.limits.take("codes", &by.id, app.settings.sign_ins_per_minute)?;
    answer(&app, &page, &by, async {
        people::require_password(&app, &by, &given.password).await?;
        let mut tx = app.store.begin().await?;
        totp::take(&mut tx, &by.id, &given.code).await?;
        totp::remove(&mut tx, Some(&by.id), &by.id).await?;
        tx.commit().await?;
        Ok(Redirect::to("/account?done=removed").into_response())
    })
    .await
}

async fn list_tokens(app: App, by: Visitor) -> Result<Answer<Tokens>> {
    Ok(Answer::json(&Tokens { tokens: tokens::of_account(&app.store, &by.id).await? }))
}

async fn create_token(app: &App, by: &Visitor, new: &NewToken) -> Result<String> {
    let mut tx = app.store.begin().await?;
    let token = tokens::add(&mut tx, &by.id, &new.name, new.scope).await?;
    tx.commit().await?;
    Ok(token)
}

async fn add_token(app: App, page: Page, by: Visitor, Body(new): Body<NewToken>) -> Result<Response> {
    match create_token(&app, &by, &new).await {
        Ok(token) => {
            show_after(&app, &page, &by, Outcome { new_token: Some(token), ..Outcome::default() }).await
        }
        Err(fault) => show_after(&app, &page.refused(fault)?, &by, Outcome::default()).await,
    }
}

async fn add_token_by_token(
    app: App,
    by: Visitor,
    Body(new): Body<NewToken>,
) -> Result<Created<CreatedToken>> {
    if !by.has(new.scope) {
        return Err(fault! {
            FORBIDDEN, "scope-larger", "A token cannot create a token with a wider scope than its own."
        });
    }
    Ok(Created::json(&CreatedToken { token: create_token(&app, &by, &new).await? }))
}

async fn remove_token(app: App, page: Page, by: Visitor, Path(id): Path<String>) -> Result<NoContent> {
    let mut tx = app.store.begin().await?;
    tokens::remove(&mut tx, &by, &id).await?;
    tx.commit().await?;
    Ok(page.then("/account?done=removed", &()))
}

#[derive(Deserialize, JsonSchema)]
struct Confirmation {
    password: String,
}

async fn delete_account(
    app: App,
    page: Page,
    by: Visitor,
    _: Attempt,
    Body(given): Body<Confirmation>,
) -> Result<Response> {
    answer(&app, &page, &by, async {
        people::require_password(&app, &by, &given.password).await?;
        deletion::remove(&app, Some(&by.id), &by.id).await?;
        app.wake.notify();
        Ok(sessions::redirect(&sessions::forget(&app.settings), "/?done=account-deleted"))
    })
    .await
}
