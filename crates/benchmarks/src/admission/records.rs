//! The rules of who may submit to a benchmark, and what the database stores about a person.

use capeval_api::{AcceptedTerms, Admission, Open, RequestState};
use capeval_site::prelude::*;
use serde::{Deserialize, Serialize};

use super::lists;
use super::terms::{self, AcceptanceRow};
use crate::records::RUNS;
use crate::settings::Benchmark;

/// The benchmark with this id.
pub async fn benchmark(tx: &mut Tx, id: &str) -> Result<Benchmark> {
    let sql = "SELECT * FROM benchmark WHERE id = $1";
    tx.fetch_optional(sql, args![id]).await?.ok_or_else(Fault::not_found)
}

/// The path of the page on which people do what a benchmark asks.
pub fn path(benchmark: &Benchmark) -> String {
    benchmark.address("participate")
}

/// A row of a person who takes part, or wants to.
#[derive(Clone, Debug, Deserialize)]
pub struct ParticipantRow {
    pub id: String,
    pub account: String,
    pub affiliation: String,
    pub country: String,
    pub reason: String,
    pub state: Option<RequestState>,
    pub answer: String,
    pub asked: i64,
    pub created_at: i64,
}

/// The row of a person.
pub async fn row(tx: &mut Tx, benchmark: &str, account: &str) -> Result<Option<ParticipantRow>, Error> {
    let sql = "SELECT * FROM participant WHERE benchmark = $1 AND account = $2";
    tx.fetch_optional(sql, args![benchmark, account]).await
}

/// Refuses a person who may not submit to a benchmark or download its files: the terms are not accepted, the lists do
/// not admit the address, or no host has approved them. Hosts need no approval.
pub async fn require(tx: &mut Tx, app: &App, id: &str, visitor: &Visitor) -> Result<()> {
    let benchmark = &benchmark(tx, id).await?;
    let page = app.settings.url(&path(benchmark));
    if !benchmark.terms.is_empty() && terms::accepted_at(tx, benchmark, &visitor.id).await?.is_none() {
        return Err(fault! {
            CONFLICT, "terms", "Accept the terms of this benchmark before you submit: {}", page
        });
    }
    if tx.exists(RUNS, args![id, &visitor.id]).await? {
        return Ok(());
    }
    require_listed(tx, benchmark, visitor).await?;
    if benchmark.admission == Admission::Open {
        return Ok(());
    }
    match row(tx, id, &visitor.id).await?.and_then(|row| row.state) {
        Some(RequestState::Accepted) => Ok(()),
        Some(RequestState::Open) => Err(fault! {
            FORBIDDEN, "not-approved-yet",
            "The hosts of this benchmark have not answered your request yet. You get an email when they do."
        }),
        Some(_) => Err(fault! {
            FORBIDDEN, "not-approved", "The hosts of this benchmark have refused your request: {}", page
        }),
        None => Err(fault! {
            FORBIDDEN, "approval",
            "The hosts of this benchmark approve those who take part. Ask them here: {}", page
        }),
    }
}

/// The refusal of a person; a failure of the server is none.
fn refused(outcome: Result<()>) -> Result<Option<Fault>> {
    match outcome {
        Err(fault) if fault.status.is_server_error() => Err(fault),
        outcome => Ok(outcome.err()),
    }
}

/// The reason why a person may not submit to a benchmark, if so.
pub async fn refusal(app: &App, id: &str, visitor: &Visitor) -> Result<Option<Fault>> {
    refused(require(&mut app.store.snapshot().await?, app, id, visitor).await)
}

/// Refuses a person whose confirmed address the lists do not admit, without a word about which of them.
pub async fn require_listed(tx: &mut Tx, benchmark: &Benchmark, visitor: &Visitor) -> Result<()> {
    if benchmark.allow.is_empty() && benchmark.block.is_empty() {
        return Ok(());
    }
    let sql = "SELECT email FROM account WHERE id = $1 AND confirmed_at IS NOT NULL";
    let email: Option<String> = tx.fetch_optional(sql, args![&visitor.id]).await?;
    let email = email.ok_or_else(|| {
        fault! {
            FORBIDDEN, "unconfirmed",
            "This benchmark looks at email addresses, and yours is not confirmed. Sign in through a provider that knows it, or change it on your account page to one that you confirm."
        }
    })?;
    match lists::admit(&benchmark.allow, &benchmark.block, &email) {
        true => Ok(()),
        false => Err(fault! {
            FORBIDDEN, "not-admitted",
            "This benchmark does not admit your email address. Its hosts can tell you more."
        }),
    }
}

