//! The page on which people describe pictures: one after another, each reserved for a while, and nothing typed is lost.

use askama::Template;
use axum::extract::{Form, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;
use serde_json::json;

use super::records::{self, Collection, Image, Seen};
use super::rules::next::Start;
use super::rules::reports::ReportReason;
use super::rules::{lint, text};
use super::words::InWords;
use super::{guide, slots};
use crate::accounts::Visitor;
use crate::app::App;
use crate::fault;
use crate::fault::Fault;
use crate::store::{Error, Store, Tx};
use crate::web::language::say;
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};
use crate::{args, audit, clock, ids};

/// The most characters of a draft.
const DRAFT: usize = 2_000;

/// Why somebody skips a picture.
pub(super) const SKIPS: [(&str, &str); 4] = [
    ("unclear", say("I do not understand it")),
    ("language", say("I cannot say it in this language")),
    ("unpleasant", say("I would rather not look at it")),
    ("other", say("Another reason")),
];

pub(super) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/c/{slug}/caption", read, "The next picture to describe", show),
        post("/c/{slug}/caption", submit, "Hand in a caption, or keep it as a draft", hand_in),
        post("/c/{slug}/skip", submit, "Skip a picture", skip),
    ]
}

#[derive(Template)]
#[template(path = "collections/caption.html")]
struct CaptionPage<'a> {
    page: &'a Page,
    seen: &'a Seen,
    image: &'a Image,
    language: &'a String,
    text: &'a str,
    advice: Vec<&'static str>,
    /// The rules as JSON, for the script.
    rules: String,
    problems: Vec<&'a str>,
    warnings: Vec<&'a str>,
    notice: Option<String>,
    done_here: i64,
    next: Option<String>,
    skips: Vec<(&'static str, &'static str)>,
    reasons: Vec<(&'static str, &'static str)>,
}

#[derive(Template)]
#[template(path = "collections/no-picture.html")]
struct NoPicture<'a> {
    page: &'a Page,
    seen: &'a Seen,
    closed: Option<String>,
}

#[derive(Deserialize)]
struct Hint {
    next: Option<String>,
    #[serde(default)]
    notice: String,
}

async fn show(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Query(hint): Query<Hint>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    if let Some(fault) = seen.collection.is_closed() {
        let closed = Some(page.fault(&fault));
        return page.show(&NoPicture { page: &page, seen: &seen, closed });
    }
    if !guide::has_passed(&app.store, &seen.collection.id, &visitor.id).await? {
        return Ok(Redirect::to(&format!("/c/{slug}/guide")).into_response());
    }
    let assigned = slots::next(&app, &seen.collection, &visitor.id, hint.next.as_deref()).await?;
    let Some(assigned) = assigned else {
        return page.show(&NoPicture { page: &page, seen: &seen, closed: None });
    };
    let image = records::image(&app.store, &assigned.image).await?;
    let draft = draft(&app.store, &image.id, &visitor.id).await?;
    let text = draft.unwrap_or_default();
    let given = Given { text, ..Given::default() };
    let notice = match hint.notice.as_str() {
        "gone" => Some(page.t("The picture before this one was taken away meanwhile, so it needs no caption.").to_owned()),
        "full" => Some(page.t("Others had completed the picture before this one meanwhile. Your text is among your contributions.").to_owned()),
        _ => None,
    };
    let shown = Shown { seen: &seen, image: &image, given: &given, problems: &[], notice };
    show_picture(&app, &page, &visitor, shown).await
}

/// What the page of a picture shows.
struct Shown<'a> {
    seen: &'a Seen,
    image: &'a Image,
    given: &'a Given,
    problems: &'a [&'a str],
    notice: Option<String>,
}

async fn show_picture(
    app: &App,
    page: &Page,
    visitor: &Visitor,
    shown: Shown<'_>,
) -> Result<Response, Fault> {
    let Shown { seen, image, given, problems, notice } = shown;
    let collection = &seen.collection;
    let language = &language(collection, page, &given.language);
    let next = slots::candidate(&app.store, collection, &visitor.id, Start::Fewest(0), &image.id).await?;
    let warnings = match problems.is_empty() {
        true => Vec::new(),
        false => lint::broken(&text::clean(&given.text), language)
            .into_iter()
            .filter(|rule| rule.level == lint::Level::Warn)
            .map(|rule| rule.text(page.language))
            .collect(),
    };
    let sql =
        "SELECT COUNT(*) AS n FROM caption WHERE author = $1 AND collection = $2 AND state <> 'withdrawn'";
    let done = app.store.first(sql, args![&visitor.id, &collection.id]).await?;
    let response = page.show(&CaptionPage {
        page,
        seen,
        image,
        language,
        text: &given.text,
        advice: guide::advice(page),
        rules: rules_as_json(page)?,
        warnings,
        notice,
        done_here: done.map_or(Ok(0), |row| row.get("n"))?,
        next,
        skips: SKIPS.to_vec(),
        reasons: ReportReason::ALL.iter().map(|reason| (reason.name(), reason.in_words())).collect(),
        problems: problems.to_vec(),
    })?;
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    Ok((status, response).into_response())
}

