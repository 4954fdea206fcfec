//! Skipping a picture: it goes to somebody else, and does not come back.

use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use crate::accounts::Visitor;
use crate::app::App;
use crate::collections::records::{self, Seen};
use crate::collections::slots;
use crate::fault::Fault;
use crate::web::language::say;
use crate::web::route::post;
use crate::web::{Access, Person, Route, Scope};
use crate::{args, clock};

/// Why somebody skips a picture.
pub const REASONS: [(&str, &str); 4] = [
    ("unclear", say("I do not understand it")),
    ("language", say("I cannot say it in this language")),
    ("unpleasant", say("I would rather not look at it")),
    ("other", say("Other reason")),
];

pub(super) fn routes() -> Vec<Route> {
    vec![post("/c/{slug}/skip", Access::Person(Scope::Submit), "Skip a picture", skip)]
}

/// What is skipped, and why.
#[derive(Deserialize)]
pub struct Skip {
    /// The picture.
    pub image: String,
    /// One of [`REASONS`].
    pub reason: String,
}

async fn skip(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Form(given): Form<Skip>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    add(&app, &seen, &visitor, &given).await?;
    Ok(Redirect::to(&format!("/c/{slug}/caption")).into_response())
}

/// Gives up the reservation of a picture, which the person does not meet again.
///
/// # Errors
/// If there is no such picture or reason, or the database fails.
pub async fn add(app: &App, seen: &Seen, visitor: &Visitor, given: &Skip) -> Result<(), Fault> {
    let image = records::image(&app.store, &given.image).await?;
    let reason = REASONS.iter().find(|(name, _)| *name == given.reason);
    let Some((reason, _)) = reason.filter(|_| image.collection == seen.collection.id) else {
        return Err(Fault::not_found());
    };
    let mut tx = app.store.begin().await?;
    slots::free(&mut tx, &image.id, &visitor.id, i64::MAX).await?;
    tx.execute(
        "INSERT INTO skip (image, account, reason, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
        args![&image.id, &visitor.id, *reason, clock::now()],
    )
    .await?;
    Ok(tx.commit().await?)
}
