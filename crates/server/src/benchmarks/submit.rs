//! Handing in results: the form, and what happens to a file from the upload to the queue.

use askama::Template;
use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;

use super::expected;
use super::quota::{self, Meter};
use super::records::{self, Phase, Seen};
use super::scoring::ScoreSubmission;
use super::teams::{self, Team};
use super::upload::{self, Checked};
use super::validation::Report;
use crate::accounts::{Visitor, people};
use crate::app::App;
use crate::blobs::Draft;
use crate::fault;
use crate::fault::Fault;
use crate::jobs::{self, queue::Priority};
use crate::store::Tx;
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};
use crate::{args, audit, clock, ids};

/// The most characters of a description.
const DESCRIPTION: usize = 2_000;

/// The hours for which a key of a program stands for the same submission.
const KEY_HOURS: i64 = 24;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/b/{slug}/{phase}/submit", Access::Person(Scope::Read), "Show the form to submit results", form),
        post("/b/{slug}/{phase}/submit", Access::Person(Scope::Submit), "Submit results", submit_form)
            .upload(),
    ]
}

/// What is said about a submission.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct About {
    /// The name of the method.
    pub method: String,
    /// What the team says about it.
    pub description: String,
    /// A link to more.
    pub link: String,
    /// The team, if the person is in several.
    pub team: Option<String>,
}

/// An upload with what is said about it.
pub struct Received {
    /// What is said.
    pub about: About,
    /// The file.
    pub file: Draft,
}

/// Receives a form with a file, or a file as the whole body with the rest in the query of the address.
///
/// # Errors
/// If it is too large, breaks off, or has no file.
pub async fn receive(app: &App, request: Request) -> Result<Received, Fault> {
    let kind =
        request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    if !kind.starts_with("multipart/form-data") {
        let about = axum::extract::Query::<About>::try_from_uri(request.uri());
        let about = about.map_err(|_| upload::broken())?.0;
        return Ok(Received { about, file: upload::of_body(app, request.into_body()).await? });
    }
    let mut form = Multipart::from_request(request, app).await.map_err(|_| upload::broken())?;
    let (mut about, mut file) = (About::default(), None);
    while let Some(field) = form.next_field().await.map_err(|_| upload::broken())? {
        let name = field.name().unwrap_or("").to_owned();
        if name == "file" {
            file = Some(upload::of_field(app, field).await?);
            continue;
        }
        let text = field.text().await.map_err(|_| upload::broken())?;
        match name.as_str() {
            "method" => about.method = text,
            "description" => about.description = text,
            "link" => about.link = text,
            "team" => about.team = Some(text).filter(|team| !team.is_empty()),
            _ => {}
        }
    }
    let file = file.ok_or_else(|| fault!(UNPROCESSABLE_ENTITY, "no-file", "Choose a file with results."))?;
    Ok(Received { about, file })
}

/// What became of an upload.
pub enum Outcome {
    /// It waits for its scores.
    Queued(String),
    /// The same captions were handed in before; nothing was counted.
    Same(String),
    /// The same request was made before; nothing was counted.
    Repeated(String),
    /// It cannot be scored; nothing was counted.
    Invalid(Report),
}

/// Whether a person may hand in a file now, which is asked before it is received: what is refused takes no space.
/// A request that was made before may be made again.
///
/// # Errors
/// If they upload too often, the phase is closed, or the quota is used up.
pub async fn admit(app: &App, visitor: &Visitor, phase: &Phase, key: Option<&str>) -> Result<(), Fault> {
    app.limits.take("uploads", &visitor.id, app.settings.uploads_per_minute)?;
    if let Some(fault) = phase.is_closed() {
        return Err(fault);
    }
    let Some(team) = teams::in_phase(&app.store, &phase.id, &visitor.id).await? else { return Ok(()) };
    let Some(fault) = quota::meter(&app.store, phase, &team.id).await?.refusal() else { return Ok(()) };
    let sql = "SELECT 1 AS one FROM submission WHERE phase = $1 AND team = $2 AND idempotency_key = $3";
    let known = app.store.first(sql, args![&phase.id, &team.id, key]).await?;
    known.map(drop).ok_or(fault)
}

