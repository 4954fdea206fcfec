//! Submissions in the database, one's own list, and the page of one with its state, its scores and its log.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use capeval_api::{SubmissionKind, SubmissionState};
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::json;

use super::records::{self, BoardKind, Phase, ReferenceSet, Seen};
use super::{board, quota};
use crate::accounts::Visitor;
use crate::app::App;
use crate::fault;
use crate::fault::Fault;
use crate::jobs::queue::{self, Wait};
use crate::store::{Error, Store, Tx};
use crate::web::route::{get, post};
use crate::web::{Access, Names, Page, Person, Route, Scope, Standing, Subject};
use crate::{args, audit, clock};

/// The most rows of a list.
const MOST: i64 = 500;

pub(super) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/submissions", read, "List your submissions", list),
        get("/submissions/{id}", read, "Show a submission of your team", show),
        post("/submissions/{id}/cancel", submit, "Cancel a queued submission", cancel_from_page),
        post(
            "/submissions/{id}/pin",
            submit,
            "Show this submission on the leaderboard instead of the best",
            pin_from_page,
        ),
        post(
            "/submissions/{id}/unpin",
            submit,
            "Show the best submission on the leaderboard",
            unpin_from_page,
        ),
    ]
}

/// A submission.
#[derive(Clone, Debug, Deserialize)]
pub struct Submission {
    /// The id.
    pub id: String,
    /// The id of the phase.
    pub phase: String,
    /// The id of the team; `None` for baselines and the human row.
    pub team: Option<String>,
    /// Whose captions it has.
    pub kind: SubmissionKind,
    /// The name of the method.
    pub method: String,
    /// What the team says about it.
    pub description: String,
    /// A link to more.
    pub link: String,
    /// How far it is.
    pub state: SubmissionState,
    /// Why it failed.
    pub reason: Option<String>,
    /// The hash of the captions.
    pub blob: Option<String>,
    /// The size of the upload in bytes.
    pub size: i64,
    /// The day whose quota it was counted in.
    pub charged_day: Option<String>,
    /// Why it does not rank.
    pub disqualified_for: Option<String>,
    /// When it came.
    pub created_at: i64,
    /// When scoring began.
    pub started_at: Option<i64>,
    /// When it ended.
    pub finished_at: Option<i64>,
}

impl Submission {
    /// Whether its state can still change.
    pub fn is_open(&self) -> bool {
        self.state.is_open()
    }
}

/// The submission with this id, whoever asks.
///
/// # Errors
/// If there is none.
pub async fn by_id(store: &Store, id: &str) -> Result<Submission, Fault> {
    let submission = store.fetch_optional("SELECT * FROM submission WHERE id = $1", args![id]).await?;
    submission.ok_or_else(Fault::not_found)
}

/// The submission with this id, with its phase.
///
/// # Errors
/// If there is none, or the visitor is neither in its team nor a host.
pub async fn own(store: &Store, id: &str, visitor: &Visitor) -> Result<(Seen, Phase, Submission), Fault> {
    let submission = by_id(store, id).await?;
    let (seen, phase) = records::phase_by_id(store, &submission.phase, Some(visitor)).await?;
    let is_own = seen.is_host || is_member(store, &submission, visitor).await?;
    if is_own { Ok((seen, phase, submission)) } else { Err(Fault::not_found()) }
}

/// A submission that the visitor may see, with its phase.
#[derive(Clone, Debug)]
pub struct SeenSubmission {
    /// Its benchmark.
    pub seen: Seen,
    /// Its phase.
    pub phase: Phase,
    /// The submission.
    pub submission: Submission,
}

/// `{id}`
impl Subject for SeenSubmission {
    const KIND: &'static str = "submission";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self, Fault> {
        let visitor = visitor.ok_or_else(Fault::not_found)?;
        let (seen, phase, submission) = own(&app.store, names.require("id")?, visitor).await?;
        Ok(Self { seen, phase, submission })
    }

    fn standing(&self) -> Standing {
        if self.seen.is_host { Standing::Hosts } else { Standing::Owns }
    }
}

async fn is_member(store: &Store, submission: &Submission, visitor: &Visitor) -> Result<bool, Error> {
    let Some(team) = &submission.team else { return Ok(false) };
    let sql = "SELECT 1 FROM team_member WHERE team = $1 AND account = $2";
    store.exists(sql, args![team, &visitor.id]).await
}

/// The same for somebody who changes it: what a host does to other teams needs a token for that.
///
/// # Errors
/// As for [`own`], and if the token of a host is only for submissions of their own.
pub async fn own_to_change(
    store: &Store,
    id: &str,
    visitor: &Visitor,
) -> Result<(Seen, Phase, Submission), Fault> {
    let found = own(store, id, visitor).await?;
    if visitor.has(Scope::Host) || is_member(store, &found.2, visitor).await? {
        return Ok(found);
    }
    Err(fault!(FORBIDDEN, "scope", "This token lacks the required scope."))
}

/// The scores of a submission: by reference set and measure, the value and the interval.
pub type Scores = HashMap<(String, String), (f64, Option<(f64, f64)>)>;

