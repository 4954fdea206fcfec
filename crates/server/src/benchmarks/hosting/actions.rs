//! The changes that hosts make, each noted in the transaction that makes it.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::accounts::Visitor;
use crate::app::App;
use crate::benchmarks::records::{self, Phase, Seen};
use crate::benchmarks::submissions::Submission;
use crate::benchmarks::{quota, rescore, scoring, submissions};
use crate::collections::agreement::phase as agreement;
use crate::fault;
use crate::fault::Fault;
use crate::store::{Row, Store};
use crate::{args, audit, clock, ids};

/// The most submissions that a limit or a grant allows.
const MOST: i64 = 1_000_000;

/// The most characters of a reason.
const REASON: usize = 500;

/// The most rows of a list.
const LISTED: i64 = 500;

/// Limits of the submissions of each team.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Limits {
    /// On a day.
    pub per_day: i64,
    /// In all.
    pub in_total: i64,
}

/// Submissions of a team beyond the limits.
#[derive(Clone, Debug, Deserialize)]
pub struct Grant {
    /// The id of the team.
    pub team: String,
    /// How many.
    pub extra: i64,
    /// Whether they raise the limit of all days, rather than that of today.
    #[serde(default)]
    pub total: bool,
    /// Why.
    pub reason: String,
}

/// Why something is done.
#[derive(Clone, Debug, Deserialize)]
pub struct Reason {
    /// The reason.
    pub reason: String,
}

/// Fails unless the visitor runs the benchmark, as if there were none.
pub fn require_host(seen: &Seen) -> Result<(), Fault> {
    if seen.is_host { Ok(()) } else { Err(Fault::not_found()) }
}

fn checked_reason(reason: &str) -> Result<String, Fault> {
    let reason = reason.trim().to_owned();
    if reason.is_empty() || reason.chars().count() > REASON {
        return Err(fault!(UNPROCESSABLE_ENTITY, "reason", "Give a reason of 1 to {} characters.", REASON));
    }
    Ok(reason)
}

/// Changes the limits of a phase. What teams have used counts.
pub async fn set_limits(app: &App, visitor: &Visitor, phase: &Phase, limits: Limits) -> Result<(), Fault> {
    if ![limits.per_day, limits.in_total].iter().all(|limit| (0..=MOST).contains(limit)) {
        return Err(fault!(UNPROCESSABLE_ENTITY, "limits", "A limit must be a number from 0 to {}.", MOST));
    }
    let mut tx = app.store.begin().await?;
    let known = records::phase_alone(&mut tx, &phase.id).await?;
    tx.execute(
        "UPDATE phase SET per_day = $1, in_total = $2 WHERE id = $3",
        args![limits.per_day, limits.in_total, &phase.id],
    )
    .await?;
    let detail = json!({
        "per_day": [known.per_day, limits.per_day], "in_total": [known.in_total, limits.in_total],
    });
    audit::note(&mut tx, Some(&visitor.id), "phase.limits", &phase.id, detail).await?;
    Ok(tx.commit().await?)
}

/// Grants submissions to a team of a phase.
pub async fn grant(app: &App, visitor: &Visitor, phase: &Phase, grant: &Grant) -> Result<(), Fault> {
    let reason = checked_reason(&grant.reason)?;
    if !(1..=MOST).contains(&grant.extra) {
        return Err(fault!(
            UNPROCESSABLE_ENTITY,
            "grant",
            "Grant a number of submissions from 1 to {}.",
            MOST
        ));
    }
    let now = clock::now();
    let day = if grant.total { quota::ALL.to_owned() } else { clock::day(now) };
    let mut tx = app.store.begin().await?;
    let entered = tx
        .first("SELECT 1 AS one FROM entry WHERE phase = $1 AND team = $2", args![&phase.id, &grant.team])
        .await?;
    if entered.is_none() {
        return Err(fault!(NOT_FOUND, "no-entry", "This team has not entered the phase."));
    }
    tx.execute(
        "INSERT INTO quota_grant (id, phase, team, day, extra, reason, granted_by, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        args![ids::new_id(), &phase.id, &grant.team, &day, grant.extra, &reason, &visitor.id, now],
    )
    .await?;
    let detail = json!({ "team": grant.team, "day": day, "extra": grant.extra, "reason": reason });
    audit::note(&mut tx, Some(&visitor.id), "quota.grant", &phase.id, detail).await?;
    Ok(tx.commit().await?)
}

/// Stops submissions to a phase, or allows them again. What was handed in before is scored.
pub async fn freeze(app: &App, visitor: &Visitor, phase: &Phase, is_frozen: bool) -> Result<(), Fault> {
    let mut tx = app.store.begin().await?;
    let known = records::phase_alone(&mut tx, &phase.id).await?;
    if known.frozen_at.is_some() == is_frozen {
        return Ok(());
    }
    let frozen_at = is_frozen.then(clock::now);
    tx.execute("UPDATE phase SET frozen_at = $1 WHERE id = $2", args![frozen_at, &phase.id]).await?;
    let action = if is_frozen { "phase.freeze" } else { "phase.unfreeze" };
    audit::note(&mut tx, Some(&visitor.id), action, &phase.id, json!({})).await?;
    Ok(tx.commit().await?)
}

