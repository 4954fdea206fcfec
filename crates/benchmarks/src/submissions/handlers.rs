//! Submissions on pages and by the API.

use std::collections::HashMap;

use askama::Template;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use capeval_api::{ColumnKind, ImageResultsState, PerImage, SubmissionKind, SubmissionState, Submissions};
use capeval_site::jobs::queue;
use capeval_site::jobs::queue::Wait;
use capeval_site::prelude::*;
use capeval_site::web::download;
use schemars::JsonSchema;
use serde::Deserialize;

use super::records::{self, ListedScore, ListedSubmission, Scores, SeenSubmission, Submission};
use super::{actions, events};
use crate::about::{About, Changes};
use crate::records::{ReferenceSet, SeenBenchmark, SeenPhase, sets};
use crate::settings::Phase;
use crate::{board, images};

pub(crate) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/submissions", read, "List your submissions", list),
        get("/api/v1/phases/{id}/submissions", read, "List your team's submissions", list_of_phase),
        get("/submissions/{id}", read, "Show a submission of your team", show),
        get("/api/v1/submissions/{id}", read, "Show the state and the scores of a submission", state),
        get("/submissions/{id}/file", read, "Download the file of a submission as it was uploaded", file)
            .and("/api/v1/submissions/{id}/file")
            .sends(200, "application/octet-stream"),
        get("/api/v1/submissions/{id}/events", read, "Stream the progress of a submission", events::events)
            .sends(200, "text/event-stream"),
        post("/submissions/{id}/cancel", submit, "Cancel a queued submission", cancel)
            .and("/api/v1/submissions/{id}/cancel"),
        post("/submissions/{id}/about", submit, "Change what is said about a method", say)
            .and("/api/v1/submissions/{id}/about"),
        post(
            "/submissions/{id}/pin",
            submit,
            "Show this submission on the leaderboard instead of the best",
            pin::<true>,
        )
        .and("/api/v1/submissions/{id}/pin"),
        post("/submissions/{id}/unpin", submit, "Show the best submission on the leaderboard", pin::<false>),
        post("/submissions/{id}/choose", submit, "Choose a submission for the private half", choose::<true>)
            .and("/api/v1/submissions/{id}/choose"),
        post(
            "/submissions/{id}/unchoose",
            submit,
            "Give up the choice of a submission for the private half",
            choose::<false>,
        )
        .and("/api/v1/submissions/{id}/unchoose"),
    ]
}

#[derive(Template)]
#[template(path = "submissions.html")]
struct List<'a> {
    page: &'a Page,
    list: Rows<ListedSubmission>,
    scores: HashMap<String, ListedScore>,
    /// True if teams choose some of them for a private half.
    has_choice: bool,
}

async fn list(app: App, page: Page, by: Visitor, at: At) -> Result<Response> {
    let list = records::of_person(&app.store, &by.id, at).await?;
    let scores = records::listed_scores(&app, &by, &list.rows).await?;
    let has_choice = list.rows.iter().any(ListedSubmission::has_choice);
    page.show(&List { page: &page, list, scores, has_choice })
}

async fn list_of_phase(app: App, by: Visitor, of: Visible<SeenPhase>, at: At) -> Result<Answer<Submissions>> {
    Ok(Answer::json(&records::api_submissions(&app, &by, &of, at).await?))
}

/// A table of scores by one reference set.
struct ScoreTable {
    /// The name of the set.
    set: String,
    /// The label, the score and the interval of each measure, as shown.
    rows: Vec<(String, String, String)>,
}

impl ScoreTable {
    fn of(page: &Page, set: &ReferenceSet, scores: &Scores, decimals: usize) -> Self {
        let rows = set.measures.iter().filter_map(|measure| {
            let (value, interval) = scores.get(&(set.id.clone(), measure.key.clone()))?;
            let shown = |value: f64| board::score_text(value, measure, decimals);
            let interval =
                interval.map_or(String::new(), |(low, high)| format!("{} – {}", shown(low), shown(high)));
            Some((measure.label.clone(), shown(*value), interval))
        });
        Self { rows: rows.collect(), set: set.label(page) }
    }
}

#[derive(Template)]
#[template(path = "submission.html")]
struct Show<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    phase: &'a Phase,
    submission: &'a Submission,
    /// The reason why it failed.
    reason: Option<String>,
    /// The name of its team.
    team: Option<String>,
    wait: Option<Wait>,
    tables: Vec<ScoreTable>,
    signatures: Vec<String>,
    is_shown: bool,
    is_pinned: bool,
    /// The number of submissions that its team has chosen for the private half, where it may.
    n_chosen: Option<i64>,
    is_same: bool,
    about: About,
    /// Its results image by image, where the phase shows them.
    images: Option<images::State>,
}

