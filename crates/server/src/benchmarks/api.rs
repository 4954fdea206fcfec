//! Benchmarks for programs: what there is, handing in, following, and the description of all this.

use axum::extract::{Path, Request};
use axum::http::HeaderMap;
use capeval_api::{
    Benchmark, Benchmarks, Details, Phase, Quota, Report, Submission, SubmissionState, Submissions,
};

use super::records::SeenPhase;
use super::submissions::SeenSubmission;
use super::submit::{self, Outcome, idempotency_key, receive};
use super::{events, quota, records, submissions, teams, upload};
use crate::accounts::Visitor;
use crate::app::App;
use crate::fault;
use crate::fault::Fault;
use crate::jobs::queue;
use crate::web::route::{get, post};
use crate::web::{Access, Answer, Created, Either, Own, Page, Route, Scope, Visible};
use crate::{args, clock};

/// The most rows of a list.
const MOST: i64 = 500;

pub(super) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/api/v1/benchmarks", Access::Public, "List all benchmarks with their phases", benchmarks),
        get("/api/v1/phases/{id}", Access::Public, "Show a phase with its reference sets", phase),
        post("/api/v1/phases/{id}/validate", read, "Validate results without submitting them", validate)
            .upload(),
        post("/api/v1/phases/{id}/submissions", submit, "Submit results", add).upload(),
        get("/api/v1/phases/{id}/submissions", read, "List your team's submissions", list),
        get("/api/v1/phases/{id}/quota", read, "Show how many submissions are left", left),
        get("/api/v1/submissions/{id}", read, "Show the state and the scores of a submission", show),
        get("/api/v1/submissions/{id}/events", read, "Stream the progress of a submission", events::events)
            .sends(200, "text/event-stream"),
        post("/api/v1/submissions/{id}/cancel", submit, "Cancel a queued submission", cancel),
        post(
            "/api/v1/submissions/{id}/pin",
            submit,
            "Show this submission on the leaderboard instead of the best",
            pin,
        ),
    ]
}

async fn benchmarks(app: App, page: Page) -> Result<Answer<Benchmarks>, Fault> {
    let mut list = Vec::new();
    for seen in records::visible(&app.store, page.visitor.as_ref()).await? {
        let mut phases = Vec::new();
        for phase in records::phases(&app.store, &seen.benchmark.id).await? {
            let sets = records::sets(&app.store, &phase.id).await?;
            phases.push(records::phase_for_programs(&seen, &phase, &sets));
        }
        let records::Benchmark { slug, title, summary, .. } = seen.benchmark;
        list.push(Benchmark { slug, title, summary, phases });
    }
    Ok(Answer::json(&Benchmarks { benchmarks: list }))
}

async fn phase(app: App, Visible(of): Visible<SeenPhase>) -> Result<Answer<Phase>, Fault> {
    let sets = records::sets(&app.store, &of.phase.id).await?;
    Ok(Answer::json(&records::phase_for_programs(&of.seen, &of.phase, &sets)))
}

async fn validate(
    app: App,
    by: Visitor,
    Visible(of): Visible<SeenPhase>,
    request: Request,
) -> Result<Answer<Report>, Fault> {
    app.limits.take("uploads", &by.id, app.settings.uploads_per_minute)?;
    let sets = records::sets(&app.store, &of.phase.id).await?;
    let received = receive(&app, request).await?;
    let checked = upload::check(&app, &sets, received.file).await?;
    Ok(Answer::json(&checked.report))
}

/// The fault of results that cannot be scored, with the whole report.
fn invalid(report: Report) -> Fault {
    let fault = fault!(
        UNPROCESSABLE_ENTITY,
        "invalid",
        "The file cannot be scored; the report says why. This does not count against your quota."
    );
    fault.more(Details { report: Some(report), ..Details::default() })
}

