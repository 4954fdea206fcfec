//! Pages to sign in and out, and the choice of a language, which a browser remembers too.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use cookie::time::Duration;
use cookie::{Cookie, SameSite};
use schemars::JsonSchema;
use serde::Deserialize;

use super::providers::Provider;
use super::{devices, people, sessions, totp};
use crate::app::App;
use crate::fault;
use crate::fault::{Fault, Result};
use crate::web::language::{self, Language};
use crate::web::route::{get, post};
use crate::web::{Access, Attempt, Body, Page, Route, UrlQuery, encode, local};

pub(super) fn routes() -> Vec<Route> {
    let all = Access::Public;
    vec![
        get("/sign-in", all, "Show the form to sign in", sign_in_form),
        post("/sign-in", all, "Sign in", sign_in),
        post("/sign-out", all, "Sign out", sign_out),
        get("/language/{tag}", all, "Choose the language of the pages", choose_language),
    ]
}

#[derive(Template)]
#[template(path = "sign-in.html")]
struct SignIn<'a> {
    page: &'a Page,
    to: &'a str,
    email: &'a str,
    is_open: bool,
    providers: &'a [Provider],
}

impl SignIn<'_> {
    /// The address at which someone signs in with an account of another site.
    fn address(&self, provider: &Provider) -> String {
        format!("/sign-in/with/{}?to={}", provider.id, encode(self.to))
    }
}

#[derive(Deserialize, JsonSchema)]
struct To {
    #[serde(default)]
    to: String,
}

async fn sign_in_form(app: App, page: Page, UrlQuery(To { to }): UrlQuery<To>) -> Result<Response> {
    let (is_open, providers) = (app.settings.is_open(), &app.settings.providers);
    page.show(&SignIn { page: &page, to: local(&to), email: "", is_open, providers })
}

#[derive(Deserialize, JsonSchema)]
struct Credentials {
    email: String,
    password: String,
    /// Of the authenticator app, for accounts with two-factor authentication.
    #[serde(default)]
    code: String,
    #[serde(default)]
    to: String,
}

async fn sign_in(app: App, page: Page, from: Attempt, Body(given): Body<Credentials>) -> Result<Response> {
    let account = people::with_password(&app, &given.email, &given.password, &from).await?;
    let refuse = |fault: Fault| {
        let (page, to, email) = (&page.refused(fault)?, local(&given.to), given.email.as_str());
        let (is_open, providers) = (app.settings.is_open(), &app.settings.providers);
        page.show(&SignIn { page, to, email, is_open, providers })
    };
    let Some(account) = account else {
        return refuse(fault!(UNAUTHORIZED, "sign-in", "Email address and password do not match."));
    };
    let mut tx = app.store.begin().await?;
    match totp::take(&mut tx, &account.id, &given.code).await {
        Ok(()) => tx.commit().await?,
        Err(fault) if fault.status.is_client_error() => {
            tracing::warn!(account = account.id, "a code is wrong");
            return refuse(fault! {
                UNAUTHORIZED, "sign-in",
                "This account uses two-factor authentication. Enter the current code from your authenticator app."
            });
        }
        Err(fault) => return Err(fault),
    }
    begin_session(&app, &from, &account.id, local(&given.to)).await
}

/// Begins a session in place of the one that the browser has, and sends the browser, which is known from now on, to the
/// page `to`.
pub(super) async fn begin_session(app: &App, from: &Attempt, account: &str, to: &str) -> Result<Response> {
    if let Some(old) = &from.session {
        sessions::end(&app.store, old).await?;
    }
    let mut tx = app.store.begin().await?;
    let cookie = sessions::begin(&mut tx, &app.settings, account).await?;
    let device = devices::remember(&mut tx, from, account).await?;
    tx.commit().await?;
    tracing::info!(account, "someone has signed in");
    Ok(devices::with_cookie(sessions::redirect(&cookie, to), &app.settings, device))
}

async fn sign_out(app: App, page: Page) -> Result<Response> {
    if let Some(session) = page.visitor.and_then(|visitor| visitor.session) {
        sessions::end(&app.store, &session).await?;
    }
    Ok(sessions::redirect(&sessions::forget(&app.settings), "/?done=signed-out"))
}

/// Chooses the language of the pages in this browser and, for people with an account, of their email.
async fn choose_language(
    app: App,
    page: Page,
    Path(tag): Path<String>,
    UrlQuery(To { to }): UrlQuery<To>,
) -> Result<Response> {
    let language = Language::of(&tag).ok_or_else(Fault::not_found)?;
    if let Some(visitor) = &page.visitor {
        let mut tx = app.store.begin().await?;
        people::set_language(&mut tx, &visitor.id, language).await?;
        tx.commit().await?;
    }
    let [guarded, plain] = language::COOKIES;
    let is_secure = app.settings.is_secure();
    let cookie = Cookie::build((if is_secure { guarded } else { plain }, language.tag()))
        .path("/")
        .max_age(Duration::days(365))
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(is_secure)
        .build();
    Ok(sessions::redirect(&cookie, local(&to)))
}
