//! The pages and API of human evaluations, by which hosts start them and judges grade captions.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};
use capeval_api::{EvaluationState, Judging, JudgingPlan};
use capeval_site::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use super::records::{self, Evaluation, Item, JudgedPhase, Verdict};
use crate::pictures;
use crate::records::{SeenBenchmark, SeenPhase};
use crate::settings::Phase;

pub(crate) fn routes() -> Vec<Route> {
    let (host, read, submit) = (Access::Host, Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/b/{slug}/{phase}/host/judging", host, "Show the human evaluation of a phase", show)
            .and("/api/v1/host/phases/{id}/judging"),
        post("/b/{slug}/{phase}/host/judging", host, "Start a human evaluation of a phase", begin)
            .and("/api/v1/host/phases/{id}/judging"),
        post("/b/{slug}/{phase}/host/judging/invite", host, "Add judges", invite),
        post("/b/{slug}/{phase}/host/judging/close", host, "End the evaluation", close),
        get("/b/{slug}/{phase}/judge", read, "Show the next caption to judge", next),
        post("/b/{slug}/{phase}/judge", submit, "Judge a caption", judge),
    ]
}

#[derive(Template)]
#[template(path = "judging.html")]
struct JudgingPage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    phase: &'a Phase,
    judging: &'a Judging,
    link: String,
}

impl<'a> JudgingPage<'a> {
    fn new(app: &App, page: &'a Page, of: &'a SeenPhase, judging: &'a Judging) -> Self {
        let link = app.settings.url(&of.address("judge"));
        Self { page, seen: &of.seen, phase: &of.phase, judging, link }
    }

    /// Its state, and whether it is still going on.
    fn state(&self) -> Option<(EvaluationState, bool)> {
        let state = self.judging.state.as_ref()?.known()?;
        Some((state, state.is_active()))
    }
}

async fn show(app: App, page: Page, Hosted(of): Hosted<SeenPhase>) -> Result<Answer<Judging>> {
    let judging = records::for_programs(&app.store, &of.phase.id).await?;
    page.shows(&JudgingPage::new(&app, &page, &of, &judging), || judging.clone())
}

/// The page after something was done, or with why it was not.
async fn answer(app: &App, page: &Page, of: &SeenPhase, done: Result<()>) -> Result<Response> {
    let Err(fault) = done else {
        return Ok(Redirect::to(&of.address("host/judging?done=saved")).into_response());
    };
    let page = &page.refused(fault)?;
    let judging = records::for_programs(&app.store, &of.phase.id).await?;
    page.show(&JudgingPage::new(app, page, of, &judging))
}

async fn begin(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(of): Hosted<SeenPhase>,
    Body(plan): Body<JudgingPlan>,
) -> Result<Created<Judging>> {
    let begun = records::begin(&app, &by, &of.phase, &plan).await;
    if !page.is_program() {
        return Ok(answer(&app, &page, &of, begun).await?.into());
    }
    begun?;
    Ok(Answer::json(&records::for_programs(&app.store, &of.phase.id).await?))
}

/// The newest evaluation of a phase.
async fn newest(app: &App, of: &SeenPhase) -> Result<Evaluation> {
    records::newest(&app.store, &of.phase.id).await?.ok_or_else(Fault::not_found)
}

#[derive(Deserialize, JsonSchema)]
struct Judges {
    judges: String,
}

async fn invite(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(of): Hosted<SeenPhase>,
    Body(Judges { judges }): Body<Judges>,
) -> Result<Response> {
    let invited = records::invite(&app, &by, &newest(&app, &of).await?, &judges).await;
    answer(&app, &page, &of, invited).await
}

async fn close(app: App, page: Page, by: Visitor, Hosted(of): Hosted<SeenPhase>) -> Result<Response> {
    let closed = records::close(&app, &by, &newest(&app, &of).await?).await;
    answer(&app, &page, &of, closed).await
}

#[derive(Template)]
#[template(path = "judge.html")]
struct Judge<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    phase: &'a Phase,
    item: Option<Item>,
    picture: String,
    is_open: bool,
}

async fn next(
    app: App,
    page: Page,
    by: Visitor,
    Visible(JudgedPhase { of, evaluation }): Visible<JudgedPhase>,
) -> Result<Response> {
    let is_open = evaluation.state == EvaluationState::Open;
    let item = match is_open {
        true => records::next(&app.store, &evaluation, &by.id).await?,
        false => None,
    };
    let picture =
        item.as_ref().map_or(String::new(), |item| pictures::of_image(&evaluation.pictures, &item.image));
    let template = Judge { page: &page, seen: &of.seen, phase: &of.phase, item, picture, is_open };
    pictures::show(&page, &template, &evaluation.pictures)
}

async fn judge(
    app: App,
    by: Visitor,
    Visible(JudgedPhase { of, evaluation }): Visible<JudgedPhase>,
    Body(verdict): Body<Verdict>,
) -> Result<Redirect> {
    records::judge(&app, &by, &evaluation, &verdict).await?;
    Ok(Redirect::to(&of.address("judge")))
}
