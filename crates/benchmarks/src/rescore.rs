//! Score sets: one scoring of all submissions of a phase by one version of the engine and of the references. A set
//! never changes once boards show it; rescoring creates a new set, which replaces it when it is complete.

use capeval_site::prelude::*;
use capeval_site::two_part_subject;
use capeval_tasks::SetScores;
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::json;

use super::settings::Phase;
use super::submissions::Submission;
use super::{board, records, scoring, submissions, workers};
use crate::notes;

/// Scores a submission for a score set that is not the one it was first scored in.
pub struct Rescore;

/// A submission, and a score set that lacks its scores.
pub struct Lacking {
    pub set: String,
    pub submission: String,
}

two_part_subject!(Lacking: set / submission);

#[derive(Clone, Debug, Deserialize)]
pub struct ScoreSet {
    pub id: String,
    /// The version of the engine.
    pub engine: String,
    pub created_at: i64,
    /// The submissions that it still lacks.
    pub pending: i64,
    /// The reason why boards never show it.
    pub reason: Option<String>,
}

/// The score sets of a phase, newest first.
pub async fn sets(store: &Store, phase: &str) -> Result<Vec<ScoreSet>, Error> {
    store.fetch("SELECT * FROM score_set WHERE phase = $1 ORDER BY id DESC", args![phase]).await
}

/// Has all submissions of a phase scored again. Quotas are not touched, and the board stays as it is until all is done.
///
/// # Errors
/// If the references are not ready, or this is under way already.
pub async fn start(app: &App, visitor: &Visitor, phase: &Phase) -> Result<String> {
    let mut tx = app.store.begin().await?;
    let phase = records::phase_alone(&mut tx, &phase.id).await?;
    if phase.score_set.is_none() {
        let sets = records::all_sets_in(&mut tx, &phase.id).await?;
        return Err(records::closed(&phase, &sets).unwrap_or_else(records::preparing));
    }
    if tx.exists("SELECT 1 FROM score_set WHERE phase = $1 AND pending > 0", args![&phase.id]).await? {
        return Err(fault!(CONFLICT, "rescoring", "Rescoring is already in progress."));
    }
    let id = begin(&mut tx, &phase, Some(&visitor.id)).await?;
    app.commit(tx).await?;
    Ok(id)
}

/// Begins a score set for a phase whose references are ready, with all submissions that have scores. One that is under
/// way is given up. The phase must be held alone.
pub async fn begin(tx: &mut Tx, phase: &Phase, actor: Option<&str>) -> Result<String> {
    tx.execute(
        "UPDATE score_set SET pending = 0, reason = $1 WHERE phase = $2 AND pending > 0 AND id <> $3",
        args![reason!("another one was begun"), &phase.id, phase.score_set.as_deref().unwrap_or_default()],
    )
    .await?;
    let sql =
        "SELECT prepared_hash FROM reference_set WHERE phase = $1 AND state = 'ready' ORDER BY position, id";
    let hashes: Vec<String> = tx.fetch(sql, args![&phase.id]).await?;
    let sql = "SELECT id FROM submission WHERE phase = $1 AND state = 'scored' AND disqualified_at IS NULL ORDER BY id";
    let scored: Vec<String> = tx.fetch(sql, args![&phase.id]).await?;
    let id = ids::new_id();
    let row = columns! {
        id: &id, phase: &phase.id, engine: capeval_tasks::ENGINE,
        metrics: serde_json::to_string(&phase.metrics)?, references_hash: ids::digest(hashes.join(" ")),
        created_at: clock::now(), pending: scored.len(),
    };
    tx.insert_row("score_set", row).await?;
    notes::note(
        tx,
        actor,
        "score-set.add",
        &phase.id,
        json!({ "score_set": id, "submissions": scored.len() }),
    )
    .await?;
    for submission in &scored {
        let lacking = Lacking { set: id.clone(), submission: submission.clone() };
        jobs::add::<Rescore>(tx, &lacking, Priority::Background).await?;
    }
    if scored.is_empty() {
        take_over(tx, &phase.id, &id).await?;
    }
    Ok(id)
}

/// Has boards show a complete score set, unless they show a newer one.
async fn take_over(tx: &mut Tx, phase: &str, id: &str) -> Result<()> {
    let sql = "UPDATE phase SET score_set = $1 WHERE id = $2 AND (score_set IS NULL OR score_set < $1)";
    let taken = tx.execute(sql, args![id, phase]).await?;
    if taken == 1 {
        notes::note(tx, None, "score-set.show", phase, json!({ "score_set": id })).await?;
        board::all_changed(tx, phase).await?;
    }
    Ok(())
}