/// The rules for the script of the page, in the language of the page.
fn rules_as_json(page: &Page) -> Result<String, Fault> {
    let rules: Vec<_> = lint::rules()
        .rule
        .iter()
        .map(|rule| {
            json!({
                "code": rule.code, "level": rule.level, "languages": rule.languages, "count": rule.count,
                "below": rule.below, "above": rule.above, "openings": rule.openings, "finds": rule.finds,
                "text": rule.text(page.language),
            })
        })
        .collect();
    Ok(json!({ "domains": lint::rules().domains, "rules": rules }).to_string())
}

/// The language of a caption: the one that was chosen, or else that of the page, if the collection has it.
fn language(collection: &Collection, page: &Page, chosen: &str) -> String {
    let has = |wanted: &str| collection.languages.iter().find(|language| *language == wanted);
    let known = has(chosen).or_else(|| has(page.tag())).or(collection.languages.first());
    known.map_or_else(|| page.tag().to_owned(), String::clone)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    image: String,
    text: String,
    language: String,
    /// `draft` keeps the text without handing it in.
    action: String,
    /// The picture that the browser has loaded already.
    next: String,
}

/// What became of a caption.
pub(crate) enum Outcome {
    /// It waits for ratings.
    Taken,
    /// The picture was taken away.
    Gone,
    /// Others have completed the picture.
    Full,
    /// The person has described it before.
    Again,
}

async fn hand_in(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
    headers: HeaderMap,
    Form(given): Form<Given>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    let image = records::image(&app.store, &given.image).await?;
    if image.collection != seen.collection.id || given.text.chars().count() > DRAFT {
        return Err(Fault::not_found());
    }
    if given.action == "draft" {
        return keep_draft(&app, &visitor, &slug, &headers, &given).await;
    }
    if let Some(fault) = seen.collection.is_closed() {
        return Err(fault);
    }
    if !guide::has_passed(&app.store, &seen.collection.id, &visitor.id).await? {
        return Ok(Redirect::to(&format!("/c/{slug}/guide")).into_response());
    }
    let language = language(&seen.collection, &page, &given.language);
    let clean = text::clean(&given.text);
    let broken = lint::broken(&clean, &language);
    let refused = broken.iter().filter(|rule| rule.level == lint::Level::Refuse);
    let mut problems: Vec<&str> = refused.map(|rule| rule.text(page.language)).collect();
    if problems.is_empty() && is_repeated(&app.store, &seen.collection, &visitor, &clean, &image.id).await? {
        problems.push(page.t(
            "You have given the same caption to another picture. Describe what is special about this one.",
        ));
    }
    if !problems.is_empty() {
        save_draft(&app.store, &given.image, &visitor.id, &given.text).await?;
        let shown = Shown { seen: &seen, image: &image, given: &given, problems: &problems, notice: None };
        return show_picture(&app, &page, &visitor, shown).await;
    }
    app.limits.take("captions", &visitor.id, app.settings.captions_per_minute)?;
    let warnings: Vec<&str> = broken.iter().map(|rule| rule.code.as_str()).collect();
    let new =
        New { collection: &seen.collection, image: &image.id, language: &language, text: &clean, warnings };
    let mut tx = app.store.begin().await?;
    let outcome = add(&mut tx, &visitor, new).await?;
    if let Outcome::Taken = outcome {
        tx.commit().await?;
    } else {
        drop(tx);
        save_draft(&app.store, &given.image, &visitor.id, &given.text).await?;
        slots::give_up(&app.store, &image.id, &visitor.id).await?;
    }
    let notice = match outcome {
        Outcome::Taken => "&done=caption",
        Outcome::Gone => "&notice=gone",
        Outcome::Full => "&notice=full",
        Outcome::Again => "",
    };
    let next = crate::web::encode(&given.next);
    let next = if next.is_empty() { String::new() } else { format!("&next={next}") };
    Ok(Redirect::to(&format!("/c/{slug}/caption?{}", format!("{notice}{next}").trim_start_matches('&')))
        .into_response())
}

