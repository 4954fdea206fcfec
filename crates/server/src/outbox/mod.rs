//! Messages to the outside, mail and webhooks: written in the transaction that causes them, and sent by jobs.
//!
//! A message is sent at least once: if a process is killed between sending and noting it, it is sent again, with the
//! same id.

mod api;
mod hooks;
mod mail;
mod own_data;
mod webhook;

use anyhow::Context;
use capeval_api::SubmissionState;
use serde::Deserialize;
use serde_json::json;

use crate::app::App;
use crate::fault::Fault;
use crate::jobs::queue::Priority;
use crate::jobs::{self, Failure, Job, Work};
use crate::store::{Error, Row, Tx};
use crate::web::Route;
use crate::web::language::Language;
use crate::{args, clock, ids};

pub use own_data::OwnData;
pub use webhook::{Address, is_public, signature};

/// The seconds after which a message that could not be sent is tried again; after the last, it is given up.
const PAUSES: [i64; 5] = [10, 60, 600, 3_600, 21_600];

/// Sends a message.
pub struct SendMessage;

/// The routes of webhooks.
pub fn routes() -> Vec<Route> {
    api::routes()
}

/// A message.
#[derive(Clone, Debug)]
struct Message {
    id: String,
    kind: String,
    target: String,
    subject: String,
    body: String,
    sent_at: Option<i64>,
}

impl Message {
    fn of(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.get("id")?,
            kind: row.get("kind")?,
            target: row.get("target")?,
            subject: row.get("subject")?,
            body: row.get("body")?,
            sent_at: row.get("sent_at")?,
        })
    }
}

/// Sends mail, if the site can. Wake the runner of jobs once the transaction is committed.
///
/// # Errors
/// If the database fails.
pub async fn mail(tx: &mut Tx, app: &App, to: &str, subject: &str, body: &str) -> Result<(), Error> {
    if !app.settings.sends_mail() {
        return Ok(());
    }
    add(tx, "mail", to, subject, body).await
}

async fn add(tx: &mut Tx, kind: &'static str, target: &str, subject: &str, body: &str) -> Result<(), Error> {
    let (id, now) = (ids::new_id(), clock::now());
    tx.execute(
        "INSERT INTO outbox (id, kind, target, subject, body, attempt, run_after, created_at) \
         VALUES ($1, $2, $3, $4, $5, 0, $6, $6)",
        args![&id, kind, target, subject, body, now],
    )
    .await?;
    jobs::add_at::<SendMessage>(tx, &id, Priority::Background, now).await
}

/// A submission that has ended, and who is told.
#[derive(Deserialize)]
struct Ended {
    state: SubmissionState,
    method: String,
    team: Option<String>,
    phase: String,
    benchmark: String,
    slug: String,
    title: String,
    email: Option<String>,
    language: Option<String>,
}

/// Tells the person who made a submission, and the webhooks of its benchmark, that it has ended.
///
/// # Errors
/// If the database fails.
pub async fn submission_ended(tx: &mut Tx, app: &App, submission: &str) -> Result<(), Fault> {
    let ended: Option<Ended> = tx
        .fetch_optional(
            "SELECT submission.state, submission.method, submission.team, phase.slug AS phase, \
             benchmark.id AS benchmark, benchmark.slug AS slug, benchmark.title AS title, \
             account.email, account.language FROM submission \
             JOIN phase ON phase.id = submission.phase JOIN benchmark ON benchmark.id = phase.benchmark \
             LEFT JOIN account ON account.id = submission.account AND account.disabled_at IS NULL \
             WHERE submission.id = $1 AND submission.kind = 'entry'",
            args![submission],
        )
        .await?;
    let Some(ended) = ended else { return Ok(()) };
    let Ended { state, method, title, .. } = &ended;
    if let Some(email) = &ended.email {
        let language = ended.language.as_deref().and_then(Language::of).unwrap_or(Language::English);
        let subject = match state {
            SubmissionState::Scored => language.fill("{}: your submission has been scored", &[title]),
            _ => language.fill("{}: your submission could not be scored", &[title]),
        };
        let address = app.settings.url(&format!("/submissions/{submission}"));
        let word = language.t(state.summary());
        let about = language.fill("Your team's method {}, submitted to {}: {}", &[&**method, title, word]);
        let body = format!("{about}\n\n{address}\n");
        mail(tx, app, email, &subject, &body).await?;
    }
    let body = json!({
        "event": format!("submission.{state}"),
        "submission": submission,
        "benchmark": ended.slug,
        "phase": ended.phase,
        "team": ended.team,
        "method": method,
        "at": clock::iso(clock::now()),
    });
    let hooks: Vec<String> =
        tx.fetch("SELECT id FROM webhook WHERE benchmark = $1", args![&ended.benchmark]).await?;
    for hook in hooks {
        add(tx, "webhook", &hook, "", &body.to_string()).await?;
    }
    Ok(())
}

impl Work for SendMessage {
    const KIND: &'static str = "send";
    type Subject = String;
    type Done = ();

    async fn run(app: &App, job: &Job) -> Result<(), Failure> {
        let row = app.store.first("SELECT * FROM outbox WHERE id = $1", args![&job.subject]).await?;
        let Some(message) = row.as_ref().map(Message::of).transpose()? else { return Ok(()) };
        if message.sent_at.is_some() {
            return Ok(());
        }
        let app = app.clone();
        let sent = match message.kind.as_str() {
            "mail" => tokio::task::spawn_blocking(move || mail::send(&app.settings, &message)).await?,
            _ => {
                let sql = "SELECT url, secret FROM webhook WHERE id = $1";
                // A webhook that was removed needs no message.
                let Some(row) = app.store.first(sql, args![&message.target]).await? else { return Ok(()) };
                let (url, secret): (String, String) = (row.get("url")?, row.get("secret")?);
                tokio::task::spawn_blocking(move || webhook::send(&app.settings, &message, &url, &secret))
                    .await?
            }
        };
        // The pauses between attempts are longer than those of jobs, so each attempt is a job of its own.
        sent.map_err(|error| Failure::Lasting(format!("{error:#}")))
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<(), String>) -> Result<(), Fault> {
        let now = clock::now();
        let Err(reason) = outcome else {
            let sql = "UPDATE outbox SET sent_at = $1, attempt = attempt + 1, error = NULL WHERE id = $2";
            tx.execute(sql, args![now, &job.subject]).await?;
            return Ok(());
        };
        let row = tx
            .first(
                "UPDATE outbox SET attempt = attempt + 1, error = $1 WHERE id = $2 RETURNING attempt",
                args![&reason, &job.subject],
            )
            .await?;
        let Some(row) = row else { return Ok(()) };
        let attempt = usize::try_from(row.get::<i64>("attempt")?).context("attempts are counted from 0")?;
        match attempt.checked_sub(1).and_then(|k| PAUSES.get(k)) {
            Some(pause) => {
                let next = now + pause * 1000;
                let sql = "UPDATE outbox SET run_after = $1 WHERE id = $2";
                tx.execute(sql, args![next, &job.subject]).await?;
                jobs::add_at::<Self>(tx, &job.subject, Priority::Background, next).await?;
            }
            None => tracing::error!(message = job.subject, reason, "a message is given up"),
        }
        Ok(())
    }
}
