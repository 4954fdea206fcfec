//! The captions with a known grade: made from accepted ones, and watched by the hosts.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;

use crate::app::App;
use crate::collections::records::{self, Seen};
use crate::fault;
use crate::fault::Fault;
use crate::store::{Row, Store, Tx};
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};
use crate::{args, audit, clock, ids};

/// The pairs, of a fitting and an unrelated caption, that are made at once.
const PAIRS: usize = 5;

pub(super) fn routes() -> Vec<Route> {
    let submit = Access::Person(Scope::Submit);
    vec![
        get("/c/{slug}/gold", Access::Person(Scope::Read), "List the captions with a known grade", show),
        post("/c/{slug}/gold", submit, "Create captions with a known grade", make),
        post("/c/{slug}/gold/{id}/retire", submit, "Retire a caption with a known grade", retire),
    ]
}

/// A caption with a known grade.
struct Known {
    id: String,
    image: String,
    text: String,
    grade: i64,
    rated: i64,
    right: i64,
}

/// Somebody who rates.
struct Rater {
    name: String,
    ratings: i64,
    gold_rated: i64,
    gold_right: i64,
    weight: i64,
}

#[derive(Template)]
#[template(path = "collections/gold.html")]
struct GoldPage<'a> {
    page: &'a Page,
    seen: &'a Seen,
    known: Vec<Known>,
    raters: Vec<Rater>,
}

async fn show(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let seen = records::hosted(&app.store, &slug, &visitor).await?;
    let id = &seen.collection.id;
    let known = app
        .store
        .all(
            "SELECT gold.id, gold.image, gold.text, gold.grade, \
             (SELECT COUNT(*) FROM gold_rating WHERE gold_rating.gold = gold.id) AS rated, \
             (SELECT COUNT(*) FROM gold_rating WHERE gold_rating.gold = gold.id AND is_right = 1) AS is_right \
             FROM gold WHERE gold.collection = $1 AND gold.retired_at IS NULL ORDER BY gold.id",
            args![id],
        )
        .await?;
    let known = known.iter().map(|row: &Row| {
        Ok(Known {
            id: row.get("id")?,
            image: row.get("image")?,
            text: row.get("text")?,
            grade: row.get("grade")?,
            rated: row.get("rated")?,
            right: row.get("is_right")?,
        })
    });
    let known = known.collect::<Result<_, crate::store::Error>>()?;
    let raters = app
        .store
        .all(
            "SELECT rater.*, account.name FROM rater JOIN account ON account.id = rater.account \
             WHERE rater.collection = $1 ORDER BY rater.weight, rater.ratings DESC, account.id",
            args![id],
        )
        .await?;
    let raters = raters.iter().map(|row: &Row| {
        Ok(Rater {
            name: row.get("name")?,
            ratings: row.get("ratings")?,
            gold_rated: row.get("gold_rated")?,
            gold_right: row.get("gold_right")?,
            weight: row.get("weight")?,
        })
    });
    let raters = raters.collect::<Result<_, crate::store::Error>>()?;
    page.show(&GoldPage { page: &page, seen: &seen, known, raters })
}

async fn make(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let seen = records::hosted(&app.store, &slug, &visitor).await?;
    let made = grow(&app.store, &seen.collection.id, Some(&visitor.id)).await?;
    if made == 0 {
        return Err(fault!(
            CONFLICT,
            "no-gold",
            "This needs accepted captions from several groups of pictures that all raters gave the best grade."
        ));
    }
    Ok(Redirect::to(&format!("/c/{slug}/gold?done=saved")).into_response())
}

/// Makes captions with known grades: some that all raters gave the best grade, and as many that belong to a picture of
/// another group. Returns how many were made.
///
/// # Errors
/// If the database fails.
pub async fn grow(store: &Store, collection: &str, actor: Option<&str>) -> Result<usize, Fault> {
    const BEST: &str = "SELECT caption.image, caption.language, caption.text, image.split_group FROM caption \
         JOIN image ON image.id = caption.image WHERE caption.collection = $1 AND caption.state = 'accepted' \
         AND image.state IN ('open', 'complete') \
         AND NOT EXISTS (SELECT 1 FROM rating WHERE rating.caption = caption.id AND rating.grade < 4) \
         AND (SELECT COUNT(*) FROM rating WHERE rating.caption = caption.id AND rating.weight > 0) >= 2 \
         AND NOT EXISTS (SELECT 1 FROM gold WHERE gold.collection = $1 AND gold.text = caption.text) \
         ORDER BY caption.shuffle LIMIT 200";
    let mut tx = store.begin().await?;
    let rows = tx.all(BEST, args![collection]).await?;
    let mut made = 0;
    let mut pictures = std::collections::HashSet::new();
    for first in &rows {
        if made == 2 * PAIRS {
            break;
        }
        let group: String = first.get("split_group")?;
        let picture: String = first.get("image")?;
        if !pictures.insert(picture.clone()) {
            continue;
        }
        let mut other = None;
        for row in &rows {
            if row.get::<String>("split_group")? != group && row.get::<String>("image")? != picture {
                other = Some(row);
                break;
            }
        }
        let Some(other) = other else { continue };
        if made % 4 < 2 {
            add(&mut tx, collection, &picture, first, 4, actor).await?;
            add(&mut tx, collection, &picture, other, 1, actor).await?;
        } else {
            add(&mut tx, collection, &picture, other, 1, actor).await?;
            add(&mut tx, collection, &picture, first, 4, actor).await?;
        }
        made += 2;
    }
    if made > 0 {
        audit::note(&mut tx, actor, "gold.make", collection, json!({ "made": made })).await?;
        tx.commit().await?;
    }
    Ok(made)
}

async fn add(
    tx: &mut Tx,
    collection: &str,
    image: &str,
    text: &Row,
    grade: i64,
    actor: Option<&str>,
) -> Result<(), Fault> {
    tx.execute(
        "INSERT INTO gold (id, collection, image, language, text, grade, created_by, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        args![
            ids::new_id(),
            collection,
            image,
            text.get::<String>("language")?,
            text.get::<String>("text")?,
            grade,
            actor,
            clock::now()
        ],
    )
    .await?;
    Ok(())
}

#[derive(Deserialize)]
struct Named {
    slug: String,
    id: String,
}

async fn retire(
    State(app): State<App>,
    Person(visitor): Person,
    Path(Named { slug, id }): Path<Named>,
    Form(_): Form<Vec<(String, String)>>,
) -> Result<Response, Fault> {
    let seen = records::hosted(&app.store, &slug, &visitor).await?;
    let sql = "UPDATE gold SET retired_at = $1 WHERE id = $2 AND collection = $3 AND retired_at IS NULL";
    if app.store.execute(sql, args![clock::now(), id, &seen.collection.id]).await? == 0 {
        return Err(Fault::not_found());
    }
    Ok(Redirect::to(&format!("/c/{slug}/gold?done=saved")).into_response())
}
