//! The page from which hosts run a phase, and what its buttons do.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::actions::{self, Entry, Grant, Limits, Note, Reason};
use crate::accounts::Visitor;
use crate::app::App;
use crate::benchmarks::records::{self, Phase, Seen};
use crate::benchmarks::rescore::{self, ScoreSet};
use crate::benchmarks::submissions::Submission;
use crate::fault::Fault;
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, encode};

pub(super) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get("/b/{slug}/{phase}/host", host, "Show a phase to its hosts", show),
        post("/b/{slug}/{phase}/host/limits", host, "Change the limits of a phase", set_limits),
        post("/b/{slug}/{phase}/host/grants", host, "Grant submissions to a team", grant),
        post("/b/{slug}/{phase}/host/freeze", host, "Stop or allow submissions to a phase", freeze),
        post(
            "/b/{slug}/{phase}/host/rescore",
            host,
            "Rescore all submissions, into a new score set",
            score_again,
        ),
        post("/submissions/{id}/disqualify", host, "Remove a submission from the leaderboard", disqualify),
        post("/submissions/{id}/reinstate", host, "Restore a submission to the leaderboard", reinstate),
        get("/b/{slug}/audit", host, "Show a benchmark's audit log", audit),
    ]
}

#[derive(Template)]
#[template(path = "phase-host.html")]
struct PhaseHost<'a> {
    page: &'a Page,
    seen: &'a Seen,
    phase: &'a Phase,
    entries: Vec<Entry>,
    submissions: Vec<(Submission, String)>,
    score_sets: Vec<ScoreSet>,
}

/// A phase that the visitor runs.
async fn own(app: &App, visitor: &Visitor, slug: &str, phase: &str) -> Result<(Seen, Phase), Fault> {
    let (seen, phase) = records::phase(&app.store, slug, phase, Some(visitor)).await?;
    actions::require_host(&seen)?;
    Ok((seen, phase))
}

fn back(seen: &Seen, phase: &Phase, done: &str) -> Response {
    let (slug, phase) = (encode(&seen.benchmark.slug), encode(&phase.slug));
    Redirect::to(&format!("/b/{slug}/{phase}/host?done={done}")).into_response()
}

async fn show(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path((slug, phase)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let (seen, phase) = own(&app, &visitor, &slug, &phase).await?;
    page.show(&PhaseHost {
        page: &page,
        entries: actions::entries(&app.store, &phase).await?,
        submissions: actions::submissions(&app.store, &phase).await?,
        score_sets: rescore::sets(&app.store, &phase.id).await?,
        seen: &seen,
        phase: &phase,
    })
}

async fn set_limits(
    State(app): State<App>,
    Person(visitor): Person,
    Path((slug, phase)): Path<(String, String)>,
    Form(limits): Form<Limits>,
) -> Result<Response, Fault> {
    let (seen, phase) = own(&app, &visitor, &slug, &phase).await?;
    actions::set_limits(&app, &visitor, &phase, limits).await?;
    Ok(back(&seen, &phase, "saved"))
}

async fn grant(
    State(app): State<App>,
    Person(visitor): Person,
    Path((slug, phase)): Path<(String, String)>,
    Form(grant): Form<Grant>,
) -> Result<Response, Fault> {
    let (seen, phase) = own(&app, &visitor, &slug, &phase).await?;
    actions::grant(&app, &visitor, &phase, &grant).await?;
    Ok(back(&seen, &phase, "saved"))
}

#[derive(Deserialize)]
struct Freeze {
    frozen: bool,
}

async fn freeze(
    State(app): State<App>,
    Person(visitor): Person,
    Path((slug, phase)): Path<(String, String)>,
    Form(Freeze { frozen }): Form<Freeze>,
) -> Result<Response, Fault> {
    let (seen, phase) = own(&app, &visitor, &slug, &phase).await?;
    actions::freeze(&app, &visitor, &phase, frozen).await?;
    Ok(back(&seen, &phase, "saved"))
}

async fn score_again(
    State(app): State<App>,
    Person(visitor): Person,
    Path((slug, phase)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let (seen, phase) = own(&app, &visitor, &slug, &phase).await?;
    rescore::start(&app, &visitor, &phase).await?;
    Ok(back(&seen, &phase, "rescoring"))
}

async fn disqualify(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
    Form(Reason { reason }): Form<Reason>,
) -> Result<Response, Fault> {
    let submission = actions::submission(&app, &visitor, &id).await?;
    actions::disqualify(&app, &visitor, &submission, &reason).await?;
    Ok(Redirect::to(&format!("/submissions/{id}?done=saved")).into_response())
}

async fn reinstate(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let submission = actions::submission(&app, &visitor, &id).await?;
    actions::reinstate(&app, &visitor, &submission).await?;
    Ok(Redirect::to(&format!("/submissions/{id}?done=saved")).into_response())
}

#[derive(Template)]
#[template(path = "benchmark-audit.html")]
struct AuditPage<'a> {
    page: &'a Page,
    seen: &'a Seen,
    notes: Vec<Note>,
}

async fn audit(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let seen = records::benchmark(&app.store, &slug, Some(&visitor)).await?;
    actions::require_host(&seen)?;
    let notes = actions::notes(&app.store, &seen.benchmark.id).await?;
    page.show(&AuditPage { page: &page, seen: &seen, notes })
}