/// Checks results and, if they can be scored, counts them and puts them into the queue.
///
/// # Errors
/// If the phase is closed, or the quota is used up.
pub async fn submit(
    app: &App,
    visitor: &Visitor,
    phase: &Phase,
    received: Received,
    key: Option<&str>,
) -> Result<Outcome, Fault> {
    let Received { about, file } = received;
    let about = checked_about(about)?;
    if let Some(fault) = phase.is_closed() {
        return Err(fault);
    }
    let sets = records::sets(&app.store, &phase.id).await?;
    let Checked { report, canonical, size } = upload::check(app, &sets, file).await?;
    let Some(canonical) = canonical else { return Ok(Outcome::Invalid(report)) };
    let blobs = app.blobs.clone();
    // The file is on the disk before any row names it.
    let blob = tokio::task::spawn_blocking(move || blobs.put(&canonical[..])).await??;

    let mut tx = app.store.begin().await?;
    // Hosts may have stopped submissions meanwhile, or changed the limits.
    let phase = &records::phase_shared(&mut tx, &phase.id).await?;
    if let Some(fault) = phase.is_closed() {
        return Err(fault);
    }
    let team = teams::enter(&mut tx, phase, visitor, about.team.as_deref()).await?;
    if let Some(earlier) = repeated(&mut tx, &phase.id, &team, key, &blob).await? {
        return Ok(Outcome::Repeated(earlier));
    }
    if let Some(same) = same(&mut tx, &phase.id, &team, &blob).await? {
        return Ok(Outcome::Same(same));
    }
    let day = quota::take(&mut tx, phase, &team).await?;
    let id = ids::new_id();
    let added = tx
        .execute(
            "INSERT INTO submission (id, phase, team, account, kind, method, description, link, state, blob, size, \
             charged_day, refunded, idempotency_key, created_at) \
             VALUES ($1, $2, $3, $4, 'entry', $5, $6, $7, 'queued', $8, $9, $10, 0, $11, $12) ON CONFLICT DO NOTHING",
            args![
                &id,
                &phase.id,
                &team,
                &visitor.id,
                &about.method,
                &about.description,
                &about.link,
                &blob,
                size as i64,
                &day,
                key,
                clock::now()
            ],
        )
        .await?;
    if added == 0 {
        // Another request with the same captions or the same key was faster; its row counts, and this one does not.
        drop(tx);
        let mut tx = app.store.begin().await?;
        if let Some(earlier) = repeated(&mut tx, &phase.id, &team, key, &blob).await? {
            return Ok(Outcome::Repeated(earlier));
        }
        let same = same(&mut tx, &phase.id, &team, &blob).await?;
        return same.map(Outcome::Same).ok_or_else(|| Fault::internal(&"a submission conflicts with none"));
    }
    jobs::add::<ScoreSubmission>(&mut tx, &id, Priority::Awaited).await?;
    audit::note(
        &mut tx,
        Some(&visitor.id),
        "submission.add",
        &id,
        json!({ "phase": phase.id, "team": team }),
    )
    .await?;
    tx.commit().await?;
    app.wake.notify();
    Ok(Outcome::Queued(id))
}

fn checked_about(about: About) -> Result<About, Fault> {
    let method = people::name(&about.method).map_err(|_| {
        fault!(UNPROCESSABLE_ENTITY, "method", "Give the method a name of 1 to 80 characters.")
    })?;
    let is_text = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let description: String = about.description.chars().filter(is_text).collect();
    if description.chars().count() > DESCRIPTION {
        return Err(fault!(
            UNPROCESSABLE_ENTITY,
            "description",
            "The description can have at most {} characters.",
            DESCRIPTION
        ));
    }
    let link = about.link.trim().to_owned();
    let is_address = link.is_empty() || link.starts_with("https://") || link.starts_with("http://");
    if !is_address || link.len() > 500 || link.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(fault!(UNPROCESSABLE_ENTITY, "link", "The link must begin with https:// or http://."));
    }
    Ok(About { method, link, description: description.trim().to_owned(), team: about.team })
}

/// The earlier submission of the same request.
async fn repeated(
    tx: &mut Tx,
    phase: &str,
    team: &str,
    key: Option<&str>,
    blob: &str,
) -> Result<Option<String>, Fault> {
    let Some(key) = key else { return Ok(None) };
    tx.execute(
        "UPDATE submission SET idempotency_key = NULL \
         WHERE phase = $1 AND team = $2 AND idempotency_key = $3 AND created_at < $4",
        args![phase, team, key, clock::now() - KEY_HOURS * 3_600_000],
    )
    .await?;
    let sql = "SELECT id, blob FROM submission WHERE phase = $1 AND team = $2 AND idempotency_key = $3";
    let row = tx.first(sql, args![phase, team, key]).await?;
    let Some(row) = row else { return Ok(None) };
    if row.get::<Option<String>>("blob")?.as_deref() != Some(blob) {
        return Err(fault!(
            UNPROCESSABLE_ENTITY,
            "key-reused",
            "This Idempotency-Key has already been used with another file."
        ));
    }
    Ok(Some(row.get("id")?))
}

/// The earlier submission of the same captions, unless it has no result.
async fn same(tx: &mut Tx, phase: &str, team: &str, blob: &str) -> Result<Option<String>, Fault> {
    let row = tx
        .first(
            "SELECT id FROM submission WHERE phase = $1 AND team = $2 AND blob = $3 \
             AND state IN ('queued', 'running', 'scored')",
            args![phase, team, blob],
        )
        .await?;
    Ok(row.map(|row| row.get("id")).transpose()?)
}

