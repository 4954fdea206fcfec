//! The page that shows how metrics agree with the ratings of a collection, and that of a phase which came of it.

use askama::Template;
use axum::response::{IntoResponse, Redirect, Response};
use capeval_charts::Figure;
use capeval_tasks::{Agreement, Drawn, Estimate};

use super::{CorrelateCollection, FoundFor};
use crate::app::App;
use crate::benchmarks::agreement::{self as of_phases, CorrelatePhase, Found};
use crate::benchmarks::records::{self as benchmarks, BoardKind, Phase, SeenPhase};
use crate::collections::records::Seen;
use crate::fault::Fault;
use crate::jobs::{Work, queue};
use crate::store::Store;
use crate::web::language::{Language, say};
use crate::web::route::{get, post};
use crate::web::{Access, Hosted, Moderated, Page, Route, Scope, Visible};

pub(in crate::collections) fn routes() -> Vec<Route> {
    vec![
        get(
            "/c/{slug}/agreement",
            Access::Public,
            "Show how metrics agree with the ratings of a collection",
            show,
        ),
        post("/c/{slug}/agreement", Access::Person(Scope::Submit), "Recalculate the agreement", refresh),
        get(
            "/b/{slug}/{phase}/agreement",
            Access::Public,
            "Show how metrics agree with the human evaluation of a phase",
            show_phase,
        ),
        post(
            "/b/{slug}/{phase}/agreement",
            Access::Host,
            "Recalculate the agreement of a phase",
            refresh_phase,
        ),
    ]
}

/// The agreement in a language, with when it was calculated.
struct Shown {
    language: String,
    agreement: Agreement,
    created_at: i64,
}

/// What is written in figures.
const LABELS: [&str; 3] = [say("human rating"), say("% of ratings"), say("% of captions")];

impl Shown {
    fn of(language: String, found: Found) -> Self {
        Self { language, agreement: found.result, created_at: found.created_at }
    }

    /// The language of the captions, in its own name.
    fn name(&self) -> &str {
        Language::of(&self.language).map_or(self.language.as_str(), |known| known.name())
    }

    /// A figure, with its words in the language of the page; the first is of grades.
    fn figure(&self, page: &Page, drawn: &Drawn, is_first: &bool) -> String {
        let svg = LABELS.iter().fold(drawn.svg.clone(), |svg, label| {
            svg.replace(&format!(">{label}<"), &format!(">{}<", page.language.t(label)))
        });
        let title = if *is_first { page.t("Grades") } else { &drawn.title };
        let notes: Vec<String> = self.beyond(page, drawn).into_iter().collect();
        Figure { notes: &notes, ..Figure::new(title, &self.words(page, drawn), &svg) }.to_string()
    }

    /// What a drawing shows, for who does not see it.
    fn words(&self, page: &Page, figure: &Drawn) -> String {
        if page.language == Language::English {
            return figure.words.clone();
        }
        let people = page.language.t("People");
        let lines: Vec<&str> = self.agreement.systems.iter().map(String::as_str).chain([people]).collect();
        page.t2("Cumulative distribution of {}: {}", page.language.t(&figure.title), lines.join(", "))
    }

    /// What lies beyond the axis of a drawing.
    fn beyond(&self, page: &Page, figure: &Drawn) -> Option<String> {
        let beyond = figure.beyond.as_ref()?;
        Some(page.t3("Values beyond the axis: {} (from {} to {})", beyond.n, &beyond.from, &beyond.to))
    }

    /// The grades with their numbers and shares in percent, best first.
    fn grades(&self) -> Vec<(usize, usize, String)> {
        let all: usize = self.agreement.grades.iter().sum();
        let grades = self.agreement.grades.iter().enumerate().rev();
        grades.map(|(k, n)| (k + 1, *n, format!("{:.1}", 100.0 * *n as f64 / all.max(1) as f64))).collect()
    }

    fn alpha(&self) -> String {
        self.agreement.alpha.map_or_else(|| "–".to_owned(), |alpha| format!("{alpha:.3}"))
    }

