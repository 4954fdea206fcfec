//! The home page: what the site is, and its benchmarks and collections as cards.

use askama::Template;
use axum::response::Response;
use capeval_benchmarks::board::{Leader, leader};
use capeval_benchmarks::counts::Counts as _;
use capeval_benchmarks::halves;
use capeval_benchmarks::records::{self as benchmarks, PhaseState};
use capeval_benchmarks::settings::Phase;
use capeval_collections::records::{self as collections, Collection, Progress};
use capeval_site::feature::Feature;
use capeval_site::prelude::*;
use capeval_site::web::recent::Making;

/// The home page as a feature.
pub static FEATURE: Feature = Feature {
    routes,
    sentences: include_str!("../locales/zh.toml"),
    assets: &[("hero.svg", "image/svg+xml", include_str!("../assets/hero.svg"))],
    ..Feature::NONE
};

fn routes() -> Vec<Route> {
    vec![get("/", Access::Public, "Show what the site is, with all benchmarks and collections", show)]
}

/// A benchmark as a card.
struct Card {
    seen: benchmarks::SeenBenchmark,
    /// Its phases, with what can be done in them.
    phases: Vec<(Phase, PhaseState)>,
    teams: i64,
    n_images: usize,
    leader: Option<Leader>,
}

#[derive(Template)]
#[template(path = "front.html")]
struct Front<'a> {
    page: &'a Page,
    benchmarks: Vec<Card>,
    collections: Vec<(Collection, Progress)>,
}

async fn show(making: Making, app: App, page: Page) -> Result<Response> {
    let (store, visitor) = (&app.store, page.visitor.as_ref());
    let mut known = benchmarks::phases_with_sets(store, None).await?;
    let teams = benchmarks::teams_by_benchmark(store).await?;
    let mut cards = Vec::new();
    for seen in benchmarks::visible(store, visitor).await? {
        let (mut phases, mut leaders, mut n_images) = (Vec::new(), Vec::new(), 0);
        for (phase, sets) in known.remove(&seen.benchmark.id).unwrap_or_default() {
            let state = phase.state(&sets);
            if let Some(best) = leader(&app, &seen, &phase, &sets, visitor).await? {
                leaders.push((state, best));
            }
            n_images = n_images.max(halves::n_images(&sets));
            phases.push((phase, state));
        }
        // The best entry of a phase that is open, or else of the last one with scores.
        let open = leaders.iter().position(|(state, _)| *state == PhaseState::Open);
        let leader = open.map(|at| leaders.swap_remove(at)).or_else(|| leaders.pop());
        cards.push(Card {
            teams: teams.get(&seen.benchmark.id).copied().unwrap_or_default(),
            phases,
            n_images,
            leader: leader.map(|(_, best)| best),
            seen,
        });
    }
    let mut collections = Vec::new();
    for seen in collections::visible(store, visitor).await? {
        let progress = collections::progress(store, &seen.collection).await?;
        collections.push((seen.collection, progress));
    }
    app.recent.show(&page, making, &Front { page: &page, benchmarks: cards, collections })
}
