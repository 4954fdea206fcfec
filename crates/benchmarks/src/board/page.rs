//! The page of a board: a table whose first measure sorts it; on a phone, only this measure is shown.

use std::collections::HashMap;

use askama::Template;
use axum::response::{IntoResponse, Response};
use capeval_api::{SubmissionKind, SystemMeasures};
use capeval_site::prelude::*;
use capeval_site::web::recent::Making;
use capeval_tasks::MeasureInfo;

use super::choices::{ALL, BoardQuery};
use super::export::export;
use super::head::{Head, View};
use super::leader::short;
use super::order::{Candidate, Row, entry_name, score_text, strength};
use super::progress::points;
use super::queries::{Board, JudgementTotals, RemovedSubmission, board};
use crate::counts::Counts as _;
use crate::records::{self, SeenPhase};
use crate::{about, judging};

/// The rows of a page.
const ROWS: usize = 200;

/// A column of a board as it is shown.
struct Column {
    label: String,
    address: String,
    /// `ascending` or `descending` for the one that sorts.
    order: Option<&'static str>,
}

impl Column {
    /// Its label where there is little space.
    fn short(&self) -> &str {
        short(&self.label)
    }
}

/// The scores of a team over time, as a line of 84 by 22.
struct Sparkline {
    points: String,
    words: String,
}

/// A row of a board as it is shown.
struct ShownRow<'b> {
    entry: &'b Candidate,
    rank: String,
    /// The place on the public half, with the change since then.
    public_rank: String,
    is_own: bool,
    /// True if it is the first of the visitor's.
    is_first_own: bool,
    /// Its own page.
    address: String,
    mark: Mark<'b>,
    cells: Vec<Cell>,
    progress: Option<Sparkline>,
    date: String,
}

/// The comparison of a row with the system above it on the whole board.
enum Mark<'b> {
    /// It differs, or that is not known.
    Nothing,
    /// It does not differ from the system of the row that is shown above.
    LikeRowAbove(&'b Candidate),
    /// It does not differ from this one, between which and it the row of people is shown.
    LikeAbovePeople(&'b Candidate),
    /// It does not differ from this row, which is not shown.
    LikeHidden(&'b Candidate),
}

/// A score as it is shown.
struct Cell {
    score: String,
    /// Empty if it is not shown.
    interval: String,
    /// True if it is the best of its column.
    is_best: bool,
}

impl ShownRow<'_> {
    /// Its entry in a column of the hosts.
    fn detail(&self, page: &Page, column: &about::Column) -> String {
        self.entry.method_details.cell(column).map_or(String::new(), |cell| column.cell_text(page, cell))
    }

    fn class(&self) -> &'static str {
        match self.entry.kind {
            SubmissionKind::Human => "human",
            SubmissionKind::Baseline => "baseline",
            SubmissionKind::Entry if self.is_own => "own",
            SubmissionKind::Entry => "",
        }
    }
}

impl JudgementTotals {
    /// The author of the captions.
    fn name(&self, page: &Page) -> String {
        match self.method.as_str() {
            "" => page.t("References").to_owned(),
            method => entry_name(&self.team_name, method),
        }
    }

    /// M1, M2 and the points of the cumulative distribution in per cent, M3 and M4, as shown.
    fn cells(&self) -> Vec<String> {
        let per_cent = |share: f64| format!("{:.1}", share * 100.0);
        let SystemMeasures { m1, m2, m3, m4, at_least, judgements, .. } = &self.measured;
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
    head: Head<'a>,
    columns: Vec<Column>,
    rows: Vec<ShownRow<'a>>,
    /// The keys and labels of all columns, and whether they are shown.
    choices: Vec<(&'a str, &'a str, bool)>,
    has_all_intervals: bool,
    all_columns: String,
    removed: &'a [RemovedSubmission],
    judged: &'a [JudgementTotals],
    /// The colour of each, as a class of the style, and its name.
    legend: Vec<(String, String)>,
    /// The cumulative distributions of their grades.
    figure: String,
    has_human: bool,
    has_public_ranks: bool,
    has_progress: bool,
    csv: String,
    json: String,
    /// The page of two entries side by side.
    compare: String,
    /// True if there are teams, and the visitor is in none of them.
    may_ask: bool,
    /// True if there are two rows to compare.
    is_comparable: bool,
    /// The first and the last row of the page, and the pages before and after it.
    places: (usize, usize),
    before: Option<String>,
    after: Option<String>,
}

impl BoardPage<'_> {
    /// The address of two rows side by side.
    fn compared(&self, one: &Candidate, other: &Candidate) -> String {
        format!("{}?entry={}&entry={}", self.compare, one.id, other.id)
    }
}

