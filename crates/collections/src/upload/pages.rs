//! The page on which people upload pictures.

use askama::Template;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use capeval_site::prelude::*;

use super::intake::{self, About, FileOutcome};
use crate::records::SeenCollection;
use crate::settings;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        get("/c/{slug}/upload", Access::Person(Scope::Read), "Show the form to upload pictures", form),
        post("/c/{slug}/upload", Access::Person(Scope::Submit), "Upload pictures", upload).upload(),
    ]
}

#[derive(Template)]
#[template(path = "collections/upload.html")]
struct Form<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    about: &'a About,
    declaration: &'a str,
    closed: Option<String>,
    refused: Vec<(String, String)>,
    taken: usize,
    picture_mib: u64,
    most: usize,
}

async fn form(app: App, page: Page, Visible(seen): Visible<SeenCollection>) -> Result<Response> {
    show(&app, &page, &seen, &About::default(), &[])
}

fn show(
    app: &App,
    page: &Page,
    seen: &SeenCollection,
    about: &About,
    taken: &[FileOutcome],
) -> Result<Response> {
    let refused =
        taken.iter().filter_map(|one| Some((one.name.clone(), page.fault(one.outcome.as_ref().err()?))));
    let refused: Vec<(String, String)> = refused.collect();
    let is_taken = refused.is_empty();
    let mut shown = page.show(&Form {
        page,
        seen,
        about,
        declaration: page.t(intake::DECLARATION),
        closed: seen.collection.refusal().map(|fault| page.fault(&fault)),
        taken: taken.len() - refused.len(),
        refused,
        picture_mib: u64::from(app.settings.number(&crate::PICTURE_MIB)),
        most: intake::FILES,
    })?;
    if !is_taken {
        *shown.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(shown)
}

async fn upload(
    app: App,
    page: Page,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    request: Request,
) -> Result<Response> {
    let (about, files) = match intake::receive(&app, request).await {
        Ok(received) => received,
        Err(fault) => return show(&app, &page.refused(fault)?, &seen, &About::default(), &[]),
    };
    let taken = match intake::upload(&app, &page, &seen.collection, &visitor, (&about, files)).await {
        Ok(taken) => taken,
        Err(fault) => return show(&app, &page.refused(fault)?, &seen, &about, &[]),
    };
    if taken.iter().all(|one| one.outcome.is_ok()) {
        return Ok(Redirect::to(&seen.address("mine?done=uploaded")).into_response());
    }
    show(&app, &page, &seen, &about, &taken)
}
