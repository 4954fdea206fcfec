//! The posts of machines: scores, or the reason why there are none. A repeated post has no further effect.

use capeval_api::{FaultOf, GivenFailure, GivenScores};
use capeval_site::prelude::*;
use capeval_tasks::SetScores;
use serde_json::json;

use super::tasks::{SeenClaim, Task};
use super::values;
use crate::settings::Phase;
use crate::submissions::Submission;
use crate::{expected, notes, records, rescore, scoring};

/// The most characters of a reason, and of a version.
const REASON: usize = 1_000;
const VERSION: usize = 500;

/// The state in which a post finds its task.
enum TaskState {
    /// The claim may end it.
    Open(Box<Phase>, Box<Submission>),
    /// The claim has ended it with the same words.
    Repeated,
}

/// The state of a task, with its phase and its submission if a claim may end it. Nothing else can end it within the
/// transaction.
async fn task_state(tx: &mut Tx, task: &Task, attempt: i64, answer: &str) -> Result<TaskState> {
    let phase = records::phase_alone(tx, &task.phase).await?;
    let now: Task = tx.fetch_one("SELECT * FROM worker_task WHERE id = $1", args![&task.id]).await?;
    if now.attempt == attempt && now.answer.as_deref() == Some(answer) {
        return Ok(TaskState::Repeated);
    }
    if now.attempt != attempt {
        return Err(fault! {
            CONFLICT, "claim-lost", "Another machine has claimed this submission since. Claim the next one."
        });
    }
    if now.state != "claimed" {
        return Err(fault! {
            CONFLICT, "claim-ended",
            "This claim has ended: the submission was scored or cancelled. Claim the next one."
        });
    }
    let sql = "SELECT * FROM submission WHERE id = $1";
    let submission = tx.fetch_one(sql, args![&task.submission]).await?;
    Ok(TaskState::Open(Box::new(phase), Box::new(submission)))
}

async fn end(tx: &mut Tx, task: &Task, attempt: i64, (state, answer): (&str, &str)) -> Result<()> {
    let sql = "UPDATE worker_task SET state = $1, answer = $2, finished_at = $3, measured = '[]' \
               WHERE id = $4 AND attempt = $5 AND state = 'claimed'";
    match tx.execute(sql, args![state, answer, clock::now(), &task.id, attempt]).await? {
        1 => Ok(()),
        _ => Err(Fault::internal(&"a claim was lost while its phase was held")),
    }
}

/// Writes the scores of a claimed submission, with those of the engine.
pub async fn give(app: &App, claim: &SeenClaim, given: &GivenScores) -> Result<()> {
    let SeenClaim { of, task, attempt } = claim;
    let answer = ids::digest(serde_json::to_string(given)?);
    let sets = records::all_sets(&app.store, &of.phase.id).await?;
    let main: Vec<_> = sets.iter().filter(|set| set.name == of.phase.main_set).cloned().collect();
    let expected = expected::of(app, &main).await?;
    let (own, measures) = (given.clone(), of.phase.given.clone());
    let check = move || values::checked(&own, &measures, &expected);
    let (scores, columns) = tokio::task::spawn_blocking(check).await??;
    let version = clean_text::line(&given.version);
    if version.chars().count() > VERSION {
        return Err(fault! {
            UNPROCESSABLE_ENTITY, "version", "The version can have at most {} characters.", VERSION
        });
    }
    let blob = values::store(app, &columns).await?;
    let mut tx = app.store.begin().await?;
    let (phase, submission) = match task_state(&mut tx, task, *attempt, &answer).await? {
        TaskState::Open(phase, submission) => (phase, submission),
        TaskState::Repeated => return Ok(()),
    };
    let mut all: Vec<SetScores> = serde_json::from_str(&task.measured)?;
    let main = main.first().map(|set| set.id.as_str());
    if let Some(set) = all.iter_mut().find(|set| Some(set.set.as_str()) == main) {
        set.scores.extend(scores);
        let keys: Vec<&str> = phase.given.iter().map(|measure| measure.key.as_str()).collect();
        let version = if version.is_empty() { "–" } else { &version };
        set.signatures.push(format!("{}|scorer:host|version:{version}", keys.join("+")));
    }
    end(&mut tx, task, *attempt, ("done", &answer)).await?;
    if let Some(blob) = blob {
        let row = columns! { score_set: &task.score_set, submission: &task.submission, blob };
        tx.add_row("given_values", row).await?;
    }
    match task.is_rescored {
        true => rescore::end(&mut tx, &task.lacking(), Ok(Some(all))).await?,
        false => scoring::record(app, &mut tx, (&phase, &submission), (&task.score_set, &all)).await?,
    }
    Ok(app.commit(tx).await?)
}

/// Ends a claimed submission without scores.
pub async fn fail(app: &App, claim: &SeenClaim, given: &GivenFailure) -> Result<()> {
    let SeenClaim { task, attempt, .. } = claim;
    let reason = clean_text::lines(&given.reason);
    if reason.is_empty() || reason.chars().count() > REASON {
        return Err(fault!(UNPROCESSABLE_ENTITY, "reason", "Give a reason of 1 to {} characters.", REASON));
    }
    let answer = ids::digest(serde_json::to_string(given)?);
    let is_refunded = given.fault == FaultOf::Scorer;
    let mut tx = app.store.begin().await?;
    if let TaskState::Repeated = task_state(&mut tx, task, *attempt, &answer).await? {
        return Ok(());
    }
    end(&mut tx, task, *attempt, ("failed", &answer)).await?;
    end_without_scores(app, &mut tx, task, (&reason, is_refunded)).await?;
    Ok(app.commit(tx).await?)
}

async fn end_without_scores(
    app: &App,
    tx: &mut Tx,
    task: &Task,
    (reason, is_refunded): (&str, bool),
) -> Result<()> {
    let detail = json!({ "reason": reason, "refunded": is_refunded });
    notes::note(tx, None, "submission.no-scores", &task.submission, detail).await?;
    if task.is_rescored {
        return rescore::end(tx, &task.lacking(), Err(reason.to_owned())).await;
    }
    let submission: Submission =
        tx.fetch_one("SELECT * FROM submission WHERE id = $1", args![&task.submission]).await?;
    scoring::fail(app, tx, &submission, (reason, is_refunded)).await
}

/// Ends a submission whose claims were all lost.
pub async fn lose(app: &App, task: &Task, reason: &str) -> Result<()> {
    let mut tx = app.store.begin().await?;
    records::phase_alone(&mut tx, &task.phase).await?;
    let sql = "UPDATE worker_task SET state = 'failed', finished_at = $1, measured = '[]' \
               WHERE id = $2 AND state = 'claimed' AND lease_until < $1";
    if tx.execute(sql, args![clock::now(), &task.id]).await? == 1 {
        end_without_scores(app, &mut tx, task, (reason, true)).await?;
        app.commit(tx).await?;
    }
    Ok(())
}
