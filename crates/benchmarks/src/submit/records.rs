//! Brings results from the upload to the queue: checks, counts and stores them once.

use std::io;

use capeval_api::Report;
use capeval_site::prelude::*;
use serde_json::json;

use super::receive::ReceivedUpload;
use crate::scoring::ScoreSubmission;
use crate::settings::Phase;
use crate::upload::{self, CheckedFile};
use crate::{admission, notes, qualifying, quota, records, statistics, teams};

/// The hours for which a key of a program stands for the same submission.
const KEY_HOURS: i64 = 24;

/// The outcome of an upload.
pub enum Outcome {
    /// It waits for its scores.
    Queued(String),
    /// The team has submitted the same captions before; nothing was counted.
    Same(String),
    /// The same request was made before; nothing was counted.
    Repeated(String),
    /// It cannot be scored; nothing was counted.
    Invalid(Report),
}

/// Checks that a person may submit a file now, before it is received: what is refused takes no space. A request that
/// was made before may be made again.
pub async fn admit(app: &App, visitor: &Visitor, phase: &Phase, key: Option<&str>) -> Result<()> {
    upload::limit(app, visitor)?;
    if phase.refusal().is_some() {
        let sets = records::all_sets(&app.store, &phase.id).await?;
        return Err(records::closed(phase, &sets).unwrap_or_else(records::preparing));
    }
    admission::require(&mut app.store.snapshot().await?, app, &phase.benchmark, visitor).await?;
    if let Some(fault) = qualifying::refusal(&app.store, phase, &visitor.id).await? {
        return Err(fault);
    }
    let Some((team, _)) = teams::in_phase(&app.store, &phase.id, &visitor.id).await? else { return Ok(()) };
    let Some(fault) = quota::meter(&app.store, phase, &team).await?.refusal() else { return Ok(()) };
    let sql = "SELECT 1 FROM submission WHERE phase = $1 AND team = $2 AND idempotency_key = $3";
    let is_repeated = app.store.exists(sql, args![&phase.id, &team, key]).await?;
    if is_repeated { Ok(()) } else { Err(fault) }
}

/// Checks results and, if they can be scored, counts them and puts them into the queue.
pub async fn submit(
    app: &App,
    visitor: &Visitor,
    phase: &Phase,
    received: ReceivedUpload,
    key: Option<&str>,
) -> Result<Outcome> {
    let ReceivedUpload { about, file, name } = received;
    let about = about.checked(&phase.columns)?;
    let sets = records::all_sets(&app.store, &phase.id).await?;
    if let Some(fault) = records::closed(phase, &sets) {
        return Err(fault);
    }
    let CheckedFile { report, canonical, size } =
        upload::check(app, phase, &sets, &file, name.as_deref()).await?;
    let Some(canonical) = canonical else {
        statistics::refused(app, &phase.benchmark, &report).await;
        return Ok(Outcome::Invalid(report));
    };
    let blobs = app.blobs.clone();
    // The files are on the disk before any row names them.
    let keep = move || Ok::<_, io::Error>((blobs.put(canonical)?, blobs.keep(file)?));
    let (blob, upload) = tokio::task::spawn_blocking(keep).await??;

    let mut tx = app.store.begin().await?;
    // Hosts may have stopped submissions since, or changed the limits.
    let phase = &records::phase_shared(&mut tx, &phase.id).await?;
    phase.require_open()?;
    admission::require(&mut tx, app, &phase.benchmark, visitor).await?;
    let team = teams::enter(&mut tx, phase, visitor, about.team.as_deref()).await?;
    qualifying::require(&mut tx, phase, &team).await?;
    if let Some(earlier) = repeated(&mut tx, &phase.id, &team, key, &blob).await? {
        return Ok(Outcome::Repeated(earlier));
    }
    if let Some(same) = same(&mut tx, &phase.id, &team, &blob).await? {
        return Ok(Outcome::Same(same));
    }
    let day = quota::take(&mut tx, phase, &team).await?;
    let id = ids::new_id();
    let row = columns! {
        id: &id, phase: &phase.id, team: &team, account: &visitor.id, kind: "entry", state: "queued",
        blob: &blob, size: size as i64, charged_day: &day, refunded: 0_i64, idempotency_key: key,
        created_at: clock::now(), upload: &upload, file: name.unwrap_or_default(),
    };
    if !tx.add_row("submission", [row, about.row()?].concat()).await? {
        // Another request with the same captions or the same key was faster; its row counts, and this one does not.
        drop(tx);
        let mut tx = app.store.begin().await?;
        if let Some(earlier) = repeated(&mut tx, &phase.id, &team, key, &blob).await? {
            return Ok(Outcome::Repeated(earlier));
        }
        let same = same(&mut tx, &phase.id, &team, &blob).await?;
        return same.map(Outcome::Same).ok_or_else(|| Fault::internal(&"a submission conflicts with none"));
    }
    jobs::add::<ScoreSubmission>(&mut tx, &id, Priority::Awaited).await?;
    notes::note(
        &mut tx,
        Some(&visitor.id),
        "submission.add",
        &id,
        json!({ "phase": phase.id, "team": team }),
    )
    .await?;
    app.commit(tx).await?;
    Ok(Outcome::Queued(id))
}

