//! Samples the captions to judge: those of the entries on the board, of baselines, and of the references.

use std::collections::HashMap;

use capeval_api::EvaluationState;
use capeval_choice::SegmentId;
use capeval_site::jobs::child;
use capeval_site::prelude::*;
use capeval_tasks::Sample;
use serde::Deserialize;

use super::records;
use crate::board;
use crate::records::{all_sets, phase_of};

/// Samples the captions of an evaluation.
pub struct SampleCaptions;

/// The most systems of an evaluation, the best of the board.
const SYSTEMS: usize = 30;

/// A caption of a submission as it is stored.
#[derive(Deserialize)]
struct Line {
    image_id: SegmentId,
    caption: String,
}

/// A caption to judge.
pub struct Item {
    /// The submission; `None` for a reference.
    submission: Option<String>,
    image: String,
    caption: String,
}

impl Work for SampleCaptions {
    const KIND: &'static str = "sample";
    const LANE: Lane = Lane::Checks;
    /// The evaluation.
    type Subject = String;
    type Output = Vec<Item>;

    async fn run(app: &App, job: &Job) -> Result<Vec<Item>, Failure> {
        let evaluation = records::by_id(&app.store, &job.subject).await?;
        let phase = phase_of(&app.store, &evaluation.phase).await?;
        let of_phase = all_sets(&app.store, &phase.id).await?;
        let Some(set) = phase.main_of(&of_phase) else {
            return Err(Failure::Lasting(reason!("the phase has no references")));
        };
        let Some(ids_hash) = &set.ids_hash else {
            return Err(Failure::Lasting(reason!("the references are not ready")));
        };
        let mut images: Vec<SegmentId> = serde_json::from_slice(&app.hidden.read(ids_hash)?)?;
        images.sort_by_cached_key(|image| ids::digest(format!("{}/{image}", evaluation.id)));
        images.truncate(evaluation.images);

        let source = app.hidden.ready(&set.source_hash).await?;
        let allowance = child::allowance(app, child::readable(app, [source.clone()]));
        let task = Sample { source, images: images.clone(), seed: evaluation.id.clone() };
        let references = child::run(app, allowance, task).await?;
        let wanted: Vec<String> = images.iter().map(ToString::to_string).collect();
        let of_people = wanted.iter().cloned().zip(references);
        let mut items: Vec<Item> =
            of_people.map(|(image, caption)| Item { submission: None, image, caption }).collect();
        let systems = board::with_captions(&app.store, &phase, set).await?;
        if systems.is_empty() {
            return Err(Failure::Lasting(reason!("no submission is on the board")));
        }
        for (submission, blob) in systems.into_iter().take(SYSTEMS) {
            let lines: Vec<Line> = serde_json::from_slice(&app.blobs.read(&blob)?)?;
            let captions: HashMap<String, String> =
                lines.into_iter().map(|line| (line.image_id.to_string(), line.caption)).collect();
            items.extend(wanted.iter().filter_map(|image| {
                let caption = captions.get(image)?.clone();
                Some(Item { submission: Some(submission.clone()), image: image.clone(), caption })
            }));
        }
        Ok(items)
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<Vec<Item>, String>) -> Result<()> {
        let (state, reason, items) = match outcome {
            Ok(items) => (EvaluationState::Open, None, items),
            Err(reason) => (EvaluationState::Failed, Some(reason), Vec::new()),
        };
        let sql = "UPDATE evaluation SET state = $1, reason = $2 WHERE id = $3 AND state = 'preparing'";
        let opened = tx.execute(sql, args![state.name(), reason, &job.subject]).await?;
        if opened == 0 {
            return Ok(());
        }
        for Item { submission, image, caption } in items {
            let id = ids::new_id();
            let row = columns! {
                id: &id, evaluation: &job.subject, submission, image, caption, position: ids::digest(&id),
                judged: 0_i64,
            };
            tx.insert_row("evaluation_item", row).await?;
        }
        Ok(())
    }
}
