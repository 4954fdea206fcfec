//! The page on which hosts watch the captions with a known grade, and the people who rate.

use askama::Template;
use axum::extract::Path;
use axum::response::{Redirect, Response};
use capeval_site::prelude::*;

use super::gold_captions::{self, GoldCaption, Rater};
use crate::records::SeenCollection;

pub(super) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get("/c/{slug}/gold", host, "List the captions with a known grade", show),
        post("/c/{slug}/gold", host, "Create captions with a known grade", create),
        post("/c/{slug}/gold/{id}/retire", host, "Retire a caption with a known grade", retire),
    ]
}

#[derive(Template)]
#[template(path = "collections/gold.html")]
struct GoldPage<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    known: Rows<GoldCaption>,
    raters: Vec<Rater>,
}

async fn show(app: App, page: Page, Hosted(seen): Hosted<SeenCollection>, at: At) -> Result<Response> {
    let of = args![&seen.collection.id];
    let known = gold_captions::KNOWN.page(&app.store, at, of, |one: &GoldCaption| &one.id).await?;
    let raters = gold_captions::raters(&app.store, &seen.collection.id).await?;
    page.show(&GoldPage { page: &page, seen: &seen, known, raters })
}

async fn create(app: App, visitor: Visitor, Hosted(seen): Hosted<SeenCollection>) -> Result<Redirect> {
    let made = gold_captions::grow(&app.store, &seen.collection.id, Some(&visitor.id)).await?;
    if made == 0 {
        return Err(fault! {
            CONFLICT, "no-gold",
            "This needs accepted captions from several groups of pictures that all raters gave the best grade."
        });
    }
    Ok(saved(&seen))
}

async fn retire(
    app: App,
    Hosted(seen): Hosted<SeenCollection>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Redirect> {
    if !gold_captions::retire(&app.store, &seen.collection.id, &id).await? {
        return Err(Fault::not_found());
    }
    Ok(saved(&seen))
}

fn saved(seen: &SeenCollection) -> Redirect {
    Redirect::to(&seen.address("gold?done=saved"))
}
