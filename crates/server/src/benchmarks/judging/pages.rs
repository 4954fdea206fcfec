//! The pages of judging: how hosts begin it, and how judges judge.

use askama::Template;
use axum::extract::{Form, Json, Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::records::{self, Evaluation, Item, Plan, Verdict};
use crate::accounts::Visitor;
use crate::app::App;
use crate::benchmarks::records::{Phase, Seen, phase as find_phase, phase_by_id, phase_unseen};
use crate::fault::Fault;
use crate::store::Error;
use crate::web::route::{get, post};
use crate::web::{Access, Field, Page, Person, Route, Scope, dress, encode};

pub(super) fn routes() -> Vec<Route> {
    let (host, read, submit) = (Access::Host, Access::Person(Scope::Read), Access::Person(Scope::Submit));
    let plan = [
        Field::number("images"),
        Field::number("wanted"),
        Field::text("pictures"),
        Field::text("judges").optional(),
    ];
    vec![
        get("/b/{slug}/{phase}/host/judging", host, "Show the human evaluation of a phase", show),
        post("/b/{slug}/{phase}/host/judging", host, "Start a human evaluation of a phase", begin),
        post("/b/{slug}/{phase}/host/judging/invite", host, "Add judges", invite),
        post("/b/{slug}/{phase}/host/judging/close", host, "End the evaluation", close),
        get("/b/{slug}/{phase}/judge", read, "Show the next caption to judge", next),
        post("/b/{slug}/{phase}/judge", submit, "Judge a caption", judge),
        get("/api/v1/host/phases/{id}/judging", host, "Show the human evaluation of a phase", show_as_json),
        post("/api/v1/host/phases/{id}/judging", host, "Start a human evaluation of a phase", begin_as_json)
            .takes(plan),
    ]
}

/// A phase that the visitor runs.
fn hosted((seen, phase): (Seen, Phase)) -> Result<(Seen, Phase), Fault> {
    if seen.is_host { Ok((seen, phase)) } else { Err(Fault::not_found()) }
}

#[derive(Template)]
#[template(path = "judging.html")]
struct Judging<'a> {
    page: &'a Page,
    seen: &'a Seen,
    phase: &'a Phase,
    evaluation: Option<Evaluation>,
    /// Captions, wanted judgements, judgements.
    progress: (i64, i64, i64),
    link: String,
    problem: Option<String>,
}

async fn show_with(
    app: &App,
    page: &Page,
    (seen, phase): (&Seen, &Phase),
    problem: Option<&Fault>,
) -> Result<Response, Fault> {
    let evaluation = records::newest(&app.store, &phase.id).await?;
    let progress = match &evaluation {
        Some(evaluation) => records::progress(&app.store, evaluation).await?,
        None => (0, 0, 0),
    };
    let path = format!("/b/{}/{}/judge", encode(&seen.benchmark.slug), encode(&phase.slug));
    let shown = page.show(&Judging {
        page,
        seen,
        phase,
        evaluation,
        progress,
        link: app.settings.url(&path),
        problem: problem.map(|fault| page.fault(fault)),
    })?;
    Ok((problem.map_or(StatusCode::OK, |fault| fault.status), shown).into_response())
}

