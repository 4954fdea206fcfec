//! The pages of releases: what there is to download, making one, and publishing its withheld split.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::download;
use super::make::{self, Parameters};
use super::publish::{self, Wanted};
use super::split::Split;
use crate::accounts::Visitor;
use crate::app::App;
use crate::benchmarks::as_html;
use crate::benchmarks::records::BoardKind;
use crate::collections::records::{self, ReleaseAccess, Seen};
use crate::fault;
use crate::fault::Fault;
use crate::store::{Error, Row, Store};
use crate::web::language::Language;
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};
use crate::{args, clock, ids};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/c/{slug}/releases", Access::Public, "List the releases of a collection", list),
        post("/c/{slug}/releases", Access::Person(Scope::Submit), "Create a release", make),
        get("/c/{slug}/releases/{number}", Access::Public, "Show a release, with its data card", show),
        get("/c/{slug}/releases/{number}/{name}", Access::Public, "Download a file of a release", file),
        get(
            "/api/v1/collections/{slug}/releases/{number}/{name}",
            Access::Person(Scope::Read),
            "Download a file of a release",
            file,
        ),
        post(
            "/c/{slug}/releases/{number}/publish",
            Access::Host,
            "Publish the withheld split of a release as a phase of a benchmark",
            publish,
        ),
    ]
}

/// A release.
struct Release {
    id: String,
    number: i64,
    title: String,
    state: String,
    reason: Option<String>,
    card: Option<String>,
    card_zh: Option<String>,
    images: i64,
    captions: i64,
    created_at: i64,
    withheld: Option<Split>,
}

impl Release {
    fn of(row: &Row) -> Result<Self, Error> {
        let parameters: Option<Parameters> = serde_json::from_str(&row.get::<String>("parameters")?).ok();
        Ok(Self {
            id: row.get("id")?,
            number: row.get("number")?,
            title: row.get("title")?,
            state: row.get("state")?,
            reason: row.get("reason")?,
            card: row.get("card")?,
            card_zh: row.get("card_zh")?,
            images: row.get::<Option<i64>>("images")?.unwrap_or(0),
            captions: row.get::<Option<i64>>("captions")?.unwrap_or(0),
            created_at: row.get("created_at")?,
            withheld: parameters.and_then(|parameters| parameters.withheld),
        })
    }
}

impl Release {
    /// The data card; those of earlier versions of the program are in English only.
    fn card_in(&self, language: Language) -> &str {
        let own = match language {
            Language::English => &self.card,
            Language::Chinese => &self.card_zh,
        };
        own.as_ref().or(self.card.as_ref()).map_or("", String::as_str)
    }
}

/// An archive of a release.
struct Part {
    name: String,
    blob: String,
    mib: String,
}

/// Whether a visitor may download releases: hosts, moderators, and people of whom a picture or caption was accepted; or
/// everybody, if the collection says so.
///
/// # Errors
/// If the database fails.
pub async fn may_download(store: &Store, seen: &Seen, visitor: Option<&Visitor>) -> Result<bool, Error> {
    if seen.is_moderator || seen.collection.releases == ReleaseAccess::Everybody {
        return Ok(true);
    }
    let Some(visitor) = visitor else { return Ok(false) };
    let sql = "SELECT 1 AS one WHERE EXISTS (SELECT 1 FROM caption WHERE author = $2 AND collection = $1 \
               AND state = 'accepted') OR EXISTS (SELECT 1 FROM image WHERE uploader = $2 AND collection = $1 \
               AND state IN ('open', 'complete'))";
    Ok(store.first(sql, args![&seen.collection.id, &visitor.id]).await?.is_some())
}

#[derive(Template)]
#[template(path = "collections/releases.html")]
struct ReleasesPage<'a> {
    page: &'a Page,
    seen: &'a Seen,
    releases: Vec<Release>,
}

async fn list(State(app): State<App>, page: Page, Path(slug): Path<String>) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, page.visitor.as_ref()).await?;
    let rows = app
        .store
        .all("SELECT * FROM release WHERE collection = $1 ORDER BY number DESC", args![&seen.collection.id])
        .await?;
    let releases = rows.iter().map(Release::of).collect::<Result<_, _>>()?;
    page.show(&ReleasesPage { page: &page, seen: &seen, releases })
}

#[derive(Deserialize)]
struct NewRelease {
    #[serde(default)]
    title: String,
    val: u32,
    test: u32,
    #[serde(default)]
    withheld: String,
}

async fn make(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Form(given): Form<NewRelease>,
) -> Result<Response, Fault> {
    let seen = records::hosted(&app.store, &slug, &visitor).await?;
    let parameters = Parameters { val: given.val, test: given.test, withheld: given.withheld.parse().ok() };
    let title: String = given.title.trim().chars().take(80).collect();
    let number = make::make(&app, &seen.collection.id, &title, &parameters, Some(&visitor.id)).await?;
    Ok(Redirect::to(&format!("/c/{slug}/releases/{number}")).into_response())
}

