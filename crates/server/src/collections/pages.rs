//! The list of collections, and the page of one: how far it is, what to do, and who contributes.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::moderation;
use super::records::{self, Collection, Progress, Seen};
use crate::app::App;
use crate::fault::Fault;
use crate::store::{Error, Store, Tx};
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};
use crate::{args, clock};

/// The most names on a board.
const BOARD: i64 = 100;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/collections", Access::Public, "List all collections", list),
        get("/c/{slug}", Access::Public, "Show a collection's progress and contributors", show),
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
    rows: Vec<(Collection, Progress)>,
}

async fn list(State(app): State<App>, page: Page) -> Result<Response, Fault> {
    let mut rows = Vec::new();
    for Seen { collection, .. } in records::visible(&app.store, page.visitor.as_ref()).await? {
        let progress = records::progress(&app.store, &collection.id).await?;
        rows.push((collection, progress));
    }
    page.show(&List { page: &page, rows })
}

/// A contributor on the board.
struct BoardRow {
    name: String,
    captions: i64,
    images: i64,
}

#[derive(Template)]
#[template(path = "collections/collection.html")]
struct CollectionPage<'a> {
    page: &'a Page,
    seen: &'a Seen,
    progress: Progress,
    closed: Option<String>,
    waiting: i64,
    board: Vec<BoardRow>,
    is_on_board: bool,
}

async fn show(State(app): State<App>, page: Page, Path(slug): Path<String>) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, page.visitor.as_ref()).await?;
    let id = &seen.collection.id;
    let is_on_board = match &page.visitor {
        Some(visitor) => {
            let sql = "SELECT on_board FROM contributor WHERE collection = $1 AND account = $2";
            app.store
                .first(sql, args![id, &visitor.id])
                .await?
                .map_or(Ok(false), |row| row.flag("on_board"))?
        }
        None => false,
    };
    page.show(&CollectionPage {
        page: &page,
        progress: records::progress(&app.store, id).await?,
        closed: seen.collection.is_closed().map(|fault| page.fault(&fault)),
        waiting: if seen.is_moderator { moderation::waiting(&app.store, id).await? } else { 0 },
        board: board(&app.store, id).await?,
        is_on_board,
        seen: &seen,
    })
}

/// People who want to be named, by accepted work.
async fn board(store: &Store, collection: &str) -> Result<Vec<BoardRow>, Error> {
    const ROWS: &str = "SELECT name, captions, images FROM (SELECT account.name, account.id, \
        (SELECT COUNT(*) FROM caption WHERE caption.author = account.id AND caption.collection = $1 \
         AND caption.state = 'accepted') AS captions, \
        (SELECT COUNT(*) FROM image WHERE image.uploader = account.id AND image.collection = $1 \
         AND image.state IN ('open', 'complete')) AS images \
        FROM contributor JOIN account ON account.id = contributor.account \
        WHERE contributor.collection = $1 AND contributor.on_board = 1 AND account.disabled_at IS NULL) AS people \
        WHERE captions + images > 0 ORDER BY captions DESC, images DESC, id LIMIT $2";
    let rows = store.all(ROWS, args![collection, BOARD]).await?;
    rows.iter()
        .map(|row| {
            Ok(BoardRow {
                name: row.get("name")?,
                captions: row.get("captions")?,
                images: row.get("images")?,
            })
        })
        .collect()
}

/// Notes that a person takes part.
///
/// # Errors
/// If the database fails.
pub(super) async fn join(tx: &mut Tx, collection: &str, account: &str) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO contributor (collection, account, on_board, created_at) VALUES ($1, $2, 0, $3) \
         ON CONFLICT DO NOTHING",
        args![collection, account, clock::now()],
    )
    .await
    .map(drop)
}

#[derive(Deserialize)]
struct Choice {
    show: u8,
}

async fn choose_board(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Form(Choice { show }): Form<Choice>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    let mut tx = app.store.begin().await?;
    join(&mut tx, &seen.collection.id, &visitor.id).await?;
    tx.execute(
        "UPDATE contributor SET on_board = $1 WHERE collection = $2 AND account = $3",
        args![show == 1, &seen.collection.id, &visitor.id],
    )
    .await?;
    tx.commit().await?;
    Ok(Redirect::to(&format!("/c/{slug}?done=saved")).into_response())
}
