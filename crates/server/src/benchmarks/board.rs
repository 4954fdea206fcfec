//! The board of a phase: which submission stands for a team, the order, and what is shown of it.

use askama::Template;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use capeval_tasks::Described;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

use super::judging::{self, Measured};
use super::records::{self, BoardKind, Phase, ReferenceSet, Seen};
use crate::accounts::Visitor;
use crate::app::App;
use crate::args;
use crate::clock;
use crate::fault::Fault;
use crate::store::{Error, Store};
use crate::web::route::get;
use crate::web::{Access, Page, Route, encode};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/b/{slug}/{phase}/leaderboard", Access::Public, "Show the leaderboard of a phase", show),
        get(
            "/api/v1/phases/{id}/leaderboard",
            Access::Public,
            "Get the leaderboard of a phase, as JSON or CSV",
            for_programs,
        )
        .asks(&["ref", "sort", "format"]),
    ]
}

/// A scored submission, as it competes for its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The id.
    pub id: String,
    /// `entry`, `baseline` or `human`.
    pub kind: String,
    /// The id of the team.
    pub team: Option<String>,
    /// The name of the team.
    pub team_name: String,
    /// The name of the method.
    pub method: String,
    /// A link to more.
    pub link: String,
    /// The hash of the captions.
    pub blob: Option<String>,
    /// Whether its team chose it for the board.
    pub is_pinned: bool,
    /// When it came.
    pub created_at: i64,
    /// The scores by measure, with their intervals.
    pub scores: Scores,
}

/// Scores by measure, with their intervals.
pub type Scores = HashMap<String, (f64, Option<(f64, f64)>)>;

/// A row of a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The place; equal scores share one. `None` for baselines and the human row.
    pub rank: Option<usize>,
    /// The submission.
    pub entry: Candidate,
    /// Whether it does not differ significantly from the row above; `None` if they were not compared.
    pub is_tied: Option<bool>,
}

/// The order of a board: for each team its pinned submission, or else its best by `main`; then by `sort`, the best
/// first, and of equal scores the one that came first.
pub fn order(candidates: Vec<Candidate>, main: &Described, sort: &Described) -> Vec<Row> {
    // Higher is better for a key made of a score.
    let strength = |candidate: &Candidate, measure: &Described| {
        let score = candidate
            .scores
            .get(&measure.key)
            .map_or(f64::NEG_INFINITY, |(score, _)| if measure.lower_is_better { -score } else { *score });
        if score.is_nan() { f64::NEG_INFINITY } else { score }
    };
    let mut best: HashMap<String, Candidate> = HashMap::new();
    let mut rows: Vec<Candidate> = Vec::new();
    for candidate in candidates {
        let Some(team) = candidate.team.clone() else {
            rows.push(candidate);
            continue;
        };
        let is_better = best.get(&team).is_none_or(|known| {
            let by_score = strength(&candidate, main).total_cmp(&strength(known, main));
            let by_choice = candidate.is_pinned.cmp(&known.is_pinned);
            by_choice.then(by_score).then(known.created_at.cmp(&candidate.created_at)).is_gt()
        });
        if is_better {
            best.insert(team, candidate);
        }
    }
    rows.extend(best.into_values());
    rows.sort_by(|a, b| {
        let strengths = strength(b, sort).total_cmp(&strength(a, sort));
        strengths.then(a.created_at.cmp(&b.created_at)).then_with(|| a.id.cmp(&b.id))
    });
    let (mut place, mut last) = (0, None);
    let mut counted = 0;
    rows.into_iter()
        .map(|entry| {
            let rank = (entry.kind == "entry").then(|| {
                counted += 1;
                let own = strength(&entry, sort);
                if last != Some(own) {
                    place = counted;
                    last = Some(own);
                }
                place
            });
            Row { rank, entry, is_tied: None }
        })
        .collect()
}

