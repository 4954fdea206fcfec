//! The tools of hosts for programs.

use axum::extract::{Json, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::actions::{self, Grant, Limits, Reason};
use crate::accounts::Visitor;
use crate::app::App;
use crate::benchmarks::records::{self, Phase, Seen};
use crate::benchmarks::rescore;
use crate::clock;
use crate::fault::Fault;
use crate::web::route::{get, post};
use crate::web::{Access, Field, Person, Route};

pub(super) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get("/api/v1/host/phases/{id}", host, "Show a phase with its score sets", show),
        get("/api/v1/host/phases/{id}/entries", host, "List the teams of a phase with their quotas", entries),
        get("/api/v1/host/phases/{id}/submissions", host, "List all submissions to a phase", submissions),
        post("/api/v1/host/phases/{id}/limits", host, "Change the limits of a phase", set_limits)
            .takes([Field::number("per_day"), Field::number("in_total")]),
        post("/api/v1/host/phases/{id}/grants", host, "Grant submissions to a team", grant).takes([
            Field::text("team"),
            Field::number("extra"),
            Field::flag("total").optional(),
            Field::text("reason"),
        ]),
        post("/api/v1/host/phases/{id}/freeze", host, "Stop submissions to a phase", freeze),
        post("/api/v1/host/phases/{id}/unfreeze", host, "Allow submissions to a phase", unfreeze),
        post(
            "/api/v1/host/phases/{id}/rescore",
            host,
            "Rescore all submissions, into a new score set",
            score_again,
        ),
        post(
            "/api/v1/submissions/{id}/disqualify",
            host,
            "Remove a submission from the leaderboard",
            disqualify,
        )
        .takes([Field::text("reason")]),
        post(
            "/api/v1/submissions/{id}/reinstate",
            host,
            "Restore a submission to the leaderboard",
            reinstate,
        ),
        get("/api/v1/host/benchmarks/{slug}/audit", host, "Show a benchmark's audit log", audit),
    ]
}

/// A phase that the visitor runs.
async fn own(app: &App, visitor: &Visitor, id: &str) -> Result<(Seen, Phase), Fault> {
    let (seen, phase) = records::phase_by_id(&app.store, id, Some(visitor)).await?;
    actions::require_host(&seen)?;
    Ok((seen, phase))
}

async fn show(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Json<Value>, Fault> {
    let (seen, phase) = own(&app, &visitor, &id).await?;
    Ok(Json(actions::as_json(&app, &seen, &phase).await?))
}

async fn entries(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Json<Value>, Fault> {
    let (_, phase) = own(&app, &visitor, &id).await?;
    let entries = actions::entries(&app.store, &phase).await?;
    let entries = entries.iter().map(|entry| {
        json!({
            "team": entry.team, "name": entry.name, "used_today": entry.meter.used_today,
            "per_day": entry.meter.per_day, "used_in_total": entry.meter.used_in_total,
            "in_total": entry.meter.in_total,
        })
    });
    Ok(Json(json!({ "entries": entries.collect::<Vec<_>>() })))
}

async fn submissions(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Json<Value>, Fault> {
    let (_, phase) = own(&app, &visitor, &id).await?;
    let list = actions::submissions(&app.store, &phase).await?;
    let list = list.iter().map(|(submission, team)| {
        json!({
            "id": submission.id, "kind": submission.kind, "team": submission.team, "team_name": team,
            "method": submission.method, "state": submission.state, "reason": submission.reason,
            "created_at": clock::iso(submission.created_at), "disqualified": submission.disqualified_for,
        })
    });
    Ok(Json(json!({ "submissions": list.collect::<Vec<_>>() })))
}

async fn set_limits(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
    Json(limits): Json<Limits>,
) -> Result<Json<Value>, Fault> {
    let (seen, phase) = own(&app, &visitor, &id).await?;
    actions::set_limits(&app, &visitor, &phase, limits).await?;
    Ok(Json(actions::as_json(&app, &seen, &phase).await?))
}

async fn grant(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
    Json(grant): Json<Grant>,
) -> Result<Response, Fault> {
    let (_, phase) = own(&app, &visitor, &id).await?;
    actions::grant(&app, &visitor, &phase, &grant).await?;
    let meter = crate::benchmarks::quota::meter(&app.store, &phase, &grant.team).await?;
    let shown = json!({ "per_day": meter.per_day, "in_total": meter.in_total, "left": meter.left() });
    Ok((StatusCode::CREATED, Json(shown)).into_response())
}

async fn freeze(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Json<Value>, Fault> {
    let (seen, phase) = own(&app, &visitor, &id).await?;
    actions::freeze(&app, &visitor, &phase, true).await?;
    Ok(Json(actions::as_json(&app, &seen, &phase).await?))
}

async fn unfreeze(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Json<Value>, Fault> {
    let (seen, phase) = own(&app, &visitor, &id).await?;
    actions::freeze(&app, &visitor, &phase, false).await?;
    Ok(Json(actions::as_json(&app, &seen, &phase).await?))
}

async fn score_again(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let (seen, phase) = own(&app, &visitor, &id).await?;
    rescore::start(&app, &visitor, &phase).await?;
    Ok((StatusCode::CREATED, Json(actions::as_json(&app, &seen, &phase).await?)).into_response())
}

async fn disqualify(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
    Json(Reason { reason }): Json<Reason>,
) -> Result<StatusCode, Fault> {
    let submission = actions::submission(&app, &visitor, &id).await?;
    actions::disqualify(&app, &visitor, &submission, &reason).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn reinstate(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<StatusCode, Fault> {
    let submission = actions::submission(&app, &visitor, &id).await?;
    actions::reinstate(&app, &visitor, &submission).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn audit(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Json<Value>, Fault> {
    let seen = records::benchmark(&app.store, &slug, Some(&visitor)).await?;
    actions::require_host(&seen)?;
    let notes = actions::notes(&app.store, &seen.benchmark.id).await?;
    let notes = notes.iter().map(|note| {
        json!({
            "at": clock::iso(note.at), "actor": note.actor, "action": note.action, "subject": note.subject,
            "detail": serde_json::from_str::<Value>(&note.detail).unwrap_or_default(),
        })
    });
    Ok(Json(json!({ "notes": notes.collect::<Vec<_>>() })))
}
