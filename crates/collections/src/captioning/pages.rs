//! The page on which people describe pictures.

use askama::Template;
use axum::Json;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use capeval_api::{ReportReason, Skip, SkipReason};
use capeval_site::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::submit::{self, Outcome, SubmittedCaption};
use super::{drafts, language, skips};
use crate::milestones::Milestones;
use crate::records::{self, Collection, Goal, Image, SeenCollection};
use crate::rules::order::Start;
use crate::rules::{lint, text};
use crate::slots::{self, Author};
use crate::{guide, passes};

pub(crate) fn routes() -> Vec<Route> {
    let (read, submit_scope) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/c/{slug}/caption", read, "Show the next picture to describe", show),
        post("/c/{slug}/caption", submit_scope, "Submit a caption, or save it as a draft", submit),
        post("/c/{slug}/skip", submit_scope, "Skip a picture", skip).and("/api/v1/collections/{slug}/skips"),
    ]
}

#[derive(Template)]
#[template(path = "collections/caption.html")]
struct CaptionPage<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    image: &'a Image,
    language: &'a String,
    /// The other languages, if each is complete by itself.
    others: Vec<&'a str>,
    text: &'a str,
    advice: Vec<&'static str>,
    /// The rules as JSON, for the script.
    rules: String,
    problems: Vec<&'a str>,
    warnings: Vec<String>,
    notice: Option<String>,
    done: Milestones,
    next: Option<String>,
    skips: &'static [SkipReason],
    reasons: &'static [ReportReason],
}

#[derive(Template)]
#[template(path = "collections/no-picture.html")]
struct NoPicture<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    closed: Option<String>,
    /// The other languages, if each is complete by itself and one was chosen.
    others: Vec<&'a str>,
}

/// The languages of a collection besides one, if each is complete by itself.
fn others<'a>(collection: &'a Collection, language: &str) -> Vec<&'a str> {
    let other = |goal: &'a Goal| Some(goal.language.as_str()).filter(|of| !of.is_empty() && *of != language);
    collection.goals.iter().filter_map(other).collect()
}

#[derive(Deserialize, JsonSchema)]
struct Hint {
    next: Option<String>,
    #[serde(default)]
    language: String,
    #[serde(default)]
    notice: String,
}

async fn show(
    app: App,
    page: Page,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    UrlQuery(hint): UrlQuery<Hint>,
) -> Result<Response> {
    if let Some(fault) = seen.collection.refusal() {
        let closed = Some(page.fault(&fault));
        return page.show(&NoPicture { page: &page, seen: &seen, closed, others: Vec::new() });
    }
    if !passes::has_passed(&app.store, &seen.collection.id, &visitor.id).await? {
        return Ok(Redirect::to(&seen.address("guide")).into_response());
    }
    let asked = (hint.language.as_str(), hint.next.as_deref());
    let (language, assigned) = super::next(&app, &seen.collection, &visitor.id, &page, asked).await?;
    let Some(assigned) = assigned else {
        let others = if hint.language.is_empty() { Vec::new() } else { others(&seen.collection, &language) };
        return page.show(&NoPicture { page: &page, seen: &seen, closed: None, others });
    };
    let image = records::by_id::<Image>(&app.store, &assigned.image).await?;
    let draft = drafts::find(&app.store, &image.id, &visitor.id).await?;
    let text = draft.unwrap_or_default();
    let given = CaptionForm { text, language, ..CaptionForm::default() };
    let notice = match hint.notice.as_str() {
        "gone" => Some(page.t("The previous picture was removed, so it needs no caption.").to_owned()),
        "full" => Some(
            page.t(
                "Others have already completed the previous picture. Your text is among your contributions.",
            )
            .to_owned(),
        ),
        _ => None,
    };
    let shown = PictureView { seen: &seen, image: &image, given: &given, problems: &[], notice };
    show_picture(&app, &page, &visitor, shown).await
}

/// The parts of the page of a picture.
struct PictureView<'a> {
    seen: &'a SeenCollection,
    image: &'a Image,
    given: &'a CaptionForm,
    problems: &'a [&'a str],
    notice: Option<String>,
}

async fn show_picture(app: &App, page: &Page, visitor: &Visitor, shown: PictureView<'_>) -> Result<Response> {
    let PictureView { seen, image, given, problems, notice } = shown;
    let collection = &seen.collection;
    let language = &language(&app.store, collection, &visitor.id, page, &given.language).await?;
    let author = Author { collection, account: &visitor.id, language };
    let next = slots::candidate(&app.store, author, Start::Fewest(0), &image.id).await?;
    let warnings = match problems.is_empty() {
        true => Vec::new(),
        false => lint::broken(&text::clean(&given.text), language, &collection.shortest)
            .into_iter()
            .filter(|rule| rule.level == lint::Level::Warn)
            .map(|rule| rule.text(page.language).to_owned())
            .collect(),
    };
    let response = page.show(&CaptionPage {
        page,
        seen,
        image,
        language,
        others: others(collection, language),
        text: &given.text,
        advice: guide::advice(page),
        rules: rules_as_json(page, collection)?,
        warnings,
        notice,
        done: Milestones::of(submit::count(&app.store, &collection.id, &visitor.id).await?),
        next,
        skips: SkipReason::ALL,
        reasons: ReportReason::ALL,
        problems: problems.to_vec(),
    })?;
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    Ok((status, response).into_response())
}

