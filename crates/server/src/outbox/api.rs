//! Webhooks of a benchmark, for its hosts: a page, and the same for programs.

use askama::Template;
use axum::extract::{Form, Json, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::hooks::{self, Webhook};
use crate::accounts::Visitor;
use crate::app::App;
use crate::benchmarks::records::{self, Seen};
use crate::fault::Fault;
use crate::web::route::{delete, get, post};
use crate::web::{Access, Field, Page, Person, Route, encode};

pub(super) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get("/b/{slug}/webhooks", host, "List a benchmark's webhooks with their latest deliveries", show),
        post("/b/{slug}/webhooks", host, "Add a webhook", add_from_page),
        post("/b/{slug}/webhooks/{id}/remove", host, "Remove a webhook", remove_from_page),
        get(
            "/api/v1/host/benchmarks/{slug}/webhooks",
            host,
            "List a benchmark's webhooks with their latest deliveries",
            list,
        ),
        post(
            "/api/v1/host/benchmarks/{slug}/webhooks",
            host,
            "Add a webhook; the signing secret is returned only once",
            add,
        )
        .takes([Field::text("url")]),
        delete("/api/v1/host/benchmarks/{slug}/webhooks/{id}", host, "Remove a webhook", remove),
    ]
}

/// A benchmark that the visitor runs.
async fn own(app: &App, slug: &str, visitor: &Visitor) -> Result<Seen, Fault> {
    let seen = records::benchmark(&app.store, slug, Some(visitor)).await?;
    if seen.is_host { Ok(seen) } else { Err(Fault::not_found()) }
}

async fn list(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Json<Value>, Fault> {
    let seen = own(&app, &slug, &visitor).await?;
    let webhooks = hooks::of_benchmark(&app.store, &seen.benchmark.id).await?;
    Ok(Json(json!({ "webhooks": webhooks })))
}

#[derive(Deserialize)]
struct NewWebhook {
    url: String,
}

async fn add(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Json(given): Json<NewWebhook>,
) -> Result<(StatusCode, Json<Value>), Fault> {
    let seen = own(&app, &slug, &visitor).await?;
    let (id, secret) = hooks::add(&app, &visitor, &seen.benchmark.id, &given.url).await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id, "secret": secret }))))
}

async fn remove(
    State(app): State<App>,
    Person(visitor): Person,
    Path((slug, id)): Path<(String, String)>,
) -> Result<StatusCode, Fault> {
    let seen = own(&app, &slug, &visitor).await?;
    hooks::remove(&app, &visitor, &seen.benchmark.id, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Template)]
#[template(path = "webhooks.html")]
struct Webhooks<'a> {
    page: &'a Page,
    seen: &'a Seen,
    webhooks: Vec<Webhook>,
    secret: Option<String>,
    url: &'a str,
    problem: Option<String>,
}

async fn show_with(
    app: &App,
    page: &Page,
    seen: &Seen,
    secret: Option<String>,
    (url, problem): (&str, Option<&Fault>),
) -> Result<Response, Fault> {
    let webhooks = hooks::of_benchmark(&app.store, &seen.benchmark.id).await?;
    let problem_in_words = problem.map(|fault| page.fault(fault));
    let shown = page.show(&Webhooks { page, seen, webhooks, secret, url, problem: problem_in_words })?;
    Ok((problem.map_or(StatusCode::OK, |fault| fault.status), shown).into_response())
}

async fn show(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let seen = own(&app, &slug, &visitor).await?;
    show_with(&app, &page, &seen, None, ("", None)).await
}

async fn add_from_page(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Form(given): Form<NewWebhook>,
) -> Result<Response, Fault> {
    let seen = own(&app, &slug, &visitor).await?;
    match hooks::add(&app, &visitor, &seen.benchmark.id, &given.url).await {
        Ok((_, secret)) => show_with(&app, &page, &seen, Some(secret), ("", None)).await,
        Err(fault) => show_with(&app, &page, &seen, None, (&given.url, Some(&fault))).await,
    }
}

async fn remove_from_page(
    State(app): State<App>,
    Person(visitor): Person,
    Path((slug, id)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let seen = own(&app, &slug, &visitor).await?;
    hooks::remove(&app, &visitor, &seen.benchmark.id, &id).await?;
    Ok(Redirect::to(&format!("/b/{}/webhooks?done=removed", encode(&slug))).into_response())
}
