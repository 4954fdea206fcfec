//! Pages to sign in, to make an account, and to look after it.

use askama::Template;
use axum::extract::{Form, Path, Query, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;

use super::tokens::Token;
use super::{Role, invitations, people, sessions, tokens, totp};
use crate::app::App;
use crate::fault;
use crate::fault::Fault;
use crate::web::language::{self, Language};
use crate::web::route::{get, post};
use crate::web::{Access, Attempt, Page, Person, Route, Scope, Signed, local};
use crate::{args, audit, outbox};

/// Links that may be sent to one address in a minute.
const LINKS_PER_MINUTE: u32 = 2;

pub(super) fn routes() -> Vec<Route> {
    use Access::{Person as Signed, Public};
    vec![
        get("/sign-in", Public, "Show the form to sign in", sign_in_form),
        post("/sign-in", Public, "Sign in", sign_in),
        post("/sign-out", Public, "Sign out", sign_out),
        get(
            "/register",
            Public,
            "Show the form to create an account, if registration is open",
            register_form,
        ),
        post("/register", Public, "Create an account, if registration is open", register),
        get("/join/{secret}", Public, "Show an invitation", join_form),
        post("/join/{secret}", Public, "Create an account from an invitation", join),
        get("/language/{tag}", Public, "Choose the language of the pages", choose_language),
        get("/account", Signed(Scope::Read), "Show your account", account),
        post("/account/name", Signed(Scope::Host), "Change your name", change_name),
        post("/account/password", Signed(Scope::Host), "Change your password", change_password),
        post("/account/sessions/end", Signed(Scope::Host), "Sign out everywhere", end_sessions),
        post("/account/second-factor", Signed(Scope::Host), "Set up two-factor authentication", set_up_totp),
        post(
            "/account/second-factor/remove",
            Signed(Scope::Host),
            "Turn off two-factor authentication",
            remove_totp,
        ),
        post("/account/tokens", Signed(Scope::Host), "Create a token for programs", add_token),
        post("/account/tokens/{id}/remove", Signed(Scope::Host), "Remove a token", remove_token),
    ]
}

#[derive(Template)]
#[template(path = "sign-in.html")]
struct SignIn<'a> {
    page: &'a Page,
    to: &'a str,
    email: &'a str,
    is_open: bool,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "join.html")]
struct Join<'a> {
    page: &'a Page,
    action: &'a str,
    role: Option<Role>,
    email: &'a str,
    name: &'a str,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct Confirm<'a> {
    page: &'a Page,
    email: &'a str,
    is_sent: bool,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage<'a> {
    page: &'a Page,
    name: &'a str,
    email: &'a str,
    role: Role,
    tokens: Vec<Token>,
    scopes: &'static [Scope],
    new_token: Option<String>,
    /// The secret and the address of a second factor to set up; `None` if there is one.
    totp: Option<(String, String)>,
    /// Whether it is being set up.
    sets_up: bool,
    problem: Option<String>,
}

#[derive(Deserialize)]
struct To {
    #[serde(default)]
    to: String,
}

async fn sign_in_form(
    State(app): State<App>,
    page: Page,
    Query(To { to }): Query<To>,
) -> Result<Response, Fault> {
    let is_open = app.settings.registration == "open";
    page.show(&SignIn { page: &page, to: local(&to), email: "", is_open, problem: None })
}

#[derive(Deserialize)]
struct Credentials {
    email: String,
    password: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    to: String,
}

async fn sign_in(
    State(app): State<App>,
    page: Page,
    _: Attempt,
    Form(given): Form<Credentials>,
) -> Result<Response, Fault> {
    let account =
        people::by_email(&app.store, &given.email).await?.filter(|account| account.disabled_at.is_none());
    let stored = account.as_ref().map(|account| account.password.as_str());
    let is_right = app.hasher.verify(&given.password, stored).await?;
    let refuse = |problem: String| {
        let is_open = app.settings.registration == "open";
        let (to, email) = (local(&given.to), given.email.as_str());
        let form = page.show(&SignIn { page: &page, to, email, is_open, problem: Some(problem) })?;
        Ok((StatusCode::UNAUTHORIZED, form).into_response())
    };
    let Some(account) = account.filter(|_| is_right) else {
        return refuse(page.t("Email address and password do not match.").to_owned());
    };
    if totp::is_on(&app.store, &account.id).await? {
        // Whoever knows the password may guess codes from many networks.
        app.limits.take("codes", &account.id, app.settings.sign_ins_per_minute)?;
    }
    let mut tx = app.store.begin().await?;
    match totp::take(&mut tx, &account.id, &given.code).await {
        Ok(()) => tx.commit().await?,
        Err(fault) if fault.status.is_client_error() => {
            return refuse(
                page.t("This account uses two-factor authentication. Enter the current code from your authenticator app.")
                    .to_owned(),
            );
        }
        Err(fault) => return Err(fault),
    }
    signed_in(&app, &account.id, local(&given.to)).await
}

