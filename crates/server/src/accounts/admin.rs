//! Pages of administrators: accounts, invitations, and the audit log.

use askama::Template;
use axum::extract::{Form, Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::people::{self, Account};
use super::{Role, invitations};
use crate::app::App;
use crate::args;
use crate::fault::Fault;
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Signed};

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

#[derive(Deserialize)]
struct Search {
    #[serde(default)]
    q: String,
}

async fn accounts(signed: Signed, Query(Search { q }): Query<Search>) -> Result<Response, Fault> {
    show(&signed, &q, None).await
}

async fn show(
    Signed { app, page, visitor }: &Signed,
    search: &str,
    link: Option<String>,
) -> Result<Response, Fault> {
    let accounts = people::search(&app.store, search, MOST).await?;
    page.show(&Accounts { page, accounts, search, roles: Role::ALL, link, own: &visitor.id })
}

#[derive(Deserialize)]
struct NewRole {
    role: String,
}

async fn set_role(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
    Form(given): Form<NewRole>,
) -> Result<Response, Fault> {
    let role = match given.role.as_str() {
        "disabled" => None,
        role => Some(role.parse::<Role>().map_err(|_| Fault::not_found())?),
    };
    let mut tx = app.store.begin().await?;
    people::set_role(&mut tx, Some(&visitor.id), &id, role).await?;
    tx.commit().await?;
    Ok(Redirect::to("/admin/accounts?done=saved").into_response())
}

#[derive(Deserialize)]
struct NewInvitation {
    role: Role,
}

async fn invite(signed: Signed, Form(given): Form<NewInvitation>) -> Result<Response, Fault> {
    let mut tx = signed.app.store.begin().await?;
    let path = invitations::add(&mut tx, Some(&signed.visitor.id), given.role, None).await?;
    tx.commit().await?;
    show(&signed, "", Some(signed.app.settings.url(&path))).await
}

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditLog<'a> {
    page: &'a Page,
    rows: Vec<AuditRow>,
    subject: &'a str,
}

struct AuditRow {
    at: i64,
    actor: String,
    action: String,
    subject: String,
    detail: String,
}

#[derive(Deserialize)]
struct Subject {
    #[serde(default)]
    subject: String,
}

async fn audit_log(
    State(app): State<App>,
    page: Page,
    Query(Subject { subject }): Query<Subject>,
) -> Result<Response, Fault> {
    let rows = app
        .store
        .all(
            "SELECT audit.*, COALESCE(account.name, '') AS actor_name FROM audit \
             LEFT JOIN account ON account.id = audit.actor WHERE $1 = '' OR audit.subject = $1 \
             ORDER BY audit.id DESC LIMIT $2",
            args![&subject, MOST],
        )
        .await?;
    let rows: Result<Vec<AuditRow>, Fault> = rows
        .iter()
        .map(|row| {
            Ok(AuditRow {
                at: row.get("at")?,
                actor: row.get("actor_name")?,
                action: row.get("action")?,
                subject: row.get("subject")?,
                detail: row.get("detail")?,
            })
        })
        .collect();
    page.show(&AuditLog { page: &page, rows: rows?, subject: &subject })
}
