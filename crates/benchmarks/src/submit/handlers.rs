//! The form to submit results, and its API, by which clients can also check results and query what is left of their
//! quota.

use askama::Template;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use capeval_api::{ColumnKind, Details, Open, ProblemKind, Quota, Report, Submission, Team};
use capeval_site::prelude::*;

use super::receive::{ResultsRequest, idempotency_key, receive, receive_to_check};
use super::records::{Outcome, admit, submit};
use super::remedies::remedy;
use crate::about::About;
use crate::counts::Counts as _;
use crate::quota::{self, Meter};
use crate::records::{self, SeenBenchmark, SeenPhase};
use crate::settings::Phase;
use crate::submissions::api_submission;
use crate::{admission, expected, qualifying, teams, upload};

pub(crate) fn routes() -> Vec<Route> {
    let (read, submit) = (Access::Person(Scope::Read), Access::Person(Scope::Submit));
    vec![
        get("/b/{slug}/{phase}/submit", read, "Show the form to submit results", form),
        post("/b/{slug}/{phase}/submit", submit, "Submit results", submit_form).upload(),
        post("/b/{slug}/{phase}/check", read, "Check results without submitting them", check_form).upload(),
        post("/api/v1/phases/{id}/validate", read, "Validate results without submitting them", validate)
            .upload(),
        post("/api/v1/phases/{id}/submissions", submit, "Submit results", add).upload(),
        get("/api/v1/phases/{id}/quota", read, "Show how many submissions are left", left),
    ]
}

#[derive(Template)]
#[template(path = "submit.html")]
struct Form<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    phase: &'a Phase,
    images: usize,
    /// The name of the team that takes part.
    team: Option<String>,
    teams: Vec<Team>,
    meter: Option<Meter>,
    closed: Option<String>,
    about: &'a About,
    report: Option<&'a Report>,
    /// The name of the file that the report is about.
    file: &'a str,
    upload_mib: u64,
    /// The address of the site.
    site: String,
    address: String,
}

impl Form<'_> {
    /// True if the phase scores events of videos.
    fn is_dense(&self) -> bool {
        capeval_tasks::is_dense(&self.phase.metrics)
    }

    /// The remedy for a kind of problem.
    fn remedy(&self, kind: &Open<ProblemKind>) -> &str {
        self.page.t(remedy(kind))
    }
}

async fn form(app: App, page: Page, by: Visitor, Visible(of): Visible<SeenPhase>) -> Result<Response> {
    show_form(&app, &page, &by, &of, &About::default(), None).await
}

/// The form, with the report on a file that was refused, or only checked, and its name.
async fn show_form(
    app: &App,
    page: &Page,
    by: &Visitor,
    of: &SeenPhase,
    about: &About,
    checked: Option<(&Report, Option<&str>)>,
) -> Result<Response> {
    let phase = &of.phase;
    let (mut team, mut teams, mut meter) = (None, Vec::new(), None);
    match teams::in_phase(&app.store, &phase.id, &by.id).await? {
        Some((id, name)) => {
            meter = Some(quota::meter(&app.store, phase, &id).await?);
            team = Some(name);
        }
        None => teams = teams::of_person(&app.store, &by.id).await?,
    }
    let sets = records::all_sets(&app.store, &phase.id).await?;
    let closed = match records::closed(phase, &sets) {
        None => match admission::refusal(app, &phase.benchmark, by).await? {
            None => qualifying::refusal(&app.store, phase, &by.id).await?,
            refusal => refusal,
        },
        closed => closed,
    };
    let (report, file) = checked.unzip();
    let mut shown = page.show(&Form {
        page,
        seen: &of.seen,
        phase,
        images: expected::of(app, &sets).await?.len(),
        team,
        teams,
        meter,
        closed: closed.map(|fault| page.fault(&fault)),
        about,
        report,
        file: file.flatten().unwrap_or_else(|| page.t("The file")),
        upload_mib: app.settings.upload_mib,
        site: app.settings.url(""),
        address: app.settings.url(&format!("/api/v1/phases/{}/submissions", phase.id)),
    })?;
    if report.is_some_and(|report| !report.is_valid) {
        *shown.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    }
    Ok(shown)
}

