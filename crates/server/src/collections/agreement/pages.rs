//! The page that shows how metrics agree with the ratings of a collection, and that of a phase which came of it.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use capeval_tasks::{Agreement, Drawn, Estimate};
use serde::Deserialize;

use super::CorrelateCollection;
use super::phase::{self, CorrelatePhase};
use crate::app::App;
use crate::args;
use crate::benchmarks::records::{self as benchmarks, BoardKind, Phase};
use crate::collections::records::{self, Seen};
use crate::fault::Fault;
use crate::store::Error;
use crate::web::language::{Language, say};
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};

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
            of_phase,
        ),
        post(
            "/b/{slug}/{phase}/agreement",
            Access::Host,
            "Recalculate the agreement of a phase",
            refresh_phase,
        ),
    ]
}

/// The agreement in a language, with when it was worked out.
struct Shown {
    language: String,
    agreement: Agreement,
    created_at: i64,
}

/// What is written in figures.
const LABELS: [&str; 3] = [say("human rating"), say("% of ratings"), say("% of captions")];

impl Shown {
    /// The language of the captions, in its own name.
    fn name(&self) -> &str {
        Language::of(&self.language).map_or(self.language.as_str(), |known| known.name())
    }

    /// A drawing, with its words in the language of the page.
    fn drawing(&self, page: &Page, figure: &Drawn) -> String {
        LABELS.iter().fold(figure.svg.clone(), |svg, label| {
            svg.replace(&format!(">{label}<"), &format!(">{}<", page.language.t(label)))
        })
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

async fn show(State(app): State<App>, page: Page, Path(slug): Path<String>) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, page.visitor.as_ref()).await?;
    let id = &seen.collection.id;
    let rows = app
        .store
        .all("SELECT * FROM agreement WHERE collection = $1 ORDER BY language DESC", args![id])
        .await?;
    let mut shown = Vec::new();
    for row in &rows {
        shown.push(Shown {
            language: row.get("language")?,
            agreement: serde_json::from_str(&row.get::<String>("result")?)?,
            created_at: row.get("created_at")?,
        });
    }
    let mut tx = app.store.snapshot().await?;
    let is_waiting = super::is_waiting::<CorrelateCollection>(&mut tx, id).await?;
    let is_told = seen.is_moderator && !is_waiting;
    let failure = if is_told { super::failure::<CorrelateCollection>(&mut tx, id).await? } else { None };
    drop(tx);
    page.show(&AgreementPage { page: &page, seen: &seen, shown, is_waiting, failure })
}

async fn refresh(
    State(app): State<App>,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Form(_): Form<Vec<(String, String)>>,
) -> Result<Response, Fault> {
    let seen = records::moderated(&app.store, &slug, &visitor).await?;
    super::refresh(&app, &seen.collection.id).await?;
    Ok(Redirect::to(&format!("/c/{slug}/agreement")).into_response())
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

#[derive(Deserialize)]
struct OfPhase {
    slug: String,
    phase: String,
}

/// What people said about the captions of a phase's systems. A phase whose captions nobody has judged has the ratings
/// of its references, if it came of a release: those of the collection.
async fn of_phase(
    State(app): State<App>,
    page: Page,
    Path(OfPhase { slug, phase }): Path<OfPhase>,
) -> Result<Response, Fault> {
    let (seen, phase) = benchmarks::phase(&app.store, &slug, &phase, page.visitor.as_ref()).await?;
    let is_judged = phase::is_judged(&app.store, &phase).await?;
    if !is_judged {
        let row = app
            .store
            .first(
                "SELECT collection.slug FROM publication JOIN release ON release.id = publication.release \
                 JOIN collection ON collection.id = release.collection WHERE publication.phase = $1",
                args![&phase.id],
            )
            .await?;
        if let Some(row) = row {
            let slug: Result<String, Error> = row.get("slug");
            return Ok(Redirect::to(&format!("/c/{}/agreement", slug?)).into_response());
        }
    }
    // Whoever does not see the scores of all systems does not see what they agree with.
    let is_registered = phase.board == BoardKind::Registered && page.visitor.is_some();
    if !(seen.is_host || phase.is_revealed() || is_registered) {
        return Err(Fault::not_found());
    }
    let row = app.store.first("SELECT * FROM phase_agreement WHERE phase = $1", args![&phase.id]).await?;
    let mut shown = Vec::new();
    if let Some(row) = row {
        shown.push(Shown {
            language: String::new(),
            agreement: serde_json::from_str(&row.get::<String>("result")?)?,
            created_at: row.get("created_at")?,
        });
    }
    let mut tx = app.store.snapshot().await?;
    let is_waiting = super::is_waiting::<CorrelatePhase>(&mut tx, &phase.id).await?;
    let is_told = seen.is_host && !is_waiting;
    let failure = if is_told { super::failure::<CorrelatePhase>(&mut tx, &phase.id).await? } else { None };
    drop(tx);
    let least = phase::IMAGES;
    page.show(&PhaseAgreement {
        page: &page,
        seen: &seen,
        phase: &phase,
        shown,
        is_waiting,
        is_judged,
        failure,
        least,
    })
}

async fn refresh_phase(
    State(app): State<App>,
    Person(visitor): Person,
    Path(OfPhase { slug, phase }): Path<OfPhase>,
) -> Result<Response, Fault> {
    let (seen, phase) = benchmarks::phase(&app.store, &slug, &phase, Some(&visitor)).await?;
    if !seen.is_host {
        return Err(Fault::not_found());
    }
    phase::refresh(&app, &phase).await?;
    Ok(Redirect::to(&format!("/b/{slug}/{}/agreement", phase.slug)).into_response())
}
