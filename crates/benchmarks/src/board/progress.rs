//! Progress over time: each submission that has been on a board, by date, and the best score until then.

use std::sync::Arc;

use askama::Template;
use axum::response::Response;
use capeval_api::{Progress, ProgressPoint, SubmissionKind};
use capeval_report::charts::{Axis, Chart, Colour, Dot, Figure, Series};
use capeval_site::prelude::*;
use capeval_site::web::recent::Making;
use capeval_tasks::MeasureInfo;

use super::choices::BoardQuery;
use super::head::{Head, View};
use super::leader::short;
use super::order::{Candidate, rounded, score_text, strength};
use super::queries::{Board, board};
use super::standing::StandingCache;
use crate::counts::Counts as _;
use crate::records::{self, SeenPhase};
use crate::settings::Phase;

/// A submission that has stood on a board.
pub(super) struct Point {
    pub entry: Arc<Candidate>,
    pub score: f64,
    /// True if it was better than all before it.
    is_best: bool,
    /// True if it is of one of the visitor's teams.
    is_own: bool,
}

#[derive(Template)]
#[template(path = "progress.html")]
struct ProgressPage<'a> {
    page: &'a Page,
    head: Head<'a>,
    /// The newest first.
    points: Vec<Point>,
    figure: String,
}

impl ProgressPage<'_> {
    /// The score of a point as it is shown.
    fn score(&self, point: &Point) -> String {
        let sort = self.head.board.map(|board| &board.sort);
        sort.map_or(String::new(), |sort| score_text(point.score, sort, self.head.phase.decimals))
    }
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
    let (mut points, mut figure) = (Vec::new(), String::new());
    if let Some(board) = &board {
        points = self::points(&app, &of.phase, board, &asked).await?;
        if !points.is_empty() {
            figure = self::figure(&page, board, &points, of.phase.decimals);
        }
    }
    points.reverse();
    let head = Head::of(&app, &page, &of, &sets, board.as_ref(), &asked, View::Progress).await?;
    app.recent.show(&page, making, &ProgressPage { page: &page, head, points, figure })
}

pub(super) async fn for_programs(
    app: App,
    page: Page,
    Visible(of): Visible<SeenPhase>,
    UrlQuery(asked): UrlQuery<BoardQuery>,
) -> Result<Answer<Progress>> {
    let sets = records::sets(&app.store, &of).await?;
    let by_measure = asked.by_measure(&of.phase, &sets);
    let board =
        board(&app, &of, &sets, page.visitor.as_ref(), &by_measure).await?.ok_or_else(Fault::not_found)?;
    let points = points(&app, &of.phase, &board, &asked).await?.into_iter().map(|point| ProgressPoint {
        team: point.entry.team_name.clone(),
        method: point.entry.method.clone(),
        submitted_at: clock::time(point.entry.created_at),
        score: rounded(point.score, &board.sort, of.phase.decimals),
        is_best: point.is_best,
    });
    Ok(Answer::json(&Progress {
        measure: records::measure_for_programs(&board.sort),
        points: points.collect(),
        reference_set: board.set.name,
    }))
}

/// The submissions that have stood on a board, as far as a visitor may see them, the oldest first.
pub(super) async fn points(
    app: &App,
    phase: &Phase,
    board: &Board,
    asked: &BoardQuery,
) -> Result<Vec<Point>> {
    let filter = asked.filter()?;
    let mut entries = app.part::<StandingCache>().stood(&app.store, phase, &board.set).await?;
    entries.retain(|entry| {
        entry.kind == SubmissionKind::Entry
            && filter.shows(entry)
            && (!board.is_own || board.is_of_visitor(entry))
    });
    entries.sort_by(|a, b| a.created_at.cmp(&b.created_at).then_with(|| a.id.cmp(&b.id)));
    let mut best = f64::NEG_INFINITY;
    let points = entries.into_iter().filter_map(|entry| {
        let score = entry.score(&board.sort).filter(|score| score.is_finite())?;
        let own = strength(Some(score), &board.sort);
        let is_best = own > best;
        best = best.max(own);
        Some(Point { is_own: board.is_of_visitor(&entry), entry, score, is_best })
    });
    Ok(points.collect())
}

/// An entry that was better than all before it.
pub struct NewLeader {
    pub entry: Arc<Candidate>,
    /// The measure, and the score as it is shown.
    pub measure: String,
    pub score: String,
}

/// The entries that took the lead of a phase, the oldest first; none if the scores are not for everyone.
pub async fn leaders(app: &App, of: &SeenPhase) -> Result<Vec<NewLeader>> {
    let sets = records::sets(&app.store, of).await?;
    let asked = BoardQuery::default().by_measure(&of.phase, &sets);
    let Some(board) = board(app, of, &sets, None, &asked).await? else { return Ok(Vec::new()) };
    let points = points(app, &of.phase, &board, &asked).await?.into_iter().filter(|point| point.is_best);
    let leader = |point: Point| NewLeader {
        entry: point.entry,
        measure: short(&board.sort.label).to_owned(),
        score: score_text(point.score, &board.sort, of.phase.decimals),
    };
    Ok(points.map(leader).collect())
}

/// The best score as steps, and a point for each submission.
fn figure(page: &Page, board: &Board, points: &[Point], decimals: usize) -> String {
    let day = |time: i64| time as f64 / clock::DAY as f64;
    let sort: &MeasureInfo = &board.sort;
    let text = |value: f64| score_text(value, sort, decimals);
    let held = points.iter().filter(|point| point.is_best);
    let held = held.map(|point| (day(point.entry.created_at), point.score)).collect();
    let dots = points.iter().map(|point| Dot {
        at: (day(point.entry.created_at), point.score),
        colour: match point {
            Point { is_own: true, .. } => Colour::System(1),
            Point { is_best: true, .. } => Colour::System(0),
            _ => Colour::Muted,
        },
        title: format!(
            "{} · {}: {}",
            clock::day(point.entry.created_at),
            point.entry.name(),
            text(point.score)
        ),
    });
    let dots: Vec<Dot> = dots.collect();
    let ends =
        |value: fn(f64, f64) -> f64, from: f64| points.iter().map(|point| point.score).fold(from, value);
    let (low, high) = (ends(f64::min, f64::INFINITY), ends(f64::max, f64::NEG_INFINITY));
    let margin = if high > low { 0.06 * (high - low) } else { 0.05 * high.abs().max(0.01) };
    let times = |end: Option<&Point>| end.map_or(0, |point| point.entry.created_at.div_euclid(clock::DAY));
    let (first, last) = (times(points.first()), times(points.last()));
    let x = Axis::of_days(page.t("Date of submission"), (first, last + 1), |number| {
        clock::day(number * clock::DAY)
    });
    let y = Axis::new(sort.label.as_str(), (low - margin, high + margin));
    let svg = Chart::progress(x, y, &[Series { colour: Colour::System(0), points: held }], &dots).to_string();
    let n_best = points.iter().filter(|point| point.is_best).count();
    let words = page.t2(
        "{} submissions, of which {} were better than all before them; the table below lists them.",
        points.len(),
        n_best,
    );
    Figure::new(page.t("Best score by date"), &words, &svg).to_string()
}
