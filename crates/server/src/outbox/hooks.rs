//! The webhooks of benchmarks in the database.

use serde::Serialize;
use serde_json::json;

use super::Address;
use crate::accounts::Visitor;
use crate::app::App;
use crate::fault;
use crate::fault::Fault;
use crate::store::{Error, Store};
use crate::{args, audit, clock, ids};

/// The most webhooks of a benchmark.
const MOST: i64 = 10;

/// The most deliveries that are listed.
const LISTED: i64 = 50;

/// A webhook, without its secret.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Webhook {
    /// The id.
    pub id: String,
    /// The address.
    pub url: String,
    /// When it was added.
    pub created_at: String,
    /// Its newest deliveries, the newest first.
    pub deliveries: Vec<Delivery>,
}

/// A message to a webhook.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Delivery {
    /// The id.
    pub id: String,
    /// How often it was tried.
    pub attempts: i64,
    /// When it was written.
    pub created_at: String,
    /// When it was taken.
    pub sent_at: Option<String>,
    /// Why the last attempt failed.
    pub error: Option<String>,
}

/// The webhooks of a benchmark.
pub(super) async fn of_benchmark(store: &Store, benchmark: &str) -> Result<Vec<Webhook>, Error> {
    let sql = "SELECT id, url, created_at FROM webhook WHERE benchmark = $1 ORDER BY id";
    let mut webhooks = Vec::new();
    for row in store.all(sql, args![benchmark]).await? {
        let id: String = row.get("id")?;
        let sql = "SELECT id, attempt, created_at, sent_at, error FROM outbox \
                   WHERE kind = 'webhook' AND target = $1 ORDER BY id DESC LIMIT $2";
        let mut deliveries = Vec::new();
        for row in store.all(sql, args![&id, LISTED]).await? {
            deliveries.push(Delivery {
                id: row.get("id")?,
                attempts: row.get("attempt")?,
                created_at: clock::iso(row.get("created_at")?),
                sent_at: row.get::<Option<i64>>("sent_at")?.map(clock::iso),
                error: row.get("error")?,
            });
        }
        let created_at = clock::iso(row.get("created_at")?);
        webhooks.push(Webhook { id, url: row.get("url")?, created_at, deliveries });
    }
    Ok(webhooks)
}

/// Adds a webhook, and returns its id and the secret of its signatures, which cannot be shown again.
///
/// # Errors
/// If the address is not one to send to, or there are too many.
pub(super) async fn add(
    app: &App,
    visitor: &Visitor,
    benchmark: &str,
    url: &str,
) -> Result<(String, String), Fault> {
    let address = Address::new(url, &app.settings)?;
    let mut tx = app.store.begin().await?;
    let count = tx.first("SELECT COUNT(*) AS n FROM webhook WHERE benchmark = $1", args![benchmark]).await?;
    if count.map_or(Ok(0), |row| row.get::<i64>("n"))? >= MOST {
        return Err(fault!(
            CONFLICT,
            "webhooks",
            "A benchmark can have at most {} webhooks. Remove one first.",
            MOST
        ));
    }
    let (id, secret) = (ids::new_id(), ids::secret()?);
    tx.execute(
        "INSERT INTO webhook (id, benchmark, url, secret, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
        args![&id, benchmark, address.as_str(), &secret, &visitor.id, clock::now()],
    )
    .await?;
    audit::note(&mut tx, Some(&visitor.id), "webhook.add", benchmark, json!({ "webhook": id })).await?;
    tx.commit().await?;
    Ok((id, secret))
}

/// Removes a webhook of a benchmark.
///
/// # Errors
/// If the benchmark has no such webhook.
pub(super) async fn remove(app: &App, visitor: &Visitor, benchmark: &str, id: &str) -> Result<(), Fault> {
    let mut tx = app.store.begin().await?;
    let sql = "DELETE FROM webhook WHERE id = $1 AND benchmark = $2";
    if tx.execute(sql, args![id, benchmark]).await? == 0 {
        return Err(Fault::not_found());
    }
    audit::note(&mut tx, Some(&visitor.id), "webhook.remove", benchmark, json!({ "webhook": id })).await?;
    Ok(tx.commit().await?)
}