/// A score as the phase rounds it.
pub fn rounded(value: f64, measure: &Described, decimals: usize) -> f64 {
    let digits = if measure.is_count { 0 } else { decimals };
    format!("{value:.digits$}").parse().unwrap_or(value)
}

/// A score as people see it.
pub fn shown(value: f64, measure: &Described, decimals: usize) -> String {
    capeval_report::fixed(value, if measure.is_count { 0 } else { decimals })
}

/// All that may stand on the board of a phase: scored, and not disqualified.
async fn candidates(store: &Store, phase: &Phase, set: &ReferenceSet) -> Result<Vec<Candidate>, Error> {
    let score_set = phase.score_set.as_deref().unwrap_or("");
    let rows = store
        .all(
            "SELECT submission.id AS id, submission.kind AS kind, submission.team AS team, \
             COALESCE(team.name, '') AS team_name, submission.method AS method, submission.link AS link, \
             submission.blob AS blob, submission.created_at AS created_at, \
             CAST(CASE WHEN entry.pinned = submission.id THEN 1 ELSE 0 END AS BIGINT) AS pinned \
             FROM submission LEFT JOIN team ON team.id = submission.team \
             LEFT JOIN entry ON entry.phase = submission.phase AND entry.team = submission.team \
             WHERE submission.phase = $1 AND submission.state = 'scored' AND submission.disqualified_at IS NULL",
            args![&phase.id],
        )
        .await?;
    let scores = store
        .all(
            "SELECT submission, metric, value, low, high FROM score WHERE score_set = $1 AND reference_set = $2",
            args![score_set, &set.id],
        )
        .await?;
    let mut by_submission: HashMap<String, Scores> = HashMap::new();
    for row in &scores {
        let (low, high): (Option<f64>, Option<f64>) = (row.get("low")?, row.get("high")?);
        let of_one = by_submission.entry(row.get("submission")?).or_default();
        of_one.insert(row.get("metric")?, (row.get("value")?, low.zip(high)));
    }
    let mut found = Vec::new();
    for row in &rows {
        let id: String = row.get("id")?;
        // What has no scores in this score set has no place.
        let Some(scores) = by_submission.remove(&id) else { continue };
        found.push(Candidate {
            id,
            kind: row.get("kind")?,
            team: row.get("team")?,
            team_name: row.get("team_name")?,
            method: row.get("method")?,
            link: row.get("link")?,
            blob: row.get("blob")?,
            is_pinned: row.flag("pinned")?,
            created_at: row.get("created_at")?,
            scores,
        });
    }
    Ok(found)
}

/// The measure that ranks, or the first that the set has.
fn main_measure<'s>(phase: &Phase, set: &'s ReferenceSet) -> Option<&'s Described> {
    set.measures.iter().find(|measure| measure.key == phase.main_metric).or(set.measures.first())
}

/// The neighbours on the board that were not compared, the upper one first: their ids and the hashes of their captions.
///
/// # Errors
/// If the database fails.
pub async fn uncompared(
    store: &Store,
    phase: &Phase,
    set: &ReferenceSet,
) -> Result<Vec<((String, String), (String, String))>, Error> {
    let Some(main) = main_measure(phase, set) else { return Ok(Vec::new()) };
    let rows = order(candidates(store, phase, set).await?, main, main);
    let known = compared(store, phase, set, None).await?;
    let with_captions = |row: &Row| Some((row.entry.id.clone(), row.entry.blob.clone()?));
    let pairs = rows.windows(2).filter_map(|pair| match pair {
        [above, below] => Some((with_captions(above)?, with_captions(below)?)),
        _ => None,
    });
    Ok(pairs.filter(|(above, below)| !known.contains_key(&(above.0.clone(), below.0.clone()))).collect())
}

