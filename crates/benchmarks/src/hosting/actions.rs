//! The changes that hosts make, each recorded in the audit log by the same transaction.

use capeval_api::{
    AuditNote, BoardColumns, Entry, Grant, Half, HostedPhase, HostedSubmission, Limits, ScoreSet, SetState,
    SubmissionState,
};
use capeval_site::audit::Note;
use capeval_site::prelude::*;
use capeval_site::{newest_first, oldest_first};
use serde::Deserialize;
use serde_json::json;

use crate::apply::MOST;
use crate::quota::{self, Meter};
use crate::records::{self, SeenBenchmark};
use crate::scoring::{self, PrepareSet};
use crate::settings::Phase;
use crate::submissions::Submission;
use crate::{board, halves, notes, qualifying, rescore, submit};

/// The most characters of a reason.
const REASON: usize = 500;

fn checked_reason(reason: &str) -> Result<String> {
    let reason = reason.trim().to_owned();
    if reason.is_empty() || reason.chars().count() > REASON {
        return Err(fault!(UNPROCESSABLE_ENTITY, "reason", "Give a reason of 1 to {} characters.", REASON));
    }
    Ok(reason)
}

/// Changes the limits of a phase. What teams have used counts.
pub async fn set_limits(app: &App, visitor: &Visitor, phase: &Phase, limits: &Limits) -> Result<()> {
    if ![limits.per_day, limits.in_total].iter().all(|limit| (0..=MOST).contains(limit)) {
        return Err(fault!(UNPROCESSABLE_ENTITY, "limits", "A limit must be a number from 0 to {}.", MOST));
    }
    let mut tx = app.store.begin().await?;
    let known = records::phase_alone(&mut tx, &phase.id).await?;
    tx.change_row("phase", &phase.id, columns! { per_day: limits.per_day, in_total: limits.in_total })
        .await?;
    let detail = json!({
        "per_day": [known.per_day, limits.per_day], "in_total": [known.in_total, limits.in_total],
    });
    notes::note(&mut tx, Some(&visitor.id), "phase.limits", &phase.id, detail).await?;
    Ok(tx.commit().await?)
}

/// Changes which measures the board of a phase shows unless a visitor chooses others.
pub async fn set_columns(
    app: &App,
    visitor: &Visitor,
    phase: &Phase,
    BoardColumns { columns }: &BoardColumns,
) -> Result<()> {
    let sets = records::all_sets(&app.store, &phase.id).await?;
    let known = |key: &String| {
        sets.iter().flat_map(|set| &set.measures).any(|known| known.key == *key)
            || phase.columns.iter().any(|known| known.key == *key)
    };
    if let Some(key) = columns.iter().find(|key| !known(key)) {
        return Err(fault!(UNPROCESSABLE_ENTITY, "columns", "The leaderboard has no column {}.", key));
    }
    let mut tx = app.store.begin().await?;
    let known = records::phase_alone(&mut tx, &phase.id).await?;
    tx.change_row("phase", &phase.id, columns! { board_columns: serde_json::to_string(columns)? }).await?;
    let detail = json!({ "columns": [known.board_columns, columns] });
    notes::note(&mut tx, Some(&visitor.id), "phase.columns", &phase.id, detail).await?;
    Ok(tx.commit().await?)
}

/// Grants submissions to a team of a phase.
pub async fn grant(app: &App, visitor: &Visitor, phase: &Phase, grant: &Grant) -> Result<()> {
    let reason = checked_reason(&grant.reason)?;
    if !(1..=MOST).contains(&grant.extra) {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "grant", "Grant a number of submissions from 1 to {}.", MOST
        });
    }
    let now = clock::now();
    let day = if grant.total { quota::ALL.to_owned() } else { clock::day(now) };
    let mut tx = app.store.begin().await?;
    let entered = "SELECT 1 FROM entry WHERE phase = $1 AND team = $2";
    if !tx.exists(entered, args![&phase.id, &grant.team]).await? {
        return Err(fault!(NOT_FOUND, "no-entry", "This team has not entered the phase."));
    }
    let row = columns! {
        id: ids::new_id(), phase: &phase.id, team: &grant.team, day: &day, extra: grant.extra,
        reason: &reason, granted_by: &visitor.id, created_at: now,
    };
    tx.insert_row("quota_grant", row).await?;
    let detail = json!({ "team": grant.team, "day": day, "extra": grant.extra, "reason": reason });
    notes::note(&mut tx, Some(&visitor.id), "quota.grant", &phase.id, detail).await?;
    Ok(tx.commit().await?)
}