pub(super) async fn show(
    making: Making,
    app: App,
    page: Page,
    Visible(of): Visible<SeenPhase>,
    UrlQuery(asked): UrlQuery<BoardQuery>,
) -> Result<Response> {
    let visitor = page.visitor.as_ref();
    if !asked.format.is_empty() {
        return Ok(export(&app, &of, visitor, &asked).await?.into_response());
    }
    let sets = records::sets(&app.store, &of).await?;
    let board = board(&app, &of, &sets, visitor, &asked).await?;
    let n_rows = board.as_ref().map_or(0, |board| board.rows.len());
    let (current, last) = (asked.page()?, n_rows.div_ceil(ROWS).max(1));
    if current > last {
        return Err(Fault::not_found());
    }
    let start = (current - 1) * ROWS;
    let mut head = Head::of(&app, &page, &of, &sets, board.as_ref(), &asked, View::Table).await?;
    let (mut columns, mut rows, mut choices) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(board) = &board {
        columns = self::columns(board, &asked, &head.path);
        rows = shown_rows(&of, board, start, asked.intervals == ALL);
        add_progress(&app, &page, &of, board, &mut rows).await?;
        let own = board.rows.iter().position(|row| board.is_of_visitor(&row.entry));
        if let Some(page) = own.map(|own| own / ROWS + 1).filter(|page| *page != current) {
            head.own = format!("{}#own", asked.at_page(&head.path, page));
        }
        let measures = board.set.measures.iter();
        let measures = measures.map(|one| (&*one.key, &*one.label, board.columns.contains(one)));
        let details = of.phase.columns.iter();
        let details = details.map(|one| (&*one.key, &*one.label, board.details.contains(one)));
        choices = measures.chain(details).collect();
    }
    let exported =
        |format: &str| BoardQuery { format: format.to_owned(), ..asked.clone() }.address(&head.path);
    let all = board.as_ref().map_or(&[][..], |board| board.rows.as_slice());
    let at_page = |page: usize| (1..=last).contains(&page).then(|| asked.at_page(&head.path, page));
    let judged = board.as_ref().map_or(&[][..], |board| board.judged.as_slice());
    let template = BoardPage {
        page: &page,
        columns,
        has_public_ranks: all.iter().any(|row| row.public_rank.is_some()),
        has_progress: rows.iter().any(|row| row.progress.is_some()),
        has_human: all.iter().any(|row| row.entry.kind == SubmissionKind::Human),
        may_ask: all.iter().any(|row| row.entry.team.is_some())
            && !board.as_ref().is_some_and(|board| all.iter().any(|row| board.is_of_visitor(&row.entry))),
        places: (start + 1, start + rows.len()),
        before: at_page(current - 1),
        after: at_page(current + 1),
        is_comparable: rows.iter().filter(|row| row.entry.blob.is_some()).count() > 1,
        rows,
        choices,
        has_all_intervals: asked.intervals == ALL,
        all_columns: BoardQuery { columns: vec![ALL.to_owned()], ..asked.clone() }.address(&head.path),
        removed: board.as_ref().map_or(&[][..], |board| board.removed.as_slice()),
        judged,
        legend: judged
            .iter()
            .enumerate()
            .map(|(place, row)| (judging::colour(&row.measured, place).class(), row.name(&page)))
            .collect(),
        figure: if judged.is_empty() { String::new() } else { distributions(&page, judged) },
        csv: exported("csv"),
        json: exported("json"),
        compare: of.address("compare"),
        head,
    };
    app.recent.show(&page, making, &template)
}

/// The columns of scores, which sort by themselves.
fn columns(board: &Board, asked: &BoardQuery, path: &str) -> Vec<Column> {
    let column = |measure: &MeasureInfo| Column {
        label: measure.label.clone(),
        address: BoardQuery { sort: measure.key.clone(), ..asked.clone() }.address(path),
        order: (measure.key == board.sort.key).then_some(match measure.lower_is_better {
            true => "ascending",
            false => "descending",
        }),
    };
    board.columns.iter().map(column).collect()
}

/// The cumulative distributions of the grades of what was judged.
fn distributions(page: &Page, judged: &[JudgementTotals]) -> String {
    let named: Vec<_> = judged.iter().map(|row| (row.name(page), &row.measured)).collect();
    judging::figure(page, &named)
}

/// The best score of each column among those that have a place, as shown.
fn best(board: &Board, decimals: usize) -> Vec<Option<String>> {
    let best = |measure: &MeasureInfo| {
        let ranked = board.rows.iter().filter(|row| row.rank.is_some());
        let scores = ranked.filter_map(|row| row.entry.score(measure));
        scores.max_by(|a, b| strength(Some(*a), measure).total_cmp(&strength(Some(*b), measure)))
    };
    board.columns.iter().map(|measure| Some(score_text(best(measure)?, measure, decimals))).collect()
}

