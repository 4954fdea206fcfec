//! Collections for programs: to upload pictures and list them, to describe the next one, and to rate captions.
//! Everything goes the same way as on the pages, with the same rules.

use axum::extract::{Json, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use capeval_api::{Details, Flaw};
use serde::Deserialize;
use serde_json::{Value, json};

use super::captioning::give::{self, Given, Outcome};
use super::captioning::skips::{self, Skip};
use super::captioning::{drafts, language};
use super::ratings::{self, give as rating, next, pages as grades};
use super::records::{self, Image, Seen};
use super::reports::{self, NewReport};
use super::rules::acceptance::Grade;
use super::upload::take;
use super::{guide, media, slots};
use crate::accounts::Visitor;
use crate::app::App;
use crate::fault::Fault;
use crate::web::route::{get, post};
use crate::web::{Access, Field, Page, Person, Route, Scope};
use crate::{args, fault};

/// The most pictures of a list; the next one begins after the last of them.
const MOST: i64 = 100;

pub(super) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    let picture = [
        Field::text("game"),
        Field::text("platform").optional(),
        Field::text("licence"),
        Field::text("rights").declares(take::DECLARATION),
        Field::list("files"),
    ];
    vec![
        get(
            "/api/v1/collections/{slug}/pictures",
            read,
            "List the pictures to describe, 100 at a time",
            list,
        )
        .asks(&["after"]),
        post("/api/v1/collections/{slug}/pictures", submit, "Upload pictures", upload)
            .upload()
            .takes(picture),
        get("/api/v1/pictures/{id}", read, "Download a picture", file),
        get(
            "/api/v1/collections/{slug}/to-describe",
            submit,
            "Reserve the next picture to describe",
            to_describe,
        ),
        post("/api/v1/collections/{slug}/captions", submit, "Submit a caption", describe).takes([
            Field::text("image"),
            Field::text("text"),
            Field::text("language").optional(),
        ]),
        post("/api/v1/collections/{slug}/skips", submit, "Skip a picture", skip)
            .takes([Field::text("image"), Field::text("reason")]),
        get("/api/v1/collections/{slug}/to-rate", submit, "Reserve the next caption to rate", to_rate),
        post("/api/v1/collections/{slug}/ratings", submit, "Rate the caption you were given", rate).takes([
            Field::text("item"),
            Field::number("grade"),
            Field::list("errors").optional(),
        ]),
        post("/api/v1/collections/{slug}/reports", submit, "Report a picture or a caption", report).takes([
            Field::text("kind"),
            Field::text("subject"),
            Field::text("reason"),
            Field::text("note").optional(),
        ]),
    ]
}

fn as_json(image: &Image, visitor: &Visitor) -> Value {
    json!({
        "id": image.id, "state": image.state, "reason": image.reason, "own": image.uploader.as_ref() == Some(&visitor.id),
        "game": image.game, "platform": image.platform, "licence": image.licence,
        "width": image.width, "height": image.height, "accepted_captions": image.accepted,
        "captions_per_picture": image.wanted, "file": format!("/api/v1/pictures/{}", image.id),
    })
}

#[derive(Deserialize)]
struct From {
    #[serde(default)]
    after: String,
}

async fn list(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Query(From { after }): Query<From>,
) -> Result<Response, Fault> {
    const LIST: &str = "SELECT * FROM image WHERE collection = $1 AND state IN ('open', 'complete') AND id > $2 \
         AND NOT EXISTS (SELECT 1 FROM report WHERE report.subject = image.id AND report.reporter = $3) \
         ORDER BY id LIMIT $4";
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    let rows = app.store.all(LIST, args![&seen.collection.id, after, &visitor.id, MOST]).await?;
    let images = rows.iter().map(Image::of).collect::<Result<Vec<_>, _>>()?;
    let next = images.last().filter(|_| rows.len() as i64 == MOST).map(|image| image.id.clone());
    let pictures: Vec<Value> = images.iter().map(|image| as_json(image, &visitor)).collect();
    Ok(Json(json!({ "pictures": pictures, "next": next })).into_response())
}

async fn file(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    media::picture_of(&app, &visitor, &id, &headers).await
}