async fn show(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path((slug, phase)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let (seen, phase) = hosted(find_phase(&app.store, &slug, &phase, Some(&visitor)).await?)?;
    show_with(&app, &page, (&seen, &phase), None).await
}

async fn begin(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path((slug, phase)): Path<(String, String)>,
    Form(plan): Form<Plan>,
) -> Result<Response, Fault> {
    let (seen, phase) = hosted(find_phase(&app.store, &slug, &phase, Some(&visitor)).await?)?;
    let begun = records::begin(&app, &visitor, &phase, &plan).await;
    answer(&app, &page, (&seen, &phase), begun).await
}

/// The page after something was done, or with why it was not.
async fn answer(
    app: &App,
    page: &Page,
    (seen, phase): (&Seen, &Phase),
    done: Result<(), Fault>,
) -> Result<Response, Fault> {
    match done {
        Ok(()) => {
            let (slug, phase) = (encode(&seen.benchmark.slug), encode(&phase.slug));
            Ok(Redirect::to(&format!("/b/{slug}/{phase}/host/judging?done=saved")).into_response())
        }
        Err(fault) => show_with(app, page, (seen, phase), Some(&fault)).await,
    }
}

#[derive(Deserialize)]
struct Judges {
    judges: String,
}

async fn invite(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path((slug, phase)): Path<(String, String)>,
    Form(Judges { judges }): Form<Judges>,
) -> Result<Response, Fault> {
    let (seen, phase) = hosted(find_phase(&app.store, &slug, &phase, Some(&visitor)).await?)?;
    let evaluation = records::newest(&app.store, &phase.id).await?.ok_or_else(Fault::not_found)?;
    let invited = records::invite(&app, &visitor, &evaluation, &judges).await;
    answer(&app, &page, (&seen, &phase), invited).await
}

async fn close(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path((slug, phase)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let (seen, phase) = hosted(find_phase(&app.store, &slug, &phase, Some(&visitor)).await?)?;
    let evaluation = records::newest(&app.store, &phase.id).await?.ok_or_else(Fault::not_found)?;
    let closed = records::close(&app, &visitor, &evaluation).await;
    answer(&app, &page, (&seen, &phase), closed).await
}

#[derive(Template)]
#[template(path = "judge.html")]
struct Judge<'a> {
    page: &'a Page,
    seen: &'a Seen,
    phase: &'a Phase,
    item: Option<Item>,
    picture: String,
    is_open: bool,
}

/// The phase and its evaluation, if the visitor judges it.
async fn judged(
    app: &App,
    visitor: &Visitor,
    slug: &str,
    phase: &str,
) -> Result<(Seen, Phase, Evaluation), Fault> {
    let (seen, phase) = phase_unseen(&app.store, slug, phase).await?;
    let evaluation = records::to_judge(&app.store, &phase, visitor).await?;
    Ok((seen, phase, evaluation))
}

async fn next(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path((slug, phase)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let (seen, phase, evaluation) = judged(&app, &visitor, &slug, &phase).await?;
    let is_open = evaluation.state == "open";
    let item = match is_open {
        true => records::next(&app.store, &evaluation, &visitor.id).await?,
        false => None,
    };
    let picture = item.as_ref().map_or(String::new(), |item| evaluation.picture(&item.image));
    let mut shown = page.show(&Judge { page: &page, seen: &seen, phase: &phase, item, picture, is_open })?;
    // This page alone shows pictures of another site.
    if let Ok(policy) = HeaderValue::from_str(&dress::policy_with_pictures(evaluation.origin())) {
        shown.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    Ok(shown)
}

async fn judge(
    State(app): State<App>,
    Person(visitor): Person,
    Path((slug, phase)): Path<(String, String)>,
    Form(verdict): Form<Verdict>,
) -> Result<Response, Fault> {
    let (seen, phase, evaluation) = judged(&app, &visitor, &slug, &phase).await?;
    records::judge(&app, &visitor, &evaluation, &verdict).await?;
    let (slug, phase) = (encode(&seen.benchmark.slug), encode(&phase.slug));
    Ok(Redirect::to(&format!("/b/{slug}/{phase}/judge")).into_response())
}

async fn as_json(app: &App, phase: &Phase) -> Result<Json<Value>, Error> {
    let Some(evaluation) = records::newest(&app.store, &phase.id).await? else {
        return Ok(Json(json!({ "state": null, "results": [] })));
    };
    let (captions, wanted, judged) = records::progress(&app.store, &evaluation).await?;
    Ok(Json(json!({
        "id": evaluation.id, "state": evaluation.state, "reason": evaluation.reason, "captions": captions,
        "wanted": wanted, "judged": judged, "results": records::results(&app.store, &phase.id).await?,
    })))
}

async fn show_as_json(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Json<Value>, Fault> {
    let (_, phase) = hosted(phase_by_id(&app.store, &id, Some(&visitor)).await?)?;
    Ok(as_json(&app, &phase).await?)
}

async fn begin_as_json(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
    Json(plan): Json<Plan>,
) -> Result<Response, Fault> {
    let (_, phase) = hosted(phase_by_id(&app.store, &id, Some(&visitor)).await?)?;
    records::begin(&app, &visitor, &phase, &plan).await?;
    Ok((StatusCode::CREATED, as_json(&app, &phase).await?).into_response())
}
