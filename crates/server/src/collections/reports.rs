//! Reports of pictures and captions, and requests to take a picture down.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;

use super::records::{self, Seen};
use super::rules::reports::{self, ReportReason};
use super::rules::states::{CaptionState, ImageState};
use super::rules::text;
use super::slots;
use crate::accounts::Visitor;
use crate::app::App;
use crate::fault;
use crate::fault::Fault;
use crate::store::{Error, Tx};
use crate::web::route::{get, post};
use crate::web::{Access, Attempt, Page, Person, Route, Scope};
use crate::{args, audit, clock, ids};

/// The most characters of a note.
const NOTE: usize = 1_000;

pub(super) fn routes() -> Vec<Route> {
    let submit = Access::Person(Scope::Submit);
    vec![
        post("/c/{slug}/report", submit, "Report a picture or a caption", report),
        get(
            "/c/{slug}/takedown",
            Access::Public,
            "Show the form to request removal of a picture",
            takedown_form,
        ),
        post("/c/{slug}/takedown", Access::Public, "Request removal of a picture", takedown),
    ]
}

#[derive(Deserialize)]
pub(super) struct NewReport {
    kind: String,
    subject: String,
    reason: ReportReason,
    #[serde(default)]
    note: String,
    /// Where to go on: to the next picture, or the next caption to rate.
    #[serde(default)]
    to: String,
}

impl NewReport {
    /// A report of a caption.
    pub(super) fn of_caption(subject: String, reason: ReportReason) -> Self {
        Self { kind: "caption".to_owned(), subject, reason, note: String::new(), to: String::new() }
    }
}

async fn report(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Form(given): Form<NewReport>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    send(&app, &seen, &visitor, &given).await?;
    let to = if given.to.is_empty() { format!("/c/{slug}/caption?done=reported") } else { given.to };
    Ok(Redirect::to(crate::web::local(&to)).into_response())
}

/// Reports something.
///
/// # Errors
/// If there is no such thing, the person may not report, or too often, or the database fails.
pub(super) async fn send(app: &App, seen: &Seen, visitor: &Visitor, given: &NewReport) -> Result<(), Fault> {
    app.limits.take("captions", &visitor.id, app.settings.captions_per_minute)?;
    let mut tx = app.store.begin().await?;
    add(&mut tx, seen, visitor, given).await?;
    Ok(tx.commit().await?)
}

/// Adds a report, and hides the thing from everybody if it is the second one.
///
/// # Errors
/// If there is no such thing, the person may not report, or the database fails.
pub(super) async fn add(tx: &mut Tx, seen: &Seen, visitor: &Visitor, given: &NewReport) -> Result<(), Fault> {
    let subject = given.subject.as_str();
    let is_caption = given.kind == "caption";
    let collection = match is_caption {
        true => tx.first("SELECT collection FROM caption WHERE id = $1", args![subject]).await?,
        false => tx.first("SELECT collection FROM image WHERE id = $1", args![subject]).await?,
    };
    let collection: Option<String> = collection.map(|row| row.get("collection")).transpose()?;
    if collection.as_ref() != Some(&seen.collection.id)
        || !["image", "caption"].contains(&given.kind.as_str())
    {
        return Err(Fault::not_found());
    }
    let refused = "SELECT COUNT(*) AS n FROM report WHERE reporter = $1 AND state = 'refused'";
    let refused = tx.first(refused, args![&visitor.id]).await?.map_or(Ok(0), |row| row.get("n"))?;
    if !reports::may_report(refused) {
        return Err(fault!(
            FORBIDDEN,
            "no-reports",
            "Moderators have rejected {} of your reports, so you can no longer report. Skip what you do not like.",
            refused
        ));
    }
    if !is_caption {
        // Whoever reports a picture does not describe it; this also locks its row, so that reports are counted in turn.
        slots::free(tx, subject, &visitor.id, i64::MAX).await?;
    }
    let id = ids::new_id();
    let note: String = text::clean(&given.note).chars().take(NOTE).collect();
    let added = tx
        .execute(
            "INSERT INTO report (id, collection, kind, subject, reporter, reason, note, contact, state, created_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, '', 'open', $8) ON CONFLICT DO NOTHING",
            args![
                &id,
                &seen.collection.id,
                &given.kind,
                subject,
                &visitor.id,
                given.reason.name(),
                note,
                clock::now()
            ],
        )
        .await?;
    if added == 0 {
        return Ok(());
    }
    audit::note(tx, Some(&visitor.id), "report.add", subject, json!({ "reason": given.reason })).await?;
    let reporters =
        "SELECT COUNT(*) AS n FROM report WHERE subject = $1 AND state = 'open' AND reporter IS NOT NULL";
    let reporters = tx.first(reporters, args![subject]).await?.map_or(Ok(0), |row| row.get("n"))?;
    if reports::quarantines(reporters) {
        quarantine(tx, subject, is_caption).await?;
    }
    Ok(())
}

