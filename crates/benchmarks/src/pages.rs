//! The list of all benchmarks for clients, and the page of a benchmark with its phases and rules, with its API.

use askama::Template;
use axum::response::Response;
use capeval_api::{Benchmarks, BoardKind, SetState};
use capeval_site::prelude::*;
use capeval_site::web::markdown::as_html;

use super::announcements::{self, Announcement};
use super::files::{self, PhaseFile};
use super::records::{self, PhaseState, ReferenceSet, SeenBenchmark, SeenPhase};
use super::settings::Phase;
use super::{appearance, exports, statistics};
use crate::counts::Counts as _;

/// The most pictures that are shown as examples.
const EXAMPLES: usize = 3;

/// The number of announcements on the page of a benchmark.
const ANNOUNCED: usize = 3;

pub(super) fn routes() -> Vec<Route> {
    let public = Access::Public;
    vec![
        get("/api/v1/benchmarks", public, "List all benchmarks with their phases", benchmarks),
        get("/b/{slug}", public, "Show a benchmark with its phases", show),
        get("/b/{slug}/rules", public, "Show the rules of a benchmark", rules),
        get("/api/v1/phases/{id}", public, "Show a phase with its reference sets", phase),
    ]
}

async fn benchmarks(app: App, page: Page) -> Result<Answer<Benchmarks>> {
    let mut phases = records::phases_with_sets(&app.store, None).await?;
    let benchmarks = records::visible(&app.store, page.visitor.as_ref()).await?.into_iter().map(|seen| {
        let phases = phases.remove(&seen.benchmark.id).unwrap_or_default();
        records::for_programs(&seen, &phases)
    });
    Ok(Answer::json(&Benchmarks { benchmarks: benchmarks.collect() }))
}

async fn phase(app: App, Visible(of): Visible<SeenPhase>) -> Result<Answer<capeval_api::Phase>> {
    let sets = records::sets(&app.store, &of).await?;
    Ok(Answer::json(&records::phase_for_programs(&of.seen, &of.phase, &sets)))
}

#[derive(Template)]
#[template(path = "benchmark.html")]
struct BenchmarkPage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    phases: Vec<ShownPhase>,
    /// The newest ones.
    announcements: Vec<Announcement>,
    /// How to cite it, in BibTeX.
    citation: String,
    /// The dates of all phases: the time, the title of the phase, and what happens.
    schedule: Vec<(i64, String, &'static str)>,
}

impl BenchmarkPage<'_> {
    /// The first phase that is open, or else the last one.
    fn current(&self) -> Option<&ShownPhase> {
        self.phases.iter().find(|shown| shown.state == PhaseState::Open).or(self.phases.last())
    }

    /// The addresses of pictures among the files that everyone may see, and their titles, which are captions.
    fn examples(&self) -> Vec<(String, &str)> {
        let is_open = !self.seen.benchmark.is_restricted();
        let phases = self.phases.iter().filter(|_| is_open);
        let pictures = phases.flat_map(|shown| {
            let pictures = shown.files.iter().filter(|file| file.media_type().is_some());
            pictures.map(|file| {
                let (slug, phase) = (&self.seen.benchmark.slug, &shown.phase.slug);
                (format!("/b/{slug}/{phase}/files/{}", file.encoded()), file.title.as_str())
            })
        });
        pictures.take(EXAMPLES).collect()
    }
}

struct ShownPhase {
    phase: Phase,
    sets: Vec<ReferenceSet>,
    state: PhaseState,
    teams: i64,
    files: Vec<PhaseFile>,
}

impl ShownPhase {
    /// The time that is left for submissions, if they end.
    fn left(&self, page: &Page) -> Option<String> {
        let closes = self.phase.closes_at.filter(|_| self.state == PhaseState::Open)?;
        let hours = (closes - clock::now()).max(0) / (clock::DAY / 24);
        Some(match hours {
            0..48 => page.t1("{} hours left", hours),
            _ => page.t1("{} days left", hours / 24),
        })
    }
}

async fn show(app: App, page: Page, Visible(seen): Visible<SeenBenchmark>) -> Result<Response> {
    let id = seen.benchmark.id.as_str();
    let teams = records::teams_by_phase(&app.store, id).await?;
    let mut files = files::records::of_benchmark(&app.store, id).await?;
    let phases = records::phases_with_sets(&app.store, Some(id)).await?.remove(id).unwrap_or_default();
    let schedule = appearance::schedule(phases.iter().map(|(phase, _)| phase));
    let phases = phases.into_iter().map(|(phase, sets)| ShownPhase {
        state: phase.state(&sets),
        teams: teams.get(&phase.id).copied().unwrap_or_default(),
        files: files.remove(&phase.id).unwrap_or_default(),
        sets: sets.into_iter().filter(|set| seen.is_host || !set.is_withheld).collect(),
        phase,
    });
    let at = At::start(ANNOUNCED);
    let account = page.visitor.as_ref().map(|visitor| visitor.id.as_str());
    let announcements = announcements::records::page(&app.store, id, (false, account), at).await?.rows;
    let citation = exports::citation(&app, &seen.benchmark).await?;
    statistics::visited(&app, &seen).await;
    let phases = phases.collect();
    page.show(&BenchmarkPage { page: &page, seen: &seen, phases, announcements, citation, schedule })
}

#[derive(Template)]
#[template(path = "rules.html")]
struct Rules<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    html: String,
}

async fn rules(page: Page, Visible(seen): Visible<SeenBenchmark>) -> Result<Response> {
    page.show(&Rules { page: &page, html: as_html(&seen.benchmark.rules), seen: &seen })
}
