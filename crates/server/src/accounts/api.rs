//! One's own account for programs.

use axum::extract::{Json, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::tokens;
use crate::app::App;
use crate::fault;
use crate::fault::Fault;
use crate::web::route::{delete, get, post};
use crate::web::{Access, Field, Person, Route, Scope};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/api/v1/me", Access::Person(Scope::Read), "Show whose token this is", me),
        get(
            "/api/v1/me/tokens",
            Access::Person(Scope::Read),
            "List your tokens, without their secrets",
            list,
        ),
        post("/api/v1/me/tokens", Access::Person(Scope::Submit), "Create a token with no wider scope", add)
            .takes([Field::text("name").optional(), Field::text("scope")]),
        delete("/api/v1/me/tokens/{id}", Access::Person(Scope::Submit), "Remove a token", remove),
    ]
}

async fn me(Person(visitor): Person) -> Response {
    Json(json!({
        "id": visitor.id, "name": visitor.name, "email": visitor.email, "role": visitor.role, "scopes": visitor.scopes,
    }))
    .into_response()
}

async fn list(State(app): State<App>, Person(visitor): Person) -> Result<Response, Fault> {
    Ok(Json(json!({ "tokens": tokens::of_account(&app.store, &visitor.id).await? })).into_response())
}

#[derive(Deserialize)]
struct NewToken {
    #[serde(default)]
    name: String,
    scope: Scope,
}

async fn add(
    State(app): State<App>,
    Person(visitor): Person,
    Json(given): Json<NewToken>,
) -> Result<Response, Fault> {
    if !visitor.has(given.scope) {
        return Err(fault!(
            FORBIDDEN,
            "scope-larger",
            "A token cannot create a token with a wider scope than its own."
        ));
    }
    let mut tx = app.store.begin().await?;
    let token = tokens::add(&mut tx, &visitor.id, &given.name, given.scope).await?;
    tx.commit().await?;
    Ok((StatusCode::CREATED, Json(json!({ "token": token }))).into_response())
}

async fn remove(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<StatusCode, Fault> {
    let mut tx = app.store.begin().await?;
    tokens::remove(&mut tx, &visitor, &id).await?;
    tx.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}
