//! Exports a board: as JSON for clients, or as CSV for spreadsheets. Scores are rounded as the phase says.

use std::iter::once;

use capeval_api::{
    BoardRow, DisqualifiedSubmission, Half, JudgedKind, JudgedSystem, RowAbove, SystemMeasures,
};
use capeval_site::prelude::*;
use capeval_site::web::download;
use capeval_tasks::MeasureInfo;
use indexmap::IndexMap;

use super::choices::BoardQuery;
use super::order::{Candidate, Row, rounded};
use super::queries::{Board, JudgementTotals, board};
use crate::about::Column;
use crate::records::{self, SeenPhase, measure_for_programs};

/// The way in which rows are compared, in the words of the page.
const COMPARISON: &str = "“≈ row above” marks a row that does not differ significantly from the row above by the measure \
    that the board is sorted by, or by the main one where ranks over several sort it: paired randomisation with 10,000 \
    exchanges, or the exact permutation test where there is one, corrected by Holm’s method over all neighbours on the \
    board, at the level 0.05. The row for people is skipped. Choices of rows and columns change no mark: if the row above \
    is that for people, or is not shown, the mark names the row that was compared.";

/// A board as JSON or, if that is asked for, as CSV.
pub async fn export(
    app: &App,
    of: &SeenPhase,
    visitor: Option<&Visitor>,
    asked: &BoardQuery,
) -> Result<Answer<capeval_api::Board>> {
    if !["", "json", "csv"].contains(&asked.format.as_str()) {
        return Err(Fault::malformed(&format_args!("format: `{}` is neither json nor csv", asked.format)));
    }
    let sets = records::sets(&app.store, of).await?;
    let board = board(app, of, &sets, visitor, asked).await?.ok_or_else(Fault::not_found)?;
    if asked.format == "csv" {
        let lines = as_csv(&board, of.phase.decimals);
        return Ok(download::text("leaderboard.csv", "text/csv; charset=utf-8", lines).into());
    }
    Ok(Answer::json(&for_programs(board, of)))
}

fn for_programs(board: Board, of: &SeenPhase) -> capeval_api::Board {
    let removed = board.removed.into_iter().map(|row| DisqualifiedSubmission {
        team: row.team_name,
        method: row.method,
        reason: row.reason,
        disqualified_at: clock::time(row.at),
    });
    capeval_api::Board {
        benchmark: of.seen.benchmark.slug.clone(),
        phase: of.phase.slug.clone(),
        measures: board.columns.iter().map(measure_for_programs).collect(),
        columns: board.details.iter().map(Column::for_programs).collect(),
        total_rows: board.n_rows,
        rows: board
            .rows
            .iter()
            .map(|row| row_for_programs(row, &board.columns, &board.details, of.phase.decimals))
            .collect(),
        half: board.set.half.map(Into::into),
        reference_set: board.set.name,
        sorted_by: board.sort.key,
        comparison: COMPARISON.to_owned(),
        disqualified: removed.collect(),
        judged_by_people: board.judged.into_iter().map(JudgedSystem::from).collect(),
    }
}

fn row_for_programs(row: &Row, measures: &[MeasureInfo], details: &[Column], decimals: usize) -> BoardRow {
    let (mut scores, mut intervals) = (IndexMap::new(), IndexMap::new());
    for measure in measures {
        let Some((score, interval)) = row.entry.scores.get(&measure.key) else { continue };
        scores.insert(measure.key.clone(), rounded(*score, measure, decimals));
        if let Some((low, high)) = interval {
            let ends = [*low, *high].map(|end| rounded(end, measure, decimals));
            intervals.insert(measure.key.clone(), ends);
        }
    }
    BoardRow {
        rank: row.rank,
        public_rank: row.public_rank,
        kind: row.entry.kind.into(),
        team: row.entry.team_name.clone(),
        method: row.entry.method.clone(),
        submission: row.entry.id.clone(),
        link: row.entry.link.clone(),
        authors: row.entry.method_details.authors.clone(),
        code: row.entry.method_details.code.clone(),
        tags: row.entry.method_details.tags.clone(),
        columns: row.entry.method_details.cells(details),
        submitted_at: clock::time(row.entry.created_at),
        scores,
        intervals,
        row_above: row.above.as_deref().map(row_above),
        not_different_from_row_above: row.is_tied,
        p_of_difference_from_row_above: row.p,
    }
}

