//! The webhooks of benchmarks in the database.

use crate::notes;
use capeval_api::{CreatedWebhook, Delivery, Webhook};
use capeval_site::outbox::{self, Address};
use capeval_site::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

/// Selects the address and the secret of a webhook.
pub const ADDRESS: &str = "SELECT url, secret FROM webhook WHERE id = $1";

/// The most webhooks of a benchmark.
const MOST: i64 = 10;

/// The most deliveries that are listed.
const LISTED: i64 = 50;

#[derive(Deserialize)]
struct SentMessage {
    id: String,
    attempt: i64,
    created_at: i64,
    sent_at: Option<i64>,
    error: Option<String>,
}

impl From<SentMessage> for Delivery {
    fn from(sent: SentMessage) -> Self {
        Self {
            id: sent.id,
            attempts: sent.attempt,
            created_at: clock::time(sent.created_at),
            sent_at: sent.sent_at.map(clock::time),
            error: sent.error,
        }
    }
}

/// The webhooks of a benchmark with their newest deliveries.
pub async fn of_benchmark(store: &Store, benchmark: &str) -> Result<Vec<Webhook>, Error> {
    let sql = "SELECT id, url, created_at FROM webhook WHERE benchmark = $1 ORDER BY id";
    let rows: Vec<(String, String, i64)> = store.fetch(sql, args![benchmark]).await?;
    let mut webhooks = Vec::new();
    for (id, url, created_at) in rows {
        let sql = "SELECT id, attempt, created_at, sent_at, error FROM outbox \
                   WHERE kind = 'webhook' AND target = $1 ORDER BY id DESC LIMIT $2";
        let sent: Vec<SentMessage> = store.fetch(sql, args![&id, LISTED]).await?;
        let deliveries = sent.into_iter().map(Into::into).collect();
        webhooks.push(Webhook { id, url, created_at: clock::time(created_at), deliveries });
    }
    Ok(webhooks)
}

/// Sends a message to all webhooks of a benchmark. Wake the runner of jobs once the transaction is committed.
pub async fn call(tx: &mut Tx, benchmark: &str, body: &Value) -> Result<(), Error> {
    let webhooks: Vec<String> =
        tx.fetch("SELECT id FROM webhook WHERE benchmark = $1", args![benchmark]).await?;
    for webhook in webhooks {
        outbox::call(tx, &webhook, body).await?;
    }
    Ok(())
}

/// Adds a webhook, and returns the secret of its signatures, which cannot be shown again.
pub async fn add(app: &App, by: &str, benchmark: &str, url: &str) -> Result<CreatedWebhook> {
    let address = Address::new(url, &app.settings)?;
    let mut tx = app.store.begin().await?;
    tx.lock("benchmark", benchmark).await?;
    let sql = "SELECT COUNT(*) FROM webhook WHERE benchmark = $1";
    if tx.fetch_one::<i64>(sql, args![benchmark]).await? >= MOST {
        return Err(fault! {
            CONFLICT, "webhooks", "A benchmark can have at most {} webhooks. Remove one first.", MOST
        });
    }
    let (id, secret) = (ids::new_id(), ids::secret()?);
    let row = columns! {
        id: &id, benchmark, url: address.as_str(), secret: &secret, created_by: by, created_at: clock::now(),
    };
    tx.insert_row("webhook", row).await?;
    notes::note(&mut tx, Some(by), "webhook.add", benchmark, json!({ "webhook": id })).await?;
    tx.commit().await?;
    Ok(CreatedWebhook { id, secret })
}

/// Removes a webhook of a benchmark.
pub async fn remove(app: &App, by: &str, benchmark: &str, id: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let sql = "DELETE FROM webhook WHERE id = $1 AND benchmark = $2";
    if tx.execute(sql, args![id, benchmark]).await? == 0 {
        return Err(Fault::not_found());
    }
    notes::note(&mut tx, Some(by), "webhook.remove", benchmark, json!({ "webhook": id })).await?;
    Ok(tx.commit().await?)
}