/// Takes a submission off the board, for a reason that everybody sees.
pub async fn disqualify(
    app: &App,
    visitor: &Visitor,
    submission: &Submission,
    reason: &str,
) -> Result<(), Fault> {
    let reason = checked_reason(reason)?;
    let mut tx = app.store.begin().await?;
    let changed = tx
        .execute(
            "UPDATE submission SET disqualified_at = $1, disqualified_for = $2 \
             WHERE id = $3 AND disqualified_at IS NULL AND kind <> 'human'",
            args![clock::now(), &reason, &submission.id],
        )
        .await?;
    if changed == 0 {
        return Err(fault!(CONFLICT, "off-board", "It has already been removed from the leaderboard."));
    }
    let detail = json!({ "reason": reason });
    audit::note(&mut tx, Some(&visitor.id), "submission.disqualify", &submission.id, detail).await?;
    agreement::forget(&mut tx, &submission.phase).await?;
    scoring::compare_later(&mut tx, &submission.phase).await?;
    tx.commit().await?;
    app.wake.notify();
    Ok(())
}

/// Puts a submission back on the board.
pub async fn reinstate(app: &App, visitor: &Visitor, submission: &Submission) -> Result<(), Fault> {
    let mut tx = app.store.begin().await?;
    let phase = records::phase_alone(&mut tx, &submission.phase).await?;
    let changed = tx
        .execute(
            "UPDATE submission SET disqualified_at = NULL, disqualified_for = NULL \
             WHERE id = $1 AND disqualified_at IS NOT NULL",
            args![&submission.id],
        )
        .await?;
    if changed == 0 {
        return Err(fault!(CONFLICT, "on-board", "It has not been removed from the leaderboard."));
    }
    audit::note(&mut tx, Some(&visitor.id), "submission.reinstate", &submission.id, json!({})).await?;
    if submission.state == "scored" {
        rescore::catch_up(&mut tx, &phase, &submission.id).await?;
    }
    agreement::forget(&mut tx, &submission.phase).await?;
    scoring::compare_later(&mut tx, &submission.phase).await?;
    tx.commit().await?;
    app.wake.notify();
    Ok(())
}

/// A team that takes part in a phase.
pub struct Entry {
    /// The id of the team.
    pub team: String,
    /// Its name.
    pub name: String,
    /// What it has used, and its limits with grants.
    pub meter: quota::Meter,
}

/// The teams that take part in a phase.
pub async fn entries(store: &Store, phase: &Phase) -> Result<Vec<Entry>, Fault> {
    let rows = store
        .all(
            "SELECT team.id AS id, team.name AS name FROM entry JOIN team ON team.id = entry.team \
             WHERE entry.phase = $1 ORDER BY team.name LIMIT $2",
            args![&phase.id, LISTED],
        )
        .await?;
    let mut entries = Vec::new();
    for row in &rows {
        let team: String = row.get("id")?;
        let meter = quota::meter(store, phase, &team).await?;
        entries.push(Entry { team, name: row.get("name")?, meter });
    }
    Ok(entries)
}

/// The submissions to a phase, newest first, with the names of their teams.
pub async fn submissions(store: &Store, phase: &Phase) -> Result<Vec<(Submission, String)>, Fault> {
    let rows = store
        .all(
            "SELECT submission.*, COALESCE(team.name, '') AS team_name FROM submission \
             LEFT JOIN team ON team.id = submission.team WHERE submission.phase = $1 \
             ORDER BY submission.id DESC LIMIT $2",
            args![&phase.id, LISTED],
        )
        .await?;
    let shown = |row: &Row| Ok((Submission::of(row)?, row.get("team_name")?));
    rows.iter().map(shown).collect()
}

/// A note of the audit log.
pub struct Note {
    /// When.
    pub at: i64,
    /// The name of the person; empty for the server itself.
    pub actor: String,
    /// What was done.
    pub action: String,
    /// The id of what it was done to.
    pub subject: String,
    /// More, as JSON.
    pub detail: String,
}

/// The newest notes about a benchmark, its phases, and their submissions.
pub async fn notes(store: &Store, benchmark: &str) -> Result<Vec<Note>, Fault> {
    let rows = store
        .all(
            "SELECT audit.*, COALESCE(account.name, '') AS actor_name FROM audit \
             LEFT JOIN account ON account.id = audit.actor \
             WHERE audit.subject = $1 OR audit.subject IN (SELECT id FROM phase WHERE benchmark = $1) \
             OR audit.subject IN (SELECT submission.id FROM submission JOIN phase ON phase.id = submission.phase \
             WHERE phase.benchmark = $1) ORDER BY audit.id DESC LIMIT $2",
            args![benchmark, LISTED],
        )
        .await?;
    rows.iter()
        .map(|row| {
            Ok(Note {
                at: row.get("at")?,
                actor: row.get("actor_name")?,
                action: row.get("action")?,
                subject: row.get("subject")?,
                detail: row.get("detail")?,
            })
        })
        .collect()
}

/// A phase as its hosts see it, for programs.
pub async fn as_json(app: &App, seen: &Seen, phase: &Phase) -> Result<Value, Fault> {
    // What was just changed counts.
    let phase = records::phase_of(&app.store, &phase.id).await?;
    let reference_sets = records::sets(&app.store, &phase.id).await?;
    let mut shown = records::phase_as_json(seen, &phase, &reference_sets);
    shown["frozen_at"] = phase.frozen_at.map(clock::iso).into();
    let sets = rescore::sets(&app.store, &phase.id).await?;
    shown["score_sets"] = sets
        .iter()
        .map(|set| {
            json!({
                "id": set.id, "engine": set.engine, "created_at": clock::iso(set.created_at), "pending": set.pending,
                "is_shown": phase.score_set.as_deref() == Some(&set.id), "reason": set.reason,
            })
        })
        .collect();
    Ok(shown)
}

/// The submission with this id, if the visitor runs its benchmark.
pub async fn submission(app: &App, visitor: &Visitor, id: &str) -> Result<Submission, Fault> {
    let (seen, _, submission) = submissions::own(&app.store, id, visitor).await?;
    require_host(&seen)?;
    Ok(submission)
}