/// Begins a session and goes on to `to`.
async fn signed_in(app: &App, account: &str, to: &str) -> Result<Response, Fault> {
    let mut tx = app.store.begin().await?;
    let cookie = sessions::begin(&mut tx, &app.settings, account).await?;
    tx.commit().await?;
    Ok(([(SET_COOKIE, cookie)], Redirect::to(to)).into_response())
}

async fn sign_out(State(app): State<App>, page: Page) -> Result<Response, Fault> {
    if let Some(session) = page.visitor.and_then(|visitor| visitor.session) {
        sessions::end(&app.store, &session).await?;
    }
    let cookie = sessions::forget(&app.settings)?;
    Ok(([(SET_COOKIE, cookie)], Redirect::to("/?done=signed-out")).into_response())
}

fn require_open(app: &App) -> Result<(), Fault> {
    match app.settings.registration.as_str() {
        "open" => Ok(()),
        _ => Err(fault!(
            FORBIDDEN,
            "invitation-only",
            "Registration is by invitation only. Ask an administrator for a link."
        )),
    }
}

async fn register_form(State(app): State<App>, page: Page) -> Result<Response, Fault> {
    require_open(&app)?;
    if app.settings.sends_mail() {
        return page.show(&Confirm { page: &page, email: "", is_sent: false, problem: None });
    }
    page.show(&Join { page: &page, action: "/register", role: None, email: "", name: "", problem: None })
}

#[derive(Deserialize)]
struct NewPerson {
    email: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    password: String,
}

async fn register(
    State(app): State<App>,
    page: Page,
    _: Attempt,
    Form(given): Form<NewPerson>,
) -> Result<Response, Fault> {
    require_open(&app)?;
    if app.settings.sends_mail() {
        return send_link(&app, &page, &given.email).await;
    }
    match make(&app, &page, &given, Role::Member, None).await {
        Ok(id) => signed_in(&app, &id, "/?done=welcome").await,
        Err(fault) => again(&page, "/register", None, &given, &fault),
    }
}

/// Sends a link to make an account with this address. The answer is the same if there is one already; the mail differs.
async fn send_link(app: &App, page: &Page, email: &str) -> Result<Response, Fault> {
    let address = match people::address(email) {
        Ok(address) => address,
        Err(fault) => {
            let problem = Some(page.fault(&fault));
            let form = page.show(&Confirm { page, email, is_sent: false, problem })?;
            return Ok((fault.status, form).into_response());
        }
    };
    app.limits.take("links", &address, LINKS_PER_MINUTE)?;
    let known = people::by_email(&app.store, &address).await?.is_some();
    let mut tx = app.store.begin().await?;
    let (path, sentence) = match known {
        true => (
            "/sign-in".to_owned(),
            language::say("You already have an account with this address. Sign in here:"),
        ),
        false => (
            invitations::add_for_address(&mut tx, &address).await?,
            language::say("Create your account here. If you did not ask for one, ignore this email."),
        ),
    };
    let body = format!("{}\n\n{}\n", page.t(sentence), app.settings.url(&path));
    let subject = page.t1("Your account at {}", &page.site);
    outbox::mail(&mut tx, app, &address, &subject, &body).await?;
    tx.commit().await?;
    app.wake.notify();
    page.show(&Confirm { page, email: &address, is_sent: true, problem: None })
}

/// Shows the form for a new account again, with what was wrong.
fn again(
    page: &Page,
    action: &str,
    role: Option<Role>,
    given: &NewPerson,
    fault: &Fault,
) -> Result<Response, Fault> {
    let problem = Some(page.fault(fault));
    let form = page.show(&Join { page, action, role, email: &given.email, name: &given.name, problem })?;
    Ok((fault.status, form).into_response())
}

