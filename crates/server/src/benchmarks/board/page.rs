//! The page of a board.

use std::collections::HashSet;

use askama::Template;
use axum::body::Bytes;
use axum::response::{Html, IntoResponse, Response};
use capeval_api::{Measured, SetState, SubmissionKind};
use capeval_tasks::Described;

use super::export::export;
use super::order::{Row, shown, strength};
use super::queries::{Board, BoardQuery, Judged, Removed, board, own_teams};
use crate::app::App;
use crate::benchmarks::judging;
use crate::benchmarks::records::{self, Phase, Seen, SeenPhase};
use crate::clock;
use crate::fault::Fault;
use crate::web::recent::Making;
use crate::web::{Asked, Page, Visible, encode};

/// A column of a board as it is shown.
struct Column {
    measure: Described,
    address: String,
    is_sorted: bool,
}

/// A row of a board as it is shown.
struct ShownRow {
    rank: String,
    kind: SubmissionKind,
    is_own: bool,
    name: String,
    method: String,
    link: String,
    is_tied: bool,
    /// The score, its interval, and whether it is the best of its column.
    cells: Vec<(String, String, bool)>,
    date: String,
}

impl ShownRow {
    fn class(&self) -> &'static str {
        match self.kind {
            SubmissionKind::Human => "human",
            SubmissionKind::Baseline => "baseline",
            SubmissionKind::Entry if self.is_own => "own",
            SubmissionKind::Entry => "",
        }
    }
}

impl Judged {
    /// Who wrote the captions.
    fn name(&self, page: &Page) -> String {
        match (self.team_name.as_str(), self.method.as_str()) {
            (_, "") => page.t("References").to_owned(),
            ("", method) => method.to_owned(),
            (team, method) => format!("{team} ({method})"),
        }
    }

    /// M1, M2 and the points of the cumulative distribution in per cent, M3 and M4, as shown.
    fn cells(&self) -> Vec<String> {
        let per_cent = |share: f64| format!("{:.1}", share * 100.0);
        let Measured { m1, m2, m3, m4, at_least, judgements, .. } = &self.measured;
        let mut cells =
            vec![m1.map_or("–".to_owned(), per_cent), per_cent(*m2), format!("{m3:.2}"), format!("{m4:.2}")];
        cells.extend(at_least.map(per_cent));
        cells.push(judgements.to_string());
        cells
    }
}

#[derive(Template)]
#[template(path = "board.html")]
struct BoardPage<'a> {
    page: &'a Page,
    seen: &'a Seen,
    phase: &'a Phase,
    phases: &'a [Phase],
    /// The reference sets: name, address, whether it is shown.
    sets: Vec<(String, String, bool)>,
    is_board: bool,
    /// The names of the reference sets that could not be prepared, with the reasons.
    failed: Vec<(String, String)>,
    is_own: bool,
    columns: Vec<Column>,
    rows: Vec<ShownRow>,
    removed: &'a [Removed],
    judged: &'a [Judged],
    /// The colour of each, as a class of the style, and its name.
    legend: Vec<(String, String)>,
    /// The cumulative distributions of their grades.
    figure: String,
    has_human: bool,
    csv: String,
    json: String,
    n_images: usize,
    n_references: usize,
}