/// Refuses a team that is larger than the benchmark of a phase allows.
pub async fn require_team_size(tx: &mut Tx, phase: &str, team: &str) -> Result<()> {
    let sql = "SELECT team_size, (SELECT COUNT(*) FROM entry_member WHERE phase = $1 AND team = $2) FROM benchmark \
               WHERE id = (SELECT benchmark FROM phase WHERE phase.id = $1)";
    let (most, members): (i64, i64) = tx.fetch_one(sql, args![phase, team]).await?;
    if most > 0 && members > most {
        return Err(fault!(CONFLICT, "team-size", "A team of this benchmark has at most {} members.", most));
    }
    Ok(())
}

/// What a person said to take part in a benchmark, for them.
#[derive(Serialize)]
pub struct OwnParticipation {
    benchmark: String,
    affiliation: String,
    country: String,
    reason: String,
    request: Option<Open<RequestState>>,
    answer: String,
    accepted: Vec<AcceptedTerms>,
}

/// What a person said and accepted, by benchmark.
pub async fn of_person(store: &Store, account: &str) -> Result<Vec<OwnParticipation>, Error> {
    #[derive(Deserialize)]
    struct OwnWords {
        slug: String,
        benchmark: String,
        affiliation: String,
        country: String,
        reason: String,
        state: Option<RequestState>,
        answer: String,
    }
    #[derive(Deserialize)]
    struct OwnAcceptance {
        benchmark: String,
        terms: AcceptanceRow,
    }
    let said = "SELECT benchmark.slug AS slug, participant.benchmark AS benchmark, affiliation, country, reason, state, \
                answer FROM participant JOIN benchmark ON benchmark.id = participant.benchmark \
                WHERE account = $1 ORDER BY participant.id";
    let accepted = "SELECT benchmark, account, version, digest, created_at FROM terms_acceptance WHERE account = $1 \
                    ORDER BY benchmark, version DESC";
    let accepted: Vec<OwnAcceptance> = store.fetch(accepted, args![account]).await?;
    let said: Vec<OwnWords> = store.fetch(said, args![account]).await?;
    let shown = said.into_iter().map(|said| OwnParticipation {
        accepted: accepted
            .iter()
            .filter(|one| one.benchmark == said.benchmark)
            .map(|one| (&one.terms).into())
            .collect(),
        benchmark: said.slug,
        affiliation: said.affiliation,
        country: said.country,
        reason: said.reason,
        request: said.state.map(Into::into),
        answer: said.answer,
    });
    Ok(shown.collect())
}

/// Forgets what a person said and accepted.
pub async fn forget(tx: &mut Tx, account: &str) -> Result<(), Error> {
    tx.execute("DELETE FROM terms_acceptance WHERE account = $1", args![account]).await?;
    tx.execute("DELETE FROM participant WHERE account = $1", args![account]).await.map(drop)
}

/// The participation of a person as they see it.
pub async fn participation(
    tx: &mut Tx,
    app: &App,
    benchmark: &Benchmark,
    visitor: Option<&Visitor>,
) -> Result<capeval_api::Participation> {
    let (mut known, mut accepted_at, mut refusal) = (None, None, None);
    if let Some(visitor) = visitor {
        known = row(tx, &benchmark.id, &visitor.id).await?;
        accepted_at = terms::accepted_at(tx, benchmark, &visitor.id).await?;
        refusal = refused(require(tx, app, &benchmark.id, visitor).await)?;
    }
    let said = |text: fn(&ParticipantRow) -> &String| known.as_ref().map(text).cloned().unwrap_or_default();
    Ok(capeval_api::Participation {
        accepted_at: accepted_at.filter(|_| !benchmark.terms.is_empty()).map(clock::time),
        terms: terms::of(benchmark),
        admission: benchmark.admission.into(),
        request: known.as_ref().and_then(|row| row.state).map(Into::into),
        answer: said(|row| &row.answer),
        affiliation: said(|row| &row.affiliation),
        country: said(|row| &row.country),
        reason: said(|row| &row.reason),
        refusal: refusal.map(|fault| fault.to_string()),
    })
}
