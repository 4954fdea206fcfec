//! The page on which people upload pictures.

use askama::Template;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

use super::take::{self, About, Taken};
use crate::app::App;
use crate::collections::apply;
use crate::collections::records::{self, Seen};
use crate::fault::Fault;
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/c/{slug}/upload", Access::Person(Scope::Read), "Show the form to upload pictures", form),
        post("/c/{slug}/upload", Access::Person(Scope::Submit), "Upload pictures", upload).upload(),
    ]
}

#[derive(Template)]
#[template(path = "collections/upload.html")]
struct Form<'a> {
    page: &'a Page,
    seen: &'a Seen,
    about: &'a About,
    declaration: &'a str,
    closed: Option<String>,
    problem: Option<String>,
    refused: Vec<(String, String)>,
    taken: usize,
    picture_mib: u64,
    most: usize,
}

async fn form(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    show(&app, &page, &seen, &About::default(), None, &[])
}

fn show(
    app: &App,
    page: &Page,
    seen: &Seen,
    about: &About,
    problem: Option<&Fault>,
    taken: &[Taken],
) -> Result<Response, Fault> {
    let refused =
        taken.iter().filter_map(|one| Some((one.name.clone(), page.fault(one.outcome.as_ref().err()?))));
    let refused: Vec<(String, String)> = refused.collect();
    let status = match problem {
        Some(fault) => fault.status,
        None if refused.is_empty() => StatusCode::OK,
        None => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let shown = page.show(&Form {
        page,
        seen,
        about,
        declaration: page.t(take::DECLARATION),
        closed: seen.collection.is_closed().map(|fault| page.fault(&fault)),
        problem: problem.map(|fault| page.fault(fault)),
        taken: taken.len() - refused.len(),
        refused,
        picture_mib: app.settings.picture_mib,
        most: take::FILES,
    })?;
    Ok((status, shown).into_response())
}

async fn upload(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
    request: Request,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    let (about, files) = match take::receive(&app, request).await {
        Ok(received) => received,
        Err(fault) => return show(&app, &page, &seen, &About::default(), Some(&fault), &[]),
    };
    let taken = match take::upload(&app, &page, &seen.collection, &visitor, (&about, files)).await {
        Ok(taken) => taken,
        Err(fault) if fault.status.is_server_error() => return Err(fault),
        Err(fault) => return show(&app, &page, &seen, &about, Some(&fault), &[]),
    };
    if taken.iter().all(|one| one.outcome.is_ok()) {
        return Ok(Redirect::to(&format!("/c/{slug}/mine?done=uploaded")).into_response());
    }
    show(&app, &page, &seen, &about, None, &taken)
}

impl About {
    /// The address of a licence, if it has one.
    fn address(licence: &str) -> &'static str {
        apply::LICENCES.iter().find(|(name, _)| *name == licence).map_or("", |(_, address)| address)
    }
}