async fn upload(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
    request: Request,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    let (about, files) = take::receive(&app, request).await?;
    let taken = take::upload(&app, &page, &seen.collection, &visitor, (&about, files)).await?;
    let status = match taken.iter().any(|one| one.outcome.is_ok()) {
        true => StatusCode::CREATED,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let pictures: Vec<Value> = taken
        .iter()
        .map(|one| match &one.outcome {
            Ok(id) => json!({ "name": one.name, "id": id }),
            Err(fault) => json!({ "name": one.name, "code": fault.code, "problem": page.fault(fault) }),
        })
        .collect();
    Ok((status, Json(json!({ "pictures": pictures }))).into_response())
}

/// The collection, if it is open and the person has passed its quiz.
async fn taking_part(app: &App, slug: &str, visitor: &Visitor) -> Result<Seen, Fault> {
    let seen = records::collection(&app.store, slug, Some(visitor)).await?;
    if let Some(fault) = seen.collection.is_closed() {
        return Err(fault);
    }
    if !guide::has_passed(&app.store, &seen.collection.id, &visitor.id).await? {
        return Err(fault!(CONFLICT, "quiz", "First pass the quiz on the instructions page."));
    }
    Ok(seen)
}

async fn to_describe(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let seen = taking_part(&app, &slug, &visitor).await?;
    let Some(assigned) = slots::next(&app, &seen.collection, &visitor.id, None).await? else {
        return Ok(Json(json!({ "picture": null })).into_response());
    };
    let image = records::image(&app.store, &assigned.image).await?;
    let draft = drafts::find(&app.store, &image.id, &visitor.id).await?;
    let until = crate::clock::iso(assigned.expires_at);
    let picture = as_json(&image, &visitor);
    Ok(Json(json!({ "picture": picture, "draft": draft, "reserved_until": until })).into_response())
}

#[derive(Deserialize)]
struct NewCaption {
    image: String,
    text: String,
    #[serde(default)]
    language: String,
}

async fn describe(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Json(given): Json<NewCaption>,
) -> Result<Response, Fault> {
    let seen = taking_part(&app, &slug, &visitor).await?;
    let image = records::image(&app.store, &given.image).await?;
    if image.collection != seen.collection.id {
        return Err(Fault::not_found());
    }
    drafts::require_short(&given.text)?;
    let language = language(&seen.collection, &page, &given.language);
    let caption =
        Given { collection: &seen.collection, image: &image.id, language: &language, text: &given.text };
    match give::hand_in(&app, &visitor, &caption).await? {
        Outcome::Taken(id) => Ok((StatusCode::CREATED, Json(json!({ "id": id }))).into_response()),
        Outcome::Refused(problems) => {
            let texts: Vec<&str> = problems.iter().map(|problem| problem.text(page.language)).collect();
            let list = problems.iter().zip(&texts);
            let list = list
                .map(|(problem, text)| Flaw { code: problem.code().to_owned(), text: (*text).to_owned() });
            let problems = Some(list.collect());
            Err(fault!(UNPROCESSABLE_ENTITY, "caption", "The caption was rejected: {}", texts.join(" "))
                .more(Details { problems, ..Details::default() }))
        }
        Outcome::Gone => Err(fault!(CONFLICT, "picture-gone", "This picture has been removed.")),
        Outcome::Full => {
            Err(fault!(CONFLICT, "picture-complete", "Others have already completed this picture."))
        }
        Outcome::Again => Err(fault!(CONFLICT, "described", "You have already described this picture.")),
    }
}

async fn skip(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Json(given): Json<Skip>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    skips::add(&app, &seen, &visitor, &given).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn to_rate(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let seen = taking_part(&app, &slug, &visitor).await?;
    let found = next::next(&app.store, &seen.collection.id, &visitor.id).await?;
    // Nobody learns whose a caption is, or whether its grade is known.
    let item = found.map(|of| {
        let picture = json!({ "id": of.image.id, "file": format!("/api/v1/pictures/{}", of.image.id) });
        json!({ "item": of.item, "picture": picture, "language": of.language, "text": of.text })
    });
    Ok(Json(json!({ "caption": item })).into_response())
}

#[derive(Deserialize)]
struct NewRating {
    item: String,
    grade: i64,
    #[serde(default)]
    errors: Vec<String>,
}

async fn rate(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Json(given): Json<NewRating>,
) -> Result<Response, Fault> {
    let seen = taking_part(&app, &slug, &visitor).await?;
    let collection = seen.collection.id.as_str();
    let grade = Grade::new(given.grade).ok_or_else(grades::not_a_grade)?;
    let held = next::held(&app.store, collection, &visitor.id).await?;
    if held.is_none_or(|held| held.item != given.item) {
        return Err(fault!(CONFLICT, "not-given", "You can rate only the caption you were given last."));
    }
    let tags = grades::known_tags(given.errors.iter().map(String::as_str));
    let rated = ratings::give::Given { collection, account: &visitor.id, grade, tags };
    if !rating::rate_held(&app.store, &given.item, &rated).await? {
        return Err(fault!(
            CONFLICT,
            "not-rated",
            "You have already rated this caption, or it can no longer be rated. Ask for the next one."
        ));
    }
    Ok((StatusCode::CREATED, Json(json!({}))).into_response())
}

async fn report(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Json(given): Json<NewReport>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    reports::send(&app, &seen, &visitor, &given).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