    /// The measures with their coefficients and intervals.
    fn rows(&self) -> Vec<(&str, [(String, String); 5])> {
        let cell = |estimate: &Estimate| match estimate {
            None => ("–".to_owned(), String::new()),
            Some((value, None)) => (format!("{value:.3}"), String::new()),
            Some((value, Some((low, high)))) => (format!("{value:.3}"), format!("[{low:.3}, {high:.3}]")),
        };
        let measures = self.agreement.measures.iter();
        measures
            .map(|of| {
                let all = [&of.pearson, &of.spearman, &of.tau_b, &of.tau_c, &of.accuracy];
                (of.label.as_str(), all.map(cell))
            })
            .collect()
    }
}

#[derive(Template)]
#[template(path = "collections/agreement.html")]
struct AgreementPage<'a> {
    page: &'a Page,
    seen: &'a Seen,
    shown: Vec<Shown>,
    is_waiting: bool,
    /// Why the last job failed, for moderators.
    failure: Option<String>,
}

/// Whether a job for a subject is to be done, and why the last one failed, for those who are told.
async fn progress<W: Work>(
    store: &Store,
    subject: &str,
    is_told: bool,
) -> Result<(bool, Option<String>), Fault> {
    let mut tx = store.snapshot().await?;
    let is_waiting = queue::is_waiting(&mut tx, W::KIND, subject).await?;
    let failure = match is_told && !is_waiting {
        true => queue::failure(&mut tx, W::KIND, subject).await?,
        false => None,
    };
    Ok((is_waiting, failure))
}

async fn show(app: App, page: Page, Visible(seen): Visible<Seen>) -> Result<Response, Fault> {
    let id = &seen.collection.id;
    let found = super::found_for(&app.store, id).await?;
    let (is_waiting, failure) = progress::<CorrelateCollection>(&app.store, id, seen.is_moderator).await?;
    let shown = found.into_iter().map(|FoundFor { language, found }| Shown::of(language, found)).collect();
    page.show(&AgreementPage { page: &page, seen: &seen, shown, is_waiting, failure })
}

async fn refresh(app: App, Moderated(seen): Moderated<Seen>) -> Result<Redirect, Fault> {
    super::refresh(&app, &seen.collection.id).await?;
    Ok(Redirect::to(&seen.address("agreement")))
}

#[derive(Template)]
#[template(path = "phase-agreement.html")]
struct PhaseAgreement<'a> {
    page: &'a Page,
    seen: &'a benchmarks::Seen,
    phase: &'a Phase,
    shown: Vec<Shown>,
    is_waiting: bool,
    is_judged: bool,
    /// Why the last job failed, for hosts.
    failure: Option<String>,
    least: usize,
}

/// What people said about the captions of a phase's systems. A phase that came of a release, and whose captions have
/// not been judged, has the ratings of its references: those of the collection.
async fn show_phase(
    app: App,
    page: Page,
    Visible(SeenPhase { seen, phase }): Visible<SeenPhase>,
) -> Result<Response, Fault> {
    let is_judged = of_phases::is_judged(&app.store, &phase).await?;
    if !is_judged && let Some(slug) = super::collection_of(&app.store, &phase.id).await? {
        return Ok(Redirect::to(&format!("/c/{slug}/agreement")).into_response());
    }
    // People who do not see the scores of all systems do not see what they agree with.
    let is_registered = phase.board == BoardKind::Registered && page.visitor.is_some();
    if !(seen.is_host || phase.is_revealed() || is_registered) {
        return Err(Fault::not_found());
    }
    let found = of_phases::found_for(&app.store, &phase).await?;
    let (is_waiting, failure) = progress::<CorrelatePhase>(&app.store, &phase.id, seen.is_host).await?;
    page.show(&PhaseAgreement {
        page: &page,
        seen: &seen,
        phase: &phase,
        shown: found.into_iter().map(|found| Shown::of(String::new(), found)).collect(),
        is_waiting,
        is_judged,
        failure,
        least: of_phases::IMAGES,
    })
}

async fn refresh_phase(app: App, Hosted(of): Hosted<SeenPhase>) -> Result<Redirect, Fault> {
    of_phases::refresh(&app, &of.phase).await?;
    Ok(Redirect::to(&of.address("agreement")))
}
