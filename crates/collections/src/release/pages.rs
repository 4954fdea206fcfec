//! The pages of releases: what there is to download, creating one, and publishing its withheld split.

use askama::Template;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Redirect, Response};
use capeval_api::BoardKind;
use capeval_site::prelude::*;
use capeval_site::web::download;
use capeval_site::web::markdown::as_html;
use schemars::JsonSchema;
use serde::Deserialize;

use super::publish::{self, WantedBenchmark};
use super::records::{self, Part, Release, ReleasePhase, ReleaseState, SeenRelease};
use super::selection::{self, Parameters};
use super::{ZIP, build};
use crate::records::SeenCollection;

pub(crate) fn routes() -> Vec<Route> {
    let (public, host) = (Access::Public, Access::Host);
    let file_of = "Download a file of a release";
    vec![
        get("/c/{slug}/releases", public, "List the releases of a collection", list),
        post("/c/{slug}/releases", host, "Create a release", create),
        get("/c/{slug}/releases/{number}", public, "Show a release, with its data card", show),
        get("/c/{slug}/releases/{number}/{name}", public, file_of, file),
        get(
            "/api/v1/collections/{slug}/releases/{number}/{name}",
            Access::Person(Scope::Read),
            file_of,
            file,
        )
        .sends(200, ZIP)
        .sends(206, ZIP),
        post("/c/{slug}/releases/{number}/again", host, "Build a release again that failed", build_again),
        post(
            "/c/{slug}/releases/{number}/publish",
            host,
            "Publish the withheld split of a release as a phase of a benchmark",
            publish,
        ),
    ]
}

#[derive(Template)]
#[template(path = "collections/releases.html")]
struct ReleasesPage<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    releases: Vec<Release>,
}

async fn list(app: App, page: Page, Visible(seen): Visible<SeenCollection>) -> Result<Response> {
    let releases = records::releases(&app.store, &seen.collection.id).await?;
    page.show(&ReleasesPage { page: &page, seen: &seen, releases })
}

#[derive(Deserialize, JsonSchema)]
struct NewRelease {
    #[serde(default)]
    title: String,
    val: u32,
    test: u32,
    /// The split whose captions are kept back; empty for none.
    #[serde(default)]
    withheld: String,
}

async fn create(
    app: App,
    visitor: Visitor,
    Hosted(seen): Hosted<SeenCollection>,
    Body(given): Body<NewRelease>,
) -> Result<Redirect> {
    let parameters = Parameters { val: given.val, test: given.test, withheld: given.withheld.parse().ok() };
    let title: String = given.title.trim().chars().take(80).collect();
    let number = selection::create(&app, &seen.collection.id, &title, &parameters, Some(&visitor.id)).await?;
    Ok(Redirect::to(&seen.address(&format!("releases/{number}"))))
}

#[derive(Template)]
#[template(path = "collections/release.html")]
struct ReleasePage<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    release: &'a Release,
    parts: Vec<Part>,
    may_download: bool,
    card: String,
    /// The reason why it failed.
    reason: Option<String>,
    /// The phases that came of it.
    phases: Vec<ReleasePhase>,
}

async fn show(
    app: App,
    page: Page,
    Visible(SeenRelease { seen, release }): Visible<SeenRelease>,
) -> Result<Response> {
    let store = &app.store;
    page.show(&ReleasePage {
        page: &page,
        may_download: release.state == ReleaseState::Ready
            && records::may_download(store, &seen, page.visitor.as_ref()).await?,
        card: as_html(release.card_in(page.language)),
        phases: records::published(store, &release.id).await?,
        parts: records::parts(store, &release.id).await?,
        reason: release
            .reason
            .as_deref()
            .map(|reason| if seen.is_host { reason.to_owned() } else { app.public_reason(reason) }),
        seen: &seen,
        release: &release,
    })
}

async fn file(
    app: App,
    page: Page,
    Visible(SeenRelease { seen, release }): Visible<SeenRelease>,
    Path((_, _, name)): Path<(String, String, String)>,
    headers: HeaderMap,
) -> Result<Response> {
    let visitor = page.visitor.as_ref();
    if !records::may_download(&app.store, &seen, visitor).await? {
        return Err(Fault::not_found());
    }
    if release.state == ReleaseState::Retired {
        return Err(fault! {
            GONE, "release-retired",
            "Some items of this release have since been withdrawn. Please use the newest release."
        });
    }
    let part = records::part(&app.store, &release.id, &name).await?;
    let file = app.blobs.ready(&part.blob).await?;
    let sent = download::send(&file, &part.blob, Some(&name), ZIP, &headers).await?;
    // A download that goes on is not another one.
    if sent.status() == StatusCode::OK {
        let noted = records::note_download(&app.store, &release.id, &part, visitor).await;
        fault::beside_reading(noted)?;
    }
    Ok(sent)
}

async fn build_again(
    app: App,
    visitor: Visitor,
    Hosted(SeenRelease { seen, release }): Hosted<SeenRelease>,
) -> Result<Redirect> {
    build::build_again(&app, &release.id, &visitor.id).await?;
    Ok(Redirect::to(&seen.address(&format!("releases/{}", release.number))))
}

#[derive(Deserialize, JsonSchema)]
struct NewPhase {
    benchmark: String,
    per_day: u32,
    in_total: u32,
    board: BoardKind,
}

async fn publish(
    app: App,
    visitor: Visitor,
    Hosted(SeenRelease { seen, release }): Hosted<SeenRelease>,
    Body(given): Body<NewPhase>,
) -> Result<Redirect> {
    if release.state != ReleaseState::Ready {
        return Err(fault! {
            CONFLICT, "release-not-ready", "This release is not ready or no longer available."
        });
    }
    let wanted = WantedBenchmark {
        slug: given.benchmark.trim().to_owned(),
        per_day: given.per_day,
        in_total: given.in_total,
        board: given.board,
    };
    let board = publish::publish(&app, &seen.collection, &release.id, &wanted, &visitor).await?;
    Ok(Redirect::to(&board))
}
