//! The page on which hosts see which teams may submit to a phase that opens by rank, and its API.

use askama::Template;
use capeval_api::Qualifiers;
use capeval_site::prelude::*;

use super::opening;
use super::records::{self, Qualifier};
use crate::records::{self as benchmarks, SeenPhase};
use crate::settings::Phase;

pub(crate) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get("/b/{slug}/{phase}/host/qualifiers", host, "List the teams that a phase admits by rank", show)
            .and("/api/v1/host/phases/{id}/qualifiers"),
        post("/b/{slug}/{phase}/host/qualifiers", host, "Open a phase by the ranks as they are now", open)
            .and("/api/v1/host/phases/{id}/qualifiers"),
    ]
}

#[derive(Template)]
#[template(path = "qualifiers.html")]
struct QualifiersPage<'a> {
    page: &'a Page,
    of: &'a SeenPhase,
    phase: &'a Phase,
    teams: Vec<Qualifier>,
}

fn for_programs(phase: &Phase, teams: &[Qualifier]) -> Qualifiers {
    Qualifiers {
        from: phase.from_phase.clone(),
        top: Some(phase.top).filter(|top| *top > 0),
        carry: phase.carry,
        ranked_at: phase.ranked_at.map(clock::time),
        teams: teams.iter().map(Qualifier::for_programs).collect(),
    }
}

impl Qualifier {
    fn for_programs(&self) -> capeval_api::Qualifier {
        let Self { team, name, rank, submission, copy, .. } = self.clone();
        capeval_api::Qualifier { team, name, rank, submission, copy }
    }
}

async fn show(app: App, page: Page, Hosted(of): Hosted<SeenPhase>) -> Result<Answer<Qualifiers>> {
    let teams = records::list(&app.store, &of.phase.id).await?;
    let template = QualifiersPage { page: &page, of: &of, phase: &of.phase, teams };
    page.shows(&template, || for_programs(&of.phase, &template.teams))
}

async fn open(app: App, page: Page, by: Visitor, of: Hosted<SeenPhase>) -> Result<Answer<Qualifiers>> {
    opening::open_now(&app, &by.id, &of.phase).await?;
    let phase = benchmarks::phase_of(&app.store, &of.phase.id).await?;
    let teams = records::list(&app.store, &phase.id).await?;
    Ok(page.then(&of.address("host/qualifiers?done=saved"), &for_programs(&phase, &teams)))
}
