//! Draws the intervals of a board: a line for each row, and a line across them for people.

use askama::Template;
use axum::response::Response;
use capeval_api::SubmissionKind;
use capeval_report::charts::{Colour, Estimate, Figure, Forest};
use capeval_site::prelude::*;
use capeval_site::web::recent::Making;
use capeval_stats::Interval;

use super::choices::BoardQuery;
use super::head::{Head, View};
use super::order::{Candidate, shown_decimals};
use super::queries::{Board, board};
use crate::counts::Counts as _;
use crate::records::{self, SeenPhase};

#[derive(Template)]
#[template(path = "intervals.html")]
struct IntervalsPage<'a> {
    page: &'a Page,
    head: Head<'a>,
    figure: String,
    has_people: bool,
}

pub(super) async fn show(
    making: Making,
    app: App,
    page: Page,
    Visible(of): Visible<SeenPhase>,
    UrlQuery(asked): UrlQuery<BoardQuery>,
) -> Result<Response> {
    let sets = records::sets(&app.store, &of).await?;
    let by_measure = asked.by_measure(&of.phase, &sets);
    let board = board(&app, &of, &sets, page.visitor.as_ref(), &by_measure).await?;
    let head = Head::of(&app, &page, &of, &sets, board.as_ref(), &asked, View::Intervals).await?;
    let people = board.as_ref().and_then(people);
    let figure =
        board.as_ref().map_or(String::new(), |board| figure(&page, board, people, of.phase.decimals));
    let template = IntervalsPage { page: &page, head, figure, has_people: people.is_some() };
    app.recent.show(&page, making, &template)
}

/// The score of people by the measure that sorts.
fn people(board: &Board) -> Option<f64> {
    let row = board.rows.iter().find(|row| row.entry.kind == SubmissionKind::Human)?;
    row.entry.score(&board.sort).filter(|score| score.is_finite())
}

/// The drawing; empty if there is no row but that of people.
fn figure(page: &Page, board: &Board, people: Option<f64>, decimals: usize) -> String {
    let rows = board.rows.iter().filter(|row| row.entry.kind != SubmissionKind::Human);
    let estimates = rows.filter_map(|row| {
        let (value, interval) = *row.entry.scores.get(&board.sort.key)?;
        // A team has one row.
        let Candidate { team_name, method, .. } = &*row.entry;
        Some(Estimate {
            name: if team_name.is_empty() { method } else { team_name }.clone(),
            value,
            interval: interval.map(|(low, high)| Interval { low, high }),
            colour: match row.entry.kind {
                SubmissionKind::Entry if board.is_of_visitor(&row.entry) => Colour::System(1),
                SubmissionKind::Entry => Colour::System(0),
                _ => Colour::Muted,
            },
        })
    });
    let estimates: Vec<Estimate> = estimates.collect();
    if estimates.is_empty() {
        return String::new();
    }
    let decimals = shown_decimals(&board.sort, decimals);
    let svg = Forest::new(&board.sort.label, &estimates, people, decimals).to_string();
    let words = page.t1(
        "The scores of {} rows with their 95 % confidence intervals; the table has the same numbers.",
        estimates.len(),
    );
    Figure::new(page.t("Scores and 95 % confidence intervals"), &words, &svg).to_string()
}
