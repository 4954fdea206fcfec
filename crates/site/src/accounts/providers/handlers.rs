//! The pages of a sign-in with an account of another site: to the provider and back, and what is asked afterwards.

use askama::Template;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use cookie::time::Duration;
use cookie::{Cookie, SameSite};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Provider;
use super::attempts::{self, BegunAttempt as Attempted, MINUTES};
use super::exchange::{self, Identity};
use super::identities::{self, NO_PASSWORD, Owner};
use crate::accounts::people::{self, Account, NewAccount};
use crate::accounts::{Role, Visitor, sessions, sign_in, totp};
use crate::app::App;
use crate::fault::{Fault, Result};
use crate::settings::Settings;
use crate::web::route::{get, post};
use crate::web::{Access, Attempt, Body, Page, Route, Scope, UrlQuery, cookie, encode, local};
use crate::{fault, outbox};

pub(crate) fn routes() -> Vec<Route> {
    let all = Access::Public;
    vec![
        get("/sign-in/with/{provider}", all, "Sign in with an account of another site", begin),
        get("/sign-in/with/{provider}/done", all, "Come back from another site", back),
        get("/sign-in/finish", all, "Show what a sign-in with an account of another site still needs", show),
        post("/sign-in/finish", all, "Finish a sign-in with an account of another site", finish),
        post(
            "/account/identities/{id}/remove",
            Access::Person(Scope::Host),
            "Remove a sign-in with an account of another site",
            remove,
        ),
    ]
}

fn provider<'a>(app: &'a App, id: &str) -> Result<&'a Provider> {
    app.settings.providers.iter().find(|provider| provider.id == id).ok_or_else(Fault::not_found)
}

/// The name of the cookie that binds a sign-in to a browser.
fn cookie_name(settings: &Settings) -> &'static str {
    if settings.is_secure() { "__Host-capeval-sign-in" } else { "capeval-sign-in" }
}

/// The cookie of a sign-in; empty without one.
fn attempt_cookie(app: &App, headers: &HeaderMap) -> String {
    cookie(headers, cookie_name(&app.settings)).map(|cookie| cookie.value().to_owned()).unwrap_or_default()
}

#[derive(Deserialize, JsonSchema)]
struct To {
    #[serde(default)]
    to: String,
}

async fn begin(
    app: App,
    _: Attempt,
    Path(id): Path<String>,
    UrlQuery(To { to }): UrlQuery<To>,
    headers: HeaderMap,
) -> Result<Response> {
    let provider = provider(&app, &id)?;
    // A link on another site signs no one in without a click here.
    if headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site") {
        return Ok(Redirect::to(&format!("/sign-in?to={}", encode(local(&to)))).into_response());
    }
    let asked = Attempted::new(local(&to))?;
    let address = exchange::address(&app, &app.providers, provider, &asked).await?;
    attempts::begin(&app.store, provider, &asked).await?;
    let cookie = Cookie::build((cookie_name(&app.settings), asked.cookie))
        .path("/")
        .max_age(Duration::minutes(MINUTES))
        .http_only(true)
        // The provider sends the browser back from its own site.
        .same_site(SameSite::Lax)
        .secure(app.settings.is_secure())
        .build();
    Ok(sessions::redirect(&cookie, &address))
}

/// The parameters with which a provider sends someone back.
#[derive(Deserialize, JsonSchema)]
struct ProviderReply {
    #[serde(default)]
    code: String,
    #[serde(default)]
    state: String,
    /// The provider, as it calls itself.
    iss: Option<String>,
    error: Option<String>,
}

async fn back(
    app: App,
    page: Page,
    from: Attempt,
    Path(id): Path<String>,
    UrlQuery(returned): UrlQuery<ProviderReply>,
    headers: HeaderMap,
) -> Result<Response> {
    let provider = provider(&app, &id)?;
    let asked =
        attempts::take(&app.store, provider, &attempt_cookie(&app, &headers), &returned.state).await?;
    if returned.error.is_some() || returned.code.is_empty() {
        return Err(fault! {
            FORBIDDEN, "provider-cancelled", "The sign-in with {} was cancelled.", provider.name.clone()
        });
    }
    let issuer = returned.iss.as_deref();
    let identity = exchange::identity(&app, provider, &asked, &returned.code, issuer).await?;
    attempts::keep(&app.store, &asked.cookie, &identity).await?;
    // Nothing but a code of the second factor is asked of someone whose account is known.
    if let Owner::Linked(account) | Owner::SameAddress(account) =
        identities::owner(&app.store, &identity).await?
        && !totp::is_on(&app.store, &account.id).await?
    {
        let sign_in_with = SignIn { cookie: &asked.cookie, code: "", destination: &asked.destination };
        return sign_in(&app, &page, &from, &identity, &account, &sign_in_with).await;
    }
    Ok(Redirect::to("/sign-in/finish").into_response())
}

/// The parts of a sign-in that ends.
struct SignIn<'a> {
    /// The cookie of the attempt.
    cookie: &'a str,
    /// The code of the second factor.
    code: &'a str,
    /// The page to go to.
    destination: &'a str,
}