/// Makes an account, by an invitation if there is one.
async fn make(
    app: &App,
    page: &Page,
    given: &NewPerson,
    role: Role,
    invitation: Option<&invitations::Invitation>,
) -> Result<String, Fault> {
    let password = app.hasher.hash(&given.password).await?;
    let mut tx = app.store.begin().await?;
    let new = people::NewAccount { email: &given.email, name: &given.name, password, role };
    let id = people::add(&mut tx, new).await?;
    tx.execute("UPDATE account SET language = $1 WHERE id = $2", args![page.tag(), &id]).await?;
    if let Some(invitation) = invitation {
        invitations::take(&mut tx, invitation, &id).await?;
    }
    tx.commit().await?;
    Ok(id)
}

async fn join_form(
    State(app): State<App>,
    page: Page,
    Path(secret): Path<String>,
) -> Result<Response, Fault> {
    let invitation = invitations::find(&app.store, &secret).await?;
    if invitation.team.is_some() {
        return Ok(Redirect::to(&format!("/teams/join/{secret}")).into_response());
    }
    let action = format!("/join/{secret}");
    let role = Some(invitation.role);
    let email = invitation.email.as_deref().unwrap_or("");
    page.show(&Join { page: &page, action: &action, role, email, name: "", problem: None })
}

async fn join(
    State(app): State<App>,
    page: Page,
    Path(secret): Path<String>,
    _: Attempt,
    Form(mut given): Form<NewPerson>,
) -> Result<Response, Fault> {
    let invitation = invitations::find(&app.store, &secret).await?;
    // A link to a team is for people who have an account.
    if invitation.team.is_some() {
        return Err(Fault::not_found());
    }
    if let Some(email) = &invitation.email {
        given.email.clone_from(email);
    }
    match make(&app, &page, &given, invitation.role, Some(&invitation)).await {
        Ok(id) => signed_in(&app, &id, "/?done=welcome").await,
        Err(fault) if fault.status == StatusCode::GONE => Err(fault),
        Err(fault) => again(&page, &format!("/join/{secret}"), Some(invitation.role), &given, &fault),
    }
}

/// Chooses the language of the pages in this browser and, for people with an account, of their mail.
async fn choose_language(
    State(app): State<App>,
    page: Page,
    Path(tag): Path<String>,
    Query(To { to }): Query<To>,
) -> Result<Response, Fault> {
    let language = Language::of(&tag).ok_or_else(Fault::not_found)?;
    if let Some(visitor) = &page.visitor {
        let sql = "UPDATE account SET language = $1 WHERE id = $2";
        app.store.execute(sql, args![language.tag(), &visitor.id]).await?;
    }
    let cookie = format!("{}={}; Path=/; Max-Age=31536000; SameSite=Lax", language::COOKIE, language.tag());
    let cookie = HeaderValue::from_str(&cookie).map_err(|error| Fault::internal(&error))?;
    Ok(([(SET_COOKIE, cookie)], Redirect::to(local(&to))).into_response())
}

async fn account(signed: Signed) -> Result<Response, Fault> {
    show_account(&signed, None, None).await
}

pub(super) async fn show_account(
    signed: &Signed,
    new_token: Option<String>,
    problem: Option<&Fault>,
) -> Result<Response, Fault> {
    show_account_with(signed, new_token, None, problem).await
}

/// Shows the account, with the secret that an app knows already if somebody is setting up a second factor.
async fn show_account_with(
    Signed { app, page, visitor }: &Signed,
    new_token: Option<String>,
    known: Option<String>,
    problem: Option<&Fault>,
) -> Result<Response, Fault> {
    let sets_up = known.is_some();
    let totp = match totp::is_on(&app.store, &visitor.id).await? {
        true => None,
        false => {
            let secret = known.map_or_else(totp::new_secret, Ok)?;
            let address = totp::address(&app.settings.title, &visitor.email, &secret);
            Some((secret, address))
        }
    };
    let shown = page.show(&AccountPage {
        page,
        name: &visitor.name,
        email: &visitor.email,
        role: visitor.role,
        tokens: tokens::of_account(&app.store, &visitor.id).await?,
        scopes: Scope::ALL,
        new_token,
        totp,
        sets_up,
        problem: problem.map(|fault| page.fault(fault)),
    })?;
    Ok((problem.map_or(StatusCode::OK, |fault| fault.status), shown).into_response())
}

#[derive(Deserialize)]
struct NewName {
    name: String,
}

