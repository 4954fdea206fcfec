//! The work behind boards: preparing references, scoring submissions, comparing neighbours.

use std::path::PathBuf;

use capeval_choice::SegmentId;
use capeval_tasks::{Allowance, Compare, Prepare, Prepared, Score, Set, SetContrasts, SetScores};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::records::{self, Phase, ReferenceSet};
use super::submissions::{self, Submission};
use super::{board, rescore, submit};
use crate::app::App;
use crate::fault::Fault;
use crate::jobs::child;
use crate::jobs::queue::{self, Priority};
use crate::jobs::{Failure, Job, Work};
use crate::store::Tx;
use crate::{args, clock, outbox};

/// Prepares a reference set.
pub const PREPARE: Work = Work {
    kind: "prepare",
    run: |app, job| Box::pin(async move { prepare(&app, &job).await }),
    finish: |_, tx, job, outcome| Box::pin(finish_prepare(tx, job, outcome)),
};

/// Scores a submission by all reference sets.
pub const SCORE: Work = Work {
    kind: "score",
    run: |app, job| Box::pin(async move { score(&app, &job).await }),
    finish: |app, tx, job, outcome| Box::pin(finish_score(app, tx, job, outcome)),
};

/// Compares the neighbours on the board of a phase.
pub const COMPARE: Work = Work {
    kind: "compare",
    run: |app, job| Box::pin(async move { compare(&app, &job).await }),
    finish: |app, tx, job, outcome| Box::pin(finish_compare(app, tx, job, outcome)),
};

/// The most pairs that one job compares.
const PAIRS: usize = 100;

/// Files that a child may read for its metrics.
pub fn readable(app: &App, files: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    // The C library reads these; without them it works as well.
    let system = ["/proc/self", "/sys/fs/cgroup", "/sys/devices/system/cpu"].map(PathBuf::from);
    files.into_iter().chain(app.data.clone()).chain(system).filter(|path| path.exists()).collect()
}

async fn prepare(app: &App, job: &Job) -> Result<Value, Failure> {
    let set = records::set(&app.store, &job.subject).await?;
    let phase = records::phase_of(&app.store, &set.phase).await?;
    let folder = TempDir::new_in(app.hidden.folder().join("new"))?;
    let (prepared, ids) = (folder.path().join("prepared"), folder.path().join("ids"));
    let source = app.hidden.ready(&set.source_hash).await?;
    let images = set.images.as_deref().map(serde_json::from_str).transpose()?;
    let allowance = Allowance {
        write: vec![folder.path().to_owned()],
        ..child::allowance(app, readable(app, [source.clone()]))
    };
    let task = Prepare {
        source,
        images,
        metrics: set.metrics(&phase, app),
        prepared: prepared.clone(),
        ids: ids.clone(),
    };
    let done = child::run(app, allowance, task).await?;
    if phase.score_set.is_some() {
        // What was scored describes no other images, and could not be scored by these references.
        let others: Vec<_> = records::sets(&app.store, &phase.id)
            .await?
            .into_iter()
            .filter(|other| other.id != set.id && other.state == "ready")
            .collect();
        let own: Vec<SegmentId> = serde_json::from_slice(&tokio::fs::read(&ids).await?)?;
        let known = super::expected::of(app, &others).await?;
        if !own.iter().all(|id| known.has(id)) {
            return Err(Failure::Lasting(
                "it has images that the phase did not have: make a new phase for it".to_owned(),
            ));
        }
    }
    let hidden = app.hidden.clone();
    let keep = move || {
        let kept = [&prepared, &ids].map(|path| hidden.put(std::fs::File::open(path)?));
        drop(folder);
        let [prepared, ids] = kept;
        Ok::<_, std::io::Error>((prepared?, ids?))
    };
    let (prepared_hash, ids_hash) = tokio::task::spawn_blocking(keep).await??;
    Ok(json!({ "done": done, "prepared": prepared_hash, "ids": ids_hash }))
}