/// Ends the sign-in, links the identity if it is new, and begins a session.
async fn sign_in(
    app: &App,
    page: &Page,
    from: &Attempt,
    identity: &Identity,
    account: &Account,
    &SignIn { cookie, code, destination }: &SignIn<'_>,
) -> Result<Response> {
    let mut tx = app.store.begin().await?;
    people::require_enabled(&mut tx, &account.id).await?;
    totp::take(&mut tx, &account.id, code).await?;
    if identities::link(&mut tx, identity, &account.id).await? {
        let body = page.t1(
            "People can now sign in to your account with an account at {}. If that was not you, set a new password by the link “Forgotten password”, which ends it.",
            &identity.issuer,
        );
        let subject = page.t1("Your account at {}", &page.site);
        outbox::mail(&mut tx, app, &account.email, &subject, &format!("{body}\n")).await?;
    }
    attempts::end(&mut tx, cookie).await?;
    app.commit(tx).await?;
    sign_in::begin_session(app, from, &account.id, local(destination)).await
}

/// The steps that a sign-in still needs.
#[derive(Template)]
#[template(path = "sign-in-finish.html")]
struct Finish<'a> {
    page: &'a Page,
    identity: &'a Identity,
    /// True if the account is known, so that only a code is missing.
    needs_code: bool,
    /// True if an account can be created with the address.
    may_register: bool,
    is_open: bool,
    email: &'a str,
    name: &'a str,
}

/// The form that finishes a sign-in.
#[derive(Default, Deserialize, JsonSchema)]
struct FinishForm {
    /// `create` for a new account.
    #[serde(default)]
    action: String,
    #[serde(default)]
    email: String,
    #[serde(default)]
    password: String,
    /// Of the authenticator app.
    #[serde(default)]
    code: String,
    #[serde(default)]
    name: String,
}

async fn show(app: App, page: Page, headers: HeaderMap) -> Result<Response> {
    let (identity, _) = attempts::answered(&app.store, &attempt_cookie(&app, &headers)).await?;
    show_again(&app, &page, &identity, &FinishForm::default()).await
}

/// Returns true if someone may create an account with the address that a provider confirms.
async fn may_register(app: &App, identity: &Identity) -> Result<bool> {
    let Some(email) = identity.email.as_ref().filter(|_| identity.is_verified && app.settings.is_open())
    else {
        return Ok(false);
    };
    Ok(people::by_email(&app.store, email).await?.is_none())
}

async fn show_again(app: &App, page: &Page, identity: &Identity, entered: &FinishForm) -> Result<Response> {
    let owner = identities::owner(&app.store, identity).await?;
    let or =
        |entered: &str, known: &str| if entered.is_empty() { known.to_owned() } else { entered.to_owned() };
    page.show(&Finish {
        page,
        identity,
        needs_code: !matches!(owner, Owner::Unknown),
        may_register: may_register(app, identity).await?,
        is_open: app.settings.is_open(),
        email: &or(&entered.email, identity.email.as_deref().unwrap_or("")),
        name: &or(&entered.name, &identity.name),
    })
}

async fn finish(
    app: App,
    page: Page,
    headers: HeaderMap,
    from: Attempt,
    Body(entered): Body<FinishForm>,
) -> Result<Response> {
    let cookie = attempt_cookie(&app, &headers);
    let (identity, destination) = attempts::answered(&app.store, &cookie).await?;
    let sign_in = SignIn { cookie: &cookie, code: &entered.code, destination: &destination };
    match finished(&app, &page, &from, &identity, &sign_in, &entered).await {
        Err(fault) if fault.status == StatusCode::UNPROCESSABLE_ENTITY => {
            show_again(&app, &page.refused(fault)?, &identity, &entered).await
        }
        outcome => outcome,
    }
}

async fn finished(
    app: &App,
    page: &Page,
    from: &Attempt,
    identity: &Identity,
    ending: &SignIn<'_>,
    entered: &FinishForm,
) -> Result<Response> {
    if let Owner::Linked(account) | Owner::SameAddress(account) =
        identities::owner(&app.store, identity).await?
    {
        people::limit_guesses(app, &account.email, from).await?;
        return sign_in(app, page, from, identity, &account, ending).await;
    }
    if entered.action == "create" {
        return create(app, page, from, (ending.cookie, identity), &entered.name).await;
    }
    // No provider vouches that the account is theirs, so its password must.
    let Some(account) = people::with_password(app, &entered.email, &entered.password, from).await? else {
        return Err(fault!(UNPROCESSABLE_ENTITY, "sign-in", "Email address and password do not match."));
    };
    sign_in(app, page, from, identity, &account, ending).await
}

/// Creates an account without a password.
async fn create(
    app: &App,
    page: &Page,
    from: &Attempt,
    (cookie, identity): (&str, &Identity),
    name: &str,
) -> Result<Response> {
    let email = match &identity.email {
        Some(email) if may_register(app, identity).await? => email,
        _ => return Err(Fault::not_found()),
    };
    let mut tx = app.store.begin().await?;
    let new = NewAccount { email, name, password: NO_PASSWORD.to_owned(), role: Role::Member };
    let id = people::add(&mut tx, new).await?;
    people::set_language(&mut tx, &id, page.language).await?;
    identities::link(&mut tx, identity, &id).await?;
    attempts::end(&mut tx, cookie).await?;
    tx.commit().await?;
    sign_in::begin_session(app, from, &id, "/?done=welcome").await
}

async fn remove(app: App, by: Visitor, Path(id): Path<String>) -> Result<Response> {
    let mut tx = app.store.begin().await?;
    identities::remove(&mut tx, &by.id, &id).await?;
    tx.commit().await?;
    Ok(Redirect::to("/account?done=removed").into_response())
}