async fn add(
    app: App,
    by: Visitor,
    Visible(SeenPhase { phase, .. }): Visible<SeenPhase>,
    headers: HeaderMap,
    request: Request,
) -> Result<Either<Created<Submission>, Answer<Submission>>, Fault> {
    let key = idempotency_key(&headers)?;
    if let Err(fault) = submit::admit(&app, &by, &phase, key.as_deref()).await {
        upload::discard(&app, request.into_body()).await;
        return Err(fault);
    }
    let received = receive(&app, request).await?;
    let place = |id: &str| format!("/api/v1/submissions/{id}");
    match submit::submit(&app, &by, &phase, received, key.as_deref()).await? {
        Outcome::Queued(id) => {
            Ok(Either::One(Created::json(&for_programs(&app, &by, &id).await?).at(&place(&id))))
        }
        Outcome::Repeated(id) => {
            Ok(Either::Other(Answer::json(&for_programs(&app, &by, &id).await?).at(&place(&id))))
        }
        Outcome::Same(id) => {
            let fault = fault!(
                CONFLICT,
                "same-file",
                "Your team has already submitted these captions. This does not count against your quota."
            );
            let submission = Some(for_programs(&app, &by, &id).await?);
            Err(fault.more(Details { submission, ..Details::default() }))
        }
        Outcome::Invalid(report) => Err(invalid(report)),
    }
}

/// A submission for programs, if the visitor may see it.
pub(super) async fn for_programs(app: &App, visitor: &Visitor, id: &str) -> Result<Submission, Fault> {
    let (seen, phase, submission) = submissions::own(&app.store, id, visitor).await?;
    shown(app, &SeenSubmission { seen, phase, submission }).await
}

async fn shown(app: &App, of: &SeenSubmission) -> Result<Submission, Fault> {
    let SeenSubmission { seen, phase, submission } = of;
    let sets = records::sets(&app.store, &phase.id).await?;
    let is_scored = submission.state == SubmissionState::Scored;
    let scores = match submissions::shows_scores(seen, phase) && is_scored {
        true => Some(submissions::scores(&app.store, phase, &submission.id).await?),
        false => None,
    };
    let wait = match submission.is_open() {
        true => queue::wait(&app.store, &submission.id, app.settings.workers).await?,
        false => None,
    };
    Ok(submissions::for_programs(app, phase, submission, &sets, scores.as_ref(), wait))
}

async fn list(
    app: App,
    by: Visitor,
    Visible(SeenPhase { phase, .. }): Visible<SeenPhase>,
) -> Result<Answer<Submissions>, Fault> {
    let rows: Vec<submissions::Submission> = app
        .store
        .fetch(
            "SELECT submission.* FROM submission JOIN entry_member ON entry_member.team = submission.team \
             AND entry_member.phase = submission.phase \
             WHERE submission.phase = $1 AND entry_member.account = $2 ORDER BY submission.id DESC LIMIT $3",
            args![&phase.id, &by.id, MOST],
        )
        .await?;
    let mut list = Vec::new();
    for row in &rows {
        list.push(for_programs(&app, &by, &row.id).await?);
    }
    Ok(Answer::json(&Submissions { submissions: list }))
}

async fn left(app: App, by: Visitor, Visible(of): Visible<SeenPhase>) -> Result<Answer<Quota>, Fault> {
    let team = teams::in_phase(&app.store, &of.phase.id, &by.id).await?;
    let id = team.as_ref().map_or("", |team| team.id.as_str());
    let meter = quota::meter(&app.store, &of.phase, id).await?;
    Ok(Answer::json(&Quota {
        left: meter.left(),
        team: team.map(|team| team.name),
        used_today: meter.used_today,
        per_day: meter.per_day,
        used_in_total: meter.used_in_total,
        in_total: meter.in_total,
        resets_at: clock::time(meter.resets_at),
    }))
}

async fn show(app: App, Own(of): Own<SeenSubmission>) -> Result<Answer<Submission>, Fault> {
    Ok(Answer::json(&shown(&app, &of).await?))
}

async fn cancel(app: App, by: Visitor, Path(id): Path<String>) -> Result<Answer<Submission>, Fault> {
    let (seen, _, submission) = submissions::own_to_change(&app.store, &id, &by).await?;
    submissions::cancel(&app, &by, &seen, &submission).await?;
    Ok(Answer::json(&for_programs(&app, &by, &id).await?))
}

async fn pin(app: App, by: Visitor, Path(id): Path<String>) -> Result<Answer<Submission>, Fault> {
    let (_, _, submission) = submissions::own_to_change(&app.store, &id, &by).await?;
    submissions::pin(&app, &by, &submission, true).await?;
    Ok(Answer::json(&for_programs(&app, &by, &id).await?))
}
