//! Benchmarks for programs: what there is, handing in, following, and the description of all this.

use axum::extract::{Json, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::submissions::{self, Submission};
use super::submit::{self, Outcome, idempotency_key, receive};
use super::validation::Report;
use super::{events, quota, records, teams, upload};
use crate::accounts::Visitor;
use crate::app::App;
use crate::args;
use crate::fault;
use crate::fault::Fault;
use crate::jobs::queue;
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};

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
        get("/api/v1/submissions/{id}/events", read, "Stream the progress of a submission", events::events),
        post("/api/v1/submissions/{id}/cancel", submit, "Cancel a queued submission", cancel),
        post(
            "/api/v1/submissions/{id}/pin",
            submit,
            "Show this submission on the leaderboard instead of the best",
            pin,
        ),
    ]
}

async fn benchmarks(State(app): State<App>, page: Page) -> Result<Response, Fault> {
    let mut list = Vec::new();
    for seen in records::visible(&app.store, page.visitor.as_ref()).await? {
        let mut phases = Vec::new();
        for phase in records::phases(&app.store, &seen.benchmark.id).await? {
            let sets = records::sets(&app.store, &phase.id).await?;
            phases.push(records::phase_as_json(&seen, &phase, &sets));
        }
        list.push(json!({
            "slug": seen.benchmark.slug, "title": seen.benchmark.title, "summary": seen.benchmark.summary,
            "phases": phases,
        }));
    }
    Ok(Json(json!({ "benchmarks": list })).into_response())
}

async fn phase(State(app): State<App>, page: Page, Path(id): Path<String>) -> Result<Response, Fault> {
    let (seen, phase) = records::phase_by_id(&app.store, &id, page.visitor.as_ref()).await?;
    let sets = records::sets(&app.store, &phase.id).await?;
    Ok(Json(records::phase_as_json(&seen, &phase, &sets)).into_response())
}

async fn validate(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Fault> {
    let (_, phase) = records::phase_by_id(&app.store, &id, Some(&visitor)).await?;
    app.limits.take("uploads", &visitor.id, app.settings.uploads_per_minute)?;
    let sets = records::sets(&app.store, &phase.id).await?;
    let received = receive(&app, request).await?;
    let checked = upload::check(&app, &sets, received.file).await?;
    Ok(Json(checked.report).into_response())
}

/// The fault of results that cannot be scored, with the whole report.
fn invalid(report: &Report) -> Result<Fault, Fault> {
    let fault = fault!(
        UNPROCESSABLE_ENTITY,
        "invalid",
        "The file cannot be scored; the report says why. This does not count against your quota."
    );
    Ok(fault.detail(json!({ "report": serde_json::to_value(report)? })))
}

async fn add(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, Fault> {
    let (_, phase) = records::phase_by_id(&app.store, &id, Some(&visitor)).await?;
    let key = idempotency_key(&headers)?;
    if let Err(fault) = submit::admit(&app, &visitor, &phase, key.as_deref()).await {
        upload::discard(&app, request.into_body()).await;
        return Err(fault);
    }
    let received = receive(&app, request).await?;
    let (status, id) = match submit::submit(&app, &visitor, &phase, received, key.as_deref()).await? {
        Outcome::Queued(id) => (StatusCode::CREATED, id),
        Outcome::Repeated(id) => (StatusCode::OK, id),
        Outcome::Same(id) => {
            let fault = fault!(
                CONFLICT,
                "same-file",
                "Your team has already submitted these captions. This does not count against your quota."
            );
            let earlier = as_json(&app, &visitor, &id).await?;
            return Err(fault.detail(json!({ "submission": earlier })));
        }
        Outcome::Invalid(report) => return Err(invalid(&report)?),
    };
    let location = [(header::LOCATION, format!("/api/v1/submissions/{id}"))];
    Ok((status, location, Json(as_json(&app, &visitor, &id).await?)).into_response())
}

/// A submission for programs, if the visitor may see it.
pub(super) async fn as_json(app: &App, visitor: &Visitor, id: &str) -> Result<Value, Fault> {
    let (seen, phase, submission) = submissions::own(&app.store, id, visitor).await?;
    let sets = records::sets(&app.store, &phase.id).await?;
    let scores = match submissions::shows_scores(&seen, &phase) && submission.state == "scored" {
        true => Some(submissions::scores(&app.store, &phase, id).await?),
        false => None,
    };
    let wait = match submission.is_open() {
        true => queue::wait(&app.store, id, app.settings.workers).await?,
        false => None,
    };
    let mut shown = submissions::as_json(&submission, &phase, &sets, scores.as_ref(), wait);
    shown["page"] = app.settings.url(&format!("/submissions/{id}")).into();
    Ok(shown)
}

async fn list(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let (_, phase) = records::phase_by_id(&app.store, &id, Some(&visitor)).await?;
    let rows = app
        .store
        .all(
            "SELECT submission.* FROM submission JOIN entry_member ON entry_member.team = submission.team \
             AND entry_member.phase = submission.phase \
             WHERE submission.phase = $1 AND entry_member.account = $2 ORDER BY submission.id DESC LIMIT $3",
            args![&phase.id, &visitor.id, MOST],
        )
        .await?;
    let mut list = Vec::new();
    for row in &rows {
        list.push(as_json(&app, &visitor, &Submission::of(row)?.id).await?);
    }
    Ok(Json(json!({ "submissions": list })).into_response())
}

async fn left(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let (_, phase) = records::phase_by_id(&app.store, &id, Some(&visitor)).await?;
    let team = teams::in_phase(&app.store, &phase.id, &visitor.id).await?;
    let meter = quota::meter(&app.store, &phase, team.as_ref().map_or("", |team| team.id.as_str())).await?;
    Ok(Json(json!({
        "team": team.map(|team| team.name), "left": meter.left(), "used_today": meter.used_today,
        "per_day": meter.per_day, "used_in_total": meter.used_in_total, "in_total": meter.in_total,
        "resets_at": crate::clock::iso(meter.resets_at),
    }))
    .into_response())
}

async fn show(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    Ok(Json(as_json(&app, &visitor, &id).await?).into_response())
}

async fn cancel(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let (seen, _, submission) = submissions::own_to_change(&app.store, &id, &visitor).await?;
    submissions::cancel(&app, &visitor, &seen, &submission).await?;
    Ok(Json(as_json(&app, &visitor, &id).await?).into_response())
}

async fn pin(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let (_, _, submission) = submissions::own_to_change(&app.store, &id, &visitor).await?;
    submissions::pin(&app, &visitor, &submission, true).await?;
    Ok(Json(as_json(&app, &visitor, &id).await?).into_response())
}
