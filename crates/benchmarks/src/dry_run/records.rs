//! The last dry run of each phase, and the job that scores its file.

use capeval_api::{Report, SubmissionState};
use capeval_site::prelude::*;
use capeval_tasks::SetScores;
use serde::Deserialize;
use serde_json::json;

use crate::settings::Phase;
use crate::submit::ReceivedUpload;
use crate::upload::{self, CheckedFile};
use crate::{notes, records, scoring};

/// A dry run as it is stored.
#[derive(Debug, Deserialize)]
pub struct DryRun {
    pub state: SubmissionState,
    /// The name of the file.
    pub file: String,
    #[serde(deserialize_with = "store::json")]
    pub report: Report,
    #[serde(deserialize_with = "store::json")]
    pub scores: Vec<SetScores>,
    /// The reason why there are no scores.
    pub reason: Option<String>,
    pub created_at: i64,
    pub finished_at: Option<i64>,
}

/// The last dry run of a phase.
pub async fn last(store: &Store, phase: &str) -> Result<Option<DryRun>, Error> {
    store.fetch_optional("SELECT * FROM dry_run WHERE phase = $1", args![phase]).await
}

/// Checks a sample file and, if it can be scored, has it scored.
pub async fn begin(
    app: &App,
    by: &Visitor,
    phase: &Phase,
    ReceivedUpload { file, name, .. }: ReceivedUpload,
) -> Result<DryRun> {
    let sets = records::all_sets(&app.store, &phase.id).await?;
    if phase.score_set.is_none() {
        return Err(records::unready(&sets));
    }
    let CheckedFile { report, canonical, .. } =
        upload::check(app, phase, &sets, &file, name.as_deref()).await?;
    let blob = match canonical {
        Some(canonical) => {
            let blobs = app.blobs.clone();
            Some(tokio::task::spawn_blocking(move || blobs.put(canonical)).await??)
        }
        None => None,
    };
    let (id, name) = (ids::new_id(), name.unwrap_or_default());
    let state = if blob.is_some() { SubmissionState::Queued } else { SubmissionState::Failed };
    let mut tx = app.store.begin().await?;
    records::phase_alone(&mut tx, &phase.id).await?;
    tx.execute("DELETE FROM dry_run WHERE phase = $1", args![&phase.id]).await?;
    let row = columns! {
        id: &id, phase: &phase.id, state: state.name(), file: &name, blob: blob.as_deref(),
        report: serde_json::to_string(&report)?, scores: "[]", created_at: clock::now(),
    };
    tx.insert_row("dry_run", row).await?;
    if blob.is_some() {
        jobs::add::<TryFile>(&mut tx, &id, Priority::Awaited).await?;
    }
    notes::note(&mut tx, Some(&by.id), "phase.dry-run", &phase.id, json!({ "file": name })).await?;
    app.commit(tx).await?;
    last(&app.store, &phase.id).await?.ok_or_else(Fault::not_found)
}

/// Scores the file of a dry run.
pub struct TryFile;

impl Work for TryFile {
    const KIND: &'static str = "dry-run";
    const LANE: Lane = Lane::Checks;
    /// The dry run.
    type Subject = String;
    /// `None` if another one has taken its place.
    type Output = Option<Vec<SetScores>>;

    async fn run(app: &App, job: &Job) -> Result<Self::Output, Failure> {
        let sql = "SELECT phase, blob FROM dry_run WHERE id = $1";
        let found: Option<(String, Option<String>)> =
            app.store.fetch_optional(sql, args![&job.subject]).await?;
        let Some((phase, Some(blob))) = found else { return Ok(None) };
        let phase = records::phase_of(&app.store, &phase).await?;
        let sets = records::all_sets(&app.store, &phase.id).await?;
        let captions = app.blobs.ready(&blob).await?;
        scoring::score(app, &phase, sets.iter(), Some(captions), (job.is_awaited, true)).await.map(Some)
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<Self::Output, String>) -> Result<()> {
        let (state, scores, reason) = match outcome {
            Ok(None) => return Ok(()),
            Ok(Some(scores)) => (SubmissionState::Scored, scores, None),
            Err(reason) => (SubmissionState::Failed, Vec::new(), Some(reason)),
        };
        // The file is not needed any more.
        let row = columns! {
            state: state.name(), scores: serde_json::to_string(&scores)?, reason,
            finished_at: clock::now(), blob: None::<String>,
        };
        tx.change_row("dry_run", &job.subject, row).await?;
        Ok(())
    }
}