fn row_above(entry: &Candidate) -> RowAbove {
    RowAbove { kind: entry.kind.into(), team: entry.team_name.clone(), method: entry.method.clone() }
}

impl From<JudgementTotals> for JudgedSystem {
    fn from(JudgementTotals { team_name, method, measured }: JudgementTotals) -> Self {
        let SystemMeasures { system, m1, m2, m3, m4, at_least, judgements } = measured;
        let kind = if system.is_some() { JudgedKind::System } else { JudgedKind::Human };
        Self {
            kind: kind.into(),
            team: team_name,
            method,
            m1,
            m2,
            m3,
            m4,
            at_least_4_3_2: at_least,
            judgements,
        }
    }
}

/// A board as CSV.
pub fn as_csv(board: &Board, decimals: usize) -> String {
    let measures = &board.columns;
    let names = ["rank", "kind", "team", "method"].map(str::to_owned).into_iter();
    let keys = measures.iter().map(|measure| measure.key.clone());
    let details = board.details.iter().map(|column| column.key.clone());
    let is_private = board.set.half == Some(Half::Private);
    let public_rank = is_private.then(|| "public_rank".to_owned());
    let head: Vec<String> =
        names.chain(keys).chain(details).chain(["tags".to_owned()]).chain(public_rank).collect();
    let rows = board.rows.iter().map(|row| {
        let rank = row.rank.map_or(String::new(), |rank| rank.to_string());
        let mut cells =
            vec![rank, row.entry.kind.to_string(), row.entry.team_name.clone(), row.entry.method.clone()];
        cells.extend(measures.iter().map(|measure| {
            let score = row.entry.scores.get(&measure.key);
            score.map_or(String::new(), |(score, _)| rounded(*score, measure, decimals).to_string())
        }));
        let method_details = &row.entry.method_details;
        cells.extend(
            board
                .details
                .iter()
                .map(|column| method_details.cell(column).map_or(String::new(), ToString::to_string)),
        );
        cells.push(method_details.tags.join(" "));
        cells.extend(is_private.then(|| row.public_rank.map_or(String::new(), |rank| rank.to_string())));
        cells
    });
    csv(once(head).chain(rows))
}

/// Lines of cells as CSV.
pub fn csv(lines: impl Iterator<Item = Vec<String>>) -> String {
    lines
        .map(|cells| cells.iter().map(|cell| csv_cell(cell)).collect::<Vec<_>>().join(",") + "\r\n")
        .collect()
}

/// A cell that no spreadsheet takes for a formula. A semicolon is quoted as well, since spreadsheets of many countries
/// begin a cell after it; the library for CSV quotes none.
fn csv_cell(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    let guarded = match text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    match guarded.contains(['"', ',', '\n', '\r', ';']) {
        true => format!("\"{}\"", guarded.replace('"', "\"\"")),
        false => guarded,
    }
}

#[cfg(test)]
mod tests {
    use super::{COMPARISON, csv_cell};

    #[test]
    fn the_comparison_has_the_same_words_everywhere() {
        let page = include_str!("../../templates/board.html");
        assert!(page.contains(&format!("page.t(\"{COMPARISON}\")")));
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(include_str!("../../../../docs/guides/submitting.md")).contains(COMPARISON));
    }

    #[test]
    fn spreadsheets_run_no_cell() {
        for text in ["=1+1", "@x", "+SUM(A1)", "-x", "\t=1"] {
            assert!(csv_cell(text).trim_start_matches('"').starts_with('\''), "{text}");
        }
        assert_eq!(csv_cell("-0.5"), "-0.5");
        assert_eq!(csv_cell("a \"b\", c"), "\"a \"\"b\"\", c\"");
        assert_eq!(csv_cell("a;=1+1"), "\"a;=1+1\"");
    }
}