/// The scores of a submission in the score set that boards show.
///
/// # Errors
/// If the database fails.
pub async fn scores(store: &Store, phase: &Phase, submission: &str) -> Result<Scores, Error> {
    let rows = store
        .all(
            "SELECT * FROM score WHERE score_set = $1 AND submission = $2",
            args![phase.score_set.as_deref().unwrap_or(""), submission],
        )
        .await?;
    rows.iter()
        .map(|row| {
            let (low, high): (Option<f64>, Option<f64>) = (row.get("low")?, row.get("high")?);
            Ok(((row.get("reference_set")?, row.get("metric")?), (row.get("value")?, low.zip(high))))
        })
        .collect()
}

/// How the engine scored a submission in the score set that boards show: a signature for each metric.
async fn signatures(store: &Store, phase: &Phase, submission: &str) -> Result<Vec<String>, Error> {
    let row = store
        .first(
            "SELECT COALESCE(scored_by.signatures, submission.signatures) AS signatures FROM submission \
             LEFT JOIN scored_by ON scored_by.submission = submission.id AND scored_by.score_set = $1 \
             WHERE submission.id = $2",
            args![phase.score_set.as_deref().unwrap_or(""), submission],
        )
        .await?;
    let text = row.map_or(Ok(None), |row| row.get::<Option<String>>("signatures"))?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// Whether the team of a submission may see its scores now.
pub fn shows_scores(seen: &Seen, phase: &Phase) -> bool {
    seen.is_host || phase.is_revealed() || phase.board != BoardKind::Hidden
}

/// Cancels a submission that still waits, and gives it back; a host also one that is being scored.
///
/// # Errors
/// If it is too late.
pub async fn cancel(app: &App, visitor: &Visitor, seen: &Seen, submission: &Submission) -> Result<(), Fault> {
    let mut tx = app.store.begin().await?;
    // The job comes first, as where its end is written, so that the two cannot wait for each other.
    let is_stopped = queue::cancel(&mut tx, &submission.id, seen.is_host).await?;
    let cancelled = tx
        .execute(
            "UPDATE submission SET state = 'cancelled', finished_at = $1 \
             WHERE id = $2 AND (state = 'queued' OR state = 'running' AND $3 = 1)",
            args![clock::now(), &submission.id, seen.is_host],
        )
        .await?;
    if cancelled == 0 || !is_stopped {
        return Err(match seen.is_host {
            true => fault!(CONFLICT, "ended", "Too late to cancel: the submission has finished."),
            false => fault!(CONFLICT, "too-late", "Too late to cancel: scoring has started."),
        });
    }
    refund(&mut tx, submission).await?;
    audit::note(&mut tx, Some(&visitor.id), "submission.cancel", &submission.id, json!({})).await?;
    Ok(tx.commit().await?)
}

/// Gives a submission back to the quota, once.
///
/// # Errors
/// If the database fails.
pub async fn refund(tx: &mut Tx, submission: &Submission) -> Result<(), Error> {
    let refunded = tx
        .execute("UPDATE submission SET refunded = 1 WHERE id = $1 AND refunded = 0", args![&submission.id])
        .await?;
    if let (1, Some(team), Some(day)) = (refunded, &submission.team, &submission.charged_day) {
        quota::refund(tx, &submission.phase, team, day).await?;
    }
    Ok(())
}

/// Shows this submission on the board, or the best one again.
///
/// # Errors
/// If it is not an entry that was scored.
pub async fn pin(
    app: &App,
    visitor: &Visitor,
    submission: &Submission,
    is_pinned: bool,
) -> Result<(), Fault> {
    let Some(team) = submission.team.as_deref().filter(|_| submission.state == SubmissionState::Scored)
    else {
        return Err(fault!(
            CONFLICT,
            "not-scored",
            "Only a scored submission can be shown on the leaderboard."
        ));
    };
    let mut tx = app.store.begin().await?;
    let pinned = is_pinned.then_some(submission.id.as_str());
    tx.execute(
        "UPDATE entry SET pinned = $1 WHERE phase = $2 AND team = $3",
        args![pinned, &submission.phase, team],
    )
    .await?;
    super::scoring::compare_later(&mut tx, &submission.phase).await?;
    audit::note(&mut tx, Some(&visitor.id), "entry.pin", &submission.id, json!({ "pinned": is_pinned }))
        .await?;
    tx.commit().await?;
    app.wake.notify();
    Ok(())
}

/// A submission for programs.
pub fn for_programs(
    app: &App,
    phase: &Phase,
    submission: &Submission,
    sets: &[ReferenceSet],
    scores: Option<&Scores>,
    wait: Option<Wait>,
) -> capeval_api::Submission {
    let of_set = |set: &ReferenceSet| {
        let scored = set.measures.iter().filter_map(|measure| {
            let (value, _) = scores?.get(&(set.id.clone(), measure.key.clone()))?;
            Some((measure.key.clone(), board::rounded(*value, measure, phase.decimals)))
        });
        (set.name.clone(), scored.collect::<IndexMap<_, _>>())
    };
    let by_set: capeval_api::Scores =
        sets.iter().map(of_set).filter(|(_, scores)| !scores.is_empty()).collect();
    capeval_api::Submission {
        id: submission.id.clone(),
        phase: phase.id.clone(),
        team: submission.team.clone(),
        method: submission.method.clone(),
        state: submission.state.into(),
        reason: submission.reason.clone(),
        created_at: clock::time(submission.created_at),
        finished_at: submission.finished_at.map(clock::time),
        ahead: wait.map(|wait| wait.ahead),
        seconds: wait.map(|wait| wait.seconds),
        disqualified: submission.disqualified_for.clone(),
        scores: Some(by_set).filter(|scores| !scores.is_empty()),
        page: app.settings.url(&format!("/submissions/{}", submission.id)),
    }
}

#[derive(Template)]
#[template(path = "submissions.html")]
struct List<'a> {
    page: &'a Page,
    rows: Vec<ListRow>,
}

