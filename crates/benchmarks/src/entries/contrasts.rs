//! Compares two entries image by image, if their phase shows such results to the visitor: the scores of each image, and
//! the images on which the two differ most.

use capeval_api::{EntryPair, PerImage};
use capeval_site::prelude::*;
use capeval_tasks::{MeasureContrast, MeasureInfo, SetContrast};

use super::pairs::{BySet, Pair, Progress};
use super::records::SeenEntry;
use crate::records::{self, SeenPhase};
use crate::scoring;
use crate::settings::Phase;

/// Compares two submissions image by image.
pub struct ContrastPair;

/// The comparisons image by image that are kept for each team in a phase: the newest.
const KEPT: i64 = 20;

/// Two entries image by image, by one reference set and measure.
pub struct ByImage {
    pub progress: Progress,
    /// The name of the reference set.
    pub set: String,
    pub measure: MeasureInfo,
    /// The result, once they are compared.
    pub found: Option<MeasureContrast>,
}

/// Returns true if the visitor may see two entries image by image: the phase shows that, and they run it or are in the
/// teams of both.
fn are_shown(of: &SeenPhase, entries: &[SeenEntry; 2]) -> bool {
    of.phase.per_image != PerImage::Nothing
        && entries.iter().all(|entry| entry.submission.blob.is_some() && (of.seen.is_host || entry.is_member))
}

/// Two entries image by image, by the reference set and the measure that are asked for, or else by those that rank;
/// `None` if the visitor may not see that.
pub async fn by_image(
    app: &App,
    of: &SeenPhase,
    entries: &[SeenEntry; 2],
    sets: &[BySet],
    asked: &EntryPair,
) -> Result<Option<ByImage>> {
    let is_meant = |by: &&BySet| match asked.set.as_str() {
        "" => by.set.whole() == of.phase.main_set,
        name => by.set.name == name,
    };
    let Some(by) = sets.iter().find(is_meant) else {
        return if asked.set.is_empty() { Ok(None) } else { Err(Fault::not_found()) };
    };
    let measure = match asked.measure.as_str() {
        "" => by.set.main_measure(&of.phase),
        key => by.set.measures.iter().find(|measure| measure.key == key),
    };
    let measure = measure.ok_or_else(Fault::not_found)?;
    if !are_shown(of, entries) {
        return Ok(None);
    }
    let pair = Pair::of(entries);
    let mut found = find_contrast(&app.store, &of.phase, &pair, &by.set.id, &measure.key).await?;
    let progress = Progress::of::<ContrastPair>(app, &pair, found.is_some()).await?;
    if let Some(found) = found.as_mut().filter(|_| pair.one != entries[0].submission.id) {
        turn(found);
    }
    Ok(Some(ByImage { progress, set: by.set.name.clone(), measure: measure.clone(), found }))
}

/// Puts the other submission first.
fn turn(found: &mut MeasureContrast) {
    found.points.iter_mut().for_each(|(one, other, _)| std::mem::swap(one, other));
    found.better.reverse();
    for image in found.better.iter_mut().flatten() {
        image.scores.reverse();
        image.captions.reverse();
    }
}

async fn find_contrast(
    store: &Store,
    phase: &Phase,
    Pair { one, other }: &Pair,
    set: &str,
    metric: &str,
) -> Result<Option<MeasureContrast>> {
    let sql = "SELECT result FROM contrast \
               WHERE score_set = $1 AND one = $2 AND other = $3 AND reference_set = $4 AND metric = $5";
    let score_set = phase.score_set.as_deref().unwrap_or_default();
    let found: Option<String> = store.fetch_optional(sql, args![score_set, one, other, set, metric]).await?;
    Ok(found.map(|found| serde_json::from_str(&found)).transpose()?)
}

/// The result for a phase as it was then; `None` if it shows nothing.
pub struct PhaseContrasts(Option<(Phase, Vec<SetContrast>)>);

impl Work for ContrastPair {
    const KIND: &'static str = "contrast-pair";
    const LANE: Lane = Lane::Comparisons;
    type Subject = Pair;
    type Output = PhaseContrasts;

    async fn run(app: &App, job: &Job<Pair>) -> Result<PhaseContrasts, Failure> {
        let (phase, sets, pair) = job.subject.to_compare(app).await?;
        if phase.per_image == PerImage::Nothing {
            return Ok(PhaseContrasts(None));
        }
        let found = scoring::contrast_pair(app, &phase, &sets, &pair).await?;
        Ok(PhaseContrasts(Some((phase, found))))
    }

    async fn finish(
        _: &App,
        tx: &mut Tx,
        job: &Job<Pair>,
        outcome: Result<PhaseContrasts, String>,
    ) -> Result<()> {
        let Ok(PhaseContrasts(Some((then, found)))) = outcome else { return Ok(()) };
        let Pair { one, other } = &job.subject;
        let phase = records::phase_alone(tx, &then.id).await?;
        // The hosts have changed their minds, or everything was scored again; those who still want it ask again.
        if phase.per_image == PerImage::Nothing || phase.score_set != then.score_set {
            return Ok(());
        }
        let now = clock::now();
        for set in &found {
            for measure in &set.measures {
                let row = columns! {
                    score_set: phase.score_set.as_deref(), one, other, reference_set: &set.set,
                    metric: &measure.key, result: serde_json::to_string(measure)?, created_at: now,
                };
                tx.add_row("contrast", row).await?;
            }
        }
        forget_oldest(tx, &phase, one).await
    }
}

/// Forgets all but the newest comparisons of the team of a submission in a phase.
async fn forget_oldest(tx: &mut Tx, phase: &Phase, submission: &str) -> Result<()> {
    let sql = "SELECT MAX(contrast.created_at) AS at FROM contrast JOIN submission ON submission.id = contrast.one \
               WHERE submission.phase = $1 AND COALESCE(submission.team, '') = \
               (SELECT COALESCE(team, '') FROM submission WHERE id = $2) \
               GROUP BY contrast.one, contrast.other ORDER BY at DESC LIMIT 1 OFFSET $3";
    let last: Option<i64> = tx.fetch_optional(sql, args![&phase.id, submission, KEPT]).await?;
    if let Some(last) = last {
        let sql = "DELETE FROM contrast WHERE created_at <= $3 AND one IN (SELECT id FROM submission WHERE phase = $1 \
                   AND COALESCE(team, '') = (SELECT COALESCE(team, '') FROM submission WHERE id = $2))";
        tx.execute(sql, args![&phase.id, submission, last]).await?;
    }
    Ok(())
}
