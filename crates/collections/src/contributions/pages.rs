//! The page of a person's contributions to a collection, and the forms on it.

use askama::Template;
use axum::response::{Redirect, Response};
use capeval_api::ImageState;
use capeval_site::paging::Places;
use capeval_site::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use super::changes::{self, Change, Draft};
use crate::records::{self, Caption, Image, Mine, SeenCollection};
use crate::slots::{self, Need};

pub(crate) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/c/{slug}/mine", read, "List your contributions to a collection", show),
        post("/c/{slug}/mine/captions/{id}", submit, "Edit or withdraw one of your captions", change_caption),
        post("/c/{slug}/mine/images/{id}", submit, "Withdraw one of your pictures", withdraw_image),
    ]
}

#[derive(Template)]
#[template(path = "collections/mine.html")]
struct MyPage<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    images: Rows<Image>,
    /// The progress of the pictures.
    needs: Vec<Need>,
    captions: Rows<Caption>,
    drafts: Rows<Draft>,
    is_live: bool,
}

impl MyPage<'_> {
    fn needs_of(&self, image: &Image) -> impl Iterator<Item = &Need> {
        self.needs.iter().filter(move |need| need.image == image.id)
    }
}

async fn show(
    app: App,
    page: Page,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    places: Places,
) -> Result<Response> {
    let store = &app.store;
    let mine = || args![&visitor.id, &seen.collection.id];
    let at = |list| places.of(list);
    let images = changes::IMAGES.page(store, at("images"), mine(), |image: &Image| &image.id).await?;
    let ids: Vec<&str> = images.rows.iter().map(|image| image.id.as_str()).collect();
    page.show(&MyPage {
        page: &page,
        is_live: images.rows.iter().any(|image| image.state == ImageState::Processing),
        needs: slots::needs_of(store, &ids).await?,
        images,
        captions: changes::CAPTIONS.page(store, at("captions"), mine(), |of: &Caption| &of.id).await?,
        drafts: changes::DRAFTS.page(store, at("drafts"), mine(), |of: &Draft| &of.image).await?,
        seen: &seen,
    })
}

#[derive(Deserialize, JsonSchema)]
struct CaptionChange {
    #[schemars(with = "String")]
    action: Change,
    #[serde(default)]
    text: String,
}

async fn change_caption(
    app: App,
    page: Page,
    visitor: Visitor,
    Own(Mine { of, .. }): Own<Mine<Caption>>,
    Body(CaptionChange { action, text }): Body<CaptionChange>,
) -> Result<Redirect> {
    changes::change_caption(&app.store, &of.thing, &visitor.id, action, &text, page.language).await?;
    Ok(Redirect::to(&of.seen.address("mine?done=saved")))
}

async fn withdraw_image(
    app: App,
    visitor: Visitor,
    Own(Mine { of, .. }): Own<Mine<Image>>,
) -> Result<Redirect> {
    changes::withdraw_image(&app, &of.thing, &visitor.id).await?;
    Ok(Redirect::to(&of.seen.address("mine?done=removed")))
}
