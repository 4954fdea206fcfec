//! Pages of administrators: accounts, invitations, and the audit log.

use askama::Template;
use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use super::people::{self, Account};
use super::{Role, Visitor, invitations};
use crate::app::App;
use crate::audit::{self, Note};
use crate::fault::Fault;
use crate::web::route::{get, post};
use crate::web::{Access, Asked, Body, Page, Route};

/// The most rows of a list.
const MOST: i64 = 200;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/admin/accounts", Access::Admin, "List all accounts", accounts),
        post("/admin/accounts/{id}/role", Access::Admin, "Change an account's role, or disable it", set_role),
        post("/admin/invitations", Access::Admin, "Create an invitation link for a new account", invite),
        get("/admin/audit", Access::Admin, "Show the audit log", audit_log),
    ]
}

#[derive(Template)]
#[template(path = "accounts.html")]
struct Accounts<'a> {
    page: &'a Page,
    accounts: Vec<Account>,
    search: &'a str,
    roles: &'static [Role],
    link: Option<String>,
    own: &'a str,
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    #[serde(default)]
    q: String,
}

async fn accounts(
    app: App,
    page: Page,
    by: Visitor,
    Asked(Search { q }): Asked<Search>,
) -> Result<Response, Fault> {
    show(&app, &page, &by, &q, None).await
}

async fn show(
    app: &App,
    page: &Page,
    by: &Visitor,
    search: &str,
    link: Option<String>,
) -> Result<Response, Fault> {
    let accounts = people::search(&app.store, search, MOST).await?;
    page.show(&Accounts { page, accounts, search, roles: Role::ALL, link, own: &by.id })
}

#[derive(Deserialize, JsonSchema)]
struct NewRole {
    /// A role, or `disabled`.
    role: String,
}

async fn set_role(
    app: App,
    by: Visitor,
    Path(id): Path<String>,
    Body(given): Body<NewRole>,
) -> Result<Response, Fault> {
    let role = match given.role.as_str() {
        "disabled" => None,
        role => Some(role.parse::<Role>().map_err(|_| Fault::not_found())?),
    };
    let mut tx = app.store.begin().await?;
    people::set_role(&mut tx, Some(&by.id), &id, role).await?;
    tx.commit().await?;
    Ok(Redirect::to("/admin/accounts?done=saved").into_response())
}

#[derive(Deserialize, JsonSchema)]
struct NewInvitation {
    role: Role,
}

async fn invite(
    app: App,
    page: Page,
    by: Visitor,
    Body(given): Body<NewInvitation>,
) -> Result<Response, Fault> {
    let mut tx = app.store.begin().await?;
    let path = invitations::add(&mut tx, Some(&by.id), given.role, None).await?;
    tx.commit().await?;
    show(&app, &page, &by, "", Some(app.settings.url(&path))).await
}

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditLog<'a> {
    page: &'a Page,
    rows: Vec<Note>,
    subject: &'a str,
}

#[derive(Deserialize, JsonSchema)]
struct Subject {
    #[serde(default)]
    subject: String,
}

async fn audit_log(
    app: App,
    page: Page,
    Asked(Subject { subject }): Asked<Subject>,
) -> Result<Response, Fault> {
    let rows = audit::newest(&app.store, &subject, MOST).await?;
    page.show(&AuditLog { page: &page, rows, subject: &subject })
}
