//! The routes by which hosts' machines claim submissions and post scores.

use axum::http::HeaderMap;
use axum::response::Response;
use capeval_api::{Claim, GivenFailure, GivenScores, NewClaim, ScoringQueue};
use capeval_site::prelude::*;
use capeval_site::web::download;

use super::posts;
use super::tasks::{self, SeenClaim, Task};
use crate::records::SeenPhase;
use crate::settings::Phase;

/// The minutes of a claim: by default, and at most.
const MINUTES: u32 = 30;
const MOST_MINUTES: u32 = 1_440;

pub(crate) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get("/api/v1/host/phases/{id}/queue", host, "Count the submissions that wait for your scorer", queue),
        post("/api/v1/host/phases/{id}/claims", host, "Claim the next submission to score", claim),
        get(
            "/api/v1/host/claims/{claim}/captions",
            host,
            "Download the captions of a claimed submission",
            captions,
        )
        .sends(200, "application/json"),
        post("/api/v1/host/claims/{claim}/scores", host, "Give the scores of a claimed submission", give)
            .upload(),
        post(
            "/api/v1/host/claims/{claim}/failure",
            host,
            "Say why a claimed submission gets no scores",
            fail,
        ),
    ]
}

async fn queue(app: App, Hosted(of): Hosted<SeenPhase>) -> Result<Answer<ScoringQueue>> {
    let (waiting, claimed) = tasks::counts(&app.store, &of.phase.id).await?;
    Ok(Answer::json(&ScoringQueue { waiting, claimed }))
}

async fn claim(
    app: App,
    by: Visitor,
    Hosted(SeenPhase { phase, .. }): Hosted<SeenPhase>,
    Body(new): Body<NewClaim>,
) -> Result<Either<Created<Claim>, NoContent>> {
    let minutes = new.minutes.unwrap_or(MINUTES);
    if !(1..=MOST_MINUTES).contains(&minutes) {
        return Err(fault!(UNPROCESSABLE_ENTITY, "minutes", "A claim takes 1 to {} minutes.", MOST_MINUTES));
    }
    if phase.given.is_empty() {
        return Err(fault! {
            CONFLICT, "no-scorer", "This phase declares no measures that your machines give."
        });
    }
    Ok(match tasks::claim(&app, &by, &phase, minutes).await? {
        Some(task) => Either::One(Created::json(&shown(&app, &phase, &task))),
        None => Either::Other(NoContent::json(&())),
    })
}

fn shown(app: &App, phase: &Phase, task: &Task) -> Claim {
    let claim = task.claim();
    Claim {
        captions: app.settings.url(&format!("/api/v1/host/claims/{claim}/captions")),
        submission: task.submission.clone(),
        attempt: task.attempt,
        expires_at: clock::time(task.lease_until),
        measures: phase.given.iter().map(|measure| measure.key.clone()).collect(),
        claim,
    }
}

async fn captions(app: App, Hosted(claim): Hosted<SeenClaim>, headers: HeaderMap) -> Result<Response> {
    let hash = tasks::captions(&app.store, &claim.task.submission).await?;
    let path = app.blobs.ready(&hash).await?;
    download::send(&path, &hash, None, "application/json", &headers).await
}

async fn give(app: App, claim: Hosted<SeenClaim>, Body(given): Body<GivenScores>) -> Result<NoContent> {
    posts::give(&app, &claim, &given).await?;
    Ok(NoContent::json(&()))
}

async fn fail(app: App, claim: Hosted<SeenClaim>, Body(given): Body<GivenFailure>) -> Result<NoContent> {
    posts::fail(&app, &claim, &given).await?;
    Ok(NoContent::json(&()))
}
