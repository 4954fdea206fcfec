//! The page that shows how metrics agree with the ratings of a collection, and that of a phase which came of it.

use askama::Template;
use axum::extract::{Form, Path, State};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::task::{Agreement, Estimate};
use crate::app::App;
use crate::args;
use crate::benchmarks::records as benchmarks;
use crate::collections::records::{self, Seen};
use crate::fault::Fault;
use crate::store::Error;
use crate::web::route::{get, post};
use crate::web::{Access, Page, Person, Route, Scope};

pub(in crate::collections) fn routes() -> Vec<Route> {
    vec![
        get(
            "/c/{slug}/agreement",
            Access::Public,
            "How metrics agree with the ratings of a collection",
            show,
        ),
        post("/c/{slug}/agreement", Access::Person(Scope::Submit), "Work the agreement out anew", refresh),
        get(
            "/b/{slug}/{phase}/agreement",
            Access::Public,
            "How metrics agree with the ratings of the captions that a phase has as references",
            of_phase,
        ),
    ]
}

/// The agreement in a language, with when it was worked out.
struct Shown {
    language: String,
    agreement: Agreement,
    created_at: i64,
}

impl Shown {
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
    let sql = "SELECT 1 AS one FROM job WHERE subject = $1 AND kind = 'agreement' AND state IN ('queued', 'running')";
    let is_waiting = app.store.first(sql, args![id]).await?.is_some();
    page.show(&AgreementPage { page: &page, seen: &seen, shown, is_waiting })
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

#[derive(Deserialize)]
struct OfPhase {
    slug: String,
    phase: String,
}

/// The ratings of a phase that came of a release are those of its collection.
async fn of_phase(
    State(app): State<App>,
    page: Page,
    Path(OfPhase { slug, phase }): Path<OfPhase>,
) -> Result<Response, Fault> {
    let (_, phase) = benchmarks::phase(&app.store, &slug, &phase, page.visitor.as_ref()).await?;
    let row = app
        .store
        .first(
            "SELECT collection.slug FROM publication JOIN release ON release.id = publication.release \
             JOIN collection ON collection.id = release.collection WHERE publication.phase = $1",
            args![&phase.id],
        )
        .await?;
    let row = row.ok_or_else(Fault::not_found)?;
    let slug: Result<String, Error> = row.get("slug");
    Ok(Redirect::to(&format!("/c/{}/agreement", slug?)).into_response())
}
