//! The page of hosts: their benchmarks with the state of all references and submissions.

use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use capeval_api::{SetState, SubmissionState};

use super::records::{self, Phase, ReferenceSet, Seen};
use crate::app::App;
use crate::args;
use crate::fault::Fault;
use crate::web::route::get;
use crate::web::{Access, Page, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![get("/host", Access::Host, "List the benchmarks you host", show)]
}

#[derive(Template)]
#[template(path = "host.html")]
struct Host<'a> {
    page: &'a Page,
    benchmarks: Vec<Hosted>,
}

struct Hosted {
    seen: Seen,
    phases: Vec<HostedPhase>,
}

struct HostedPhase {
    phase: Phase,
    sets: Vec<ReferenceSet>,
    /// The number of submissions in each state.
    states: BTreeMap<&'static str, i64>,
}

async fn show(State(app): State<App>, page: Page) -> Result<Response, Fault> {
    let mut benchmarks = Vec::new();
    for seen in
        records::visible(&app.store, page.visitor.as_ref()).await?.into_iter().filter(|seen| seen.is_host)
    {
        let mut phases = Vec::new();
        for phase in records::phases(&app.store, &seen.benchmark.id).await? {
            let sql = "SELECT state, COUNT(*) FROM submission WHERE phase = $1 GROUP BY state";
            let counts: Vec<(SubmissionState, i64)> = app.store.fetch(sql, args![&phase.id]).await?;
            let states = counts.into_iter().map(|(state, n)| (state.summary(), n)).collect();
            phases.push(HostedPhase { sets: records::sets(&app.store, &phase.id).await?, states, phase });
        }
        benchmarks.push(Hosted { seen, phases });
    }
    page.show(&Host { page: &page, benchmarks })
}