/// What stands on the board in order, with captions: the ids and the hashes of the captions.
///
/// # Errors
/// If the database fails.
pub async fn standing(
    store: &Store,
    phase: &Phase,
    set: &ReferenceSet,
) -> Result<Vec<(String, String)>, Error> {
    let Some(main) = main_measure(phase, set) else { return Ok(Vec::new()) };
    let rows = order(candidates(store, phase, set).await?, main, main);
    Ok(rows.into_iter().filter_map(|row| Some((row.entry.id, row.entry.blob?))).collect())
}

/// Whether pairs of submissions differ by a measure, or by any of them.
async fn compared(
    store: &Store,
    phase: &Phase,
    set: &ReferenceSet,
    metric: Option<&str>,
) -> Result<HashMap<(String, String), bool>, Error> {
    let rows = store
        .all(
            "SELECT above, below, differs FROM comparison WHERE score_set = $1 AND reference_set = $2 \
             AND ($3 = '' OR metric = $3)",
            args![phase.score_set.as_deref().unwrap_or(""), &set.id, metric.unwrap_or("")],
        )
        .await?;
    rows.iter().map(|row| Ok(((row.get("above")?, row.get("below")?), row.flag("differs")?))).collect()
}

/// A board.
pub struct Board {
    /// The reference set.
    pub set: ReferenceSet,
    /// The measure that it is sorted by.
    pub sort: Described,
    /// The rows in order.
    pub rows: Vec<Row>,
    /// Whether only rows of the visitor's teams are shown.
    pub is_own: bool,
    /// What the hosts have taken off the board, newest first.
    pub removed: Vec<Removed>,
    /// What people's judgements of captions add up to; empty where only own rows are shown.
    pub judged: Vec<Judged>,
}

/// What people's judgements of a system add up to.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The name of the team; empty for baselines and references.
    pub team_name: String,
    /// The name of the method; empty for references.
    pub method: String,
    /// The measures.
    pub measured: Measured,
}

impl Judged {
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

fn drawn((place, judged): (usize, &Judged)) -> judging::Line {
    judging::line(&judged.measured, place)
}

async fn judged(store: &Store, phase: &Phase) -> Result<Vec<Judged>, Error> {
    let mut judged = Vec::new();
    for measured in judging::results(store, &phase.id).await? {
        let Some(system) = &measured.system else {
            judged.push(Judged { team_name: String::new(), method: String::new(), measured });
            continue;
        };
        let row = store
            .first(
                "SELECT COALESCE(team.name, '') AS team_name, submission.method AS method FROM submission \
                 LEFT JOIN team ON team.id = submission.team \
                 WHERE submission.id = $1 AND submission.disqualified_at IS NULL",
                args![system],
            )
            .await?;
        if let Some(row) = row {
            judged.push(Judged { team_name: row.get("team_name")?, method: row.get("method")?, measured });
        }
    }
    Ok(judged)
}

/// A submission that the hosts have taken off the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The id of the team.
    pub team: Option<String>,
    /// The name of the team.
    pub team_name: String,
    /// The name of the method.
    pub method: String,
    /// Why.
    pub reason: String,
    /// When.
    pub at: i64,
}

async fn removed(store: &Store, phase: &Phase) -> Result<Vec<Removed>, Error> {
    let rows = store
        .all(
            "SELECT submission.team AS team, COALESCE(team.name, '') AS team_name, submission.method AS method, \
             submission.disqualified_for AS reason, submission.disqualified_at AS at \
             FROM submission LEFT JOIN team ON team.id = submission.team \
             WHERE submission.phase = $1 AND submission.disqualified_at IS NOT NULL \
             ORDER BY submission.disqualified_at DESC, submission.id",
            args![&phase.id],
        )
        .await?;
    rows.iter()
        .map(|row| {
            Ok(Removed {
                team: row.get("team")?,
                team_name: row.get("team_name")?,
                method: row.get("method")?,
                reason: row.get::<Option<String>>("reason")?.unwrap_or_default(),
                at: row.get("at")?,
            })
        })
        .collect()
}

/// What is asked of a board.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// The name of the reference set.
    #[serde(rename = "ref")]
    pub set: String,
    /// The key of the measure to sort by.
    pub sort: String,
    /// `json` or `csv`.
    pub format: String,
}

