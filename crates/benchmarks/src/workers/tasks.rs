//! Submissions that wait for the scores of a machine: added, claimed, cancelled.

use capeval_api::SubmissionKind;
use capeval_site::prelude::*;
use capeval_tasks::SetScores;
use serde::Deserialize;

use super::posts;
use crate::records::SeenPhase;
use crate::rescore::Lacking;
use crate::settings::Phase;
use crate::submissions::Submission;

/// The most claims of a submission; if all are lost, it has no scores.
pub const ATTEMPTS: i64 = 5;

/// A task as it is stored.
#[derive(Clone, Debug, Deserialize)]
pub struct Task {
    pub id: String,
    pub phase: String,
    pub submission: String,
    pub score_set: String,
    pub is_rescored: bool,
    pub measured: String,
    pub state: String,
    pub attempt: i64,
    pub lease_until: i64,
    pub answer: Option<String>,
}

impl Task {
    /// The submission, and the score set that lacks its scores.
    pub fn lacking(&self) -> Lacking {
        Lacking { set: self.score_set.clone(), submission: self.submission.clone() }
    }

    /// The id of its current claim.
    pub fn claim(&self) -> String {
        format!("{}.{}", self.id, self.attempt)
    }
}

/// A claim of a submission to a phase that the visitor runs.
pub struct SeenClaim {
    pub of: SeenPhase,
    pub task: Task,
    /// The number of the attempt that it is.
    pub attempt: i64,
}

/// `{claim}`
impl Subject for SeenClaim {
    const KIND: &'static str = "claim";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let (id, attempt) = names.require("claim")?.split_once('.').ok_or_else(Fault::not_found)?;
        let attempt = attempt.parse().map_err(|_| Fault::not_found())?;
        let task: Option<Task> =
            app.store.fetch_optional("SELECT * FROM worker_task WHERE id = $1", args![id]).await?;
        let task = task.filter(|task| (1..=task.attempt).contains(&attempt)).ok_or_else(Fault::not_found)?;
        let (seen, phase) = crate::records::phase_by_id(&app.store, &task.phase, visitor).await?;
        Ok(Self { of: SeenPhase { seen, phase }, task, attempt })
    }

    fn standing(&self) -> Standing {
        self.of.standing()
    }
}

/// Returns true if machines score a submission, too: captions that people wrote are scored by the engine alone.
pub fn are_asked(phase: &Phase, submission: &Submission) -> bool {
    !phase.given.is_empty() && submission.kind != SubmissionKind::Human
}

/// Makes a submission wait for the scores of a machine, and keeps those of the engine. The phase must be held alone.
pub async fn hand_over(
    tx: &mut Tx,
    submission: &Submission,
    score_set: &str,
    (scores, is_rescored): (&[SetScores], bool),
) -> Result<()> {
    let row = columns! {
        id: ids::new_id(), phase: &submission.phase, submission: &submission.id, score_set, is_rescored,
        measured: serde_json::to_string(scores)?, state: "waiting", created_at: clock::now(),
    };
    if tx.add_row("worker_task", row).await? && !is_rescored {
        let sql = "UPDATE submission SET state = 'queued' WHERE id = $1 AND state = 'running'";
        tx.execute(sql, args![&submission.id]).await?;
    }
    Ok(())
}

/// Cancels the task of a submission that waits, and one that is claimed if `also_claimed` is set; returns whether there
/// was one.
pub async fn cancel(tx: &mut Tx, submission: &str, also_claimed: bool) -> Result<bool, Error> {
    let sql = "UPDATE worker_task SET state = 'cancelled', finished_at = $1 WHERE submission = $2 \
               AND is_rescored = 0 AND (state = 'waiting' OR state = 'claimed' AND $3 = 1)";
    Ok(tx.execute(sql, args![clock::now(), submission, also_claimed]).await? > 0)
}

/// The numbers of submissions to a phase that wait for a machine, and that machines hold.
pub async fn counts(store: &Store, phase: &str) -> Result<(i64, i64), Error> {
    let sql = "SELECT COUNT(CASE WHEN state = 'waiting' OR lease_until < $2 THEN 1 END), \
               COUNT(CASE WHEN state = 'claimed' AND lease_until >= $2 THEN 1 END) FROM worker_task \
               WHERE phase = $1 AND state IN ('waiting', 'claimed')";
    store.fetch_one(sql, args![phase, clock::now()]).await
}

/// The hash of the captions of a submission.
pub async fn captions(store: &Store, submission: &str) -> Result<String> {
    let sql = "SELECT blob FROM submission WHERE id = $1 AND blob IS NOT NULL";
    store.fetch_optional(sql, args![submission]).await?.ok_or_else(Fault::not_found)
}

/// Claims the next submission to a phase: one that waits, or one whose machine has not been heard from. First
/// submissions come before those that are scored again.
pub async fn claim(app: &App, by: &Visitor, phase: &Phase, minutes: u32) -> Result<Option<Task>> {
    macro_rules! due {
        ($end:literal) => {
            concat!(
                "SELECT id FROM worker_task WHERE phase = $1 AND (state = 'waiting' OR state = 'claimed' \
                 AND lease_until < $2) AND (is_rescored = 0 OR EXISTS (SELECT 1 FROM score_set \
                 WHERE score_set.id = worker_task.score_set AND (pending > 0 OR score_set.id = $3))) \
                 ORDER BY is_rescored, id LIMIT 1",
                $end
            )
        };
    }
    const CLAIM: &str = "UPDATE worker_task SET state = 'claimed', attempt = attempt + 1, lease_until = $1, \
                         claimed_by = $2 WHERE id = $3 RETURNING *";
    let shown = phase.score_set.as_deref().unwrap_or_default();
    loop {
        let now = clock::now();
        let mut tx = app.store.begin().await?;
        let sql = tx.pick(due!(""), due!(" FOR UPDATE SKIP LOCKED"));
        let Some(id) = tx.fetch_optional::<String>(sql, args![&phase.id, now, shown]).await? else {
            return Ok(None);
        };
        let lease = now + i64::from(minutes) * 60_000;
        let task: Task = tx.fetch_one(CLAIM, args![lease, &by.id, id]).await?;
        if task.attempt <= ATTEMPTS {
            if !task.is_rescored {
                let sql = "UPDATE submission SET state = 'running', started_at = $1 WHERE id = $2 AND state = 'queued'";
                tx.execute(sql, args![now, &task.submission]).await?;
            }
            tx.commit().await?;
            return Ok(Some(task));
        }
        drop(tx);
        let lost = reason!("the host's machines took it {} times and did not answer", ATTEMPTS);
        posts::lose(app, &task, &lost).await?;
    }
}
