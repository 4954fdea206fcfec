//! The instructions, and the quiz that comes before a person's first caption.

use std::borrow::Cow;
use std::collections::HashMap;

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use capeval_site::prelude::*;
use capeval_site::web::markdown::as_html;

use super::passes;
use super::records::{SeenCollection, name_of};
use super::rules::{lint, quiz};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/c/{slug}/guide", Access::Public, "Show the instructions of a collection, with the quiz", show),
        post("/c/{slug}/quiz", Access::Person(Scope::Submit), "Answer the quiz", answer),
    ]
}

/// Advice on captions, from COCO's instructions.
const ADVICE: [&str; 8] = [
    say("Describe all the important parts of the picture in one sentence."),
    say("Do not begin with “There is” or “In the picture”."),
    say("Leave out unimportant details."),
    say("Do not describe what may have happened before, or may happen later."),
    say("Do not write what a character says or might say."),
    say("Do not use names of people, characters or games."),
    say("Write it yourself. Machine-generated captions are rejected."),
    say("If you do not understand the picture, skip it."),
];

/// Advice on captions, in the language of the page.
pub(super) fn advice(page: &Page) -> Vec<&'static str> {
    ADVICE.iter().map(|sentence| page.language.t(sentence)).collect()
}

/// A question as it is shown.
struct Question {
    text: &'static str,
    options: &'static [String],
    chosen: Option<usize>,
    /// The reason why the answer was wrong.
    why: Option<&'static str>,
}

impl Question {
    fn is_chosen(&self, option: &usize) -> bool {
        self.chosen == Some(*option)
    }
}

#[derive(Template)]
#[template(path = "collections/guide.html")]
struct Guide<'a> {
    page: &'a Page,
    seen: &'a SeenCollection,
    advice: Vec<&'static str>,
    rules: Vec<(&'a str, Vec<String>)>,
    html: String,
    has_passed: bool,
    questions: Vec<Question>,
    problem: Option<&'a str>,
}

async fn show(app: App, page: Page, Visible(seen): Visible<SeenCollection>) -> Result<Response> {
    page_of(&app, &page, &seen, None).await
}

async fn page_of(
    app: &App,
    page: &Page,
    seen: &SeenCollection,
    answers: Option<&[Option<usize>]>,
) -> Result<Response> {
    let has_passed = match &page.visitor {
        Some(visitor) => passes::has_passed(&app.store, &seen.collection.id, &visitor.id).await?,
        None => false,
    };
    let questions = quiz::questions().iter().enumerate().map(|(k, question)| {
        let chosen = answers.and_then(|answers| answers.get(k).copied().flatten());
        let is_wrong = chosen.is_some_and(|answer| !question.is_right(answer));
        Question {
            text: question.text(page.language),
            options: question.options(page.language),
            chosen,
            why: is_wrong.then(|| question.why(page.language)),
        }
    });
    let shortest = &seen.collection.shortest;
    let text = |rule: Cow<'_, lint::Rule>| rule.text(page.language).to_owned();
    let texts = |language: &str| lint::rules_for(language, shortest).map(text).collect();
    let languages = seen.collection.languages.iter();
    let shown = page.show(&Guide {
        page,
        seen,
        advice: advice(page),
        rules: languages.map(|language| (name_of(language), texts(language))).collect(),
        html: as_html(&seen.collection.guide),
        has_passed,
        questions: questions.collect(),
        problem: answers.map(|_| page.t("Not all answers are correct. Read why, and try again.")),
    })?;
    let status = if answers.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok((status, shown).into_response())
}

async fn answer(
    app: App,
    page: Page,
    visitor: Visitor,
    Visible(seen): Visible<SeenCollection>,
    Body(fields): Body<HashMap<String, String>>,
) -> Result<Response> {
    let given = |k: usize| fields.get(&format!("q{k}"))?.parse().ok();
    let questions = quiz::questions();
    let answers: Vec<Option<usize>> = (0..questions.len()).map(given).collect();
    let right = |(question, answer): (&quiz::Question, &Option<usize>)| {
        answer.is_some_and(|answer| question.is_right(answer))
    };
    let is_passed = questions.iter().zip(&answers).all(right);
    passes::note(&app.store, &seen.collection.id, &visitor.id, is_passed).await?;
    if is_passed {
        return Ok(Redirect::to(&seen.address("caption")).into_response());
    }
    page_of(&app, &page, &seen, Some(&answers)).await
}