async fn finish_prepare(tx: &mut Tx, job: &Job, outcome: Result<Value, String>) -> Result<(), Fault> {
    match outcome {
        Err(reason) => {
            tx.execute(
                "UPDATE reference_set SET state = 'failed', reason = $1 WHERE id = $2",
                args![reason, &job.subject],
            )
            .await?;
        }
        Ok(mut value) => {
            let done: Prepared = serde_json::from_value(value["done"].take())?;
            tx.execute(
                "UPDATE reference_set SET state = 'ready', reason = NULL, prepared_hash = $1, ids_hash = $2, \
                 n_images = $3, n_references = $4, fewest = $5, measures = $6 WHERE id = $7",
                args![
                    value["prepared"].as_str(),
                    value["ids"].as_str(),
                    done.n_images,
                    done.n_references,
                    done.fewest,
                    serde_json::to_string(&done.measures)?,
                    &job.subject
                ],
            )
            .await?;
            open_board(tx, &job.subject).await?;
        }
    }
    Ok(())
}

/// Begins the scores of a phase, once all of its reference sets are ready.
async fn open_board(tx: &mut Tx, set: &str) -> Result<(), Fault> {
    let row = tx.first("SELECT phase FROM reference_set WHERE id = $1", args![set]).await?;
    let Some(row) = row else { return Ok(()) };
    // Two sets that become ready at once must not both miss the other.
    let phase = records::phase_alone(tx, &row.get::<String>("phase")?).await?;
    // A phase that has scores does without a set that was added and could not be prepared.
    let unready = match phase.score_set {
        None => "SELECT 1 AS one FROM reference_set WHERE phase = $1 AND state <> 'ready'",
        Some(_) => "SELECT 1 AS one FROM reference_set WHERE phase = $1 AND state = 'preparing'",
    };
    let unready = tx.first(unready, args![&phase.id]).await?;
    if unready.is_some() {
        return Ok(());
    }
    rescore::begin(tx, &phase, None).await?;
    if phase.human {
        submit::add_human(tx, &phase.id).await?;
    }
    for row in
        tx.all("SELECT id FROM submission WHERE phase = $1 AND state = 'queued'", args![&phase.id]).await?
    {
        let id: String = row.get("id")?;
        let job = tx
            .first(
                "SELECT 1 AS one FROM job WHERE subject = $1 AND state IN ('queued', 'running')",
                args![&id],
            )
            .await?;
        if job.is_none() {
            queue::add(tx, SCORE.kind, &id, Priority::Background).await?;
        }
    }
    Ok(())
}

async fn score(app: &App, job: &Job) -> Result<Value, Failure> {
    let submission = submissions::by_id(&app.store, &job.subject).await?;
    let phase = records::phase_of(&app.store, &submission.phase).await?;
    app.store
        .execute(
            "UPDATE submission SET state = 'running', started_at = $1 \
             WHERE id = $2 AND state IN ('queued', 'running')",
            args![clock::now(), &submission.id],
        )
        .await?;
    let scores = scores_of(app, job, &phase, &submission).await?;
    Ok(json!({ "score_set": phase.score_set, "scores": scores }))
}

/// The sets that are ready, for a child.
async fn for_child<'s>(
    app: &App,
    phase: &Phase,
    sets: impl Iterator<Item = &'s ReferenceSet> + Send,
) -> std::io::Result<Vec<Set>> {
    let mut ready = Vec::new();
    for set in sets {
        ready.extend(set.for_child(phase, app).await?);
    }
    Ok(ready)
}

/// The scores of a submission by all reference sets that are ready, for a job.
///
/// # Errors
/// If they cannot be computed.
pub async fn scores_of(
    app: &App,
    job: &Job,
    phase: &Phase,
    submission: &Submission,
) -> Result<Vec<SetScores>, Failure> {
    let sets = records::sets(&app.store, &phase.id).await?;
    let is_human = submission.kind == "human";
    // One reference cannot be held out and compared with others.
    let sets = sets.iter().filter(|set| !is_human || set.n_references > set.n_images);
    let sets = for_child(app, phase, sets).await?;
    let captions = match (&submission.blob, is_human) {
        (Some(blob), false) => Some(app.blobs.ready(blob).await?),
        (None, true) => None,
        _ => return Err(Failure::Lasting("the captions are missing".to_owned())),
    };
    let files = sets.iter().map(|set| set.prepared.clone()).chain(captions.clone());
    let allowance = Allowance { gives_way: !job.is_awaited, ..child::allowance(app, readable(app, files)) };
    child::run(app, allowance, Score { captions, sets }).await
}