/// The rules for the script of the page, in the language of the page.
fn rules_as_json(page: &Page, collection: &Collection) -> Result<String> {
    let rules: Vec<_> = lint::rules(&collection.shortest)
        .map(|rule| {
            json!({
                "code": rule.code, "level": rule.level, "languages": rule.languages, "count": rule.count,
                "below": rule.below, "above": rule.above, "openings": rule.openings, "finds": rule.finds,
                "text": rule.text(page.language),
            })
        })
        .collect();
    Ok(json!({ "domains": lint::domains(), "rules": rules }).to_string())
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct CaptionForm {
    image: String,
    text: String,
    language: String,
    /// `draft` saves the text without submitting it; scripts `send` what was kept in the browser, and are told what
    /// became of it.
    action: String,
    /// The picture that the browser has loaded already.
    next: String,
}

async fn submit(
    app: App,
    page: Page,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    headers: HeaderMap,
    Body(given): Body<CaptionForm>,
) -> Result<Response> {
    let image: Image = seen.contribution(&app.store, &given.image).await?;
    drafts::require_short(&given.text)?;
    if given.action == "draft" {
        return keep_draft(&app, &visitor, &seen, &headers, &given).await;
    }
    if given.action == "send" {
        return send(&app, &page, &visitor, &seen, &given).await;
    }
    seen.collection.require_open()?;
    if !passes::has_passed(&app.store, &seen.collection.id, &visitor.id).await? {
        return Ok(Redirect::to(&seen.address("guide")).into_response());
    }
    let language = language(&app.store, &seen.collection, &visitor.id, &page, &given.language).await?;
    let caption = SubmittedCaption {
        collection: &seen.collection,
        image: &given.image,
        language: &language,
        text: &given.text,
    };
    let outcome = submit::submit(&app, &visitor, &caption).await?;
    let notice = match outcome {
        Outcome::Refused(problems) => {
            let problems: Vec<&str> = problems.iter().map(|problem| problem.text(page.language)).collect();
            let shown =
                PictureView { seen: &seen, image: &image, given: &given, problems: &problems, notice: None };
            return show_picture(&app, &page, &visitor, shown).await;
        }
        Outcome::Taken(_) => "&done=caption",
        Outcome::Gone => "&notice=gone",
        Outcome::Full => "&notice=full",
        Outcome::Again => "",
    };
    let next = encode(&given.next);
    let next = if next.is_empty() { String::new() } else { format!("&next={next}") };
    // People who choose among languages go on with the one they have chosen.
    let is_chosen = !given.language.is_empty() && !others(&seen.collection, &language).is_empty();
    let chosen = if is_chosen { format!("&language={language}") } else { String::new() };
    let query = format!("{notice}{next}{chosen}");
    Ok(Redirect::to(&seen.address(&format!("caption?{}", query.trim_start_matches('&')))).into_response())
}

/// Submits what a browser had kept; the answer is empty, or says why it was not accepted. It may have arrived before,
/// although the answer was lost.
async fn send(
    app: &App,
    page: &Page,
    visitor: &Visitor,
    seen: &SeenCollection,
    given: &CaptionForm,
) -> Result<Response> {
    let problem = match passes::require(&app.store, seen, visitor).await {
        Err(fault) => page.refused(fault)?.problem().unwrap_or_default(),
        Ok(()) => {
            let language = language(&app.store, &seen.collection, &visitor.id, page, &given.language).await?;
            let caption = SubmittedCaption {
                collection: &seen.collection,
                image: &given.image,
                language: &language,
                text: &given.text,
            };
            match submit::submit(app, visitor, &caption).await? {
                Outcome::Taken(_) | Outcome::Again => return Ok(StatusCode::NO_CONTENT.into_response()),
                Outcome::Refused(problems) => {
                    problems.iter().map(|problem| problem.text(page.language)).collect::<Vec<_>>().join(" ")
                }
                Outcome::Gone => page.t("This picture has been removed.").to_owned(),
                Outcome::Full => page.t("Others have already completed this picture.").to_owned(),
            }
        }
    };
    Ok((StatusCode::UNPROCESSABLE_ENTITY, Json(json!({ "problem": problem }))).into_response())
}

/// Keeps a draft, and the reservation of its picture for longer.
async fn keep_draft(
    app: &App,
    visitor: &Visitor,
    seen: &SeenCollection,
    headers: &HeaderMap,
    given: &CaptionForm,
) -> Result<Response> {
    drafts::keep(&app.store, &given.image, &visitor.id, &given.text).await?;
    let is_script = headers.get(header::ACCEPT).is_some_and(|value| value == "application/json");
    if is_script {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(Redirect::to(&seen.address("caption?done=saved")).into_response())
}

async fn skip(
    app: App,
    page: Page,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    Body(given): Body<Skip>,
) -> Result<NoContent> {
    let image: Image = seen.contribution(&app.store, &given.image).await?;
    skips::add(&app.store, &image.id, &visitor.id, given.reason).await?;
    Ok(page.then(&seen.address("caption"), &()))
}