/// Stops submissions to a phase, or allows them again. What was submitted before is scored.
pub async fn freeze(app: &App, visitor: &Visitor, phase: &Phase, is_frozen: bool) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let known = records::phase_alone(&mut tx, &phase.id).await?;
    if known.frozen_at.is_some() == is_frozen {
        return Ok(());
    }
    let frozen_at = is_frozen.then(clock::now);
    tx.change_row("phase", &phase.id, columns! { frozen_at }).await?;
    let action = if is_frozen { "phase.freeze" } else { "phase.unfreeze" };
    notes::note(&mut tx, Some(&visitor.id), action, &phase.id, json!({})).await?;
    Ok(tx.commit().await?)
}

/// Ends a phase, if it has not ended, and shows its private half.
pub async fn show_private(app: &App, visitor: &Visitor, phase: &Phase) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let phase = records::phase_alone(&mut tx, &phase.id).await?;
    let now = clock::now();
    if !phase.has_halves() {
        return Err(fault!(CONFLICT, "no-halves", "This phase has no private half."));
    }
    if phase.shows_private() {
        return Err(fault!(CONFLICT, "shown", "The private half is shown already."));
    }
    if let Some(opens) = phase.opens_at.filter(|opens| *opens >= now) {
        return Err(fault!(CONFLICT, "not-open", "This phase opens on {}.", clock::readable(opens)));
    }
    let closes_at = phase.closes_at.map_or(now, |closes| closes.min(now));
    tx.change_row("phase", &phase.id, columns! { private_at: now, closes_at }).await?;
    qualifying::schedule(&mut tx, &phase.benchmark).await?;
    notes::note(&mut tx, Some(&visitor.id), "phase.show-private", &phase.id, json!({})).await?;
    Ok(tx.commit().await?)
}

/// Removes a submission from the board, for a reason that everyone sees.
pub async fn disqualify(app: &App, visitor: &Visitor, submission: &Submission, reason: &str) -> Result<()> {
    let reason = checked_reason(reason)?;
    let mut tx = app.store.begin().await?;
    records::phase_alone(&mut tx, &submission.phase).await?;
    let sql = "UPDATE submission SET disqualified_at = $1, disqualified_for = $2 \
               WHERE id = $3 AND disqualified_at IS NULL AND kind <> 'human'";
    let changed = tx.execute(sql, args![clock::now(), &reason, &submission.id]).await?;
    if changed == 0 {
        return Err(fault!(CONFLICT, "off-board", "It has already been removed from the leaderboard."));
    }
    let detail = json!({ "reason": reason });
    notes::note(&mut tx, Some(&visitor.id), "submission.disqualify", &submission.id, detail).await?;
    board::forget_agreement(&mut tx, &submission.phase).await?;
    board::changed(&mut tx, &submission.phase, submission.team.as_deref().unwrap_or_default()).await?;
    Ok(app.commit(tx).await?)
}

/// Puts a submission back on the board.
pub async fn reinstate(app: &App, visitor: &Visitor, submission: &Submission) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let phase = records::phase_alone(&mut tx, &submission.phase).await?;
    let sql = "UPDATE submission SET disqualified_at = NULL, disqualified_for = NULL \
               WHERE id = $1 AND disqualified_at IS NOT NULL";
    let changed = tx.execute(sql, args![&submission.id]).await?;
    if changed == 0 {
        return Err(fault!(CONFLICT, "on-board", "It has not been removed from the leaderboard."));
    }
    notes::note(&mut tx, Some(&visitor.id), "submission.reinstate", &submission.id, json!({})).await?;
    if submission.state == SubmissionState::Scored {
        rescore::catch_up(&mut tx, &phase, &submission.id).await?;
    }
    board::forget_agreement(&mut tx, &submission.phase).await?;
    board::changed(&mut tx, &submission.phase, submission.team.as_deref().unwrap_or_default()).await?;
    Ok(app.commit(tx).await?)
}

