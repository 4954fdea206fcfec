//! The page on which hosts write announcements, and its API.

use askama::Template;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use capeval_api::{Announcements, CreatedAnnouncement, NewAnnouncement};
use capeval_site::prelude::*;
use capeval_site::web::markdown::as_html;
use schemars::JsonSchema;
use serde::Deserialize;

use super::records::{self, Announcement};
use crate::records::{self as benchmarks, SeenBenchmark};
use crate::settings::Phase;

pub(crate) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get("/b/{slug}/announcements", Access::Public, "List the announcements of a benchmark", list)
            .and("/api/v1/benchmarks/{slug}/announcements"),
        post("/b/{slug}/announcements", host, "Publish an announcement", publish)
            .and("/api/v1/host/benchmarks/{slug}/announcements"),
        post("/b/{slug}/announcements/preview", host, "Show what an announcement would look like", preview),
        get("/b/{slug}/announcements/{id}", host, "Show the form to edit an announcement", edit_form),
        post("/b/{slug}/announcements/{id}", host, "Edit an announcement", edit)
            .and("/api/v1/host/benchmarks/{slug}/announcements/{id}"),
        post("/b/{slug}/announcements/{id}/retract", host, "Retract an announcement", retract)
            .and("/api/v1/host/benchmarks/{slug}/announcements/{id}/retract"),
    ]
}

#[derive(Template)]
#[template(path = "announcements.html")]
struct AnnouncementsPage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    announcements: &'a Rows<Announcement>,
    /// The form of hosts.
    form: Option<Form>,
}

impl AnnouncementsPage<'_> {
    /// The beginning of the addresses of other parts of the list.
    fn list(&self) -> String {
        self.seen.benchmark.address("announcements?")
    }
}

/// The form to write or to edit an announcement.
struct Form {
    /// The announcement to edit; empty for a new one.
    id: String,
    phases: Vec<Phase>,
    given: NewAnnouncement,
    sends_mail: bool,
    /// The preview.
    preview: Option<String>,
}

/// The text that a host has written so far: a new announcement, or with an id.
#[derive(Deserialize, JsonSchema)]
struct Draft {
    #[serde(default)]
    id: String,
    title: String,
    text: String,
    #[serde(default)]
    phase: String,
    #[serde(default)]
    team: String,
    #[serde(default)]
    mail: bool,
}

impl Draft {
    /// Nothing yet.
    fn empty() -> Self {
        let none = String::new;
        Self { id: none(), title: none(), text: none(), phase: none(), team: none(), mail: true }
    }

    fn of(id: String, new: NewAnnouncement) -> Self {
        let NewAnnouncement { title, text, phase, team, mail } = new;
        Self { id, title, text, phase, team, mail }
    }
}

async fn form(app: &App, seen: &SeenBenchmark, draft: Draft, preview: Option<String>) -> Result<Form> {
    let Draft { id, title, text, phase, team, mail } = draft;
    Ok(Form {
        id,
        phases: benchmarks::phases(&app.store, &seen.benchmark.id).await?,
        given: NewAnnouncement { title, text, phase, team, mail },
        sends_mail: app.settings.sends_mail(),
        preview,
    })
}

async fn list(app: App, page: Page, seen: Visible<SeenBenchmark>, at: At) -> Result<Answer<Announcements>> {
    let account = page.visitor.as_ref().map(|visitor| visitor.id.as_str());
    let announcements = records::page(&app.store, &seen.benchmark.id, (seen.is_host, account), at).await?;
    let form = match seen.is_host && !page.is_program() {
        true => Some(form(&app, &seen, Draft::empty(), None).await?),
        false => None,
    };
    let template = AnnouncementsPage { page: &page, seen: &seen, announcements: &announcements, form };
    page.shows(&template, || Announcements {
        announcements: announcements.rows.iter().map(Announcement::for_programs).collect(),
        next: announcements.after.clone(),
    })
}

/// The page with a draft.
async fn show(app: &App, page: &Page, seen: &SeenBenchmark, form: Form) -> Result<Response> {
    let at = At::start(page.most_rows());
    let announcements = &records::page(&app.store, &seen.benchmark.id, (true, None), at).await?;
    page.show(&AnnouncementsPage { page, seen, announcements, form: Some(form) })
}

async fn preview(
    app: App,
    page: Page,
    Hosted(seen): Hosted<SeenBenchmark>,
    Body(draft): Body<Draft>,
) -> Result<Response> {
    let html = as_html(&draft.text);
    let form = form(&app, &seen, draft, Some(html)).await?;
    show(&app, &page, &seen, form).await
}

async fn edit_form(
    app: App,
    page: Page,
    Hosted(seen): Hosted<SeenBenchmark>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response> {
    let Announcement { title, text, .. } = records::by_id(&app.store, &seen.benchmark.id, &id).await?;
    let form = form(&app, &seen, Draft { id, title, text, ..Draft::empty() }, None).await?;
    show(&app, &page, &seen, form).await
}

fn place(seen: &SeenBenchmark, done: &str) -> String {
    seen.benchmark.address(&format!("announcements?done={done}"))
}

async fn publish(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
    Body(given): Body<NewAnnouncement>,
) -> Result<Created<CreatedAnnouncement>> {
    match records::publish(&app, &by, &seen.benchmark.id, &given).await {
        Ok(id) => Ok(page.then(&place(&seen, "saved"), &CreatedAnnouncement { id })),
        Err(fault) => {
            let page = page.refused(fault)?;
            let form = form(&app, &seen, Draft::of(String::new(), given), None).await?;
            Ok(show(&app, &page, &seen, form).await?.into())
        }
    }
}

async fn edit(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
    Path((_, id)): Path<(String, String)>,
    Body(given): Body<NewAnnouncement>,
) -> Result<NoContent> {
    match records::edit(&app, &by, &seen.benchmark.id, &id, &given).await {
        Ok(()) => Ok(page.then(&place(&seen, "saved"), &())),
        Err(fault) if fault.status != StatusCode::UNPROCESSABLE_ENTITY => Err(fault),
        Err(fault) => {
            let page = page.refused(fault)?;
            let form = form(&app, &seen, Draft::of(id, given), None).await?;
            Ok(show(&app, &page, &seen, form).await?.into())
        }
    }
}

async fn retract(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
    Path((_, id)): Path<(String, String)>,
) -> Result<NoContent> {
    records::retract(&app, &by, &seen.benchmark.id, &id).await?;
    Ok(page.then(&place(&seen, "removed"), &()))
}