#[derive(Template)]
#[template(path = "collections/release.html")]
struct ReleasePage<'a> {
    page: &'a Page,
    seen: &'a Seen,
    release: &'a Release,
    parts: Vec<Part>,
    may_download: bool,
    card: String,
    /// The addresses of phases that came of it, with their titles.
    phases: Vec<(String, String)>,
    boards: &'static [BoardKind],
}

#[derive(Deserialize)]
struct Numbered {
    slug: String,
    number: i64,
}

async fn release(store: &Store, seen: &Seen, number: i64) -> Result<Release, Fault> {
    let sql = "SELECT * FROM release WHERE collection = $1 AND number = $2";
    let row = store.first(sql, args![&seen.collection.id, number]).await?;
    row.as_ref().map(Release::of).transpose()?.ok_or_else(Fault::not_found)
}

async fn show(
    State(app): State<App>,
    page: Page,
    Path(Numbered { slug, number }): Path<Numbered>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, page.visitor.as_ref()).await?;
    let release = release(&app.store, &seen, number).await?;
    let rows = app
        .store
        .all("SELECT * FROM release_part WHERE release = $1 ORDER BY position", args![&release.id])
        .await?;
    let parts = rows.iter().map(|row| {
        let size: i64 = row.get("size")?;
        let mib = format!("{:.1}", size as f64 / f64::from(1 << 20));
        Ok(Part { name: row.get("name")?, blob: row.get("blob")?, mib })
    });
    let parts = parts.collect::<Result<Vec<_>, Error>>()?;
    let phases = app
        .store
        .all(
            "SELECT benchmark.slug, benchmark.title, phase.slug AS phase FROM publication \
             JOIN phase ON phase.id = publication.phase JOIN benchmark ON benchmark.id = phase.benchmark \
             WHERE publication.release = $1 ORDER BY publication.created_at",
            args![&release.id],
        )
        .await?;
    let phases = phases.iter().map(|row| {
        let (slug, phase): (String, String) = (row.get("slug")?, row.get("phase")?);
        Ok((format!("/b/{slug}/{phase}/leaderboard"), row.get("title")?))
    });
    page.show(&ReleasePage {
        page: &page,
        may_download: release.state == "ready"
            && may_download(&app.store, &seen, page.visitor.as_ref()).await?,
        card: as_html(release.card_in(page.language)),
        phases: phases.collect::<Result<_, Error>>()?,
        boards: BoardKind::ALL,
        parts,
        seen: &seen,
        release: &release,
    })
}

#[derive(Deserialize)]
struct Named {
    slug: String,
    number: i64,
    name: String,
}

async fn file(
    State(app): State<App>,
    page: Page,
    Path(Named { slug, number, name }): Path<Named>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, page.visitor.as_ref()).await?;
    let release = release(&app.store, &seen, number).await?;
    if !may_download(&app.store, &seen, page.visitor.as_ref()).await? {
        return Err(Fault::not_found());
    }
    if release.state == "retired" {
        return Err(fault!(
            GONE,
            "release-retired",
            "Some items of this release have since been withdrawn. Please use the newest release."
        ));
    }
    let sql = "SELECT * FROM release_part WHERE release = $1 AND name = $2";
    let row = app.store.first(sql, args![&release.id, &name]).await?.ok_or_else(Fault::not_found)?;
    let hash: String = row.get("blob")?;
    let sent =
        download::send(&app.blobs.ready(&hash).await?, &hash, &name, "application/zip", &headers).await?;
    // A download that goes on is not another one.
    if sent.status() == axum::http::StatusCode::OK {
        app.store
            .execute(
                "INSERT INTO download (id, release, part, account, created_at) VALUES ($1, $2, $3, $4, $5)",
                args![
                    ids::new_id(),
                    &release.id,
                    row.get::<i64>("position")?,
                    page.visitor.as_ref().map(|visitor| visitor.id.clone()),
                    clock::now()
                ],
            )
            .await?;
    }
    Ok(sent)
}

#[derive(Deserialize)]
struct NewPhase {
    benchmark: String,
    per_day: u32,
    in_total: u32,
    board: BoardKind,
}

async fn publish(
    State(app): State<App>,
    Person(visitor): Person,
    Path(Numbered { slug, number }): Path<Numbered>,
    Form(given): Form<NewPhase>,
) -> Result<Response, Fault> {
    let seen = records::hosted(&app.store, &slug, &visitor).await?;
    let release = release(&app.store, &seen, number).await?;
    if release.state != "ready" {
        return Err(fault!(
            CONFLICT,
            "release-not-ready",
            "This release is not ready or no longer available."
        ));
    }
    let wanted = Wanted {
        slug: given.benchmark.trim().to_owned(),
        per_day: given.per_day,
        in_total: given.in_total,
        board: given.board,
    };
    let board = publish::publish(&app, &seen.collection, &release.id, &wanted, &visitor).await?;
    Ok(Redirect::to(&board).into_response())
}
