//! How metrics agree with the people who judged captions of a phase: of its submissions, and of its references.

use std::collections::HashMap;

use capeval_choice::SegmentId;
use capeval_tasks::{Agreement, Correlate};
use tempfile::TempDir;

use super::RatedCaption;
use crate::app::App;
use crate::benchmarks::records::{self, Phase};
use crate::benchmarks::scoring::readable;
use crate::fault::Fault;
use crate::jobs::queue::Priority;
use crate::jobs::{self, Failure, Job, Work, child};
use crate::store::{Store, Tx};
use crate::{args, clock};

/// Correlates the metrics of a phase with what people said about captions.
pub struct CorrelatePhase;

/// Images below which distributions of scores are not drawn: those of a few images tell the score of each.
pub const IMAGES: usize = 20;

/// The judgements of the newest evaluation of a phase in which somebody has judged.
const JUDGED: &str = "SELECT item.image, item.caption, judgement.grade, submission.method, team.name AS team \
     FROM judgement JOIN evaluation_item AS item ON item.id = judgement.item \
     LEFT JOIN submission ON submission.id = item.submission LEFT JOIN team ON team.id = submission.team \
     WHERE submission.disqualified_at IS NULL AND item.evaluation = (SELECT id FROM evaluation WHERE phase = $1 \
     AND EXISTS (SELECT 1 FROM evaluation_item AS other WHERE other.evaluation = evaluation.id AND other.judged > 0) \
     ORDER BY id DESC LIMIT 1) ORDER BY item.id, judgement.account";

/// Whether people have judged captions of a phase.
///
/// # Errors
/// If the database fails.
pub async fn is_judged(store: &Store, phase: &Phase) -> Result<bool, Fault> {
    Ok(store.first(JUDGED, args![&phase.id]).await?.is_some())
}

/// Has the correlations of a phase worked out, unless that is about to happen.
///
/// # Errors
/// If the database fails.
pub async fn refresh(app: &App, phase: &Phase) -> Result<(), Fault> {
    let mut tx = app.store.begin().await?;
    if !super::is_waiting::<CorrelatePhase>(&mut tx, &phase.id).await? {
        jobs::add::<CorrelatePhase>(&mut tx, &phase.id, Priority::Background).await?;
    }
    tx.commit().await?;
    app.wake.notify();
    Ok(())
}

/// The judgements as a file of ratings.
async fn ratings(
    app: &App,
    phase: &Phase,
    known: &HashMap<String, SegmentId>,
) -> Result<Vec<RatedCaption<SegmentId>>, Failure> {
    let mut ratings = Vec::new();
    for row in app.store.all(JUDGED, args![&phase.id]).await? {
        let image: String = row.get("image")?;
        // Ids keep their type: 7 and "7" are two images.
        let Some(id) = known.get(&image) else { continue };
        let (team, method): (Option<String>, Option<String>) = (row.get("team")?, row.get("method")?);
        let system = match (team, method) {
            (Some(team), Some(method)) => format!("{team}: {method}"),
            (None, Some(method)) => method,
            _ => "human".to_owned(),
        };
        ratings.push(RatedCaption {
            image_id: id.clone(),
            caption: row.get("caption")?,
            system,
            rating: row.get("grade")?,
        });
    }
    Ok(ratings)
}

impl Work for CorrelatePhase {
    const KIND: &'static str = "phase-agreement";
    type Subject = String;
    type Done = Agreement;

    async fn run(app: &App, job: &Job) -> Result<Agreement, Failure> {
        let phase = records::phase_of(&app.store, &job.subject).await?;
        let sets = records::sets(&app.store, &phase.id).await?;
        let set = sets.iter().find(|set| set.name == phase.main_set);
        let Some((set, ids)) = set.and_then(|set| Some((set, set.ids_hash.as_ref()?))) else {
            return Err(Failure::Lasting("the references are not ready".to_owned()));
        };
        let ids: Vec<SegmentId> = serde_json::from_slice(&app.hidden.read(ids)?)?;
        let known = ids.into_iter().map(|id| (id.to_string(), id)).collect();
        let ratings = ratings(app, &phase, &known).await?;
        if ratings.is_empty() {
            return Err(Failure::Lasting("no caption has been judged".to_owned()));
        }
        let folder = TempDir::new_in(app.hidden.folder().join("new"))?;
        let path = folder.path().join("ratings.json");
        std::fs::write(&path, serde_json::to_vec(&ratings)?)?;
        let references = app.hidden.ready(&set.source_hash).await?;
        let allowance = child::allowance(app, readable(app, [path.clone(), references.clone()]));
        let task = Correlate { ratings: path, references, metrics: set.metrics(&phase, app) };
        let mut found = child::run(app, allowance, task).await?;
        if found.images < IMAGES {
            found.figures.truncate(1);
        }
        Ok(found)
    }

    async fn finish(
        _: &App,
        tx: &mut Tx,
        job: &Job,
        outcome: Result<Agreement, String>,
    ) -> Result<(), Fault> {
        let Ok(found) = outcome else { return Ok(()) };
        tx.execute(
            "INSERT INTO phase_agreement (phase, result, created_at) VALUES ($1, $2, $3) \
             ON CONFLICT (phase) DO UPDATE SET result = excluded.result, created_at = excluded.created_at",
            args![&job.subject, serde_json::to_string(&found)?, clock::now()],
        )
        .await?;
        Ok(())
    }
}
