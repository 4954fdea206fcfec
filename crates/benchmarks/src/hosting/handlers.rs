//! The tools of hosts, on pages and by the API.

use askama::Template;
use axum::response::Response;
use capeval_api::{
    AuditLog, BoardColumns, Entries, Entry, Grant, HostedPhase, HostedSubmissions, Limits, Meter, Reason,
    SetState, SubmissionKind,
};
use capeval_files::Home;
use capeval_site::audit::Note;
use capeval_site::paging::Places;
use capeval_site::prelude::*;
use capeval_tasks::{absence, missing_data};

use super::actions::{self, Count, OfTeam};
use crate::counts::Counts as _;
use crate::files::{self, PhaseFile};
use crate::records::{self, ReferenceSet, SeenBenchmark, SeenPhase};
use crate::rescore::{self, ScoreSet};
use crate::settings::Phase;
use crate::submissions::{SeenSubmission, Submission};
use crate::{quota, workers};

pub(crate) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get("/b/{slug}/{phase}/host", host, "Show a phase to its hosts", show),
        get("/api/v1/host/phases/{id}", host, "Show a phase with its score sets", phase),
        get("/api/v1/host/phases/{id}/entries", host, "List the teams of a phase with their quotas", entries),
        get("/api/v1/host/phases/{id}/submissions", host, "List all submissions to a phase", submissions),
        post("/b/{slug}/{phase}/host/limits", host, "Change the limits of a phase", set_limits)
            .and("/api/v1/host/phases/{id}/limits"),
        post("/b/{slug}/{phase}/host/columns", host, "Choose the columns of a leaderboard", set_columns)
            .and("/api/v1/host/phases/{id}/columns"),
        post("/b/{slug}/{phase}/host/grants", host, "Grant submissions to a team", grant)
            .and("/api/v1/host/phases/{id}/grants"),
        post("/b/{slug}/{phase}/host/freeze", host, "Stop submissions to a phase", freeze::<true>)
            .and("/api/v1/host/phases/{id}/freeze"),
        post("/b/{slug}/{phase}/host/unfreeze", host, "Allow submissions to a phase", freeze::<false>)
            .and("/api/v1/host/phases/{id}/unfreeze"),
        post("/b/{slug}/{phase}/host/private", host, "End a phase and show its private half", show_private)
            .and("/api/v1/host/phases/{id}/private"),
        post(
            "/b/{slug}/{phase}/host/prepare",
            host,
            "Try again what failed: references, baselines, the row for people, comparisons",
            try_again,
        )
        .and("/api/v1/host/phases/{id}/prepare"),
        post(
            "/b/{slug}/{phase}/host/rescore",
            host,
            "Rescore all submissions, into a new score set",
            score_again,
        )
        .and("/api/v1/host/phases/{id}/rescore"),
        post("/submissions/{id}/disqualify", host, "Remove a submission from the leaderboard", disqualify)
            .and("/api/v1/submissions/{id}/disqualify"),
        post("/submissions/{id}/reinstate", host, "Restore a submission to the leaderboard", reinstate)
            .and("/api/v1/submissions/{id}/reinstate"),
        get("/b/{slug}/audit", host, "Show a benchmark's audit log", audit)
            .and("/api/v1/host/benchmarks/{slug}/audit"),
    ]
}

#[derive(Template)]
#[template(path = "phase-host.html")]
struct PhaseHost<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    phase: &'a Phase,
    entries: Rows<Entry>,
    submissions: Rows<OfTeam>,
    score_sets: Vec<ScoreSet>,
    sets: Vec<ReferenceSet>,
    files: Vec<PhaseFile>,
    /// The keys and labels of what the board can show, and whether it does unless a visitor chooses others.
    columns: Vec<(String, String, bool)>,
    has_failed: bool,
    /// The baselines and the row for people that have no scores.
    failed_rows: Vec<Submission>,
    /// The newest submissions of teams without scores, for reasons of ours.
    failures: Vec<Submission>,
    /// The reason why neighbours on the board could not be compared.
    comparison_failure: Option<String>,
    /// The data of its metrics that are not installed, and how to install them; empty if all are.
    absence: String,
    count: Count,
    /// The submissions that wait for a machine of its hosts, and those that machines hold.
    tasks: (i64, i64),
    /// The reason why it takes no submissions now.
    closed: Option<String>,
    /// The next events, with the time and the days until then.
    next: Vec<(&'static str, i64, i64)>,
}

