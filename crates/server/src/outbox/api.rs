//! Webhooks of a benchmark, for its hosts.

use axum::extract::{Json, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Address;
use crate::accounts::Visitor;
use crate::app::App;
use crate::fault;
use crate::fault::Fault;
use crate::store::Store;
use crate::web::route::{delete, get, post};
use crate::web::{Access, Person, Route};
use crate::{args, audit, clock, ids};

/// The most webhooks of a benchmark.
const MOST: i64 = 10;

/// The most deliveries that are listed.
const LISTED: i64 = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/api/v1/host/benchmarks/{slug}/webhooks",
            Access::Host,
            "The webhooks of a benchmark, and their newest deliveries",
            list,
        ),
        post(
            "/api/v1/host/benchmarks/{slug}/webhooks",
            Access::Host,
            "Add a webhook; the answer has the secret of its signatures, once",
            add,
        ),
        delete("/api/v1/host/benchmarks/{slug}/webhooks/{id}", Access::Host, "Remove a webhook", remove),
    ]
}

/// The id of a benchmark that the visitor runs.
async fn own(store: &Store, slug: &str, visitor: &Visitor) -> Result<String, Fault> {
    let row = store
        .first(
            "SELECT id FROM benchmark WHERE slug = $1 AND ($2 = 1 OR EXISTS (SELECT 1 FROM benchmark_host \
             WHERE benchmark_host.benchmark = benchmark.id AND benchmark_host.account = $3))",
            args![slug, visitor.is_admin(), &visitor.id],
        )
        .await?;
    row.map(|row| row.get("id")).transpose()?.ok_or_else(Fault::not_found)
}

async fn list(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let benchmark = own(&app.store, &slug, &visitor).await?;
    let sql = "SELECT id, url, created_at FROM webhook WHERE benchmark = $1 ORDER BY id";
    let mut webhooks = Vec::new();
    for row in app.store.all(sql, args![benchmark]).await? {
        let id: String = row.get("id")?;
        let sql = "SELECT id, attempt, created_at, sent_at, error FROM outbox \
                   WHERE kind = 'webhook' AND target = $1 ORDER BY id DESC LIMIT $2";
        let mut deliveries = Vec::new();
        for row in app.store.all(sql, args![&id, LISTED]).await? {
            deliveries.push(json!({
                "id": row.get::<String>("id")?,
                "attempts": row.get::<i64>("attempt")?,
                "created_at": clock::iso(row.get("created_at")?),
                "sent_at": row.get::<Option<i64>>("sent_at")?.map(clock::iso),
                "error": row.get::<Option<String>>("error")?,
            }));
        }
        let (url, created_at) = (row.get::<String>("url")?, clock::iso(row.get("created_at")?));
        webhooks.push(json!({ "id": id, "url": url, "created_at": created_at, "deliveries": deliveries }));
    }
    Ok(Json(json!({ "webhooks": webhooks })).into_response())
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
    let benchmark = own(&app.store, &slug, &visitor).await?;
    let address = Address::new(&given.url, &app.settings)?;
    let mut tx = app.store.begin().await?;
    let count = tx.first("SELECT COUNT(*) AS n FROM webhook WHERE benchmark = $1", args![&benchmark]).await?;
    if count.map_or(Ok(0), |row| row.get::<i64>("n"))? >= MOST {
        return Err(fault!(
            CONFLICT,
            "webhooks",
            "A benchmark may have {} webhooks; remove one first.",
            MOST
        ));
    }
    let (id, secret) = (ids::new_id(), ids::secret()?);
    tx.execute(
        "INSERT INTO webhook (id, benchmark, url, secret, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
        args![&id, &benchmark, address.as_str(), &secret, &visitor.id, clock::now()],
    )
    .await?;
    audit::note(&mut tx, Some(&visitor.id), "webhook.add", &benchmark, json!({ "webhook": id })).await?;
    tx.commit().await?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id, "secret": secret }))))
}

async fn remove(
    State(app): State<App>,
    Person(visitor): Person,
    Path((slug, id)): Path<(String, String)>,
) -> Result<StatusCode, Fault> {
    let benchmark = own(&app.store, &slug, &visitor).await?;
    let mut tx = app.store.begin().await?;
    let sql = "DELETE FROM webhook WHERE id = $1 AND benchmark = $2";
    if tx.execute(sql, args![&id, &benchmark]).await? == 0 {
        return Err(Fault::not_found());
    }
    audit::note(&mut tx, Some(&visitor.id), "webhook.remove", &benchmark, json!({ "webhook": id })).await?;
    tx.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}
