//! The list of collections, and the page of one with its progress and contributors.

use askama::Template;
use axum::response::{Redirect, Response};
use capeval_api::Collections;
use capeval_site::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use super::contributors::{self, Contributor};
use super::moderation;
use super::records::{self, Collection, Progress, SeenCollection};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/collections", Access::Public, "List the collections you can see", list)
            .and("/api/v1/collections"),
        get("/c/{slug}", Access::Public, "Show a collection's progress and contributors", show),
        get("/api/v1/collections/{slug}", Access::Public, "Show a collection and its progress", collection),
        post(
            "/c/{slug}/board",
            Access::Person(Scope::Submit),
            "Choose whether the leaderboard shows your name",
            choose_board,
        ),
    ]
}

#[derive(Template)]
#[template(path = "collections/list.html")]
struct List<'a> {
    page: &'a Page,
    rows: &'a [(Collection, Progress)],
}

async fn list(app: App, page: Page) -> Result<Answer<Collections>> {
    let mut rows = Vec::new();
    for SeenCollection { collection, .. } in records::visible(&app.store, page.visitor.as_ref()).await? {
        let progress = records::progress(&app.store, &collection).await?;
        rows.push((collection, progress));
    }
    page.shows(&List { page: &page, rows: &rows }, || Collections {
        collections: rows.iter().map(|(of, progress)| records::for_programs(of, progress)).collect(),
    })
}

async fn collection(app: App, seen: Visible<SeenCollection>) -> Result<Answer<capeval_api::Collection>> {
    let progress = records::progress(&app.store, &seen.collection).await?;
    Ok(Answer::json(&records::for_programs(&seen.collection, &progress)))
}

#[derive(Template)]
#[template(path = "collections/collection.html")]
struct CollectionPage<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    progress: Progress,
    closed: Option<String>,
    waiting: i64,
    board: Vec<Contributor>,
    is_on_board: bool,
}

async fn show(app: App, page: Page, Visible(seen): Visible<SeenCollection>) -> Result<Response> {
    let id = &seen.collection.id;
    let is_on_board = match &page.visitor {
        Some(visitor) => contributors::is_named(&app.store, id, &visitor.id).await?,
        None => false,
    };
    let progress = records::progress(&app.store, &seen.collection).await?;
    page.show(&CollectionPage {
        page: &page,
        progress,
        closed: seen.collection.refusal().map(|fault| page.fault(&fault)),
        waiting: if seen.is_moderator { moderation::waiting(&app.store, id).await? } else { 0 },
        board: contributors::leaderboard(&app.store, id).await?,
        is_on_board,
        seen: &seen,
    })
}

#[derive(Deserialize, JsonSchema)]
struct Choice {
    show: u8,
}

async fn choose_board(
    app: App,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    Body(Choice { show }): Body<Choice>,
) -> Result<Redirect> {
    contributors::name(&app.store, &seen.collection.id, &visitor.id, show == 1).await?;
    Ok(Redirect::to(&format!("/c/{}?done=saved", seen.collection.slug)))
}