impl PhaseHost<'_> {
    /// Returns true if something failed that can be tried again.
    fn can_try_again(&self) -> bool {
        self.has_failed || !self.failed_rows.is_empty() || self.comparison_failure.is_some()
    }

    /// Returns true if a host has something to do.
    fn needs_attention(&self) -> bool {
        self.can_try_again()
            || self.seen.benchmark.draft
            || self.phase.frozen_at.is_some()
            || self.sets.iter().any(|set| !set.notices.is_empty())
            || !self.absence.is_empty()
            || !self.failures.is_empty()
    }

    /// A score with the decimals of the phase.
    fn score_text(&self, score: &f64) -> String {
        capeval_report::fixed(*score, self.phase.decimals)
    }
}

/// The most failures that ask for attention.
const FAILURES: usize = 5;

/// The next events of a phase, each with its time and the days until then.
fn next(phase: &Phase) -> Vec<(&'static str, i64, i64)> {
    let now = clock::now();
    let coming = phase.dates().into_iter().filter(|(_, time)| *time > now);
    let mut next: Vec<_> = coming.map(|(what, time)| (what, time, (time - now) / clock::DAY)).collect();
    next.sort_by_key(|(_, time, _)| *time);
    next
}

async fn show(
    app: App,
    page: Page,
    Hosted(SeenPhase { seen, phase }): Hosted<SeenPhase>,
    places: Places,
) -> Result<Response> {
    let sets = records::all_sets(&app.store, &phase.id).await?;
    page.show(&PhaseHost {
        count: actions::count(&app.store, &phase.id).await?,
        tasks: workers::counts(&app.store, &phase.id).await?,
        closed: records::closed(&phase, &sets).map(|fault| page.fault(&fault)),
        files: files::records::of_phase(&app.store, &phase.id).await?,
        next: next(&phase),
        page: &page,
        has_failed: records::have_failed(&sets),
        failed_rows: actions::failed_rows(&app.store, &phase.id).await?,
        comparison_failure: actions::comparison_failure(&app.store, &phase.id).await?,
        columns: columns(&phase, &sets),
        absence: absence(&missing_data(&phase.metrics, app.data().map(Home::new).as_ref())),
        sets,
        entries: actions::entries(&app.store, &phase, places.of("teams")).await?,
        submissions: actions::submissions(&app.store, &phase, places.of("")).await?,
        failures: actions::failures(&app.store, &phase.id, FAILURES).await?,
        score_sets: rescore::sets(&app.store, &phase.id).await?,
        seen: &seen,
        phase: &phase,
    })
}

fn columns(phase: &Phase, sets: &[ReferenceSet]) -> Vec<(String, String, bool)> {
    let measures = sets.iter().flat_map(|set| &set.measures).map(|measure| (&measure.key, &measure.label));
    let details = phase.columns.iter().map(|column| (&column.key, &column.label));
    let mut columns: Vec<(String, String, bool)> = Vec::new();
    for (key, label) in measures.chain(details) {
        if columns.iter().all(|(known, ..)| known != key) {
            columns.push((key.clone(), label.clone(), phase.board_columns.contains(key)));
        }
    }
    columns
}

async fn phase(
    app: App,
    Hosted(SeenPhase { seen, phase }): Hosted<SeenPhase>,
) -> Result<Answer<HostedPhase>> {
    Ok(Answer::json(&actions::hosted_phase(&app, &seen, &phase).await?))
}

async fn entries(app: App, Hosted(of): Hosted<SeenPhase>, at: At) -> Result<Answer<Entries>> {
    let Rows { rows, after, .. } = actions::entries(&app.store, &of.phase, at).await?;
    Ok(Answer::json(&Entries { entries: rows, next: after }))
}