impl Show<'_> {
    /// The address of results image by image by a reference set.
    fn images(&self, path: &str, set: &str) -> String {
        format!("/submissions/{}/{path}?ref={}", self.submission.id, encode(set))
    }

    /// A size for people.
    fn size(bytes: &i64) -> String {
        match *bytes {
            bytes if bytes < 100_000 => format!("{} kB", (bytes + 999) / 1000),
            bytes => format!("{:.1} MB", bytes as f64 / 1e6),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct How {
    /// Set if the same captions were just submitted again.
    #[serde(default)]
    same: Option<String>,
}

async fn show(
    app: App,
    page: Page,
    Own(of): Own<SeenSubmission>,
    UrlQuery(How { same }): UrlQuery<How>,
) -> Result<Response> {
    show_page(&app, &page, &of, of.submission.about(&of.phase.columns), same.is_some()).await
}

/// The page of a submission, with the description of its method in a form.
async fn show_page(
    app: &App,
    page: &Page,
    of: &SeenSubmission,
    about: About,
    is_same: bool,
) -> Result<Response> {
    let SeenSubmission { seen, phase, submission, .. } = of;
    let is_shown = of.shows_scores();
    let wait = match submission.is_open() {
        true => queue::wait(&app.store, &submission.id, app.settings.workers).await?,
        false => None,
    };
    let sets = if is_shown { sets(&app.store, &of.seen_phase()).await? } else { Vec::new() };
    let mut tables = Vec::new();
    if submission.state == SubmissionState::Scored {
        let scores = records::scores(&app.store, phase, &submission.id).await?;
        tables.extend(sets.iter().map(|set| ScoreTable::of(page, set, &scores, phase.decimals)));
    }
    let signatures = records::signatures(&app.store, phase, &submission.id, &sets).await?;
    page.show(&Show {
        page,
        seen,
        phase,
        submission,
        reason: submission
            .reason
            .as_deref()
            .map(|reason| if seen.is_host { reason.to_owned() } else { app.public_reason(reason) }),
        team: records::team_name(&app.store, submission).await?,
        wait,
        tables,
        signatures,
        is_shown,
        is_pinned: records::is_pinned(&app.store, submission).await?,
        n_chosen: match phase.has_choice() {
            true => Some(records::count_chosen(&app.store, submission).await?),
            false => None,
        },
        is_same,
        about,
        images: images::state(app, of).await?,
    })
}

async fn state(app: App, Own(of): Own<SeenSubmission>) -> Result<Answer<capeval_api::Submission>> {
    Ok(Answer::json(&of.to_api(&app).await?))
}

/// The file as it was uploaded, which the browser does not open: it may be anything.
async fn file(app: App, Own(of): Own<SeenSubmission>, headers: HeaderMap) -> Result<Response> {
    let Some((hash, name)) = of.submission.sent() else {
        return Err(match of.submission.kind {
            SubmissionKind::Human => Fault::not_found(),
            _ => fault!(GONE, "file-gone", "The file as it was uploaded is no longer kept."),
        });
    };
    let path = app.blobs.ready(hash).await?;
    let mut sent = download::send(&path, hash, Some(&name), "application/octet-stream", &headers).await?;
    let policy = HeaderValue::from_static("default-src 'none'; sandbox");
    sent.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(sent)
}

/// The page of a submission for browsers, and the submission for programs.
async fn changed(
    app: &App,
    page: &Page,
    by: &Visitor,
    of: &SeenSubmission,
    done: &str,
) -> Result<Answer<capeval_api::Submission>> {
    let id = &of.submission.id;
    let submission = records::api_submission(app, by, id).await?;
    Ok(page.then(&format!("/submissions/{id}?done={done}"), &submission))
}

async fn cancel(
    app: App,
    page: Page,
    by: Visitor,
    Own(of): Own<SeenSubmission>,
) -> Result<Answer<capeval_api::Submission>> {
    of.require_change(&by)?;
    actions::cancel(&app, &by, &of).await?;
    let done = if of.seen.is_host { "stopped" } else { "cancelled" };
    changed(&app, &page, &by, &of, done).await
}

/// Changes what is said about the method; for browsers, a refusal is shown above the form.
async fn say(
    app: App,
    page: Page,
    by: Visitor,
    Own(of): Own<SeenSubmission>,
    Changes(changes): Changes,
) -> Result<Answer<capeval_api::Submission>> {
    of.require_change(&by)?;
    let mut about = of.submission.about(&of.phase.columns);
    for (name, text) in changes {
        about.set(&name, text);
    }
    match actions::say(&app, &by, &of, about.clone()).await {
        Ok(()) => changed(&app, &page, &by, &of, "saved").await,
        Err(fault) => Ok(show_page(&app, &page.refused(fault)?, &of, about, false).await?.into()),
    }
}

/// Chooses this submission for the private half, or gives it up.
async fn choose<const IS_CHOSEN: bool>(
    app: App,
    page: Page,
    by: Visitor,
    Own(of): Own<SeenSubmission>,
) -> Result<Answer<capeval_api::Submission>> {
    of.require_change(&by)?;
    actions::choose(&app, &by, &of.submission, IS_CHOSEN).await?;
    changed(&app, &page, &by, &of, "saved").await
}

/// Shows this submission on the board, or the best one again.
async fn pin<const IS_PINNED: bool>(
    app: App,
    page: Page,
    by: Visitor,
    Own(of): Own<SeenSubmission>,
) -> Result<Answer<capeval_api::Submission>> {
    of.require_change(&by)?;
    actions::pin(&app, &by, &of.submission, IS_PINNED).await?;
    changed(&app, &page, &by, &of, "saved").await
}