/// The board of a phase as a visitor may see it; `None` if they may not see any score.
///
/// # Errors
/// If the reference set or the measure does not exist.
pub async fn board(
    store: &Store,
    seen: &Seen,
    phase: &Phase,
    visitor: Option<&Visitor>,
    asked: &Asked,
) -> Result<Option<Board>, Fault> {
    let sets = records::sets(store, &phase.id).await?;
    let name = if asked.set.is_empty() { &phase.main_set } else { &asked.set };
    let Some(set) = sets.into_iter().find(|set| set.name == *name) else {
        return if asked.set.is_empty() { Ok(None) } else { Err(Fault::not_found()) };
    };
    let all =
        seen.is_host || phase.is_revealed() || phase.board == BoardKind::Registered && visitor.is_some();
    let is_own = !all && phase.board == BoardKind::Own && visitor.is_some();
    let Some(main) = main_measure(phase, &set).cloned().filter(|_| all || is_own) else { return Ok(None) };
    let sort = match asked.sort.as_str() {
        "" => main.clone(),
        key => {
            set.measures.iter().find(|measure| measure.key == key).cloned().ok_or_else(Fault::not_found)?
        }
    };
    let mut rows = order(candidates(store, phase, &set).await?, &main, &sort);
    let mut removed = removed(store, phase).await?;
    let judged = if is_own { Vec::new() } else { judged(store, phase).await? };
    if is_own {
        let own = own_teams(store, visitor).await?;
        rows.retain(|row| row.entry.team.as_ref().is_some_and(|team| own.contains(team)));
        removed.retain(|row| row.team.as_ref().is_some_and(|team| own.contains(team)));
        rows.iter_mut().for_each(|row| row.rank = None);
    } else {
        let known = compared(store, phase, &set, Some(&sort.key)).await?;
        mark_ties(&mut rows, &known);
    }
    Ok(Some(Board { set, sort, rows, is_own, removed, judged }))
}

/// Marks rows that do not differ from the one above, by what is known of pairs.
fn mark_ties(rows: &mut [Row], known: &HashMap<(String, String), bool>) {
    let mut above: Option<String> = None;
    for row in rows {
        // The row of people has no captions, and nothing was compared with it.
        let own = row.entry.blob.as_ref().map(|_| row.entry.id.clone());
        if let (Some(above), Some(own)) = (std::mem::replace(&mut above, own.clone()), own) {
            row.is_tied = known.get(&(above, own)).map(|differs| !differs);
        }
    }
}

async fn own_teams(store: &Store, visitor: Option<&Visitor>) -> Result<HashSet<String>, Error> {
    let id = visitor.map_or("", |visitor| visitor.id.as_str());
    let rows = store.all("SELECT team FROM team_member WHERE account = $1", args![id]).await?;
    rows.iter().map(|row| row.get("team")).collect()
}

/// A column of a board as it is shown.
struct Column {
    measure: Described,
    address: String,
    is_sorted: bool,
}

/// A row of a board as it is shown.
struct ShownRow {
    rank: String,
    class: &'static str,
    name: String,
    method: String,
    link: String,
    is_tied: bool,
    /// The score, its interval, and whether it is the best of its column.
    cells: Vec<(String, String, bool)>,
    date: String,
}

#[derive(Template)]
#[template(path = "board.html")]
struct BoardPage<'a> {
    page: &'a Page,
    seen: &'a Seen,
    phase: &'a Phase,
    phases: &'a [Phase],
    /// The other reference sets: name, address, whether it is shown.
    sets: Vec<(String, String, bool)>,
    is_board: bool,
    is_own: bool,
    columns: Vec<Column>,
    rows: Vec<ShownRow>,
    removed: &'a [Removed],
    judged: &'a [Judged],
    /// The cumulative distributions of their grades.
    lines: Vec<judging::Line>,
    has_human: bool,
    csv: String,
    json: String,
    n_images: usize,
    n_references: usize,
}

