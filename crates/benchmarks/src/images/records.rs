//! Results image by image in the database, who may see them, and their state.

use capeval_api::{ImageResultsState, PerImage, SubmissionKind, SubmissionState};
use capeval_site::jobs::queue;
use capeval_site::jobs::queue::Wait;
use capeval_site::prelude::*;
use serde::Deserialize;

use super::build::BuildImages;
use crate::records;
use crate::submissions::SeenSubmission;

/// The most that one person has built in a minute.
const PER_MINUTE: u32 = 20;

/// Results by one reference set.
#[derive(Clone, Debug, Deserialize)]
pub struct SetResults {
    /// The id and the name of the reference set.
    pub set_id: String,
    #[serde(rename = "set_name")]
    pub set: String,
    /// The hash of the page.
    pub page: String,
    pub page_size: i64,
    /// The content security policy of the page.
    pub policy: String,
    /// The hash of the scores as JSON Lines.
    pub lines: String,
    pub lines_size: i64,
}

/// A submission whose results the visitor may see image by image.
pub struct SeenImages(pub SeenSubmission);

/// `{id}`
impl Subject for SeenImages {
    const KIND: &'static str = "results image by image";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let of = SeenSubmission::find(app, names, visitor).await?;
        if are_shown(&of) { Ok(Self(of)) } else { Err(Fault::not_found()) }
    }

    fn standing(&self) -> Standing {
        self.0.standing()
    }
}

/// Returns true if those who may see a submission may now see its results image by image.
fn are_shown(of: &SeenSubmission) -> bool {
    of.phase.per_image != PerImage::Nothing
        && of.shows_scores()
        && of.submission.state == SubmissionState::Scored
        && of.submission.kind != SubmissionKind::Human
}

/// The progress of results image by image.
pub struct State {
    pub state: ImageResultsState,
    /// The reason why they could not be built.
    pub reason: Option<String>,
    pub wait: Option<Wait>,
    /// The results by each reference set, once they are ready.
    pub built: Vec<SetResults>,
}

/// The progress of the results of a submission image by image; `None` if the visitor may not see them.
pub async fn state(app: &App, of: &SeenSubmission) -> Result<Option<State>> {
    if !are_shown(of) {
        return Ok(None);
    }
    let id = of.submission.id.as_str();
    let mut snapshot = app.store.snapshot().await?;
    let built = built_in(&mut snapshot, id).await?;
    let built = shown(&app.store, of, built).await?;
    let (is_building, reason) = jobs::progress::<BuildImages>(&mut snapshot, &of.submission.id).await?;
    drop(snapshot);
    let state = match () {
        () if !built.is_empty() => ImageResultsState::Ready,
        () if is_building => ImageResultsState::Building,
        () if reason.is_some() => ImageResultsState::Failed,
        () => ImageResultsState::Unbuilt,
    };
    let wait = match state {
        ImageResultsState::Building => queue::wait(&app.store, id, app.settings.workers).await?,
        _ => None,
    };
    let reason = reason.filter(|_| state == ImageResultsState::Failed);
    let reason = reason.map(|reason| if of.seen.is_host { reason } else { app.public_reason(&reason) });
    Ok(Some(State { state, reason, wait, built }))
}

/// The results of a submission by all reference sets, for the scores that boards show.
const BUILT: &str = "SELECT reference_set.id AS set_id, reference_set.name AS set_name, page, page_size, policy, lines, lines_size FROM image_result \
    JOIN reference_set ON reference_set.id = image_result.reference_set \
    JOIN phase ON phase.id = reference_set.phase \
    WHERE image_result.submission = $1 AND image_result.score_set = phase.score_set \
    ORDER BY reference_set.position, reference_set.id";

async fn built_in(tx: &mut Tx, submission: &str) -> Result<Vec<SetResults>, Error> {
    tx.fetch(BUILT, args![submission]).await
}

/// Those results that the visitor may see now.
async fn shown(
    store: &Store,
    of: &SeenSubmission,
    mut built: Vec<SetResults>,
) -> Result<Vec<SetResults>, Error> {
    let sets = records::sets(store, &of.seen_phase()).await?;
    built.retain(|built| sets.iter().any(|set| set.id == built.set_id));
    Ok(built)
}

/// The results of a submission by the reference set with this name, or else by the first.
pub async fn built(store: &Store, of: &SeenSubmission, set: &str) -> Result<Option<SetResults>, Error> {
    let built = shown(store, of, store.fetch(BUILT, args![&of.submission.id]).await?).await?;
    Ok(built.into_iter().find(|built| set.is_empty() || built.set == set))
}

/// Has results image by image built, unless they are, or are about to be.
pub async fn build(app: &App, by: &Visitor, SeenImages(of): &SeenImages) -> Result<()> {
    app.limits.take("images", &by.id, PER_MINUTE)?;
    let id = &of.submission.id;
    let mut tx = app.store.begin().await?;
    if built_in(&mut tx, id).await?.is_empty() {
        jobs::add_once::<BuildImages>(&mut tx, id, Priority::Background).await?;
        app.commit(tx).await?;
    }
    Ok(())
}

/// Forgets the results of all submissions of a phase, which now shows something else.
pub async fn forget(tx: &mut Tx, phase: &str) -> Result<(), Error> {
    let sql = "DELETE FROM image_result WHERE submission IN (SELECT id FROM submission WHERE phase = $1)";
    tx.execute(sql, args![phase]).await.map(drop)
}
