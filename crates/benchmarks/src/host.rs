//! The page of hosts: their benchmarks with the state of all references and submissions.

use askama::Template;
use axum::response::Response;
use capeval_api::SetState;
use capeval_site::prelude::*;

use super::records::{self, ReferenceSet, SeenBenchmark};
use super::settings::Phase;
use super::submissions::{States, states_by_phase};
use crate::counts::Counts as _;

pub(super) fn routes() -> Vec<Route> {
    vec![get("/host", Access::Host, "List the benchmarks you host", show)]
}

#[derive(Template)]
#[template(path = "host.html")]
struct Host<'a> {
    page: &'a Page,
    benchmarks: Vec<HostedBenchmark>,
}

struct HostedBenchmark {
    seen: SeenBenchmark,
    phases: Vec<HostedPhase>,
}

struct HostedPhase {
    phase: Phase,
    sets: Vec<ReferenceSet>,
    states: States,
}

async fn show(app: App, page: Page) -> Result<Response> {
    let mut all_phases = records::phases_with_sets(&app.store, None).await?;
    let mut all_states = states_by_phase(&app.store).await?;
    let visible = records::visible(&app.store, page.visitor.as_ref()).await?;
    let hosted = visible.into_iter().filter(|seen| seen.is_host).map(|seen| {
        let phases = all_phases.remove(&seen.benchmark.id).unwrap_or_default();
        let phases = phases.into_iter().map(|(phase, sets)| HostedPhase {
            states: all_states.remove(&phase.id).unwrap_or_default(),
            sets,
            phase,
        });
        HostedBenchmark { phases: phases.collect(), seen }
    });
    page.show(&Host { page: &page, benchmarks: hosted.collect() })
}
