//! The forms with which people report things, and with which anybody asks for the removal of a picture.

use askama::Template;
use axum::response::Response;
use capeval_api::NewReport;
use capeval_site::prelude::*;
use capeval_site::web::{Attempt, local};
use schemars::JsonSchema;
use serde::Deserialize;

use super::records::SeenCollection;
use super::reports::{self, RemovalRequest};

pub(super) fn routes() -> Vec<Route> {
    let (public, submit) = (Access::Public, Access::Person(Scope::Submit));
    vec![
        post("/c/{slug}/report", submit, "Report a picture or a caption", report)
            .and("/api/v1/collections/{slug}/reports"),
        get("/c/{slug}/takedown", public, "Show the form to request removal of a picture", takedown_form),
        post("/c/{slug}/takedown", public, "Request removal of a picture", takedown),
    ]
}

async fn report(
    app: App,
    page: Page,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    Body(given): Body<NewReport>,
) -> Result<NoContent> {
    reports::send(&app, &seen, &visitor, &given).await?;
    let to = if given.to.is_empty() { seen.address("caption?done=reported") } else { given.to };
    Ok(page.then(local(&to), &()))
}

#[derive(Template)]
#[template(path = "collections/takedown.html")]
struct Takedown<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    given: &'a NewTakedown,
    is_sent: bool,
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct NewTakedown {
    what: String,
    why: String,
    contact: String,
}

async fn takedown_form(page: Page, Visible(seen): Visible<SeenCollection>) -> Result<Response> {
    let given = &NewTakedown::default();
    page.show(&Takedown { page: &page, seen: &seen, given, is_sent: false })
}

async fn takedown(
    app: App,
    _: Attempt,
    page: Page,
    Visible(seen): Visible<SeenCollection>,
    Body(given): Body<NewTakedown>,
) -> Result<Response> {
    let NewTakedown { what, why, contact } = &given;
    let request = RemovalRequest { what, why, contact };
    let sent =
        reports::request_removal(&app.store, &seen.collection.id, page.visitor.as_ref(), &request).await;
    let is_sent = sent.is_ok();
    let page = sent.map_or_else(|fault| page.refused(fault), |()| Ok(page.clone()))?;
    page.show(&Takedown { page: &page, seen: &seen, given: &given, is_sent })
}