/// Has a submission scored for the score set that boards show, and for one that is under way, where it has no scores
/// there yet. The phase must be held alone.
pub async fn catch_up(tx: &mut Tx, phase: &Phase, submission: &str) -> Result<()> {
    let sql = "SELECT id FROM score_set WHERE phase = $1 AND (pending > 0 OR id = $2) AND NOT EXISTS \
               (SELECT 1 FROM scored_by WHERE score_set = score_set.id AND submission = $3)";
    let lacking: Vec<String> =
        tx.fetch(sql, args![&phase.id, phase.score_set.as_deref(), submission]).await?;
    for set in lacking {
        tx.execute("UPDATE score_set SET pending = pending + 1 WHERE id = $1", args![&set]).await?;
        let lacking = Lacking { set, submission: submission.to_owned() };
        jobs::add::<Rescore>(tx, &lacking, Priority::Background).await?;
    }
    Ok(())
}

/// Writes the scores of a submission into a score set.
pub async fn write(tx: &mut Tx, id: &str, submission: &str, sets: &[SetScores]) -> Result<()> {
    let signatures: IndexMap<&String, &Vec<String>> =
        sets.iter().map(|set| (&set.set, &set.signatures)).collect();
    let row = columns! { score_set: id, submission, signatures: serde_json::to_string(&signatures)? };
    tx.add_row("scored_by", row).await?;
    for set in sets {
        for score in &set.scores {
            let (low, high) = score.interval.unzip();
            let row = columns! {
                score_set: id, submission, reference_set: &set.set, metric: &score.key, value: score.value,
                low, high,
            };
            tx.add_row("score", row).await?;
        }
    }
    Ok(())
}

impl Work for Rescore {
    const KIND: &'static str = "rescore";
    const LANE: Lane = Lane::Scoring;
    type Subject = Lacking;
    /// `None` if the score set was given up.
    type Output = Option<Vec<SetScores>>;

    async fn run(app: &App, job: &Job<Lacking>) -> Result<Self::Output, Failure> {
        let Lacking { set, submission } = &job.subject;
        if !app.store.exists("SELECT 1 FROM score_set WHERE id = $1 AND pending > 0", args![set]).await? {
            return Ok(None);
        }
        let submission = submissions::by_id(&app.store, submission).await?;
        let phase = records::phase_of(&app.store, &submission.phase).await?;
        Ok(Some(scoring::scores_of(app, &phase, &submission, job.is_awaited).await?))
    }

    async fn finish(
        _: &App,
        tx: &mut Tx,
        job: &Job<Lacking>,
        outcome: Result<Self::Output, String>,
    ) -> Result<()> {
        let Lacking { set, submission: id } = &job.subject;
        let sql = "SELECT * FROM submission WHERE id = $1";
        let submission: Option<Submission> = tx.fetch_optional(sql, args![id]).await?;
        let Some(submission) = submission else { return Ok(()) };
        let phase = records::phase_alone(tx, &submission.phase).await?;
        match &outcome {
            Ok(Some(scores)) if workers::are_asked(&phase, &submission) => {
                workers::hand_over(tx, &submission, set, (scores, true)).await
            }
            _ => end(tx, &job.subject, outcome).await,
        }
    }
}

/// Writes the scores of a submission into a score set that lacks them, or why there are none; `None` if the set was
/// given up.
pub async fn end(
    tx: &mut Tx,
    Lacking { set, submission: id }: &Lacking,
    outcome: Result<Option<Vec<SetScores>>, String>,
) -> Result<()> {
    let sql = "SELECT phase, COALESCE(team, ''), disqualified_at FROM submission WHERE id = $1";
    let found: Option<(String, String, Option<i64>)> = tx.fetch_optional(sql, args![id]).await?;
    let Some((phase, team, disqualified_at)) = found else { return Ok(()) };
    let is_off = disqualified_at.is_some();
    let phase = records::phase_alone(tx, &phase).await?;
    match outcome {
        Ok(None) => return Ok(()),
        Ok(Some(scores)) => write(tx, set, id, &scores).await?,
        // What is off the board may lack scores.
        Err(_) if is_off => {}
        // Boards show this set, and go on to do so without the submission.
        Err(reason) if phase.score_set.as_ref() == Some(set) => {
            let detail = json!({ "score_set": set, "submission": id, "reason": reason });
            notes::note(tx, None, "score-set.fail", &phase.id, detail).await?;
        }
        Err(reason) => {
            let sql = "UPDATE score_set SET pending = 0, reason = $1 WHERE id = $2 AND pending > 0";
            if tx.execute(sql, args![reason!("submission {}: {}", id, reason), set]).await? == 1 {
                let detail = json!({ "score_set": set, "submission": id, "reason": reason });
                notes::note(tx, None, "score-set.fail", &phase.id, detail).await?;
            }
            return Ok(());
        }
    }
    let sql = "UPDATE score_set SET pending = pending - 1 WHERE id = $1 AND pending > 0 RETURNING pending";
    match tx.fetch_optional(sql, args![set]).await? {
        _ if phase.score_set.as_ref() == Some(set) => board::changed(tx, &phase.id, &team).await,
        Some(0) => take_over(tx, &phase.id, set).await,
        _ => Ok(()),
    }
}
