//! The page of a phase's dry run, and its API.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};
use capeval_api::{Open, ProblemKind, Scores};
use capeval_site::prelude::*;

use super::records::{self, DryRun};
use crate::counts::Counts as _;
use crate::records::{ReferenceSet, SeenBenchmark, SeenPhase, all_sets};
use crate::settings::Phase;
use crate::submit::ResultsRequest;
use crate::{board, submit};

pub(crate) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get("/b/{slug}/{phase}/host/dry-run", host, "Show the last dry run of a phase", show),
        post("/b/{slug}/{phase}/host/dry-run", host, "Try a sample file", begin_form).upload(),
        get("/api/v1/host/phases/{id}/dry-run", host, "Show the last dry run of a phase", last),
        post("/api/v1/host/phases/{id}/dry-run", host, "Try a sample file, which counts nowhere", begin)
            .upload(),
    ]
}

impl DryRunPage<'_> {
    fn remedy(&self, kind: &Open<ProblemKind>) -> &str {
        self.page.t(submit::remedy(kind))
    }
}

/// The measures of a reference set: label, score and interval, as shown.
type Rows = Vec<(String, String, String)>;

#[derive(Template)]
#[template(path = "organise/dry-run.html")]
struct DryRunPage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    phase: &'a Phase,
    run: Option<DryRun>,
    tables: Vec<(String, Rows)>,
    upload_mib: u64,
}

async fn show(app: App, page: Page, Hosted(of): Hosted<SeenPhase>) -> Result<Response> {
    show_run(&app, &page, &of).await
}

async fn show_run(app: &App, page: &Page, SeenPhase { seen, phase }: &SeenPhase) -> Result<Response> {
    let run = records::last(&app.store, &phase.id).await?;
    let sets = all_sets(&app.store, &phase.id).await?;
    let tables = run.iter().flat_map(|run| tables(run, &sets, phase.decimals)).collect();
    page.show(&DryRunPage { page, seen, phase, run, tables, upload_mib: app.settings.upload_mib })
}

fn tables(run: &DryRun, sets: &[ReferenceSet], decimals: usize) -> Vec<(String, Rows)> {
    let tables = run.scores.iter().filter_map(|scores| {
        let set = sets.iter().find(|set| set.id == scores.set)?;
        let rows = scores.scores.iter().filter_map(|score| {
            let measure = scores.measures.iter().find(|measure| measure.key == score.key)?;
            let shown = |value: f64| board::score_text(value, measure, decimals);
            let interval = score.interval.map(|(low, high)| format!("{} – {}", shown(low), shown(high)));
            Some((measure.label.clone(), shown(score.value), interval.unwrap_or_default()))
        });
        Some((set.name.clone(), rows.collect()))
    });
    tables.collect()
}

async fn for_programs(app: &App, phase: &Phase, run: DryRun) -> Result<capeval_api::DryRun> {
    let sets = all_sets(&app.store, &phase.id).await?;
    let mut scores = Scores::new();
    for of_set in &run.scores {
        if let Some(set) = sets.iter().find(|set| set.id == of_set.set) {
            let values = of_set.scores.iter().map(|score| (score.key.clone(), score.value));
            scores.insert(set.name.clone(), values.collect());
        }
    }
    Ok(capeval_api::DryRun {
        state: run.state.into(),
        file: run.file,
        report: run.report,
        scores,
        reason: run.reason,
        created_at: clock::time(run.created_at),
        finished_at: run.finished_at.map(clock::time),
    })
}

async fn last(app: App, Hosted(of): Hosted<SeenPhase>) -> Result<Answer<capeval_api::DryRun>> {
    let run = records::last(&app.store, &of.phase.id).await?.ok_or_else(Fault::not_found)?;
    Ok(Answer::json(&for_programs(&app, &of.phase, run).await?))
}

async fn begin(
    app: App,
    by: Visitor,
    Hosted(of): Hosted<SeenPhase>,
    ResultsRequest(request): ResultsRequest,
) -> Result<Created<capeval_api::DryRun>> {
    let received = submit::receive_to_check(&app, &by, request).await?;
    let run = records::begin(&app, &by, &of.phase, received).await?;
    Ok(Answer::json(&for_programs(&app, &of.phase, run).await?))
}

async fn begin_form(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(of): Hosted<SeenPhase>,
    ResultsRequest(request): ResultsRequest,
) -> Result<Response> {
    let begun = async {
        let received = submit::receive_to_check(&app, &by, request).await?;
        records::begin(&app, &by, &of.phase, received).await
    };
    match begun.await {
        Ok(_) => Ok(Redirect::to(&of.address("host/dry-run")).into_response()),
        Err(fault) => show_run(&app, &page.refused(fault)?, &of).await,
    }
}
