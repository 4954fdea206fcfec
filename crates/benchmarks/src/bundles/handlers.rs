//! The form that creates a draft from a bundle of another site, and its API.

use std::path::PathBuf;

use askama::Template;
use axum::extract::{FromRequest, Multipart, Request};
use axum::response::Response;
use capeval_api::ImportedBenchmark;
use capeval_site::prelude::*;
use capeval_site::web::Field;
use capeval_site::web::markdown::as_html;
use tempfile::TempDir;

use super::import;
use crate::settings::Plan;
use crate::{apply, records, upload};

/// The most benchmarks with the same title whose drafts get a number.
const NUMBERED: usize = 100;

pub(crate) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get("/host/benchmarks/import", host, "Show the form to import a bundle of another site", form),
        post("/host/benchmarks/import", host, "Make a draft of a bundle of another site", take)
            .upload()
            .takes([Field::list("file")])
            .and("/api/v1/host/benchmarks/import"),
    ]
}

#[derive(Template)]
#[template(path = "import.html")]
struct ImportPage<'a> {
    page: &'a Page,
    upload_mib: u64,
    /// The slug of the draft, if one was made.
    draft: Option<&'a str>,
    /// What came over and what did not, as HTML.
    report: Option<String>,
}

async fn form(app: App, page: Page) -> Result<Response> {
    page.show(&ImportPage { page: &page, upload_mib: app.settings.upload_mib, draft: None, report: None })
}

async fn take(app: App, page: Page, by: Visitor, request: Request) -> Result<Created<ImportedBenchmark>> {
    let mut report = None;
    let made = make(&app, &by, request, &mut report).await;
    let (draft, page) = match made {
        Ok(slug) if page.is_program() => {
            let report = report.unwrap_or_default();
            return Ok(Created::json(&ImportedBenchmark { slug, report }));
        }
        Ok(slug) => (Some(slug), page),
        Err(fault) => (None, page.refused(fault)?),
    };
    let (upload_mib, report) = (app.settings.upload_mib, report.as_deref().map(as_html));
    Ok(page.show(&ImportPage { page: &page, upload_mib, draft: draft.as_deref(), report })?.into())
}

/// Makes a draft of the bundle in a form, and returns its slug; `report` gets what is to be said, also if the draft
/// cannot be saved.
async fn make(app: &App, by: &Visitor, request: Request, report: &mut Option<String>) -> Result<String> {
    upload::limit(app, by)?;
    let mut form = Multipart::from_request(request, app).await.map_err(|_| upload::broken())?;
    let mut file = None;
    while let Some(field) = form.next_field().await.map_err(|_| upload::broken())? {
        if field.name() == Some("file") {
            // It may have references.
            file = Some(upload::of_hidden_field(app, field).await?);
        }
    }
    let none = || fault!(UNPROCESSABLE_ENTITY, "no-file", "Choose a file.");
    let file = file.filter(|file| file.size() > 0).ok_or_else(none)?;
    let folder = TempDir::new_in(app.hidden.drafts())?;
    let (out, hosts) = (folder.path().join("draft"), [by.email.clone()]);
    let most = app.settings.unpacked_mib << 20;
    let read = {
        let (out, path) = (out.clone(), file.path().to_owned());
        tokio::task::spawn_blocking(move || import(&path, &out, &hosts, most)).await?
    };
    let (plan, text) = read.map_err(|error| {
        let known = [app.hidden.drafts(), folder.path().to_owned()];
        let known = known.each_ref().map(PathBuf::as_path);
        let why = clean_text::without_folders(&format!("{error:#}"), &known);
        fault!(UNPROCESSABLE_ENTITY, "bundle", "The bundle cannot be imported: {}.").because(why)
    })?;
    *report = Some(text);
    let plan = Plan { draft: true, slug: free_slug(app, &plan.slug).await?, ..plan };
    let made = apply::apply(app, &plan, out.as_path(), Some(&by.id)).await;
    made.map(|_| plan.slug).map_err(apply::refusal)
}

/// A slug that no benchmark has: the one that is wanted, or with a number.
async fn free_slug(app: &App, wanted: &str) -> Result<String> {
    let short = &wanted[..wanted.floor_char_boundary(56)];
    let numbered = (2..NUMBERED).map(|n| format!("{short}-{n}"));
    for slug in std::iter::once(wanted.to_owned()).chain(numbered) {
        if !records::is_taken(&app.store, &slug).await? {
            return Ok(slug);
        }
    }
    Ok(wanted.to_owned())
}
