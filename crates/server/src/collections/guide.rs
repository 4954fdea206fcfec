//! The instructions, and the quiz that comes before a person's first caption.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

use super::pages;
use super::records::{self, Seen};
use super::rules::{lint, quiz};
use crate::app::App;
use crate::benchmarks;
use crate::fault::Fault;
use crate::store::{Error, Store};
use crate::web::language::{Language, say};
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};
use crate::{args, clock};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/c/{slug}/guide", Access::Public, "Show the instructions of a collection, with the quiz", show),
        post("/c/{slug}/quiz", Access::Person(Scope::Submit), "Answer the quiz", answer),
    ]
}

/// What to know about captions, as COCO's instructions have it.
const ADVICE: [&str; 8] = [
    say("Describe all the important parts of the picture in one sentence."),
    say("Do not begin with “There is” or “In the picture”."),
    say("Leave out unimportant details."),
    say("Do not describe what may have happened before, or may happen later."),
    say("Do not write what a character says or might say."),
    say("Do not use names of games, characters or players."),
    say("Write it yourself. Machine-generated captions are rejected."),
    say("If you do not understand the picture, skip it."),
];

/// What to know about captions, in the language of the page.
pub(super) fn advice(page: &Page) -> Vec<&'static str> {
    ADVICE.iter().map(|sentence| page.language.t(sentence)).collect()
}

/// The name of a language in itself.
fn name_of(language: &str) -> &str {
    match Language::of(language) {
        Some(known) => known.name(),
        None => language,
    }
}

/// Whether a person has passed the quiz.
///
/// # Errors
/// If the database fails.
pub(super) async fn has_passed(store: &Store, collection: &str, account: &str) -> Result<bool, Error> {
    let sql = "SELECT 1 AS one FROM quiz WHERE collection = $1 AND account = $2 AND passed_at IS NOT NULL";
    Ok(store.first(sql, args![collection, account]).await?.is_some())
}

struct Asked {
    text: &'static str,
    options: &'static [String],
    chosen: Option<usize>,
    /// Why the answer was wrong.
    why: Option<&'static str>,
}

impl Asked {
    fn is_chosen(&self, option: &usize) -> bool {
        self.chosen == Some(*option)
    }
}

#[derive(Template)]
#[template(path = "collections/guide.html")]
struct Guide<'a> {
    page: &'a Page,
    seen: &'a Seen,
    advice: Vec<&'static str>,
    rules: Vec<(&'a str, Vec<&'static str>)>,
    html: String,
    has_passed: bool,
    questions: Vec<Asked>,
    problem: Option<&'a str>,
}

async fn show(State(app): State<App>, page: Page, Path(slug): Path<String>) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, page.visitor.as_ref()).await?;
    page_of(&app, &page, &seen, None).await
}

async fn page_of(
    app: &App,
    page: &Page,
    seen: &Seen,
    answers: Option<&[Option<usize>]>,
) -> Result<Response, Fault> {
    let has_passed = match &page.visitor {
        Some(visitor) => has_passed(&app.store, &seen.collection.id, &visitor.id).await?,
        None => false,
    };
    let questions = quiz::questions().iter().enumerate().map(|(k, question)| {
        let chosen = answers.and_then(|answers| answers.get(k).copied().flatten());
        let is_wrong = chosen.is_some_and(|answer| !question.is_right(answer));
        Asked {
            text: question.text(page.language),
            options: question.options(page.language),
            chosen,
            why: is_wrong.then(|| question.why(page.language)),
        }
    });
    let texts = |language: &str| lint::rules_for(language).map(|rule| rule.text(page.language)).collect();
    let languages = seen.collection.languages.iter();
    let shown = page.show(&Guide {
        page,
        seen,
        advice: advice(page),
        rules: languages.map(|language| (name_of(language), texts(language))).collect(),
        html: benchmarks::as_html(&seen.collection.guide),
        has_passed,
        questions: questions.collect(),
        problem: answers.map(|_| page.t("Not all answers are correct. Read why, and try again.")),
    })?;
    let status = if answers.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok((status, shown).into_response())
}

async fn answer(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, Some(&visitor)).await?;
    let given = |k: usize| {
        let name = format!("q{k}");
        fields.iter().find(|(field, _)| *field == name).and_then(|(_, value)| value.parse().ok())
    };
    let questions = quiz::questions();
    let answers: Vec<Option<usize>> = (0..questions.len()).map(given).collect();
    let right = |(question, answer): (&quiz::Question, &Option<usize>)| {
        answer.is_some_and(|answer| question.is_right(answer))
    };
    let is_passed = questions.iter().zip(&answers).all(right);
    let passed_at = is_passed.then(clock::now);
    let mut tx = app.store.begin().await?;
    tx.execute(
        "INSERT INTO quiz (collection, account, attempts, passed_at) VALUES ($1, $2, 1, $3) \
         ON CONFLICT (collection, account) DO UPDATE SET attempts = quiz.attempts + 1, \
         passed_at = COALESCE(quiz.passed_at, excluded.passed_at)",
        args![&seen.collection.id, &visitor.id, passed_at],
    )
    .await?;
    pages::join(&mut tx, &seen.collection.id, &visitor.id).await?;
    tx.commit().await?;
    if is_passed {
        return Ok(Redirect::to(&format!("/c/{slug}/caption")).into_response());
    }
    page_of(&app, &page, &seen, Some(&answers)).await
}