async fn quarantine(tx: &mut Tx, subject: &str, is_caption: bool) -> Result<(), Error> {
    if is_caption {
        for from in [CaptionState::Submitted, CaptionState::Accepted, CaptionState::Split] {
            if slots::change_caption(tx, subject, from, CaptionState::Quarantined, None).await? {
                break;
            }
        }
        return Ok(());
    }
    let state = ImageState::Quarantined.name();
    let sql = "UPDATE image SET state = $1 WHERE id = $2 AND state IN ('pending', 'open', 'complete')";
    tx.execute(sql, args![state, subject]).await.map(drop)
}

#[derive(Template)]
#[template(path = "collections/takedown.html")]
struct Takedown<'a> {
    page: &'a Page,
    seen: &'a Seen,
    given: &'a NewTakedown,
    problem: Option<String>,
    is_sent: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NewTakedown {
    what: String,
    why: String,
    contact: String,
}

async fn takedown_form(
    State(app): State<App>,
    page: Page,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, page.visitor.as_ref()).await?;
    let given = &NewTakedown::default();
    page.show(&Takedown { page: &page, seen: &seen, given, problem: None, is_sent: false })
}

async fn takedown(
    State(app): State<App>,
    _: Attempt,
    page: Page,
    Path(slug): Path<String>,
    Form(given): Form<NewTakedown>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, page.visitor.as_ref()).await?;
    let [what, why, contact] = [&given.what, &given.why, &given.contact].map(|text| text::clean(text));
    let is_long = |text: &str| text.chars().count() > NOTE;
    if what.is_empty()
        || why.is_empty()
        || contact.is_empty()
        || [&what, &why, &contact].into_iter().any(|text| is_long(text))
    {
        let fault = fault!(
            UNPROCESSABLE_ENTITY,
            "takedown",
            "Say which picture it is, why it should be removed, and how we can reach you, each in at most {} characters.",
            NOTE
        );
        let problem = Some(page.fault(&fault));
        let form =
            page.show(&Takedown { page: &page, seen: &seen, given: &given, problem, is_sent: false })?;
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, form).into_response());
    }
    let id = ids::new_id();
    let reporter = page.visitor.as_ref().map(|visitor| visitor.id.clone());
    let mut tx = app.store.begin().await?;
    // The subject is what was written, which a moderator looks up; a person may ask for several pictures.
    tx.execute(
        "INSERT INTO report (id, collection, kind, subject, reporter, reason, note, contact, state, created_at) \
         VALUES ($1, $2, 'takedown', $3, NULL, 'copyright', $4, $5, 'open', $6)",
        args![&id, &seen.collection.id, what, why, contact, clock::now()],
    )
    .await?;
    audit::note(&mut tx, reporter.as_deref(), "takedown.add", &id, json!({})).await?;
    tx.commit().await?;
    page.show(&Takedown { page: &page, seen: &seen, given: &given, problem: None, is_sent: true })
}
