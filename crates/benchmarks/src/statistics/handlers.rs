//! The page of statistics for hosts, with its CSV and its API.

use std::collections::BTreeMap;

use askama::Template;
use axum::response::Response;
use capeval_api::{Statistics, StatisticsCount, StatisticsDay};
use capeval_report::charts::{Axis, Chart, Colour, Figure, Series};
use capeval_site::prelude::*;
use capeval_site::web::download;

use super::{records, tally};
use crate::board;
use crate::records::SeenBenchmark;

/// The days on the page.
const SHOWN: i64 = 90;

pub(crate) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get(
            "/b/{slug}/statistics",
            host,
            "Show visits, submissions and failures of a benchmark by day",
            show,
        )
        .and("/api/v1/host/benchmarks/{slug}/statistics"),
        get("/b/{slug}/statistics.csv", host, "Get the statistics of a benchmark as CSV", csv)
            .sends(200, "text/csv"),
    ]
}

#[derive(Template)]
#[template(path = "statistics.html")]
struct StatisticsPage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    /// The newest first.
    days: Vec<StatisticsDay>,
    failures: Vec<StatisticsCount>,
    refusals: Vec<StatisticsCount>,
    figures: Vec<String>,
}

impl StatisticsPage<'_> {
    /// A kind of problem in words.
    fn words(&self, what: &str) -> &str {
        self.page.t(records::in_words(what))
    }
}

/// The number of a column in a day.
type Count = fn(&StatisticsDay) -> i64;

/// The charts: of each the title, and its curves with their names.
const CHARTS: [(&str, &[(&str, Count)]); 3] = [
    (say("Visits a day"), &[(say("Visits"), |day| day.visits)]),
    (
        say("Submissions a day"),
        &[
            (say("Scored"), |day| day.scored),
            (say("Failed"), |day| day.failed),
            (say("Refused files"), |day| day.refused),
        ],
    ),
    (say("Registrations a day"), &[(say("Participants"), |day| day.people), (say("Teams"), |day| day.teams)]),
];

fn figure(
    page: &Page,
    days: &BTreeMap<i64, StatisticsDay>,
    (title, curves): (&str, &[(&str, Count)]),
) -> String {
    let (Some(first), Some(last)) = (days.keys().next(), days.keys().last()) else { return String::new() };
    let at = |day: i64, count: Count| days.get(&day).map_or(0, count) as f64;
    let series = curves.iter().enumerate().map(|(k, (_, count))| Series {
        colour: Colour::System(k),
        points: (*first..=*last).map(|day| (day as f64, at(day, *count))).collect(),
    });
    let series: Vec<Series> = series.collect();
    let most = series.iter().flat_map(|one| &one.points).map(|(_, n)| *n).fold(1.0, f64::max);
    let x = Axis::of_days(page.t("Date"), (*first, *last), |day| clock::day(day * clock::DAY));
    let y = Axis::of_counts(page.t(title), (0.0, most));
    let svg = Chart::curves(x, y, &series, false).to_string();
    let names: Vec<&str> = curves.iter().map(|(name, _)| page.t(name)).collect();
    let words = page.t1("Curves by day: {}. The table below has the numbers.", page.list(&names));
    Figure::new(page.t(title), &words, &svg).to_string()
}

async fn show(app: App, page: Page, Hosted(seen): Hosted<SeenBenchmark>) -> Result<Answer<Statistics>> {
    tally::write(&app).await?;
    let from = match page.is_program() {
        true => 0,
        false => clock::now().div_euclid(clock::DAY) - SHOWN,
    };
    let days = records::days(&app.store, &seen.benchmark.id, from).await?;
    let (failures, refusals) = records::failures(&app.store, &seen.benchmark.id).await?;
    let figures =
        if page.is_program() { Vec::new() } else { CHARTS.map(|chart| figure(&page, &days, chart)).into() };
    let template = StatisticsPage {
        page: &page,
        seen: &seen,
        days: days.values().rev().cloned().collect(),
        failures,
        refusals,
        figures,
    };
    page.shows(&template, || Statistics {
        days: days.values().cloned().collect(),
        failures: template.failures.clone(),
        refusals: template.refusals.clone(),
    })
}

async fn csv(app: App, Hosted(seen): Hosted<SeenBenchmark>) -> Result<Response> {
    tally::write(&app).await?;
    let days = records::days(&app.store, &seen.benchmark.id, 0).await?;
    let head = ["day", "visits", "people", "teams", "submissions", "scored", "failed", "refused"];
    let rows = days.into_values().map(|day| {
        let StatisticsDay { day, visits, people, teams, submissions, scored, failed, refused } = day;
        let numbers = [visits, people, teams, submissions, scored, failed, refused];
        std::iter::once(day).chain(numbers.map(|n| n.to_string())).collect()
    });
    let lines = std::iter::once(head.map(str::to_owned).to_vec()).chain(rows);
    Ok(download::text("statistics.csv", "text/csv; charset=utf-8", board::csv(lines)))
}
