//! Pages on which people create an account: where registration is open, by a link in an email, or by an invitation.

use askama::Template;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use super::invitations::{self, Invitation};
use super::people::{self, NewAccount};
use super::sign_in::begin_session;
use super::{Role, links};
use crate::app::App;
use crate::fault::{Fault, Result};
use crate::store::{Error, Tx};
use crate::web::route::{get, post};
use crate::web::{Access, Attempt, Body, Page, Route, language};
use crate::{fault, outbox};

pub(super) fn routes() -> Vec<Route> {
    let all = Access::Public;
    vec![
        get("/register", all, "Show the form to create an account, if registration is open", register_form),
        post("/register", all, "Create an account, if registration is open", register),
        get("/join/{secret}", all, "Show an invitation", join_form),
        post("/join/{secret}", all, "Create an account from an invitation", join),
    ]
}

/// The form for a new account.
#[derive(Template)]
#[template(path = "join.html")]
struct Join<'a> {
    page: &'a Page,
    action: &'a str,
    role: Option<Role>,
    email: &'a str,
    name: &'a str,
}

/// The form for the address to which a link is sent.
#[derive(Template)]
#[template(path = "confirm.html")]
struct Confirm<'a> {
    page: &'a Page,
    email: &'a str,
    is_sent: bool,
}

fn require_open(app: &App) -> Result<()> {
    match app.settings.is_open() {
        true => Ok(()),
        false => Err(fault! {
            FORBIDDEN, "invitation-only",
            "Registration is by invitation only. Ask an administrator for a link."
        }),
    }
}

async fn register_form(app: App, page: Page) -> Result<Response> {
    require_open(&app)?;
    if app.settings.sends_mail() {
        return page.show(&Confirm { page: &page, email: "", is_sent: false });
    }
    page.show(&Join { page: &page, action: "/register", role: None, email: "", name: "" })
}

#[derive(Deserialize, JsonSchema)]
struct NewPerson {
    email: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
}

async fn register(app: App, page: Page, from: Attempt, Body(given): Body<NewPerson>) -> Result<Response> {
    require_open(&app)?;
    if app.settings.sends_mail() {
        return send_link(&app, &page, &given.email).await;
    }
    match create(&app, &page, &given, None).await {
        Ok(id) => begin_session(&app, &from, &id, "/?done=welcome").await,
        Err(fault) => show_again(&page.refused(fault)?, "/register", None, &given),
    }
}

/// Sends a link to create an account with this address. The answer is the same if there is one already; the email
/// differs.
async fn send_link(app: &App, page: &Page, email: &str) -> Result<Response> {
    let address = match people::address(email) {
        Ok(address) => address,
        Err(fault) => {
            let page = &page.refused(fault)?;
            return page.show(&Confirm { page, email, is_sent: false });
        }
    };
    app.limits.take("links", &address, links::PER_MINUTE)?;
    let mut tx = app.store.begin().await?;
    let path = invitations::add_for_address(&mut tx, &address).await?;
    let sentence = language::say("Create your account here. If you did not ask for one, ignore this email.");
    send_if_new(&mut tx, (app, page), &address, sentence, &path).await?;
    app.commit(tx).await?;
    page.show(&Confirm { page, email: &address, is_sent: true })
}

/// Sends a link to an address that no account has, and otherwise an email that leads to the sign-in. A link whose
/// secret stays unknown takes the same work, so the time of the answer does not tell which of them it was.
pub(super) async fn send_if_new(
    tx: &mut Tx,
    (app, page): (&App, &Page),
    to: &str,
    sentence: &str,
    path: &str,
) -> Result<(), Error> {
    let subject = page.t1("Your account at {}", &page.site);
    if people::has_address(tx, to).await? {
        let known = page.t(language::say("You already have an account with this address. Sign in here:"));
        let body = format!("{known}\n\n{}\n", app.settings.url("/sign-in"));
        return outbox::mail_beside_link(tx, app, (to, &subject), &body, path).await;
    }
    outbox::mail_link(tx, app, (to, &subject), page.t(sentence), path).await
}

/// Shows the form for a new account again.
fn show_again(page: &Page, action: &str, role: Option<Role>, given: &NewPerson) -> Result<Response> {
    page.show(&Join { page, action, role, email: &given.email, name: &given.name })
}

/// Creates an account, and uses the invitation up if there is one.
async fn create(
    app: &App,
    page: &Page,
    given: &NewPerson,
    invitation: Option<&Invitation>,
) -> Result<String> {
    let password = app.hasher.hash(&given.password).await?;
    let role = invitation.map_or(Role::Member, |invitation| invitation.role);
    let mut tx = app.store.begin().await?;
    let new = NewAccount { email: &given.email, name: &given.name, password, role };
    let id = people::add(&mut tx, new).await?;
    people::set_language(&mut tx, &id, page.language).await?;
    if let Some(invitation) = invitation {
        invitations::take(&mut tx, invitation, &id).await?;
        if let Some(email) = &invitation.email {
            people::confirm(&mut tx, &id, email).await?;
        }
    }
    tx.commit().await?;
    Ok(id)
}

async fn join_form(app: App, page: Page, Path(secret): Path<String>) -> Result<Response> {
    let invitation = invitations::find(&app.store, &secret).await?;
    if invitation.team.is_some() {
        return Ok(Redirect::to(&format!("/teams/join/{secret}")).into_response());
    }
    let action = format!("/join/{secret}");
    let role = Some(invitation.role);
    let email = invitation.email.as_deref().unwrap_or("");
    page.show(&Join { page: &page, action: &action, role, email, name: "" })
}

async fn join(
    app: App,
    page: Page,
    Path(secret): Path<String>,
    from: Attempt,
    Body(mut given): Body<NewPerson>,
) -> Result<Response> {
    let invitation = invitations::find(&app.store, &secret).await?;
    // A link to a team is for people who have an account.
    if invitation.team.is_some() {
        return Err(Fault::not_found());
    }
    if let Some(email) = &invitation.email {
        given.email.clone_from(email);
    }
    match create(&app, &page, &given, Some(&invitation)).await {
        Ok(id) => begin_session(&app, &from, &id, "/?done=welcome").await,
        Err(fault) if fault.status == StatusCode::GONE => Err(fault),
        Err(fault) => {
            show_again(&page.refused(fault)?, &format!("/join/{secret}"), Some(invitation.role), &given)
        }
    }
}