/// The teams of a phase, in the order of their making.
pub const ENTRIES: List = oldest_first!(
    "SELECT team.id, team.name FROM entry JOIN team ON team.id = entry.team WHERE entry.phase = $3",
    "entry.team"
);

/// The teams that take part in a phase.
pub async fn entries(store: &Store, phase: &Phase, at: At) -> Result<Rows<Entry>> {
    let found = ENTRIES.page(store, at, args![&phase.id], |(id, _): &(String, String)| id).await?;
    let Rows { rows, before, after } = found;
    let ids: Vec<&str> = rows.iter().map(|(id, _)| id.as_str()).collect();
    let mut meters = quota::meters(store, phase, &ids).await?;
    let entries = rows.into_iter().map(|(id, name)| {
        let meter = meters.remove(&id).unwrap_or_else(|| Meter::unused(phase, clock::now()));
        let Meter { used_today, per_day, used_in_total, in_total, .. } = meter;
        Entry { team: id, name, used_today, per_day, used_in_total, in_total }
    });
    Ok(Rows { rows: entries.collect(), before, after })
}

/// A submission with the name of its team.
#[derive(Deserialize)]
pub struct OfTeam {
    /// The submission.
    pub submission: Submission,
    /// The name; empty for baselines and people.
    pub team_name: String,
    /// The score that ranks, on the board as it is.
    pub ranked: Option<f64>,
}

impl From<OfTeam> for HostedSubmission {
    fn from(OfTeam { submission, team_name, .. }: OfTeam) -> Self {
        Self {
            id: submission.id,
            kind: submission.kind.into(),
            team: submission.team,
            team_name,
            method: submission.method,
            state: submission.state.into(),
            reason: submission.reason,
            created_at: clock::time(submission.created_at),
            disqualified: submission.disqualified_for,
        }
    }
}

/// The submissions to a phase, with the score set, the measure and the reference set that rank.
pub const SUBMISSIONS: List = newest_first!(
    "SELECT submission.*, COALESCE(team.name, '') AS team_name, score.value AS ranked FROM submission \
     LEFT JOIN team ON team.id = submission.team \
     LEFT JOIN score ON score.submission = submission.id AND score.score_set = $4 AND score.metric = $5 \
     AND score.reference_set = (SELECT id FROM reference_set WHERE phase = $3 AND name = $6) \
     WHERE submission.phase = $3",
    "submission.id"
);

/// The submissions to a phase, newest first.
pub async fn submissions(store: &Store, phase: &Phase, at: At) -> Result<Rows<OfTeam>> {
    let score_set = phase.score_set.as_deref().unwrap_or_default();
    let half = if phase.shows_private() { Half::Private } else { Half::Public };
    let main_set = halves::name_of(&phase.main_set, Some(half));
    let args = args![&phase.id, score_set, &phase.main_metric, main_set];
    Ok(SUBMISSIONS.page(store, at, args, |of: &OfTeam| &of.submission.id).await?)
}

/// The newest submissions of teams that could not be scored, at most so many.
pub async fn failures(store: &Store, phase: &str, most: usize) -> Result<Vec<Submission>> {
    let sql = "SELECT * FROM submission WHERE phase = $1 AND kind = 'entry' AND state = 'failed' \
               ORDER BY id DESC LIMIT $2";
    Ok(store.fetch(sql, args![phase, most]).await?)
}

/// The number of submissions of teams in a phase.
#[derive(Default)]
pub struct Count {
    /// The teams themselves.
    pub teams: i64,
    pub all: i64,
    pub today: i64,
    /// The number that wait or are being scored.
    pub waiting: i64,
    pub failed: i64,
}