async fn change_name(signed: Signed, Form(given): Form<NewName>) -> Result<Response, Fault> {
    let name = match people::name(&given.name) {
        Ok(name) => name,
        Err(fault) => return show_account(&signed, None, Some(&fault)).await,
    };
    let values = args![name, &signed.visitor.id];
    // A deleted account does not get its name back.
    let sql = "UPDATE account SET name = $1 WHERE id = $2 AND disabled_at IS NULL";
    signed.app.store.execute(sql, values).await?;
    Ok(Redirect::to("/account?done=saved").into_response())
}

#[derive(Deserialize)]
struct NewPassword {
    old: String,
    new: String,
}

async fn change_password(
    signed: Signed,
    _: Attempt,
    Form(given): Form<NewPassword>,
) -> Result<Response, Fault> {
    let Signed { app, visitor, .. } = &signed;
    let stored = people::by_id(&app.store, &visitor.id).await?.map(|account| account.password);
    if !app.hasher.verify(&given.old, stored.as_deref()).await? {
        let fault = fault!(UNPROCESSABLE_ENTITY, "old-password", "The current password is incorrect.");
        return show_account(&signed, None, Some(&fault)).await;
    }
    let hash = match app.hasher.hash(&given.new).await {
        Ok(hash) => hash,
        Err(fault) => return show_account(&signed, None, Some(&fault)).await,
    };
    let mut tx = app.store.begin().await?;
    tx.execute("UPDATE account SET password = $1 WHERE id = $2", args![hash, &visitor.id]).await?;
    // Whoever knew the old password is signed out everywhere, and may have made tokens.
    tx.execute("DELETE FROM session WHERE account = $1", args![&visitor.id]).await?;
    tx.execute("DELETE FROM api_token WHERE account = $1", args![&visitor.id]).await?;
    audit::note(&mut tx, Some(&visitor.id), "account.password", &visitor.id, json!({})).await?;
    let cookie = sessions::begin(&mut tx, &app.settings, &visitor.id).await?;
    tx.commit().await?;
    Ok(([(SET_COOKIE, cookie)], Redirect::to("/account?done=saved")).into_response())
}

#[derive(Deserialize)]
struct SecondFactor {
    #[serde(default)]
    secret: String,
    code: String,
}

async fn set_up_totp(signed: Signed, _: Attempt, Form(given): Form<SecondFactor>) -> Result<Response, Fault> {
    let mut tx = signed.app.store.begin().await?;
    match totp::set_up(&mut tx, &signed.visitor.id, &given.secret, &given.code).await {
        Ok(()) => tx.commit().await?,
        Err(fault) => {
            // The app knows this secret, and would give wrong codes for another.
            let known = Some(given.secret).filter(|secret| totp::is_secret(secret));
            return show_account_with(&signed, None, known, Some(&fault)).await;
        }
    }
    Ok(Redirect::to("/account?done=saved").into_response())
}

async fn remove_totp(signed: Signed, _: Attempt, Form(given): Form<SecondFactor>) -> Result<Response, Fault> {
    let Signed { app, visitor, .. } = &signed;
    app.limits.take("codes", &visitor.id, app.settings.sign_ins_per_minute)?;
    let mut tx = signed.app.store.begin().await?;
    if let Err(fault) = totp::take(&mut tx, &signed.visitor.id, &given.code).await {
        return show_account(&signed, None, Some(&fault)).await;
    }
    totp::remove(&mut tx, Some(&signed.visitor.id), &signed.visitor.id).await?;
    tx.commit().await?;
    Ok(Redirect::to("/account?done=removed").into_response())
}

async fn end_sessions(State(app): State<App>, Person(visitor): Person) -> Result<Response, Fault> {
    app.store.execute("DELETE FROM session WHERE account = $1", args![&visitor.id]).await?;
    Ok(([(SET_COOKIE, sessions::forget(&app.settings)?)], Redirect::to("/?done=signed-out")).into_response())
}

#[derive(Deserialize)]
struct NewToken {
    #[serde(default)]
    name: String,
    scope: Scope,
}

async fn add_token(signed: Signed, Form(given): Form<NewToken>) -> Result<Response, Fault> {
    let mut tx = signed.app.store.begin().await?;
    match tokens::add(&mut tx, &signed.visitor.id, &given.name, given.scope).await {
        Ok(token) => {
            tx.commit().await?;
            show_account(&signed, Some(token), None).await
        }
        Err(fault) => show_account(&signed, None, Some(&fault)).await,
    }
}

async fn remove_token(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let mut tx = app.store.begin().await?;
    tokens::remove(&mut tx, &visitor, &id).await?;
    tx.commit().await?;
    Ok(Redirect::to("/account?done=removed").into_response())
}