/// The key of a request for which a second one has the same effect.
///
/// # Errors
/// If it is too long.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Fault> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let key = value.to_str().ok().filter(|key| (1..=200).contains(&key.len()));
    key.map(|key| Some(key.to_owned())).ok_or_else(|| {
        fault!(BAD_REQUEST, "key", "An Idempotency-Key must have 1 to 200 printable ASCII characters.")
    })
}

#[derive(Template)]
#[template(path = "submit.html")]
struct Form<'a> {
    page: &'a Page,
    seen: &'a Seen,
    phase: &'a Phase,
    images: usize,
    team: Option<Team>,
    teams: Vec<Team>,
    meter: Option<Meter>,
    closed: Option<String>,
    about: &'a About,
    problem: Option<String>,
    report: Option<&'a Report>,
    upload_mib: u64,
    address: String,
}

async fn form(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path((slug, phase)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let (seen, phase) = records::phase(&app.store, &slug, &phase, Some(&visitor)).await?;
    show_form(&app, &page, &visitor, (&seen, &phase), &About::default(), None, None).await
}

async fn show_form(
    app: &App,
    page: &Page,
    visitor: &Visitor,
    (seen, phase): (&Seen, &Phase),
    about: &About,
    problem: Option<&Fault>,
    report: Option<&Report>,
) -> Result<Response, Fault> {
    let team = teams::in_phase(&app.store, &phase.id, &visitor.id).await?;
    let teams = if team.is_none() { teams::of_person(&app.store, &visitor.id).await? } else { Vec::new() };
    let meter = match &team {
        Some(team) => Some(quota::meter(&app.store, phase, &team.id).await?),
        None => None,
    };
    let sets = records::sets(&app.store, &phase.id).await?;
    let images = expected::of(app, &sets).await?.len();
    let shown = page.show(&Form {
        page,
        seen,
        phase,
        images,
        team,
        teams,
        meter,
        closed: phase.is_closed().map(|fault| page.fault(&fault)),
        about,
        problem: problem.map(|fault| page.fault(fault)),
        report,
        upload_mib: app.settings.upload_mib,
        address: app.settings.url(&format!("/api/v1/phases/{}/submissions", phase.id)),
    })?;
    let status = match (problem, report) {
        (Some(fault), _) => fault.status,
        (None, Some(_)) => StatusCode::UNPROCESSABLE_ENTITY,
        (None, None) => StatusCode::OK,
    };
    Ok((status, shown).into_response())
}

async fn submit_form(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path((slug, phase)): Path<(String, String)>,
    request: Request<Body>,
) -> Result<Response, Fault> {
    let (seen, phase) = records::phase(&app.store, &slug, &phase, Some(&visitor)).await?;
    let here = (&seen, &phase);
    if let Err(fault) = admit(&app, &visitor, &phase, None).await {
        upload::discard(&app, request.into_body()).await;
        return show_form(&app, &page, &visitor, here, &About::default(), Some(&fault), None).await;
    }
    let received = match receive(&app, request).await {
        Ok(received) => received,
        Err(fault) => {
            return show_form(&app, &page, &visitor, here, &About::default(), Some(&fault), None).await;
        }
    };
    let about = received.about.clone();
    match submit(&app, &visitor, &phase, received, None).await {
        Ok(Outcome::Queued(id) | Outcome::Repeated(id)) => {
            Ok(Redirect::to(&format!("/submissions/{id}?done=queued")).into_response())
        }
        Ok(Outcome::Same(id)) => Ok(Redirect::to(&format!("/submissions/{id}?same=1")).into_response()),
        Ok(Outcome::Invalid(report)) => {
            show_form(&app, &page, &visitor, here, &about, None, Some(&report)).await
        }
        Err(fault) if fault.status.is_server_error() => Err(fault),
        Err(fault) => show_form(&app, &page, &visitor, here, &about, Some(&fault), None).await,
    }
}

/// Adds a submission without a team: a baseline.
///
/// # Errors
/// If the name of the method is not one, or the database fails.
pub async fn add_baseline(
    tx: &mut Tx,
    phase: &str,
    method: &str,
    blob: &str,
    size: u64,
) -> Result<String, Fault> {
    let id = ids::new_id();
    tx.execute(
        "INSERT INTO submission (id, phase, kind, method, description, link, state, blob, size, refunded, created_at) \
         VALUES ($1, $2, 'baseline', $3, '', '', 'queued', $4, $5, 0, $6)",
        args![&id, phase, people::name(method)?, blob, size as i64, clock::now()],
    )
    .await?;
    Ok(id)
}

/// Adds the row of people, of which a phase has one.
///
/// # Errors
/// If the database fails.
pub async fn add_human(tx: &mut Tx, phase: &str) -> Result<Option<String>, Fault> {
    let id = ids::new_id();
    let added = tx
        .execute(
            "INSERT INTO submission (id, phase, kind, method, description, link, state, size, refunded, created_at) \
             VALUES ($1, $2, 'human', 'human', '', '', 'queued', 0, 0, $3) ON CONFLICT DO NOTHING",
            args![&id, phase, clock::now()],
        )
        .await?;
    Ok((added == 1).then_some(id))
}
