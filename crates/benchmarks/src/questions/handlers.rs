//! The page of all questions, the page of one with its answers, and their API.

use askama::Template;
use capeval_api::{
    CreatedQuestion, NewQuestion, NewQuestionAnswer, QuestionChange, QuestionThread, Questions,
};
use capeval_site::prelude::*;

use super::records::{self, Question, SeenQuestion, TEXT, TITLE};
use crate::records::SeenBenchmark;

pub(crate) fn routes() -> Vec<Route> {
    let (public, person) = (Access::Public, Access::Person(Scope::Submit));
    vec![
        get("/b/{slug}/questions", public, "List the questions about a benchmark", list)
            .and("/api/v1/benchmarks/{slug}/questions"),
        post("/b/{slug}/questions", person, "Ask a question about a benchmark", ask)
            .and("/api/v1/benchmarks/{slug}/questions"),
        get("/b/{slug}/questions/{question}", public, "Show a question with its answers", thread)
            .and("/api/v1/benchmarks/{slug}/questions/{question}"),
        post("/b/{slug}/questions/{question}", person, "Answer a question", answer)
            .and("/api/v1/benchmarks/{slug}/questions/{question}"),
        post(
            "/b/{slug}/questions/{question}/moderate",
            Access::Host,
            "Pin or hide a question or an answer, or take that back",
            change,
        )
        .and("/api/v1/host/benchmarks/{slug}/questions/{question}/moderate"),
    ]
}

#[derive(Template)]
#[template(path = "questions.html")]
struct QuestionsPage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    pinned: &'a [Question],
    questions: &'a Rows<Question>,
    /// What was typed.
    given: &'a NewQuestion,
}

impl QuestionsPage<'_> {
    /// The beginning of the addresses of other parts of the list.
    fn list(&self) -> String {
        self.seen.benchmark.address("questions?")
    }
}

async fn list(app: App, page: Page, seen: Visible<SeenBenchmark>, at: At) -> Result<Answer<Questions>> {
    let (pinned, questions) = records::page(&app.store, &seen, at).await?;
    let template = QuestionsPage {
        page: &page,
        seen: &seen,
        pinned: &pinned,
        questions: &questions,
        given: &NewQuestion::default(),
    };
    let each = |list: &[Question]| list.iter().map(Question::for_programs).collect();
    page.shows(&template, || Questions {
        pinned: each(&pinned),
        questions: each(&questions.rows),
        next: questions.after.clone(),
    })
}

async fn ask(
    app: App,
    page: Page,
    by: Visitor,
    Visible(seen): Visible<SeenBenchmark>,
    Body(given): Body<NewQuestion>,
) -> Result<Created<CreatedQuestion>> {
    match records::ask(&app, &by, &seen, (&given.title, &given.text)).await {
        Ok(id) => {
            let place = seen.benchmark.address(&format!("questions/{id}?done=saved"));
            Ok(page.then(&place, &CreatedQuestion { id }))
        }
        Err(fault) => {
            let page = &page.refused(fault)?;
            let (pinned, questions) = &records::page(&app.store, &seen, At::start(page.most_rows())).await?;
            Ok(page.show(&QuestionsPage { page, seen: &seen, pinned, questions, given: &given })?.into())
        }
    }
}

#[derive(Template)]
#[template(path = "question.html")]
struct ThreadPage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    question: &'a Question,
    answers: &'a Rows<Question>,
    /// What was typed.
    given: &'a str,
}

impl ThreadPage<'_> {
    /// The address of the page.
    fn address(&self) -> String {
        address(self.seen, &self.question.id)
    }

    /// The beginning of the addresses of other parts of the list.
    fn list(&self) -> String {
        format!("{}?", self.address())
    }
}

fn address(seen: &SeenBenchmark, id: &str) -> String {
    seen.benchmark.address(&format!("questions/{id}"))
}

async fn thread(app: App, page: Page, of: Visible<SeenQuestion>, at: At) -> Result<Answer<QuestionThread>> {
    if of.question.answers.is_some() {
        return Err(Fault::not_found());
    }
    let answers = records::answers(&app.store, &of, at).await?;
    let (seen, question) = (&of.seen, &of.question);
    let template = ThreadPage { page: &page, seen, question, answers: &answers, given: "" };
    page.shows(&template, || QuestionThread {
        question: of.question.for_programs(),
        answers: answers.rows.iter().map(Question::answer_for_programs).collect(),
        next: answers.after.clone(),
    })
}

async fn answer(
    app: App,
    page: Page,
    by: Visitor,
    Visible(of): Visible<SeenQuestion>,
    Body(given): Body<NewQuestionAnswer>,
) -> Result<Created<CreatedQuestion>> {
    match records::answer(&app, &by, &of, &given.text).await {
        Ok(id) => {
            let place = format!("{}?done=saved", address(&of.seen, &of.question.id));
            Ok(page.then(&place, &CreatedQuestion { id }))
        }
        Err(fault) => {
            let page = &page.refused(fault)?;
            let answers = &records::answers(&app.store, &of, At::start(page.most_rows())).await?;
            let (seen, question) = (&of.seen, &of.question);
            Ok(page.show(&ThreadPage { page, seen, question, answers, given: &given.text })?.into())
        }
    }
}

async fn change(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(of): Hosted<SeenQuestion>,
    Body(QuestionChange { action }): Body<QuestionChange>,
) -> Result<NoContent> {
    records::change(&app, &by, &of, action).await?;
    Ok(page.then(&format!("{}?done=saved", address(&of.seen, of.thread())), &()))
}
