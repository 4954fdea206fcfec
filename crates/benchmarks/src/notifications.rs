//! Finds the people to whom benchmarks write, and notifies them and webhooks that a submission has ended.

use capeval_api::SubmissionState;
use capeval_site::outbox;
use capeval_site::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::webhook_records;

/// A person to whom email is written.
#[derive(Deserialize)]
pub struct Recipient {
    /// The id of the account.
    pub id: String,
    pub email: String,
    #[serde(deserialize_with = "store::or_default")]
    pub language: Language,
}

impl Recipient {
    /// The person with this account; `None` if it is disabled.
    pub async fn of(tx: &mut Tx, account: &str) -> Result<Option<Self>, Error> {
        let sql = "SELECT id, email, language FROM account WHERE id = $1 AND disabled_at IS NULL";
        tx.fetch_optional(sql, args![account]).await
    }
}

/// The hosts of a benchmark.
pub async fn hosts(tx: &mut Tx, benchmark: &str) -> Result<Vec<Recipient>, Error> {
    let sql = "SELECT account.id AS id, account.email AS email, account.language AS language FROM benchmark_host \
               JOIN account ON account.id = benchmark_host.account WHERE benchmark_host.benchmark = $1 \
               AND account.disabled_at IS NULL ORDER BY account.id";
    tx.fetch(sql, args![benchmark]).await
}

/// A submission that has ended, and the person who made it.
#[derive(Deserialize)]
struct EndedSubmission {
    state: SubmissionState,
    method: String,
    team: Option<String>,
    phase: String,
    benchmark: String,
    slug: String,
    title: String,
    email: Option<String>,
    #[serde(deserialize_with = "store::or_default")]
    language: Language,
}

/// Tells the person who made a submission, and the webhooks of its benchmark, that it has ended.
pub async fn submission_ended(tx: &mut Tx, app: &App, submission: &str) -> Result<()> {
    let sql = "SELECT submission.state, submission.method, submission.team, phase.slug AS phase, \
               benchmark.id AS benchmark, benchmark.slug AS slug, benchmark.title AS title, \
               account.email, account.language FROM submission \
               JOIN phase ON phase.id = submission.phase JOIN benchmark ON benchmark.id = phase.benchmark \
               LEFT JOIN account ON account.id = submission.account AND account.disabled_at IS NULL \
               WHERE submission.id = $1 AND submission.kind = 'entry'";
    let ended: Option<EndedSubmission> = tx.fetch_optional(sql, args![submission]).await?;
    let Some(ended) = ended else { return Ok(()) };
    let EndedSubmission { state, method, title, language, .. } = &ended;
    if let Some(email) = &ended.email {
        let subject = match state {
            SubmissionState::Scored => language.fill("{}: your submission has been scored", &[title]),
            _ => language.fill("{}: your submission could not be scored", &[title]),
        };
        let address = app.settings.url(&format!("/submissions/{submission}"));
        let word = language.t(state.summary());
        let about = language.fill("Your team's method {}, submitted to {}: {}", &[&**method, title, word]);
        outbox::mail(tx, app, email, &subject, &format!("{about}\n\n{address}\n")).await?;
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
    Ok(webhook_records::call(tx, &ended.benchmark, &body).await?)
}