async fn finish_score(
    app: &App,
    tx: &mut Tx,
    job: &Job,
    outcome: Result<Value, String>,
) -> Result<(), Fault> {
    let row = tx.first("SELECT * FROM submission WHERE id = $1", args![&job.subject]).await?;
    let Some(submission) = row.as_ref().map(Submission::of).transpose()? else { return Ok(()) };
    let scores = match outcome {
        Err(reason) => {
            let failed = tx
                .execute(
                    "UPDATE submission SET state = 'failed', reason = $1, finished_at = $2 \
                     WHERE id = $3 AND state IN ('queued', 'running')",
                    args![reason, clock::now(), &submission.id],
                )
                .await?;
            if failed == 1 {
                // The file was checked, so it is our fault.
                submissions::refund(tx, &submission).await?;
                outbox::submission_ended(tx, app, &submission.id).await?;
            }
            return Ok(());
        }
        Ok(scores) => scores,
    };
    let score_set = scores["score_set"].as_str().unwrap_or_default().to_owned();
    let sets: Vec<SetScores> = serde_json::from_value(scores["scores"].clone())?;
    let phase = records::phase_alone(tx, &submission.phase).await?;
    let scored = tx
        .execute(
            "UPDATE submission SET state = 'scored', finished_at = $1, reason = NULL \
             WHERE id = $2 AND state = 'running'",
            args![clock::now(), &submission.id],
        )
        .await?;
    if scored == 0 {
        return Ok(());
    }
    rescore::write(tx, &score_set, &submission.id, &sets).await?;
    rescore::catch_up(tx, &phase, &submission.id).await?;
    outbox::submission_ended(tx, app, &submission.id).await?;
    compare_later(tx, &submission.phase).await
}

/// Has the neighbours on the board of a phase compared, unless that is about to happen.
///
/// # Errors
/// If the database fails.
pub async fn compare_later(tx: &mut Tx, phase: &str) -> Result<(), Fault> {
    let waiting = tx
        .first(
            "SELECT 1 AS one FROM job WHERE subject = $1 AND kind = 'compare' AND state = 'queued'",
            args![phase],
        )
        .await?;
    if waiting.is_none() {
        queue::add(tx, COMPARE.kind, phase, Priority::Background).await?;
    }
    Ok(())
}

async fn compare(app: &App, job: &Job) -> Result<Value, Failure> {
    let phase = records::phase_of(&app.store, &job.subject).await?;
    let sets = records::sets(&app.store, &phase.id).await?;
    let Some(main) = sets.iter().find(|set| set.name == phase.main_set) else { return Ok(json!(null)) };
    let pairs = board::uncompared(&app.store, &phase, main).await?;
    let mut compared = Vec::new();
    for (above, below) in pairs.into_iter().take(PAIRS) {
        let contrasts = compare_pair(app, &phase, &sets, &above, &below).await?;
        compared.push(json!({ "above": above.0, "below": below.0, "sets": contrasts }));
    }
    Ok(json!({ "score_set": phase.score_set, "pairs": compared }))
}

/// An id of a submission, and the hash of its captions.
type Entry = (String, String);

async fn compare_pair(
    app: &App,
    phase: &Phase,
    sets: &[ReferenceSet],
    above: &Entry,
    below: &Entry,
) -> Result<Vec<SetContrasts>, Failure> {
    let sets = for_child(app, phase, sets.iter()).await?;
    let (above, below) = (app.blobs.ready(&above.1).await?, app.blobs.ready(&below.1).await?);
    let files = sets.iter().map(|set| set.prepared.clone()).chain([above.clone(), below.clone()]);
    let allowance = Allowance { gives_way: true, ..child::allowance(app, readable(app, files)) };
    child::run(app, allowance, Compare { above, below, sets }).await
}

async fn finish_compare(_: &App, tx: &mut Tx, _: &Job, outcome: Result<Value, String>) -> Result<(), Fault> {
    let Ok(done) = outcome else { return Ok(()) };
    let score_set = done["score_set"].as_str().unwrap_or_default();
    for pair in done["pairs"].as_array().into_iter().flatten() {
        let sets: Vec<SetContrasts> = serde_json::from_value(pair["sets"].clone())?;
        for set in &sets {
            for (metric, p, differs) in &set.contrasts {
                tx.execute(
                    "INSERT INTO comparison (score_set, above, below, reference_set, metric, p, differs) \
                     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
                    args![
                        score_set,
                        pair["above"].as_str(),
                        pair["below"].as_str(),
                        &set.set,
                        metric,
                        *p,
                        *differs
                    ],
                )
                .await?;
            }
        }
    }
    Ok(())
}