async fn submit_form(
    app: App,
    page: Page,
    by: Visitor,
    Visible(of): Visible<SeenPhase>,
    ResultsRequest(request): ResultsRequest,
) -> Result<Response> {
    if let Err(fault) = admit(&app, &by, &of.phase, None).await {
        upload::discard(&app, request.into_body()).await;
        return show_form(&app, &page.refused(fault)?, &by, &of, &About::default(), None).await;
    }
    let received = match receive(&app, request).await {
        Ok(received) => received,
        Err(fault) => {
            return show_form(&app, &page.refused(fault)?, &by, &of, &About::default(), None).await;
        }
    };
    let (about, name) = (received.about.clone(), received.name.clone());
    let place = match submit(&app, &by, &of.phase, received, None).await {
        Ok(Outcome::Queued(id) | Outcome::Repeated(id)) => format!("/submissions/{id}"),
        Ok(Outcome::Same(id)) => format!("/submissions/{id}?same=1"),
        Ok(Outcome::Invalid(report)) => {
            return show_form(&app, &page, &by, &of, &about, Some((&report, name.as_deref()))).await;
        }
        Err(fault) => return show_form(&app, &page.refused(fault)?, &by, &of, &about, None).await,
    };
    Ok(Redirect::to(&place).into_response())
}

async fn check_form(
    app: App,
    page: Page,
    by: Visitor,
    Visible(of): Visible<SeenPhase>,
    ResultsRequest(request): ResultsRequest,
) -> Result<Response> {
    let checked = async {
        let received = receive_to_check(&app, &by, request).await?;
        let sets = records::all_sets(&app.store, &of.phase.id).await?;
        let report =
            upload::check(&app, &of.phase, &sets, &received.file, received.name.as_deref()).await?.report;
        Ok::<_, Fault>((received.about, received.name, report))
    };
    match checked.await {
        Ok((about, name, report)) => {
            show_form(&app, &page, &by, &of, &about, Some((&report, name.as_deref()))).await
        }
        Err(fault) => show_form(&app, &page.refused(fault)?, &by, &of, &About::default(), None).await,
    }
}

async fn validate(
    app: App,
    by: Visitor,
    Visible(of): Visible<SeenPhase>,
    ResultsRequest(request): ResultsRequest,
) -> Result<Answer<Report>> {
    let received = receive_to_check(&app, &by, request).await?;
    let sets = records::all_sets(&app.store, &of.phase.id).await?;
    let checked = upload::check(&app, &of.phase, &sets, &received.file, received.name.as_deref()).await?;
    Ok(Answer::json(&checked.report))
}

async fn add(
    app: App,
    by: Visitor,
    Visible(SeenPhase { phase, .. }): Visible<SeenPhase>,
    headers: HeaderMap,
    ResultsRequest(request): ResultsRequest,
) -> Result<Either<Created<Submission>, Answer<Submission>>> {
    let key = idempotency_key(&headers)?;
    if let Err(fault) = admit(&app, &by, &phase, key.as_deref()).await {
        upload::discard(&app, request.into_body()).await;
        return Err(fault);
    }
    let received = receive(&app, request).await?;
    let place = |id: &str| format!("/api/v1/submissions/{id}");
    match submit(&app, &by, &phase, received, key.as_deref()).await? {
        Outcome::Queued(id) => {
            Ok(Either::One(Created::json(&api_submission(&app, &by, &id).await?).at(&place(&id))))
        }
        Outcome::Repeated(id) => {
            Ok(Either::Other(Answer::json(&api_submission(&app, &by, &id).await?).at(&place(&id))))
        }
        Outcome::Same(id) => {
            let fault = fault! {
                CONFLICT, "same-file",
                "Your team has already submitted these captions. This does not count against your quota."
            };
            let submission = Some(api_submission(&app, &by, &id).await?);
            Err(fault.more(Details { submission, ..Details::default() }))
        }
        Outcome::Invalid(report) => Err(invalid(report)),
    }
}

/// The fault of results that cannot be scored, with the whole report.
fn invalid(report: Report) -> Fault {
    let fault = fault! {
        UNPROCESSABLE_ENTITY, "invalid",
        "The file cannot be scored; the report says why. This does not count against your quota."
    };
    fault.more(Details { report: Some(report), ..Details::default() })
}

async fn left(app: App, by: Visitor, Visible(of): Visible<SeenPhase>) -> Result<Answer<Quota>> {
    let (id, name) = teams::in_phase(&app.store, &of.phase.id, &by.id).await?.unzip();
    let meter = quota::meter(&app.store, &of.phase, id.as_deref().unwrap_or_default()).await?;
    Ok(Answer::json(&Quota {
        left: meter.left(),
        team: name,
        used_today: meter.used_today,
        per_day: meter.per_day,
        used_in_total: meter.used_in_total,
        in_total: meter.in_total,
        resets_at: clock::time(meter.resets_at),
    }))
}