/// Counts the submissions of teams to a phase.
pub async fn count(store: &Store, phase: &str) -> Result<Count> {
    let sql = "SELECT state, COUNT(*), SUM(CASE WHEN created_at >= $2 THEN 1 ELSE 0 END) FROM submission \
               WHERE phase = $1 AND kind = 'entry' GROUP BY state";
    let today = clock::now() - clock::now().rem_euclid(clock::DAY);
    let teams = store.fetch_one("SELECT COUNT(*) FROM entry WHERE phase = $1", args![phase]).await?;
    let mut count = Count { teams, ..Count::default() };
    for (state, all, today) in store.fetch::<(SubmissionState, i64, i64)>(sql, args![phase, today]).await? {
        count.all += all;
        count.today += today;
        match state {
            SubmissionState::Queued | SubmissionState::Running => count.waiting += all,
            SubmissionState::Failed => count.failed += all,
            _ => {}
        }
    }
    Ok(count)
}

/// The baselines and the row for people that could not be scored.
pub async fn failed_rows(store: &Store, phase: &str) -> Result<Vec<Submission>> {
    let sql = "SELECT * FROM submission WHERE phase = $1 AND kind IN ('baseline', 'human') AND state = 'failed' \
               ORDER BY kind, method";
    Ok(store.fetch(sql, args![phase]).await?)
}

/// The reason why the neighbours on the board of a phase could not be compared, unless they are about to be.
pub async fn comparison_failure(store: &Store, phase: &str) -> Result<Option<String>> {
    Ok(scoring::comparison_failure(&mut store.snapshot().await?, phase).await?)
}

/// Tries again what the server could not do for a phase: prepare references, score baselines and the row for people,
/// compare neighbours on the board.
pub async fn try_again(app: &App, visitor: &Visitor, phase: &Phase) -> Result<()> {
    let mut tx = app.store.begin().await?;
    let phase = records::phase_alone(&mut tx, &phase.id).await?;
    let mut names = Vec::new();
    for set in records::all_sets_in(&mut tx, &phase.id).await? {
        if set.state == SetState::Failed {
            let sql = "UPDATE reference_set SET state = 'preparing', reason = NULL WHERE id = $1";
            tx.execute(sql, args![&set.id]).await?;
            jobs::add::<PrepareSet>(&mut tx, &set.id, Priority::Awaited).await?;
            names.push(set.name);
        }
    }
    let methods = submit::try_again(&mut tx, &phase.id).await?;
    let is_compared = scoring::comparison_failure(&mut tx, &phase.id).await?.is_some();
    if is_compared {
        scoring::compare_later(&mut tx, &phase.id).await?;
    }
    if names.is_empty() && methods.is_empty() && !is_compared {
        return Err(fault!(CONFLICT, "nothing-failed", "Nothing of this phase has failed."));
    }
    let detail = json!({ "references": names, "rows": methods, "comparison": is_compared });
    notes::note(&mut tx, Some(&visitor.id), "references.prepare", &phase.id, detail).await?;
    Ok(app.commit(tx).await?)
}

/// A note of the audit log for programs.
pub fn api_note(note: &Note) -> AuditNote {
    AuditNote {
        at: clock::time(note.at),
        actor: note.actor.clone(),
        action: note.action.clone(),
        subject: note.subject.clone(),
        detail: serde_json::from_str(&note.detail).unwrap_or_default(),
    }
}

/// A phase as its hosts see it, with what was just changed.
pub async fn hosted_phase(app: &App, seen: &SeenBenchmark, phase: &Phase) -> Result<HostedPhase> {
    let phase = records::phase_of(&app.store, &phase.id).await?;
    let reference_sets = records::all_sets(&app.store, &phase.id).await?;
    let score_sets = rescore::sets(&app.store, &phase.id).await?.into_iter().map(|set| ScoreSet {
        is_shown: phase.score_set.as_ref() == Some(&set.id),
        id: set.id,
        engine: set.engine,
        created_at: clock::time(set.created_at),
        pending: set.pending,
        reason: set.reason,
    });
    Ok(HostedPhase {
        score_sets: score_sets.collect(),
        frozen_at: phase.frozen_at.map(clock::time),
        comparison_failure: comparison_failure(&app.store, &phase.id).await?,
        phase: records::phase_for_programs(seen, &phase, &reference_sets),
    })
}
