//! The page on which people rate captions, one after another, without knowing whose they are or what others think.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Redirect, Response};

use super::give::{self, Given};
use super::next::{self, ToRate};
use crate::app::App;
use crate::collections::guide;
use crate::collections::records::{self, Seen};
use crate::collections::reports::{self, NewReport};
use crate::collections::rules::acceptance::Grade;
use crate::collections::rules::reports::ReportReason;
use crate::fault;
use crate::fault::Fault;
use crate::store::Tx;
use crate::web::language::say;
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};
use crate::{args, clock};

/// The grades with their meaning, best first.
pub const GRADES: [(i64, &str); 4] = [
    (4, say("Describes the picture without errors")),
    (3, say("Describes it with minor errors")),
    (2, say("Is somewhat related to the picture")),
    (1, say("Is unrelated to the picture")),
];

/// The errors that raters may mark.
pub const TAGS: [(&str, &str); 7] = [
    ("object", say("Something is not there or is something else")),
    ("attribute", say("A colour or another property is wrong")),
    ("count", say("A number is wrong")),
    ("relation", say("A place or a relation is wrong")),
    ("action", say("An action is wrong")),
    ("missing", say("Something important is missing")),
    ("language", say("There are language errors")),
];

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/c/{slug}/rate", Access::Person(Scope::Read), "Show the next caption to rate", show),
        post("/c/{slug}/rate", Access::Person(Scope::Submit), "Rate a caption", give),
    ]
}

#[derive(Template)]
#[template(path = "collections/rate.html")]
struct RatePage<'a> {
    page: &'a Page,
    seen: &'a Seen,
    to_rate: &'a ToRate,
    grades: [(i64, &'static str); 4],
    tags: [(&'static str, &'static str); 7],
    reasons: &'static [ReportReason],
    done: i64,
}

#[derive(Template)]
#[template(path = "collections/no-caption.html")]
struct NoCaption<'a> {
    page: &'a Page,
    seen: &'a Seen,
    done: i64,
}

async fn show(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    let collection = &seen.collection.id;
    if !guide::has_passed(&app.store, collection, &visitor.id).await? {
        return Ok(Redirect::to(&format!("/c/{slug}/guide")).into_response());
    }
    let sql = "SELECT ratings + gold_rated AS done FROM rater WHERE collection = $1 AND account = $2";
    let row = app.store.first(sql, args![collection, &visitor.id]).await?;
    let done: i64 = row.map_or(Ok(0), |row| row.get("done"))?;
    let Some(to_rate) = next::next(&app.store, collection, &visitor.id).await? else {
        return page.show(&NoCaption { page: &page, seen: &seen, done });
    };
    page.show(&RatePage {
        page: &page,
        seen: &seen,
        to_rate: &to_rate,
        grades: GRADES,
        tags: TAGS,
        reasons: ReportReason::ALL,
        done,
    })
}

async fn give(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    if let Some(fault) = seen.collection.is_closed() {
        return Err(fault);
    }
    let collection = seen.collection.id.as_str();
    let field =
        |wanted: &str| fields.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let again = Redirect::to(&format!("/c/{slug}/rate")).into_response();
    // Only what the person was given can be rated: nobody chooses whose captions they grade.
    let held = next::held(&app.store, collection, &visitor.id).await?;
    let Some(held) = held.filter(|held| field("item") == Some(held.item.as_str())) else { return Ok(again) };
    if let Some(reason) = field("report").and_then(|reason| reason.parse::<ReportReason>().ok()) {
        let mut tx = app.store.begin().await?;
        // A caption with a known grade is somebody's caption elsewhere; here it is only skipped.
        if records::caption(&app.store, &held.item).await.is_ok() {
            reports::add(&mut tx, &seen, &visitor, &NewReport::of_caption(held.item, reason)).await?;
        } else {
            skip(&mut tx, collection, &held.image.id, &visitor.id).await?;
        }
        tx.commit().await?;
        return Ok(again);
    }
    if field("grade") == Some("skip") {
        let mut tx = app.store.begin().await?;
        skip(&mut tx, collection, &held.image.id, &visitor.id).await?;
        tx.commit().await?;
        return Ok(again);
    }
    let Some(grade) = field("grade").and_then(|grade| grade.parse().ok()).and_then(Grade::new) else {
        return Err(not_a_grade());
    };
    let marked = fields.iter().filter(|(name, _)| name == "tag").map(|(_, value)| value.as_str());
    let given = Given { collection, account: &visitor.id, grade, tags: known_tags(marked) };
    give::rate_held(&app.store, &held.item, &given).await?;
    Ok(again)
}

/// The fault of a grade that is not one.
pub fn not_a_grade() -> Fault {
    fault!(UNPROCESSABLE_ENTITY, "grade", "Choose one of the four grades.")
}

/// Those of the marked errors that raters may mark, in their order.
pub fn known_tags<'m>(marked: impl Iterator<Item = &'m str>) -> Vec<&'static str> {
    let marked: Vec<&str> = marked.collect();
    TAGS.iter().map(|(tag, _)| *tag).filter(|tag| marked.contains(tag)).collect()
}

/// Whoever cannot judge a picture neither rates its captions nor describes it.
async fn skip(tx: &mut Tx, collection: &str, image: &str, account: &str) -> Result<(), Fault> {
    tx.execute(
        "DELETE FROM assignment WHERE collection = $1 AND account = $2 AND kind = 'rating'",
        args![collection, account],
    )
    .await?;
    tx.execute(
        "INSERT INTO skip (image, account, reason, created_at) VALUES ($1, $2, 'unclear', $3) ON CONFLICT DO NOTHING",
        args![image, account, clock::now()],
    )
    .await?;
    Ok(())
}
