//! The page of the moderators' queue, and the forms on it.

use askama::Template;
use axum::extract::Path;
use axum::response::{Redirect, Response};
use capeval_site::paging::Places;
use capeval_site::prelude::*;
use capeval_site::web::Moderated;
use schemars::JsonSchema;
use serde::Deserialize;

use super::decisions::{self, Action, Refusal};
use super::queue::{self, RemovalRequest, WaitingCaption, WaitingImage};
use crate::records::{Caption, CollectionItem, Image, SeenCollection};

pub(crate) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/c/{slug}/moderate", read, "List what waits for a moderator", show),
        post("/c/{slug}/moderate/images/{id}", submit, "Approve or reject a picture", decide_image),
        post("/c/{slug}/moderate/captions/{id}", submit, "Accept or reject a caption", decide_caption),
        post("/c/{slug}/moderate/reports/{id}", submit, "Close a request to remove a picture", close_request),
    ]
}

#[derive(Template)]
#[template(path = "collections/moderate.html")]
struct Queue<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    requests: Rows<RemovalRequest>,
    images: Rows<WaitingImage>,
    captions: Rows<WaitingCaption>,
}

async fn show(app: App, page: Page, seen: Moderated<SeenCollection>, places: Places) -> Result<Response> {
    let (store, id) = (&app.store, &seen.collection.id);
    page.show(&Queue {
        page: &page,
        requests: queue::requests(store, id, places.of("requests")).await?,
        images: queue::images(store, id, places.of("images")).await?,
        captions: queue::captions(store, id, places.of("captions")).await?,
        seen: &seen,
    })
}

#[derive(Deserialize, JsonSchema)]
struct Decision {
    #[schemars(with = "String")]
    action: Action,
    /// A [`Refusal`]; forms send one with an approval, too, which needs none.
    #[serde(default)]
    reason: String,
}

async fn decide_image(
    app: App,
    visitor: Visitor,
    Moderated(of): Moderated<CollectionItem<Image>>,
    Body(Decision { action, reason }): Body<Decision>,
) -> Result<Redirect> {
    decisions::decide_image(&app, &visitor, &of, action, reason.parse::<Refusal>().ok()).await?;
    Ok(back(&of.seen))
}

async fn decide_caption(
    app: App,
    visitor: Visitor,
    Moderated(of): Moderated<CollectionItem<Caption>>,
    Body(given): Body<Decision>,
) -> Result<Redirect> {
    decisions::decide_caption(&app.store, &visitor, &of, given.action).await?;
    Ok(back(&of.seen))
}

async fn close_request(
    app: App,
    visitor: Visitor,
    Moderated(seen): Moderated<SeenCollection>,
    Path((_, id)): Path<(String, String)>,
    Body(given): Body<Decision>,
) -> Result<Redirect> {
    decisions::close_request(&app.store, &visitor, &seen.collection.id, &id, given.action).await?;
    Ok(back(&seen))
}

fn back(seen: &SeenCollection) -> Redirect {
    Redirect::to(&seen.address("moderate?done=saved"))
}
