//! Pages to set a new password without the old one, and to confirm a new email address: by links.

use askama::Template;
use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use super::links::{self, AskedLink, PER_MINUTE, SendPasswordLink};
use super::providers::identities;
use super::{devices, people};
use crate::app::App;
use crate::fault::{Fault, Result};
use crate::jobs::{self, queue::Priority};
use crate::web::language::say;
use crate::web::route::{get, post};
use crate::web::{Access, Attempt, Body, Page, Route};
use crate::{ids, outbox};

pub(super) fn routes() -> Vec<Route> {
    let all = Access::Public;
    vec![
        get("/forgotten", all, "Show the form to ask for a link that sets a new password", forgotten_form),
        post("/forgotten", all, "Send a link that sets a new password", forgotten),
        get("/reset/{secret}", all, "Show the form of a link that sets a new password", reset_form),
        post("/reset/{secret}", all, "Set a new password", reset),
        get("/address/{secret}", all, "Show the form of a link that confirms an address", address_form),
        post("/address/{secret}", all, "Confirm a new email address", confirm_address),
    ]
}

/// The form for the address to which a link is sent.
#[derive(Template)]
#[template(path = "forgotten.html")]
struct ForgottenPassword<'a> {
    page: &'a Page,
    sends_mail: bool,
    email: &'a str,
    is_sent: bool,
}

/// The form of a link.
#[derive(Template)]
#[template(path = "link.html")]
struct LinkForm<'a> {
    page: &'a Page,
    /// The address to confirm; `None` for a new password.
    email: Option<&'a str>,
}

async fn forgotten_form(app: App, page: Page) -> Result<Response> {
    let sends_mail = app.settings.sends_mail();
    page.show(&ForgottenPassword { page: &page, sends_mail, email: "", is_sent: false })
}

#[derive(Deserialize, JsonSchema)]
struct Address {
    email: String,
}

/// Sends a link if there is an account with this address. The answer is the same if there is none.
async fn forgotten(app: App, page: Page, _: Attempt, Body(given): Body<Address>) -> Result<Response> {
    let sends_mail = app.settings.sends_mail();
    if !sends_mail {
        return forgotten_form(app, page).await;
    }
    let address = match people::address(&given.email) {
        Ok(address) => address,
        Err(fault) => {
            let page = &page.refused(fault)?;
            return page.show(&ForgottenPassword { page, sends_mail, email: &given.email, is_sent: false });
        }
    };
    app.limits.take("links", &address, PER_MINUTE)?;
    // The job does what there is to do, so the answer takes as long if there is nothing.
    let account = people::by_email(&app.store, &address).await?;
    let account = account.filter(|account| account.disabled_at.is_none()).map(|account| account.id);
    let asked = AskedLink { account: account.unwrap_or_else(ids::new_id), language: page.language };
    let mut tx = app.store.begin().await?;
    jobs::add::<SendPasswordLink>(&mut tx, &asked, Priority::Awaited).await?;
    app.commit(tx).await?;
    page.show(&ForgottenPassword { page: &page, sends_mail, email: &address, is_sent: true })
}

async fn reset_form(app: App, page: Page, Path(secret): Path<String>) -> Result<Response> {
    links::find(&app.store, &secret, true).await?;
    page.show(&LinkForm { page: &page, email: None })
}

#[derive(Deserialize, JsonSchema)]
struct Password {
    password: String,
}

/// Sets a password. The person then signs in, with their second factor if they have one; guesses of others do not keep
/// them out.
async fn reset(
    app: App,
    page: Page,
    Path(secret): Path<String>,
    from: Attempt,
    Body(given): Body<Password>,
) -> Result<Response> {
    links::find(&app.store, &secret, true).await?;
    let hash = match app.hasher.hash(&given.password).await {
        Ok(hash) => hash,
        Err(fault) => {
            let page = &page.refused(fault)?;
            return page.show(&LinkForm { page, email: None });
        }
    };
    let mut tx = app.store.begin().await?;
    let link = links::take(&mut tx, &secret, true).await?;
    people::set_password(&mut tx, &link.account, &hash).await?;
    // Someone else may have known the old one, and made a way in of their own.
    identities::forget(&mut tx, &link.account).await?;
    let device = devices::remember(&mut tx, &from, &link.account).await?;
    tx.commit().await?;
    let response = Redirect::to("/sign-in?done=password").into_response();
    Ok(devices::with_cookie(response, &app.settings, device))
}

async fn address_form(app: App, page: Page, Path(secret): Path<String>) -> Result<Response> {
    let link = links::find(&app.store, &secret, false).await?;
    page.show(&LinkForm { page: &page, email: link.email.as_deref() })
}

/// Changes the address, and tells the owner of the old one.
async fn confirm_address(app: App, page: Page, Path(secret): Path<String>, _: Attempt) -> Result<Response> {
    let mut tx = app.store.begin().await?;
    let link = links::take(&mut tx, &secret, false).await?;
    let email = link.email.ok_or_else(Fault::not_found)?;
    let old = people::set_address(&mut tx, &link.account, &email).await?;
    people::confirm(&mut tx, &link.account, &email).await?;
    let body = page.t(say("The email address of your account has been changed. If you did not change it, write to the people who run this site."));
    outbox::mail(&mut tx, &app, &old, &page.t1("Your account at {}", &page.site), body).await?;
    app.commit(tx).await?;
    Ok(Redirect::to("/account?done=saved").into_response())
}