/// The earlier submission of the same request.
async fn repeated(
    tx: &mut Tx,
    phase: &str,
    team: &str,
    key: Option<&str>,
    blob: &str,
) -> Result<Option<String>> {
    let Some(key) = key else { return Ok(None) };
    let sql = "UPDATE submission SET idempotency_key = NULL \
               WHERE phase = $1 AND team = $2 AND idempotency_key = $3 AND created_at < $4";
    tx.execute(sql, args![phase, team, key, clock::now() - KEY_HOURS * 3_600_000]).await?;
    let sql = "SELECT id, blob FROM submission WHERE phase = $1 AND team = $2 AND idempotency_key = $3";
    let earlier = tx.fetch_optional(sql, args![phase, team, key]).await?;
    let Some((id, earlier)): Option<(String, Option<String>)> = earlier else { return Ok(None) };
    if earlier.as_deref() != Some(blob) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "key-reused",
            "This Idempotency-Key has already been used with another file."
        });
    }
    Ok(Some(id))
}

/// The earlier submission of the same captions, unless it has no result.
async fn same(tx: &mut Tx, phase: &str, team: &str, blob: &str) -> Result<Option<String>, Error> {
    let sql = "SELECT id FROM submission WHERE phase = $1 AND team = $2 AND blob = $3 \
               AND state IN ('queued', 'running', 'scored')";
    tx.fetch_optional(sql, args![phase, team, blob]).await
}

/// Adds a submission without a team: a baseline.
pub async fn add_baseline(tx: &mut Tx, phase: &str, method: &str, blob: &str, size: u64) -> Result<String> {
    let id = ids::new_id();
    let row = columns! {
        id: &id, phase, kind: "baseline", method: people::name(method)?, description: "", link: "",
        state: "queued", blob, size: size as i64, refunded: 0_i64, created_at: clock::now(),
    };
    tx.add_row("submission", row).await?;
    Ok(id)
}

/// Has the baselines and the row for people scored again that could not be scored; returns their methods.
pub async fn try_again(tx: &mut Tx, phase: &str) -> Result<Vec<String>, Error> {
    let sql = "UPDATE submission SET state = 'queued', reason = NULL, started_at = NULL, finished_at = NULL \
               WHERE phase = $1 AND kind IN ('baseline', 'human') AND state = 'failed' RETURNING id, method";
    let failed: Vec<(String, String)> = tx.fetch(sql, args![phase]).await?;
    let mut methods = Vec::new();
    for (id, method) in failed {
        jobs::add::<ScoreSubmission>(tx, &id, Priority::Background).await?;
        methods.push(method);
    }
    Ok(methods)
}

/// Adds the row of people, of which a phase has one.
pub async fn add_human(tx: &mut Tx, phase: &str) -> Result<Option<String>, Error> {
    let id = ids::new_id();
    let row = columns! {
        id: &id, phase, kind: "human", method: "human", description: "", link: "",
        state: "queued", size: 0_i64, refunded: 0_i64, created_at: clock::now(),
    };
    Ok(tx.add_row("submission", row).await?.then_some(id))
}
