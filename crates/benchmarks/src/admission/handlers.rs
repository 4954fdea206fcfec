//! The page on which people accept the terms of a benchmark and apply to its hosts, and its API.

use askama::Template;
use capeval_api::{Admission, NewParticipation, Participation, RequestState};
use capeval_site::prelude::*;
use capeval_site::web::markdown::as_html;

use super::{records, requests};
use crate::records::SeenBenchmark;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/b/{slug}/participate", Access::Public, "Show what a benchmark asks of those who submit", show)
            .and("/api/v1/benchmarks/{slug}/participation"),
        post(
            "/b/{slug}/participate",
            Access::Person(Scope::Submit),
            "Accept the terms of a benchmark, or ask its hosts to be admitted",
            take_part,
        )
        .and("/api/v1/benchmarks/{slug}/participation"),
    ]
}

#[derive(Template)]
#[template(path = "participate.html")]
struct ParticipatePage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    participation: &'a Participation,
    /// What was typed.
    given: &'a NewParticipation,
}

impl ParticipatePage<'_> {
    /// Markdown as HTML.
    fn html(&self, text: &str) -> String {
        as_html(text)
    }

    /// Returns true if a host has to approve people.
    fn needs_approval(&self) -> bool {
        self.seen.benchmark.admission == Admission::Approval
    }

    /// The state of the request to the hosts.
    fn request(&self) -> Option<RequestState> {
        self.participation.request.as_ref()?.known()
    }

    /// Returns true if the form can be sent with an effect.
    fn is_open(&self) -> bool {
        let asks = self.needs_approval()
            && !matches!(self.request(), Some(RequestState::Open | RequestState::Accepted));
        asks || self.participation.terms.is_some() && self.participation.accepted_at.is_none()
    }
}

/// What a benchmark asks, and what the visitor has done of it.
async fn known(app: &App, visitor: Option<&Visitor>, seen: &SeenBenchmark) -> Result<Participation> {
    let mut tx = app.store.snapshot().await?;
    records::participation(&mut tx, app, &seen.benchmark, visitor).await
}

async fn show(app: App, page: Page, Visible(seen): Visible<SeenBenchmark>) -> Result<Answer<Participation>> {
    let participation = known(&app, page.visitor.as_ref(), &seen).await?;
    let given = NewParticipation {
        accepts: String::new(),
        affiliation: participation.affiliation.clone(),
        country: participation.country.clone(),
        reason: participation.reason.clone(),
    };
    let template = ParticipatePage { page: &page, seen: &seen, participation: &participation, given: &given };
    page.shows(&template, || participation.clone())
}

async fn take_part(
    app: App,
    page: Page,
    by: Visitor,
    Visible(seen): Visible<SeenBenchmark>,
    Body(given): Body<NewParticipation>,
) -> Result<Answer<Participation>> {
    let done = requests::take_part(&app, &by, &seen.benchmark.id, &given).await;
    let refused = done.err().map(|fault| page.refused(fault)).transpose()?;
    let participation = &known(&app, Some(&by), &seen).await?;
    Ok(match &refused {
        None => page.then(&format!("{}?done=saved", records::path(&seen.benchmark)), participation),
        Some(page) => page.show(&ParticipatePage { page, seen: &seen, participation, given: &given })?.into(),
    })
}