fn shown_rows<'b>(
    of: &SeenPhase,
    board: &'b Board,
    start: usize,
    has_all_intervals: bool,
) -> Vec<ShownRow<'b>> {
    let decimals = of.phase.decimals;
    let best = best(board, decimals);
    let is_own = |row: &Row| board.is_of_visitor(&row.entry);
    let first_own = board.rows.iter().position(is_own);
    let rows = board.rows.iter().enumerate().skip(start).take(ROWS).map(|(place, row)| ShownRow {
        entry: &row.entry,
        rank: row.rank.map_or(String::new(), |rank| rank.to_string()),
        public_rank: public_rank(row),
        is_own: is_own(row),
        is_first_own: first_own == Some(place),
        address: of.address(&format!("entries/{}", row.entry.id)),
        mark: Mark::of(row, &board.rows[start..place]),
        cells: board
            .columns
            .iter()
            .zip(&best)
            .map(|(measure, best)| {
                let has_interval = has_all_intervals || measure.key == board.sort.key;
                cell(row, measure, decimals, has_interval, best.as_ref())
            })
            .collect(),
        progress: None,
        date: clock::day(row.entry.created_at),
    });
    rows.collect()
}

/// Gives each row the submissions of its team that have stood on the board, if there are several.
async fn add_progress(
    app: &App,
    page: &Page,
    of: &SeenPhase,
    board: &Board,
    rows: &mut [ShownRow<'_>],
) -> Result<()> {
    let mut by_team: HashMap<Option<String>, Vec<(i64, f64)>> = HashMap::new();
    for point in points(app, &of.phase, board, &BoardQuery::default()).await? {
        by_team.entry(point.entry.team.clone()).or_default().push((point.entry.created_at, point.score));
    }
    for row in rows.iter_mut().filter(|row| row.entry.team.is_some()) {
        let Some(scores @ [first, .., last]) = by_team.get(&row.entry.team).map(Vec::as_slice) else {
            continue;
        };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (_, score) in scores {
            (low, high) = (low.min(*score), high.max(*score));
        }
        let share =
            |value: f64, from: f64, to: f64| if to > from { (value - from) / (to - from) } else { 0.5 };
        let point = |(time, score): &(i64, f64)| {
            let x = 2.0 + 80.0 * share(*time as f64, first.0 as f64, last.0 as f64);
            format!("{x:.1},{:.1}", 20.0 - 18.0 * share(*score, low, high))
        };
        let text = |score: f64| score_text(score, &board.sort, of.phase.decimals);
        row.progress = Some(Sparkline {
            points: scores.iter().map(point).collect::<Vec<_>>().join(" "),
            words: page.t3("{} submissions: from {} to {}", scores.len(), text(first.1), text(last.1)),
        });
    }
    Ok(())
}

/// The place on the public half, and by how many places the row has risen since then: `5 (+3)`.
fn public_rank(row: &Row) -> String {
    let Some((rank, public)) = row.rank.zip(row.public_rank) else { return String::new() };
    let change = public.cast_signed() - rank.cast_signed();
    if change == 0 { public.to_string() } else { format!("{public} ({change:+})") }
}

fn cell(
    row: &Row,
    measure: &MeasureInfo,
    decimals: usize,
    has_interval: bool,
    best: Option<&String>,
) -> Cell {
    let Some((score, interval)) = row.entry.scores.get(&measure.key) else {
        return Cell { score: "–".to_owned(), interval: String::new(), is_best: false };
    };
    let text = |value: f64| score_text(value, measure, decimals);
    let score = text(*score);
    let interval = interval.filter(|_| has_interval);
    Cell {
        is_best: row.rank.is_some() && best == Some(&score),
        interval: interval.map_or(String::new(), |(low, high)| format!("{}–{}", text(low), text(high))),
        score,
    }
}

impl<'b> Mark<'b> {
    /// The mark of a row below others on the page.
    fn of(row: &'b Row, shown_above: &[Row]) -> Self {
        let Some(above) = row.above.as_ref().filter(|_| row.is_tied == Some(true)) else {
            return Self::Nothing;
        };
        let is_above = |shown: Option<&Row>| shown.is_some_and(|shown| shown.entry.id == above.id);
        let with_captions = shown_above.iter().rev().find(|shown| shown.entry.blob.is_some());
        if is_above(shown_above.last()) {
            Self::LikeRowAbove(above)
        } else if is_above(with_captions) {
            Self::LikeAbovePeople(above)
        } else {
            Self::LikeHidden(above)
        }
    }
}
