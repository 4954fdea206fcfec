//! Pages of administrators, and the same for programs: accounts, invitations, and the audit log.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use capeval_api::{AccountLink, Accounts, ManagedAccount};
use schemars::JsonSchema;
use serde::Deserialize;

use super::people::{self, Account};
use super::{Role, Visitor, deletion, invitations, links};
use crate::app::App;
use crate::audit::{self, Note};
use crate::clock;
use crate::fault::{Fault, Result};
use crate::paging::{At, Place, Rows};
use crate::web::route::{delete, get, post};
use crate::web::{Access, Answer, Body, NoContent, Page, Route, UrlQuery, encode};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/admin/accounts", Access::Admin, "List the newest accounts", accounts).and("/api/v1/accounts"),
        post("/admin/accounts/{id}/role", Access::Admin, "Change an account's role, or disable it", set_role)
            .and("/api/v1/accounts/{id}/role"),
        post("/admin/accounts/{id}/link", Access::Admin, "Create a link to set a new password", add_link)
            .and("/api/v1/accounts/{id}/link"),
        post("/admin/accounts/{id}/remove", Access::Admin, "Delete an account", remove),
        delete("/api/v1/accounts/{id}", Access::Admin, "Delete an account", remove),
        post("/admin/invitations", Access::Admin, "Create an invitation link for a new account", invite),
        get("/admin/audit", Access::Admin, "Show the audit log", audit_log),
    ]
}

#[derive(Template)]
#[template(path = "accounts.html")]
struct AccountsPage<'a> {
    page: &'a Page,
    accounts: Rows<Account>,
    search: &'a str,
    roles: &'static [Role],
    link: Option<Link>,
    own: &'a str,
}

impl AccountsPage<'_> {
    /// The beginning of the queries of other pages of the list.
    fn query(&self) -> String {
        format!("?q={}&", encode(self.search))
    }
}

/// A link that is shown once.
enum Link {
    Invitation(String),
    /// The person for whom it is, and the link.
    Password(String, String),
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Search {
    /// Part of a name or an email address.
    q: String,
    #[serde(flatten)]
    place: Place,
}

async fn accounts(
    app: App,
    page: Page,
    by: Visitor,
    UrlQuery(Search { q, place }): UrlQuery<Search>,
) -> Result<Answer<Accounts>> {
    let accounts = people::search(&app.store, &q, At { place, most: page.most_rows() }).await?;
    let shown = AccountsPage { page: &page, accounts, search: &q, roles: Role::ALL, link: None, own: &by.id };
    page.shows(&shown, || Accounts {
        accounts: shown.accounts.rows.iter().cloned().map(managed_account).collect(),
        next: shown.accounts.after.clone(),
    })
}

fn managed_account(account: Account) -> ManagedAccount {
    let Account { id, email, name, role, created_at, disabled_at, .. } = account;
    let (created_at, disabled_at) = (clock::time(created_at), disabled_at.map(clock::time));
    ManagedAccount { id, name, email, role: role.into(), created_at, disabled_at }
}

async fn show(app: &App, page: &Page, by: &Visitor, search: &str, link: Link) -> Result<Response> {
    let accounts = people::search(&app.store, search, At::start(page.most_rows())).await?;
    page.show(&AccountsPage { page, accounts, search, roles: Role::ALL, link: Some(link), own: &by.id })
}

#[derive(Deserialize, JsonSchema)]
struct NewRole {
    /// A role, or `disabled`.
    role: String,
}

async fn set_role(
    app: App,
    page: Page,
    by: Visitor,
    Path(id): Path<String>,
    Body(given): Body<NewRole>,
) -> Result<NoContent> {
    let role = match given.role.as_str() {
        "disabled" => None,
        role => Some(role.parse::<Role>().map_err(|_| Fault::not_found())?),
    };
    let mut tx = app.store.begin().await?;
    people::set_role(&mut tx, Some(&by.id), &id, role).await?;
    tx.commit().await?;
    Ok(page.then("/admin/accounts?done=saved", &()))
}

async fn add_link(app: App, page: Page, by: Visitor, Path(id): Path<String>) -> Result<Answer<AccountLink>> {
    let account = people::by_id(&app.store, &id).await?.ok_or_else(Fault::not_found)?;
    let mut tx = app.store.begin().await?;
    let url = app.settings.url(&links::for_password(&mut tx, Some(&by.id), &id).await?);
    tx.commit().await?;
    if page.is_program() {
        return Ok(Answer::json(&AccountLink { url }));
    }
    Ok(show(&app, &page, &by, &account.email, Link::Password(account.name, url)).await?.into())
}

async fn remove(app: App, page: Page, by: Visitor, Path(id): Path<String>) -> Result<NoContent> {
    deletion::remove(&app, Some(&by.id), &id).await?;
    app.wake.notify();
    Ok(page.then("/admin/accounts?done=removed", &()))
}

#[derive(Deserialize, JsonSchema)]
struct NewInvitation {
    role: Role,
}

async fn invite(app: App, page: Page, by: Visitor, Body(given): Body<NewInvitation>) -> Result<Response> {
    let mut tx = app.store.begin().await?;
    let path = invitations::add(&mut tx, Some(&by.id), given.role, None).await?;
    tx.commit().await?;
    show(&app, &page, &by, "", Link::Invitation(app.settings.url(&path))).await
}

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditLog<'a> {
    page: &'a Page,
    notes: Rows<Note>,
    subject: &'a str,
}

impl AuditLog<'_> {
    /// The beginning of the queries of other pages of the list.
    fn query(&self) -> String {
        format!("?subject={}&", encode(self.subject))
    }
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct AuditQuery {
    /// The id of what was changed.
    subject: String,
    #[serde(flatten)]
    place: Place,
}

async fn audit_log(
    app: App,
    page: Page,
    UrlQuery(AuditQuery { subject, place }): UrlQuery<AuditQuery>,
) -> Result<Response> {
    let list = if subject.is_empty() { &audit::ALL } else { &audit::OF_SUBJECT };
    let notes = audit::page(&app.store, list, &subject, At { place, most: page.most_rows() }).await?;
    page.show(&AuditLog { page: &page, notes, subject: &subject })
}
