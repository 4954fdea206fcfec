//! One's own contributions: what became of them, and how to change or withdraw them.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;

use super::records::{self, Caption, Image, Seen};
use super::rules::states::CaptionState;
use super::rules::{lint, text};
use super::{moderation, slots};
use crate::accounts::Visitor;
use crate::app::App;
use crate::fault;
use crate::fault::Fault;
use crate::store::{Error, Store, Tx};
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};
use crate::{args, audit, clock};

/// The most rows of a list.
const MOST: i64 = 500;

pub(super) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/c/{slug}/mine", read, "List your contributions to a collection", show),
        post("/c/{slug}/mine/captions/{id}", submit, "Edit or withdraw one of your captions", change_caption),
        post("/c/{slug}/mine/images/{id}", submit, "Withdraw one of your pictures", withdraw_image),
    ]
}

struct Draft {
    image: String,
    text: String,
}

#[derive(Template)]
#[template(path = "collections/mine.html")]
struct Mine<'a> {
    page: &'a Page,
    seen: &'a Seen,
    images: Vec<Image>,
    captions: Vec<Caption>,
    drafts: Vec<Draft>,
    is_live: bool,
}

async fn show(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    let images = images(&app.store, &seen.collection.id, &visitor.id).await?;
    let is_live = images.iter().any(|image| image.state.name() == "processing");
    let captions = captions(&app.store, &seen.collection.id, &visitor.id).await?;
    let rows = app
        .store
        .all(
            "SELECT draft.image, draft.text FROM draft JOIN image ON image.id = draft.image \
             WHERE draft.account = $1 AND image.collection = $2 ORDER BY draft.changed_at DESC LIMIT $3",
            args![&visitor.id, &seen.collection.id, MOST],
        )
        .await?;
    let draft = |row: &crate::store::Row| Ok(Draft { image: row.get("image")?, text: row.get("text")? });
    let drafts = rows.iter().map(draft).collect::<Result<_, Error>>()?;
    page.show(&Mine { page: &page, seen: &seen, images, captions, drafts, is_live })
}

async fn images(store: &Store, collection: &str, account: &str) -> Result<Vec<Image>, Error> {
    let sql = "SELECT * FROM image WHERE uploader = $1 AND collection = $2 ORDER BY id DESC LIMIT $3";
    store.all(sql, args![account, collection, MOST]).await?.iter().map(Image::of).collect()
}

async fn captions(store: &Store, collection: &str, account: &str) -> Result<Vec<Caption>, Error> {
    let sql = "SELECT * FROM caption WHERE author = $1 AND collection = $2 ORDER BY id DESC LIMIT $3";
    store.all(sql, args![account, collection, MOST]).await?.iter().map(Caption::of).collect()
}

#[derive(Deserialize)]
struct Change {
    action: String,
    #[serde(default)]
    text: String,
}

async fn change_caption(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path((slug, id)): Path<(String, String)>,
    Form(given): Form<Change>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    let caption = records::caption(&app.store, &id).await?;
    if caption.author.as_ref() != Some(&visitor.id) || caption.collection != seen.collection.id {
        return Err(Fault::not_found());
    }
    let mut tx = app.store.begin().await?;
    match given.action.as_str() {
        "withdraw" => withdraw(&mut tx, &caption).await?,
        "edit" => {
            let clean = text::clean(&given.text);
            let broken = lint::broken(&clean, &caption.language);
            if let Some(rule) = broken.iter().find(|rule| rule.level == lint::Level::Refuse) {
                let text = rule.text(page.language);
                return Err(fault!(
                    UNPROCESSABLE_ENTITY,
                    "caption",
                    "The caption cannot be changed: {}",
                    text
                ));
            }
            let codes: Vec<&str> = broken.iter().map(|rule| rule.code.as_str()).collect();
            edit(&mut tx, &caption, &clean, &codes).await?;
        }
        _ => return Err(Fault::not_found()),
    }
    audit::note(&mut tx, Some(&visitor.id), "caption.change", &id, json!({ "action": given.action })).await?;
    tx.commit().await?;
    Ok(Redirect::to(&format!("/c/{slug}/mine?done=saved")).into_response())
}

/// Changes the text of a caption that nobody has rated.
async fn edit(tx: &mut Tx, caption: &Caption, clean: &str, warnings: &[&str]) -> Result<(), Fault> {
    let counts = text::counts(clean);
    let changed = tx
        .execute(
            "UPDATE caption SET text = $1, text_norm = $2, script = $3, characters = $4, words = $5, warnings = $6, \
             changed_at = $7 WHERE id = $8 AND state = 'submitted' AND ratings = 0 \
             AND NOT EXISTS (SELECT 1 FROM rating WHERE rating.caption = $8)",
            args![
                clean,
                text::norm(clean),
                text::script(clean),
                counts.characters,
                counts.words,
                json!(warnings).to_string(),
                clock::now(),
                &caption.id
            ],
        )
        .await?;
    if changed == 0 {
        return Err(fault!(CONFLICT, "rated", "This caption has been rated and can no longer be changed."));
    }
    Ok(())
}

/// Takes a caption back.
///
/// # Errors
/// If the database fails.
pub(super) async fn withdraw(tx: &mut Tx, caption: &Caption) -> Result<(), Error> {
    slots::lock(tx, &caption.image).await?;
    // Its state may have changed since it was read, and cannot change any more now.
    let row = tx.first("SELECT * FROM caption WHERE id = $1", args![&caption.id]).await?;
    let state = row.as_ref().map(Caption::of).transpose()?.map_or(CaptionState::Withdrawn, |now| now.state);
    if state != CaptionState::Withdrawn {
        slots::change_caption(tx, &caption.id, state, CaptionState::Withdrawn, None).await?;
    }
    Ok(())
}

async fn withdraw_image(
    State(app): State<App>,
    Person(visitor): Person,
    Path((slug, id)): Path<(String, String)>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    let image = own_image(&app, &seen, &visitor, &id).await?;
    let mut tx = app.store.begin().await?;
    moderation::take_away(&mut tx, &image, "withdrawn", None).await?;
    audit::note(&mut tx, Some(&visitor.id), "image.withdraw", &id, json!({})).await?;
    tx.commit().await?;
    app.wake.notify();
    Ok(Redirect::to(&format!("/c/{slug}/mine?done=removed")).into_response())
}

async fn own_image(app: &App, seen: &Seen, visitor: &Visitor, id: &str) -> Result<Image, Fault> {
    let image = records::image(&app.store, id).await?;
    let is_own = image.uploader.as_ref() == Some(&visitor.id) && image.collection == seen.collection.id;
    if is_own { Ok(image) } else { Err(Fault::not_found()) }
}
