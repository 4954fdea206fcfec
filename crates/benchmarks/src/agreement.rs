//! Measures how well metrics agree with the people who judged captions of a phase: those of submissions, and its
//! references.

use std::collections::HashMap;

use capeval_choice::SegmentId;
use capeval_site::jobs::child;
use capeval_site::prelude::*;
use capeval_tasks::{Agreement, Correlate};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use tempfile::TempDir;

use super::settings::Phase;
use super::{programs, records};

/// Correlates the metrics of a phase with what people said about captions.
pub struct CorrelatePhase;

/// Images below which distributions of scores are not drawn: those of a few images tell the score of each.
pub const IMAGES: usize = 20;

/// Agreement of metrics with people, as a job has computed it.
#[derive(Deserialize)]
pub struct FoundAgreement {
    #[serde(deserialize_with = "deserialize_agreement")]
    pub result: Agreement,
    pub created_at: i64,
}

/// A column with an agreement as JSON.
fn deserialize_agreement<'de, D: Deserializer<'de>>(column: D) -> Result<Agreement, D::Error> {
    serde_json::from_str(&String::deserialize(column)?).map_err(D::Error::custom)
}

/// A line of a file of ratings; `I` is the type of ids.
#[derive(Serialize)]
pub struct RatedCaption<I> {
    pub image_id: I,
    pub caption: String,
    pub system: String,
    pub rating: i64,
}

/// A judgement, with the system whose caption it is about.
#[derive(Deserialize)]
struct SystemJudgement {
    image: String,
    caption: String,
    grade: i64,
    method: Option<String>,
    team: Option<String>,
}

/// The judgements of the newest evaluation of a phase with a judgement.
const JUDGED: &str = "SELECT item.image, item.caption, judgement.grade, submission.method, team.name AS team \
     FROM judgement JOIN evaluation_item AS item ON item.id = judgement.item \
     LEFT JOIN submission ON submission.id = item.submission LEFT JOIN team ON team.id = submission.team \
     WHERE submission.disqualified_at IS NULL AND item.evaluation = (SELECT id FROM evaluation WHERE phase = $1 \
     AND EXISTS (SELECT 1 FROM evaluation_item AS other WHERE other.evaluation = evaluation.id AND other.judged > 0) \
     ORDER BY id DESC LIMIT 1) ORDER BY item.id, judgement.account";

/// Returns true if people have judged captions of a phase.
pub async fn is_judged(store: &Store, phase: &Phase) -> Result<bool> {
    Ok(store.exists(JUDGED, args![&phase.id]).await?)
}

/// The last result of a job for a phase.
pub async fn found_for(store: &Store, phase: &Phase) -> Result<Option<FoundAgreement>, Error> {
    store.fetch_optional("SELECT * FROM phase_agreement WHERE phase = $1", args![&phase.id]).await
}

/// Has the correlations of a phase calculated, unless that is about to happen.
pub async fn refresh(app: &App, phase: &Phase) -> Result<()> {
    let mut tx = app.store.begin().await?;
    jobs::add_once::<CorrelatePhase>(&mut tx, &phase.id, Priority::Background).await?;
    Ok(app.commit(tx).await?)
}

/// The judgements as a file of ratings.
async fn ratings(
    app: &App,
    phase: &Phase,
    known: &HashMap<String, SegmentId>,
) -> Result<Vec<RatedCaption<SegmentId>>, Failure> {
    let mut ratings = Vec::new();
    for judged in app.store.fetch::<SystemJudgement>(JUDGED, args![&phase.id]).await? {
        // Ids keep their type: 7 and "7" are two images.
        let Some(id) = known.get(&judged.image) else { continue };
        let system = match (judged.team, judged.method) {
            (Some(team), Some(method)) => format!("{team}: {method}"),
            (None, Some(method)) => method,
            _ => "human".to_owned(),
        };
        ratings.push(RatedCaption {
            image_id: id.clone(),
            caption: judged.caption,
            system,
            rating: judged.grade,
        });
    }
    Ok(ratings)
}

impl Work for CorrelatePhase {
    const KIND: &'static str = "phase-agreement";
    const LANE: Lane = Lane::Comparisons;
    type Subject = String;
    type Output = Agreement;

    async fn run(app: &App, job: &Job) -> Result<Agreement, Failure> {
        let phase = records::phase_of(&app.store, &job.subject).await?;
        let mut sets = records::all_sets(&app.store, &phase.id).await?;
        sets.retain(|set| set.whole() == phase.main_set && !set.is_withheld && set.ids_hash.is_some());
        let Some(set) = sets.first() else {
            return Err(Failure::Lasting(reason!("the references are not ready")));
        };
        let mut known = HashMap::new();
        for hash in sets.iter().filter_map(|set| set.ids_hash.as_ref()) {
            let ids: Vec<SegmentId> = serde_json::from_slice(&app.hidden.read(hash)?)?;
            known.extend(ids.into_iter().map(|id| (id.to_string(), id)));
        }
        let ratings = ratings(app, &phase, &known).await?;
        if ratings.is_empty() {
            return Err(Failure::Lasting(reason!("no caption has been judged")));
        }
        let folder = TempDir::new_in(app.hidden.drafts())?;
        let path = folder.path().join("ratings.json");
        std::fs::write(&path, serde_json::to_vec(&ratings)?)?;
        let references = app.hidden.ready(&set.source_hash).await?;
        let metrics = set.metrics(&phase, app).await?;
        let allowance = programs::allowance(app, [&metrics], [path.clone(), references.clone()]);
        let task = Correlate { ratings: path, references, metrics };
        let mut found = child::run(app, allowance, task).await?;
        if found.images < IMAGES {
            found.figures.truncate(1);
            found.by_grade.clear();
        }
        Ok(found)
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, outcome: Result<Agreement, String>) -> Result<()> {
        let Ok(found) = outcome else { return Ok(()) };
        let result = serde_json::to_string(&found)?;
        let row = columns! { phase: &job.subject, result, created_at: clock::now() };
        Ok(tx.put_row("phase_agreement", &["phase"], row).await?)
    }
}
