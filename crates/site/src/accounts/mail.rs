//! The choice to get announcements by email: on the account page, and by a link in each of them.

use askama::Template;
use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Visitor;
use crate::app::App;
use crate::fault::{Fault, Result};
use crate::outbox::choice;
use crate::web::route::{get, post};
use crate::web::{Access, Body, Page, Route, Scope};

pub(super) fn routes() -> Vec<Route> {
    let all = Access::Public;
    vec![
        post(
            "/account/mail",
            Access::Person(Scope::Host),
            "Choose whether you get announcements by email",
            choose,
        ),
        get("/unsubscribe/{secret}", all, "Show a link that ends announcements by email", form),
        post("/unsubscribe/{secret}", all, "End announcements by email", decline),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct Choice {
    /// True if announcements come by email.
    #[serde(default)]
    announcements: bool,
}

async fn choose(app: App, by: Visitor, Body(Choice { announcements }): Body<Choice>) -> Result<Response> {
    let mut tx = app.store.begin().await?;
    choice::choose(&mut tx, &by.id, &by.email, announcements).await?;
    tx.commit().await?;
    Ok(Redirect::to("/account?done=saved").into_response())
}

/// The page of a link. It asks, since programs that scan email open the links in it.
#[derive(Template)]
#[template(path = "unsubscribe.html")]
struct Unsubscribe<'a> {
    page: &'a Page,
    is_done: bool,
}

async fn form(app: App, page: Page, Path(secret): Path<String>) -> Result<Response> {
    if !choice::is_link(&app.store, &secret).await? {
        return Err(Fault::not_found());
    }
    page.show(&Unsubscribe { page: &page, is_done: false })
}

/// Handles the button of the page, and that of email programs that have one (RFC 8058).
async fn decline(app: App, page: Page, Path(secret): Path<String>) -> Result<Response> {
    let mut tx = app.store.begin().await?;
    if !choice::decline(&mut tx, &secret).await? {
        return Err(Fault::not_found());
    }
    tx.commit().await?;
    page.show(&Unsubscribe { page: &page, is_done: true })
}