async fn show(
    State(app): State<App>,
    page: Page,
    Path((slug, phase)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let begun = clock::instant();
    if let Some(body) = app.recent.get(&page) {
        return Ok(Html(body).into_response());
    }
    let visitor = page.visitor.as_ref();
    let (seen, phase) = records::phase(&app.store, &slug, &phase, visitor).await?;
    let phases = records::phases(&app.store, &seen.benchmark.id).await?;
    if !asked.format.is_empty() {
        return export(&app.store, &seen, &phase, visitor, &asked).await;
    }
    let board = board(&app.store, &seen, &phase, visitor, &asked).await?;
    let own = own_teams(&app.store, visitor).await?;
    let here = format!("/b/{}/{}/leaderboard", encode(&seen.benchmark.slug), encode(&phase.slug));
    let shown_set = board.as_ref().map_or("", |board| board.set.name.as_str()).to_owned();
    let sets = records::sets(&app.store, &phase.id).await?;
    let sets = sets
        .iter()
        .map(|set| (set.name.clone(), format!("{here}?ref={}", encode(&set.name)), set.name == shown_set))
        .collect();
    let (mut columns, mut rows) = (Vec::new(), Vec::new());
    let (mut is_own, mut n_images, mut n_references) = (false, 0, 0);
    if let Some(board) = &board {
        (is_own, n_images, n_references) = (board.is_own, board.set.n_images, board.set.n_references);
        columns.extend(board.set.measures.iter().map(|measure| Column {
            address: format!("{here}?ref={}&sort={}", encode(&board.set.name), encode(&measure.key)),
            is_sorted: measure.key == board.sort.key,
            measure: measure.clone(),
        }));
        rows.extend(board.rows.iter().map(|row| shown_row(row, board, phase.decimals, &own)));
    }
    let sort = board.as_ref().map_or("", |board| board.sort.key.as_str());
    let export =
        |format: &str| format!("{here}?ref={}&sort={}&format={format}", encode(&shown_set), encode(sort));
    let shown = BoardPage {
        page: &page,
        seen: &seen,
        phases: &phases,
        sets,
        is_board: board.is_some(),
        is_own,
        columns,
        has_human: board.as_ref().is_some_and(|board| board.rows.iter().any(|row| row.entry.kind == "human")),
        rows,
        removed: board.as_ref().map_or(&[], |board| &board.removed),
        judged: board.as_ref().map_or(&[], |board| &board.judged),
        lines: board.iter().flat_map(|board| (0..).zip(&board.judged)).map(drawn).collect(),
        csv: export("csv"),
        json: export("json"),
        n_images,
        n_references,
        phase: &phase,
    };
    let body = Bytes::from(shown.render()?);
    app.recent.keep(&page, begun, body.clone());
    Ok(Html(body).into_response())
}

fn shown_row(row: &Row, board: &Board, decimals: usize, own: &HashSet<String>) -> ShownRow {
    let entry = &row.entry;
    let best = |measure: &Described| {
        let scores = board.rows.iter().filter(|row| row.rank.is_some());
        let scores = scores.filter_map(|row| Some(row.entry.scores.get(&measure.key)?.0));
        scores
            .map(|score| if measure.lower_is_better { -score } else { score })
            .fold(f64::NEG_INFINITY, f64::max)
    };
    let cell = |measure: &Described| match entry.scores.get(&measure.key) {
        None => ("–".to_owned(), String::new(), false),
        Some((score, interval)) => {
            let text = |value: f64| shown(value, measure, decimals);
            let interval =
                interval.map_or(String::new(), |(low, high)| format!("{}–{}", text(low), text(high)));
            let strength = if measure.lower_is_better { -score } else { *score };
            let is_best = row.rank.is_some() && text(strength) == text(best(measure));
            (text(*score), interval, is_best)
        }
    };
    ShownRow {
        rank: row.rank.map_or(String::new(), |rank| rank.to_string()),
        class: match entry.kind.as_str() {
            "human" => "human",
            "baseline" => "baseline",
            _ if entry.team.as_ref().is_some_and(|team| own.contains(team)) => "own",
            _ => "",
        },
        name: entry.team_name.clone(),
        method: entry.method.clone(),
        link: entry.link.clone(),
        is_tied: row.is_tied == Some(true),
        cells: board.set.measures.iter().map(cell).collect(),
        date: clock::day(entry.created_at),
    }
}

async fn for_programs(
    State(app): State<App>,
    page: Page,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let visitor = page.visitor.as_ref();
    let (seen, phase) = records::phase_by_id(&app.store, &id, visitor).await?;
    export(&app.store, &seen, &phase, visitor, &asked).await
}

/// A board as JSON or, if that is asked for, as CSV. Scores are rounded as the phase says.
///
/// # Errors
/// If the visitor may not see it.
pub async fn export(
    store: &Store,
    seen: &Seen,
    phase: &Phase,
    visitor: Option<&Visitor>,
    asked: &Asked,
) -> Result<Response, Fault> {
    let board = board(store, seen, phase, visitor, asked).await?.ok_or_else(Fault::not_found)?;
    if asked.format == "csv" {
        let headers = [
            (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
            (header::CONTENT_DISPOSITION, "attachment; filename=\"leaderboard.csv\""),
        ];
        return Ok((headers, as_csv(&board, phase)).into_response());
    }
    let rows: Vec<Value> = board
        .rows
        .iter()
        .map(|row| {
            let mut scores = Map::new();
            let mut intervals = Map::new();
            for measure in &board.set.measures {
                let Some((score, interval)) = row.entry.scores.get(&measure.key) else { continue };
                scores.insert(measure.key.clone(), rounded(*score, measure, phase.decimals).into());
                if let Some((low, high)) = interval {
                    let ends = [*low, *high].map(|end| rounded(end, measure, phase.decimals));
                    intervals.insert(measure.key.clone(), json!(ends));
                }
            }
            json!({
                "rank": row.rank, "kind": row.entry.kind, "team": row.entry.team_name, "method": row.entry.method,
                "link": row.entry.link, "submitted_at": clock::iso(row.entry.created_at), "scores": scores,
                "intervals": intervals, "not_different_from_row_above": row.is_tied,
            })
        })
        .collect();
    let removed: Vec<Value> = board
        .removed
        .iter()
        .map(|row| {
            json!({
                "team": row.team_name, "method": row.method, "reason": row.reason, "disqualified_at": clock::iso(row.at),
            })
        })
        .collect();
    let judged: Vec<Value> = board
        .judged
        .iter()
        .map(|row| {
            let Measured { m1, m2, m3, m4, at_least, judgements, .. } = &row.measured;
            json!({
                "kind": if row.method.is_empty() { "human" } else { "system" }, "team": row.team_name,
                "method": row.method, "m1": m1, "m2": m2, "m3": m3, "m4": m4, "at_least_4_3_2": at_least,
                "judgements": judgements,
            })
        })
        .collect();
    Ok(axum::Json(json!({
        "benchmark": seen.benchmark.slug, "phase": phase.slug, "reference_set": board.set.name,
        "sorted_by": board.sort.key, "measures": board.set.measures, "rows": rows,
        "disqualified": removed, "judged_by_people": judged,
    }))
    .into_response())
}

fn as_csv(board: &Board, phase: &Phase) -> String {
    let mut lines = vec![["rank", "kind", "team", "method"].map(str::to_owned).to_vec()];
    lines[0].extend(board.set.measures.iter().map(|measure| measure.key.clone()));
    for row in &board.rows {
        let rank = row.rank.map_or(String::new(), |rank| rank.to_string());
        let mut line =
            vec![rank, row.entry.kind.clone(), row.entry.team_name.clone(), row.entry.method.clone()];
        line.extend(board.set.measures.iter().map(|measure| {
            let score = row.entry.scores.get(&measure.key);
            score.map_or(String::new(), |(score, _)| rounded(*score, measure, phase.decimals).to_string())
        }));
        lines.push(line);
    }
    let lines = lines.iter().map(|line| line.iter().map(|cell| csv_cell(cell)).collect::<Vec<_>>().join(","));
    lines.map(|line| line + "\r\n").collect()
}

/// A cell that no spreadsheet takes for a formula.
fn csv_cell(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    let guarded = match text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number {
        true => format!("'{text}"),
        false => text.to_owned(),
    };
    // Some spreadsheets split cells at `;`, where the crate `csv` would quote nothing.
    match guarded.contains(['"', ',', '\n', '\r', ';']) {
        true => format!("\"{}\"", guarded.replace('"', "\"\"")),
        false => guarded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(lower_is_better: bool) -> Described {
        Described { key: "m".to_owned(), label: "M".to_owned(), lower_is_better, is_count: false }
    }

    fn candidate(id: &str, team: Option<&str>, score: Option<f64>, is_pinned: bool) -> Candidate {
        Candidate {
            id: id.to_owned(),
            kind: if team.is_some() { "entry" } else { "baseline" }.to_owned(),
            team: team.map(str::to_owned),
            team_name: String::new(),
            method: String::new(),
            link: String::new(),
            blob: None,
            is_pinned,
            created_at: i64::from(id.as_bytes()[0]),
            scores: score.map(|score| ("m".to_owned(), (score, None))).into_iter().collect(),
        }
    }

    fn ordered(candidates: Vec<Candidate>, lower_is_better: bool) -> String {
        let rows = order(candidates, &measure(lower_is_better), &measure(lower_is_better));
        let shown = rows.iter().map(|row| {
            format!("{}{}", row.entry.id, row.rank.map_or("-".to_owned(), |rank| rank.to_string()))
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_team_stands_with_its_best_or_its_pinned_submission() {
        let rows = vec![
            candidate("a", Some("x"), Some(0.3), false),
            candidate("b", Some("x"), Some(0.5), false),
            candidate("c", Some("y"), Some(0.9), false),
            candidate("d", Some("y"), Some(0.4), true),
            candidate("e", None, Some(0.45), false),
            candidate("f", Some("z"), Some(0.4), false),
            candidate("g", Some("w"), Some(0.1), false),
        ];
        assert_eq!(ordered(rows.clone(), false), "b1 e- d2 f2 g4");
        assert_eq!(ordered(rows, true), "g1 a2 d3 f3 e-");
    }

    #[test]
    fn what_has_no_score_comes_last_and_ties_go_to_the_first() {
        let rows = vec![
            candidate("a", Some("x"), None, false),
            candidate("b", Some("y"), Some(f64::NAN), false),
            candidate("c", Some("z"), Some(-1.0), false),
            candidate("e", Some("w"), Some(0.2), false),
            candidate("d", Some("w"), Some(0.2), false),
        ];
        assert_eq!(ordered(rows, false), "d1 c2 a3 b3");
    }

    #[test]
    fn a_row_is_tied_with_the_row_above_and_no_other() {
        let mut rows: Vec<Row> = ["a", "people", "b", "c"]
            .into_iter()
            .map(|id| {
                let blob = (id != "people").then(|| id.to_owned());
                let entry = Candidate { blob, ..candidate(id, Some(id), Some(0.5), false) };
                Row { rank: None, entry, is_tied: None }
            })
            .collect();
        let pair = |above: &str, below: &str| ((above.to_owned(), below.to_owned()), false);
        mark_ties(&mut rows, &HashMap::from([pair("a", "b"), pair("b", "c"), pair("a", "people")]));
        let ties: Vec<Option<bool>> = rows.iter().map(|row| row.is_tied).collect();
        assert_eq!(ties, [None, None, None, Some(true)]);
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
