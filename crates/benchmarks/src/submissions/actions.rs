//! Actions of teams and hosts on submissions.

use capeval_api::{SubmissionKind, SubmissionState};
use capeval_site::jobs::queue;
use capeval_site::prelude::*;
use serde_json::json;

use super::records::{SeenSubmission, Submission};
use crate::about::About;
use crate::{board, notes, quota, records, workers};

/// Cancels a submission that still waits, and gives it back; a host also one that is being scored.
pub async fn cancel(app: &App, visitor: &Visitor, of: &SeenSubmission) -> Result<()> {
    let SeenSubmission { seen, submission, .. } = of;
    let mut tx = app.store.begin().await?;
    // The job comes first, as where its end is written, so that the two cannot wait for each other.
    let is_stopped = queue::cancel(&mut tx, &submission.id, seen.is_host).await?
        || workers::cancel(&mut tx, &submission.id, seen.is_host).await?;
    let sql = "UPDATE submission SET state = 'cancelled', finished_at = $1 \
               WHERE id = $2 AND (state = 'queued' OR state = 'running' AND $3 = 1)";
    let cancelled = tx.execute(sql, args![clock::now(), &submission.id, seen.is_host]).await?;
    // What waits without a job, since its end could not be written, is for hosts to cancel.
    if cancelled == 0 || !is_stopped && !seen.is_host {
        return Err(match seen.is_host {
            true => fault!(CONFLICT, "ended", "Too late to cancel: the submission has finished."),
            false => fault!(CONFLICT, "too-late", "Too late to cancel: scoring has started."),
        });
    }
    refund(&mut tx, submission).await?;
    notes::note(&mut tx, Some(&visitor.id), "submission.cancel", &submission.id, json!({})).await?;
    Ok(tx.commit().await?)
}

/// Gives a submission back to the quota, once.
pub async fn refund(tx: &mut Tx, submission: &Submission) -> Result<(), Error> {
    let refunded = tx
        .execute("UPDATE submission SET refunded = 1 WHERE id = $1 AND refunded = 0", args![&submission.id])
        .await?;
    if let (1, Some(team), Some(day)) = (refunded, &submission.team, &submission.charged_day) {
        quota::refund(tx, &submission.phase, team, day).await?;
    }
    Ok(())
}

/// Changes what is said about the method of a submission. Scores stay as they are.
///
/// # Errors
/// If something cannot be said, or the submission is one of people, or a baseline that would get another name.
pub async fn say(app: &App, visitor: &Visitor, of: &SeenSubmission, about: About) -> Result<()> {
    let SeenSubmission { phase, submission, .. } = of;
    let about = about.checked(&phase.columns)?;
    let is_renamed = about.method != submission.method;
    if is_renamed && submission.kind != SubmissionKind::Entry {
        return Err(fault! {
            CONFLICT, "fixed-name", "The name of a baseline is that in the benchmark's file."
        });
    }
    let before = json!(submission.about_for_programs(&phase.columns));
    let mut tx = app.store.begin().await?;
    records::phase_alone(&mut tx, &phase.id).await?;
    tx.change_row("submission", &submission.id, about.row()?).await?;
    if is_renamed {
        board::forget_agreement(&mut tx, &phase.id).await?;
    }
    board::outdate(&mut tx, &phase.id).await?;
    let detail = json!({ "method": submission.method, "before": before });
    notes::note(&mut tx, Some(&visitor.id), "submission.about", &submission.id, detail).await?;
    Ok(tx.commit().await?)
}

/// Chooses a submission for the private half, or gives it up.
///
/// # Errors
/// If it has no scores, the phase is over or lets teams choose none, or the team has chosen as many as it may.
pub async fn choose(app: &App, visitor: &Visitor, submission: &Submission, is_chosen: bool) -> Result<()> {
    let mut tx = app.store.begin().await?;
    // Two choices at once must not both find the last one free.
    let phase = records::phase_alone(&mut tx, &submission.phase).await?;
    if !phase.has_choice() {
        return Err(fault!(CONFLICT, "no-choice", "The teams of this phase choose no final submissions."));
    }
    phase.require_open()?;
    let scored = "SELECT team FROM submission WHERE id = $1 AND team IS NOT NULL AND state = 'scored'";
    let Some(team) = tx.fetch_optional::<String>(scored, args![&submission.id]).await? else {
        return Err(fault!(CONFLICT, "not-scored", "Only a scored submission can be chosen."));
    };
    let others = "SELECT COUNT(*) FROM submission WHERE phase = $1 AND team = $2 AND id <> $3 AND chosen_at IS NOT NULL";
    let others: i64 = tx.fetch_one(others, args![&phase.id, &team, &submission.id]).await?;
    if is_chosen && others >= phase.most_chosen {
        return Err(fault! {
            CONFLICT, "too-many-chosen",
            "Your team has chosen {} submissions, as many as it may. Give up another one first.", others
        });
    }
    let chosen_at = is_chosen.then(clock::now);
    tx.change_row("submission", &submission.id, columns! { chosen_at }).await?;
    board::changed(&mut tx, &phase.id, &team).await?;
    let detail = json!({ "chosen": is_chosen });
    notes::note(&mut tx, Some(&visitor.id), "submission.choose", &submission.id, detail).await?;
    Ok(app.commit(tx).await?)
}

/// Shows this submission on the board, or the best one again.
///
/// # Errors
/// If it is not an entry that was scored.
pub async fn pin(app: &App, visitor: &Visitor, submission: &Submission, is_pinned: bool) -> Result<()> {
    let Some(team) = submission.team.as_deref().filter(|_| submission.state == SubmissionState::Scored)
    else {
        return Err(fault! {
            CONFLICT, "not-scored", "Only a scored submission can be shown on the leaderboard."
        });
    };
    let mut tx = app.store.begin().await?;
    records::phase_alone(&mut tx, &submission.phase).await?;
    let pinned = is_pinned.then_some(submission.id.as_str());
    let sql = "UPDATE entry SET pinned = $1 WHERE phase = $2 AND team = $3";
    tx.execute(sql, args![pinned, &submission.phase, team]).await?;
    board::changed(&mut tx, &submission.phase, team).await?;
    notes::note(&mut tx, Some(&visitor.id), "entry.pin", &submission.id, json!({ "pinned": is_pinned }))
        .await?;
    Ok(app.commit(tx).await?)
}
