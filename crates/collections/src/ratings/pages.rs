//! The page on which people rate captions, one after another, without knowing whose they are or what others think.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};
use capeval_api::ReportReason;
use capeval_site::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use super::queue::{self, ToRate};
use super::rate::{self, NewRating};
use super::set_aside;
use crate::milestones::Milestones;
use crate::passes;
use crate::records::SeenCollection;
use crate::rules::acceptance::{GRADES, Grade, Mistake};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/c/{slug}/rate", Access::Person(Scope::Read), "Show the next caption to rate", show),
        post("/c/{slug}/rate", Access::Person(Scope::Submit), "Rate a caption", rate),
    ]
}

#[derive(Template)]
#[template(path = "collections/rate.html")]
struct RatePage<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    to_rate: &'a ToRate,
    done: Milestones,
}

#[derive(Template)]
#[template(path = "collections/no-caption.html")]
struct NoCaption<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    done: i64,
}

async fn show(app: App, page: Page, visitor: Visitor, seen: Visible<SeenCollection>) -> Result<Response> {
    let collection = &seen.collection.id;
    if !passes::has_passed(&app.store, collection, &visitor.id).await? {
        return Ok(Redirect::to(&seen.address("guide")).into_response());
    }
    let done = queue::done(&app.store, collection, &visitor.id).await?;
    match queue::next(&app.store, collection, &visitor.id).await? {
        Some(to_rate) => {
            page.show(&RatePage { page: &page, seen: &seen, to_rate: &to_rate, done: Milestones::of(done) })
        }
        None => page.show(&NoCaption { page: &page, seen: &seen, done }),
    }
}

/// A person's answer about the caption that was shown to them.
#[derive(Deserialize, JsonSchema)]
struct RatingForm {
    #[serde(default)]
    item: String,
    /// A number, or `skip`.
    grade: Option<String>,
    /// The errors that they have marked.
    #[serde(default)]
    tag: Vec<String>,
    /// The reason why they report it.
    report: Option<ReportReason>,
}

async fn rate(
    app: App,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    Body(answered): Body<RatingForm>,
) -> Result<Redirect> {
    seen.collection.require_open()?;
    let collection = seen.collection.id.as_str();
    let again = Redirect::to(&seen.address("rate"));
    // Only what the person was given can be rated, so that no one chooses whose captions they grade.
    let held = queue::held(&app.store, collection, &visitor.id).await?;
    let Some(held) = held.filter(|held| held.item == answered.item) else { return Ok(again) };
    if let Some(reason) = answered.report {
        set_aside::report(&app.store, &seen, &visitor, &held, reason).await?;
        return Ok(again);
    }
    let grade = answered.grade.as_deref();
    if grade == Some("skip") {
        set_aside::skip(&app.store, collection, &visitor, &held).await?;
        return Ok(again);
    }
    let Some(grade) = grade.and_then(|grade| grade.parse().ok()).and_then(Grade::new) else {
        return Err(not_a_grade());
    };
    let given = NewRating { collection, account: &visitor.id, grade, tags: known_tags(&answered.tag) };
    rate::rate_held(&app.store, &held.item, &given).await?;
    Ok(again)
}

/// The fault of a grade that is not one.
pub fn not_a_grade() -> Fault {
    fault!(UNPROCESSABLE_ENTITY, "grade", "Choose one of the four grades.")
}

/// The errors among the marked ones that raters may mark, in their order.
pub fn known_tags(marked: &[String]) -> Vec<Mistake> {
    let is_marked = |mistake: &Mistake| marked.iter().any(|name| name == mistake.name());
    Mistake::ALL.iter().copied().filter(is_marked).collect()
}