async fn submissions(app: App, Hosted(of): Hosted<SeenPhase>, at: At) -> Result<Answer<HostedSubmissions>> {
    let Rows { rows, after, .. } = actions::submissions(&app.store, &of.phase, at).await?;
    let submissions = rows.into_iter().map(Into::into).collect();
    Ok(Answer::json(&HostedSubmissions { submissions, next: after }))
}

/// The page of a phase for browsers, and the phase for programs.
async fn changed<const STATUS: u16>(
    app: &App,
    page: &Page,
    of: &SeenPhase,
    done: &str,
) -> Result<Answer<HostedPhase, STATUS>> {
    let phase = actions::hosted_phase(app, &of.seen, &of.phase).await?;
    Ok(page.then(&of.address(&format!("host?done={done}")), &phase))
}

async fn set_limits(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(of): Hosted<SeenPhase>,
    Body(limits): Body<Limits>,
) -> Result<Answer<HostedPhase>> {
    actions::set_limits(&app, &by, &of.phase, &limits).await?;
    changed(&app, &page, &of, "saved").await
}

async fn set_columns(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(of): Hosted<SeenPhase>,
    Body(columns): Body<BoardColumns>,
) -> Result<Answer<HostedPhase>> {
    actions::set_columns(&app, &by, &of.phase, &columns).await?;
    changed(&app, &page, &of, "saved").await
}

async fn grant(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(of): Hosted<SeenPhase>,
    Body(grant): Body<Grant>,
) -> Result<Created<Meter>> {
    actions::grant(&app, &by, &of.phase, &grant).await?;
    let meter = quota::meter(&app.store, &of.phase, &grant.team).await?;
    let meter = Meter { per_day: meter.per_day, in_total: meter.in_total, left: meter.left() };
    Ok(page.then(&of.address("host?done=saved"), &meter))
}

/// Stops submissions, or allows them again.
async fn freeze<const IS_FROZEN: bool>(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(of): Hosted<SeenPhase>,
) -> Result<Answer<HostedPhase>> {
    actions::freeze(&app, &by, &of.phase, IS_FROZEN).await?;
    changed(&app, &page, &of, "saved").await
}

async fn show_private(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(of): Hosted<SeenPhase>,
) -> Result<Answer<HostedPhase>> {
    actions::show_private(&app, &by, &of.phase).await?;
    changed(&app, &page, &of, "saved").await
}

async fn try_again(app: App, page: Page, by: Visitor, of: Hosted<SeenPhase>) -> Result<Answer<HostedPhase>> {
    actions::try_again(&app, &by, &of.phase).await?;
    changed(&app, &page, &of, "saved").await
}

async fn score_again(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(of): Hosted<SeenPhase>,
) -> Result<Created<HostedPhase>> {
    rescore::start(&app, &by, &of.phase).await?;
    changed(&app, &page, &of, "rescoring").await
}

async fn disqualify(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(SeenSubmission { submission, .. }): Hosted<SeenSubmission>,
    Body(Reason { reason }): Body<Reason>,
) -> Result<NoContent> {
    actions::disqualify(&app, &by, &submission, &reason).await?;
    Ok(page.then(&format!("/submissions/{}?done=saved", submission.id), &()))
}

async fn reinstate(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(SeenSubmission { submission, .. }): Hosted<SeenSubmission>,
) -> Result<NoContent> {
    actions::reinstate(&app, &by, &submission).await?;
    Ok(page.then(&format!("/submissions/{}?done=saved", submission.id), &()))
}

#[derive(Template)]
#[template(path = "benchmark-audit.html")]
struct AuditPage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    notes: Rows<Note>,
}

async fn audit(app: App, page: Page, seen: Hosted<SeenBenchmark>, at: At) -> Result<Answer<AuditLog>> {
    let notes = audit::page(&app.store, &audit::OF_PLACE, &seen.benchmark.id, at).await?;
    let shown = AuditPage { page: &page, seen: &seen, notes };
    page.shows(&shown, || AuditLog {
        notes: shown.notes.rows.iter().map(actions::api_note).collect(),
        next: shown.notes.after.clone(),
    })
}
