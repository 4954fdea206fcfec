//! The way of results from the upload to the queue: they are checked, counted, and stored once.

use std::io;

use capeval_api::Report;
use serde_json::json;

use super::receive::ReceivedUpload;
use crate::accounts::{Visitor, people};
use crate::app::App;
use crate::benchmarks::records::{self, Phase};
use crate::benchmarks::scoring::ScoreSubmission;
use crate::benchmarks::upload::{self, CheckedFile};
use crate::benchmarks::{quota, teams};
use crate::fault;
use crate::fault::Fault;
use crate::jobs::{self, queue::Priority};
use crate::store::{Error, Tx};
use crate::{args, audit, clock, ids};

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
pub async fn admit(app: &App, visitor: &Visitor, phase: &Phase, key: Option<&str>) -> Result<(), Fault> {
    upload::limit(app, visitor)?;
    if phase.is_closed().is_some() {
        let sets = records::sets(&app.store, &phase.id).await?;
        return Err(records::closed(phase, &sets).unwrap_or_else(records::preparing));
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
) -> Result<Outcome, Fault> {
    let ReceivedUpload { about, file, name } = received;
    let about = about.checked(&phase.columns)?;
    let sets = records::sets(&app.store, &phase.id).await?;
    if let Some(fault) = records::closed(phase, &sets) {
        return Err(fault);
    }
    let CheckedFile { report, canonical, size } = upload::check(app, &sets, &file, name.as_deref()).await?;
    let Some(canonical) = canonical else { return Ok(Outcome::Invalid(report)) };
    let blobs = app.blobs.clone();
    // The files are on the disk before any row names them.
    let keep = move || Ok::<_, io::Error>((blobs.put(&canonical[..])?, blobs.keep(file)?));
    let (blob, upload) = tokio::task::spawn_blocking(keep).await??;

    let mut tx = app.store.begin().await?;
    // Hosts may have stopped submissions since, or changed the limits.
    let phase = &records::phase_shared(&mut tx, &phase.id).await?;
    if let Some(fault) = phase.is_closed() {
        return Err(fault);
    }
    let team = teams::enter(&mut tx, phase, visitor, about.team.as_deref()).await?;
    if let Some(earlier) = repeated(&mut tx, &phase.id, &team, key, &blob).await? {
        return Ok(Outcome::Repeated(earlier));
    }
    if let Some(same) = same(&mut tx, &phase.id, &team, &blob).await? {
        return Ok(Outcome::Same(same));
    }
    let day = quota::take(&mut tx, phase, &team).await?;
    let id = ids::new_id();
    let added = tx
        .execute(
            "INSERT INTO submission (id, phase, team, account, kind, method, description, link, authors, code, tags, \
             details, state, blob, size, charged_day, refunded, idempotency_key, created_at, upload, file) \
             VALUES ($1, $2, $3, $4, 'entry', $5, $6, $7, $13, $14, $15, $16, 'queued', $8, $9, $10, 0, $11, $12, \
             $17, $18) \
             ON CONFLICT DO NOTHING",
            args![
                &id,
                &phase.id,
                &team,
                &visitor.id,
                &about.method,
                &about.description,
                &about.link,
                &blob,
                size as i64,
                &day,
                key,
                clock::now(),
                &about.said.authors,
                &about.said.code,
                serde_json::to_string(&about.said.tags)?,
                serde_json::to_string(&about.said.details)?,
                &upload,
                name.unwrap_or_default()
            ],
        )
        .await?;
    if added == 0 {
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
    audit::note(
        &mut tx,
        Some(&visitor.id),
        "submission.add",
        &id,
        json!({ "phase": phase.id, "team": team }),
    )
    .await?;
    tx.commit().await?;
    app.wake.notify();
    Ok(Outcome::Queued(id))
}

/// The earlier submission of the same request.
async fn repeated(
    tx: &mut Tx,
    phase: &str,
    team: &str,
    key: Option<&str>,
    blob: &str,
) -> Result<Option<String>, Fault> {
    let Some(key) = key else { return Ok(None) };
    tx.execute(
        "UPDATE submission SET idempotency_key = NULL \
         WHERE phase = $1 AND team = $2 AND idempotency_key = $3 AND created_at < $4",
        args![phase, team, key, clock::now() - KEY_HOURS * 3_600_000],
    )
    .await?;
    let sql = "SELECT id, blob FROM submission WHERE phase = $1 AND team = $2 AND idempotency_key = $3";
    let earlier = tx.fetch_optional(sql, args![phase, team, key]).await?;
    let Some((id, earlier)): Option<(String, Option<String>)> = earlier else { return Ok(None) };
    if earlier.as_deref() != Some(blob) {
        return Err(fault!(
            UNPROCESSABLE_ENTITY,
            "key-reused",
            "This Idempotency-Key has already been used with another file."
        ));
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
pub async fn add_baseline(
    tx: &mut Tx,
    phase: &str,
    method: &str,
    blob: &str,
    size: u64,
) -> Result<String, Fault> {
    let id = ids::new_id();
    tx.execute(
        "INSERT INTO submission (id, phase, kind, method, description, link, state, blob, size, refunded, created_at) \
         VALUES ($1, $2, 'baseline', $3, '', '', 'queued', $4, $5, 0, $6)",
        args![&id, phase, people::name(method)?, blob, size as i64, clock::now()],
    )
    .await?;
    Ok(id)
}

/// Has the baselines and the row for people scored again that could not be scored; returns their methods.
pub async fn try_again(tx: &mut Tx, phase: &str) -> Result<Vec<String>, Error> {
    let failed: Vec<(String, String)> = tx
        .fetch(
            "UPDATE submission SET state = 'queued', reason = NULL, started_at = NULL, finished_at = NULL \
             WHERE phase = $1 AND kind IN ('baseline', 'human') AND state = 'failed' RETURNING id, method",
            args![phase],
        )
        .await?;
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
    let added = tx
        .execute(
            "INSERT INTO submission (id, phase, kind, method, description, link, state, size, refunded, created_at) \
             VALUES ($1, $2, 'human', 'human', '', '', 'queued', 0, 0, $3) ON CONFLICT DO NOTHING",
            args![&id, phase, clock::now()],
        )
        .await?;
    Ok((added == 1).then_some(id))
}