#[derive(Deserialize)]
struct ListRow {
    submission: Submission,
    #[serde(rename = "benchmark_title")]
    benchmark: String,
    #[serde(rename = "phase_title")]
    phase: String,
    #[serde(rename = "team_name")]
    team: String,
}

async fn list(State(app): State<App>, page: Page, Person(visitor): Person) -> Result<Response, Fault> {
    let rows = app
        .store
        .fetch(
            "SELECT submission.*, benchmark.title AS benchmark_title, phase.title AS phase_title, \
             team.name AS team_name FROM submission JOIN team ON team.id = submission.team \
             JOIN team_member ON team_member.team = team.id JOIN phase ON phase.id = submission.phase \
             JOIN benchmark ON benchmark.id = phase.benchmark \
             WHERE team_member.account = $1 ORDER BY submission.id DESC LIMIT $2",
            args![&visitor.id, MOST],
        )
        .await?;
    page.show(&List { page: &page, rows })
}

/// A table of scores by one reference set.
pub struct ScoreTable {
    /// The name of the set.
    pub set: String,
    /// The label, the score and the interval of each measure, as shown.
    pub rows: Vec<(String, String, String)>,
}

#[derive(Template)]
#[template(path = "submission.html")]
struct Show<'a> {
    page: &'a Page,
    seen: &'a Seen,
    phase: &'a Phase,
    submission: &'a Submission,
    wait: Option<Wait>,
    tables: Vec<ScoreTable>,
    signatures: Vec<String>,
    is_shown: bool,
    is_pinned: bool,
    is_same: bool,
}

#[derive(Deserialize)]
struct How {
    #[serde(default)]
    same: Option<String>,
}

async fn show(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(id): Path<String>,
    Query(How { same }): Query<How>,
) -> Result<Response, Fault> {
    let (seen, phase, submission) = own(&app.store, &id, &visitor).await?;
    let wait = match submission.is_open() {
        true => queue::wait(&app.store, &submission.id, app.settings.workers).await?,
        false => None,
    };
    let is_shown = shows_scores(&seen, &phase);
    let mut tables = Vec::new();
    if is_shown && submission.state == SubmissionState::Scored {
        let scores = scores(&app.store, &phase, &submission.id).await?;
        for set in records::sets(&app.store, &phase.id).await? {
            let rows = set.measures.iter().filter_map(|measure| {
                let (value, interval) = scores.get(&(set.id.clone(), measure.key.clone()))?;
                let shown = |value: f64| board::shown(value, measure, phase.decimals);
                let interval =
                    interval.map_or(String::new(), |(low, high)| format!("{} – {}", shown(low), shown(high)));
                Some((measure.label.clone(), shown(*value), interval))
            });
            tables.push(ScoreTable { rows: rows.collect(), set: set.name });
        }
    }
    let sql = "SELECT 1 FROM entry WHERE phase = $1 AND pinned = $2";
    let is_pinned = app.store.exists(sql, args![&phase.id, &submission.id]).await?;
    let signatures = match is_shown {
        true => signatures(&app.store, &phase, &submission.id).await?,
        false => Vec::new(),
    };
    page.show(&Show {
        page: &page,
        seen: &seen,
        phase: &phase,
        submission: &submission,
        wait,
        tables,
        signatures,
        is_shown,
        is_pinned,
        is_same: same.is_some(),
    })
}

async fn cancel_from_page(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let (seen, _, submission) = own(&app.store, &id, &visitor).await?;
    cancel(&app, &visitor, &seen, &submission).await?;
    let done = if seen.is_host { "stopped" } else { "cancelled" };
    Ok(Redirect::to(&format!("/submissions/{id}?done={done}")).into_response())
}

async fn pin_from_page(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    change_pin(&app, &visitor, &id, true).await
}

async fn unpin_from_page(
    State(app): State<App>,
    Person(visitor): Person,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    change_pin(&app, &visitor, &id, false).await
}

async fn change_pin(app: &App, visitor: &Visitor, id: &str, is_pinned: bool) -> Result<Response, Fault> {
    let (_, _, submission) = own(&app.store, id, visitor).await?;
    pin(app, visitor, &submission, is_pinned).await?;
    Ok(Redirect::to(&format!("/submissions/{id}?done=saved")).into_response())
}
