//! The page of a collection's imports, for its hosts.

use askama::Template;
use axum::extract::Path;
use axum::response::{Redirect, Response};
use capeval_site::prelude::*;

use super::records::{self, Import, ImportState};
use super::removal;
use crate::records::SeenCollection;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        get("/c/{slug}/imports", Access::Host, "List the imports of a collection", list),
        post("/c/{slug}/imports/{id}/remove", Access::Host, "Remove what an import has added", remove),
    ]
}

#[derive(Template)]
#[template(path = "collections/imports.html")]
struct ImportsPage<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    imports: Rows<Import>,
}

async fn list(app: App, page: Page, Hosted(seen): Hosted<SeenCollection>, at: At) -> Result<Response> {
    let of = args![&seen.collection.id];
    let imports = records::IMPORTS.page(&app.store, at, of, |import: &Import| &import.id).await?;
    page.show(&ImportsPage { page: &page, seen: &seen, imports })
}

async fn remove(
    app: App,
    visitor: Visitor,
    Hosted(seen): Hosted<SeenCollection>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Redirect> {
    removal::begin(&app, &visitor, &seen.collection.id, &id).await?;
    Ok(Redirect::to(&seen.address("imports?done=saved")))
}