/// Whether the person has written the same about another picture.
async fn is_repeated(
    store: &Store,
    collection: &Collection,
    visitor: &Visitor,
    text: &str,
    image: &str,
) -> Result<bool, Error> {
    const SAME: &str = "SELECT 1 AS one FROM caption WHERE collection = $1 AND text_norm = $2 AND author = $3 \
                        AND image <> $4 AND state <> 'withdrawn'";
    let values = args![&collection.id, text::norm(text), &visitor.id, image];
    Ok(store.first(SAME, values).await?.is_some())
}

/// A new caption, which has been checked.
pub(crate) struct New<'a> {
    pub collection: &'a Collection,
    pub image: &'a str,
    pub language: &'a str,
    pub text: &'a str,
    pub warnings: Vec<&'a str>,
}

/// Adds a caption in the place that its author has reserved, or in a free one.
///
/// # Errors
/// If it is of their own picture and may not be, or the database fails.
pub(crate) async fn add(tx: &mut Tx, visitor: &Visitor, new: New<'_>) -> Result<Outcome, Fault> {
    let author = visitor.id.as_str();
    let known = "SELECT 1 AS one FROM caption WHERE image = $1 AND author = $2";
    let state = slots::lock(tx, new.image).await?;
    if tx.first(known, args![new.image, author]).await?.is_some() {
        return Ok(Outcome::Again);
    }
    if !matches!(state.as_deref(), Some("open" | "complete")) {
        return Ok(Outcome::Gone);
    }
    let row = tx.first("SELECT uploader FROM image WHERE id = $1", args![new.image]).await?;
    let uploader: Option<String> = row.map_or(Ok(None), |row| row.get("uploader"))?;
    if uploader.as_deref() == Some(author) && !new.collection.own_pictures {
        return Err(fault!(CONFLICT, "own-picture", "People do not describe their own pictures here."));
    }
    if !slots::fill(tx, new.image, author).await? {
        return Ok(Outcome::Full);
    }
    let counts = text::counts(new.text);
    let (id, now) = (ids::new_id(), clock::now());
    tx.execute(
        "INSERT INTO caption (id, collection, image, author, language, script, text, text_norm, characters, words, \
         warnings, state, ratings, ratings_wanted, shuffle, created_at, changed_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'submitted', 0, $12, $13, $14, $14)",
        args![
            &id,
            &new.collection.id,
            new.image,
            author,
            new.language,
            text::script(new.text),
            new.text,
            text::norm(new.text),
            counts.characters,
            counts.words,
            json!(new.warnings).to_string(),
            super::rules::acceptance::RATINGS,
            super::rules::next::place(slots::random()?),
            now
        ],
    )
    .await?;
    tx.execute("DELETE FROM draft WHERE image = $1 AND account = $2", args![new.image, author]).await?;
    audit::note(tx, Some(author), "caption.add", &id, json!({ "image": new.image })).await?;
    Ok(Outcome::Taken)
}

/// What a person has typed about a picture.
async fn draft(store: &Store, image: &str, account: &str) -> Result<Option<String>, Error> {
    let sql = "SELECT text FROM draft WHERE image = $1 AND account = $2";
    let row = store.first(sql, args![image, account]).await?;
    row.map(|row| row.get("text")).transpose()
}

async fn save_draft(store: &Store, image: &str, account: &str, text: &str) -> Result<(), Error> {
    // A late draft does not come after its caption.
    const SAVE: &str = "INSERT INTO draft (image, account, text, changed_at) \
        SELECT image.id, $2, $3, $4 FROM image WHERE image.id = $1 \
        AND NOT EXISTS (SELECT 1 FROM caption WHERE caption.image = $1 AND caption.author = $2) \
        ON CONFLICT (image, account) DO UPDATE SET text = excluded.text, changed_at = excluded.changed_at";
    store.execute(SAVE, args![image, account, text, clock::now()]).await.map(drop)
}

/// Keeps a draft, and the reservation of its picture for longer.
async fn keep_draft(
    app: &App,
    visitor: &Visitor,
    slug: &str,
    headers: &HeaderMap,
    given: &Given,
) -> Result<Response, Fault> {
    save_draft(&app.store, &given.image, &visitor.id, &given.text).await?;
    slots::extend(&app.store, &given.image, &visitor.id).await?;
    let is_script = headers.get(header::ACCEPT).is_some_and(|value| value == "application/json");
    if is_script {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(Redirect::to(&format!("/c/{slug}/caption?done=saved")).into_response())
}

#[derive(Deserialize)]
struct Skip {
    image: String,
    reason: String,
}

async fn skip(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Form(given): Form<Skip>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    let image = records::image(&app.store, &given.image).await?;
    let reason = SKIPS.iter().find(|(name, _)| *name == given.reason);
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
    tx.commit().await?;
    Ok(Redirect::to(&format!("/c/{slug}/caption")).into_response())
}