pub(super) async fn show(
    making: Making,
    app: App,
    page: Page,
    Visible(of): Visible<SeenPhase>,
    Asked(asked): Asked<BoardQuery>,
) -> Result<Response, Fault> {
    let (store, visitor) = (&app.store, page.visitor.as_ref());
    if !asked.format.is_empty() {
        return Ok(export(&app, &of, visitor, &asked).await?.into_response());
    }
    let board = board(&app, &of.seen, &of.phase, visitor, &asked).await?;
    let phases = records::phases(store, &of.seen.benchmark.id).await?;
    let own = own_teams(store, visitor).await?;
    let here = of.address("leaderboard");
    let shown_set = board.as_ref().map_or("", |board| board.set.name.as_str());
    let sets = records::sets(store, &of.phase.id).await?;
    let failed = sets.iter().filter(|set| set.state == SetState::Failed);
    let failed = failed.map(|set| (set.name.clone(), set.reason.clone().unwrap_or_default())).collect();
    let sets = sets.into_iter().map(|set| {
        let address = format!("{here}?ref={}", encode(&set.name));
        let is_shown = set.name == shown_set;
        (set.name, address, is_shown)
    });
    let (mut columns, mut rows) = (Vec::new(), Vec::new());
    let (mut is_own, mut n_images, mut n_references) = (false, 0, 0);
    if let Some(board) = &board {
        (is_own, n_images, n_references) = (board.is_own, board.set.n_images, board.set.n_references);
        columns.extend(board.set.measures.iter().map(|measure| Column {
            address: format!("{here}?ref={}&sort={}", encode(&board.set.name), encode(&measure.key)),
            is_sorted: measure.key == board.sort.key,
            measure: measure.clone(),
        }));
        let decimals = of.phase.decimals;
        let best = best(board, decimals);
        rows.extend(board.rows.iter().map(|row| shown_row(row, board, &best, decimals, &own)));
    }
    let sort = board.as_ref().map_or("", |board| board.sort.key.as_str());
    let export =
        |format: &str| format!("{here}?ref={}&sort={}&format={format}", encode(shown_set), encode(sort));
    let judged = board.as_ref().map_or(&[][..], |board| board.judged.as_slice());
    let template = BoardPage {
        page: &page,
        seen: &of.seen,
        phase: &of.phase,
        phases: &phases,
        sets: sets.collect(),
        is_board: board.is_some(),
        failed,
        is_own,
        columns,
        has_human: rows.iter().any(|row| row.kind == SubmissionKind::Human),
        rows,
        removed: board.as_ref().map_or(&[][..], |board| board.removed.as_slice()),
        judged,
        legend: judged
            .iter()
            .enumerate()
            .map(|(place, row)| (judging::colour(&row.measured, place).class(), row.name(&page)))
            .collect(),
        figure: if judged.is_empty() { String::new() } else { distributions(&page, judged) },
        csv: export("csv"),
        json: export("json"),
        n_images,
        n_references,
    };
    let body = Bytes::from(template.render()?);
    app.recent.keep(&page, making, body.clone());
    Ok(Html(body).into_response())
}

/// The cumulative distributions of the grades of what was judged.
fn distributions(page: &Page, judged: &[Judged]) -> String {
    let named: Vec<_> = judged.iter().map(|row| (row.name(page), &row.measured)).collect();
    judging::figure(page, &named)
}

/// The best score of each column among those that have a place, as shown.
fn best(board: &Board, decimals: usize) -> Vec<Option<String>> {
    let best = |measure: &Described| {
        let ranked = board.rows.iter().filter(|row| row.rank.is_some());
        let scores = ranked.filter_map(|row| row.entry.score(measure));
        scores.max_by(|a, b| strength(Some(*a), measure).total_cmp(&strength(Some(*b), measure)))
    };
    let measures = board.set.measures.iter();
    measures.map(|measure| Some(shown(best(measure)?, measure, decimals))).collect()
}

fn shown_row(
    row: &Row,
    board: &Board,
    best: &[Option<String>],
    decimals: usize,
    own: &HashSet<String>,
) -> ShownRow {
    let entry = &row.entry;
    let cell = |(measure, best): (&Described, &Option<String>)| match entry.scores.get(&measure.key) {
        None => ("–".to_owned(), String::new(), false),
        Some((score, interval)) => {
            let text = |value: f64| shown(value, measure, decimals);
            let interval =
                interval.map_or(String::new(), |(low, high)| format!("{}–{}", text(low), text(high)));
            let score = text(*score);
            let is_best = row.rank.is_some() && best.as_ref() == Some(&score);
            (score, interval, is_best)
        }
    };
    ShownRow {
        rank: row.rank.map_or(String::new(), |rank| rank.to_string()),
        kind: entry.kind,
        is_own: entry.team.as_ref().is_some_and(|team| own.contains(team)),
        name: entry.team_name.clone(),
        method: entry.method.clone(),
        link: entry.link.clone(),
        is_tied: row.is_tied == Some(true),
        cells: board.set.measures.iter().zip(best).map(cell).collect(),
        date: clock::day(entry.created_at),
    }
}
