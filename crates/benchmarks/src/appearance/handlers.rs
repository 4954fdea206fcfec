//! Handles the pages that hosts write, and the form of a benchmark's appearance with its logo and colour.

use askama::Template;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Redirect, Response};
use capeval_site::pictures;
use capeval_site::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use super::pages::{TEXT, TITLE};
use super::records::{self, CONTACT};
use super::{OwnPage, encode_logo};
use crate::records::SeenBenchmark;
use crate::settings::Plan;
use crate::upload;

pub(crate) fn routes() -> Vec<Route> {
    let (public, host) = (Access::Public, Access::Host);
    vec![
        get("/b/{slug}/pages/{page}", public, "Show a page that the hosts of a benchmark wrote", show)
            .and("/api/v1/benchmarks/{slug}/pages/{page}"),
        get("/b/{slug}/logo", public, "Show the logo of a benchmark", logo).sends(200, "image/*"),
        get("/b/{slug}/accent.css", public, "Get the colour of a benchmark", accent).sends(200, "text/css"),
        get("/b/{slug}/appearance", host, "Show the form of a benchmark's appearance", form),
        post("/b/{slug}/appearance", host, "Change whom to ask, and the colour of a benchmark", change),
        post("/b/{slug}/appearance/logo", host, "Change or remove the logo of a benchmark", change_logo)
            .upload(),
        post("/b/{slug}/appearance/page", host, "Write, change or remove a page of a benchmark", change_page),
    ]
}

/// A page of hosts, with its benchmark.
struct SeenPage {
    seen: SeenBenchmark,
    page: OwnPage,
}

/// `{slug}` and `{page}`
impl Subject for SeenPage {
    const KIND: &'static str = "page of a benchmark";

    async fn find(app: &App, names: &Names, visitor: Option<&Visitor>) -> Result<Self> {
        let seen = SeenBenchmark::find(app, names, visitor).await?;
        let page = seen.benchmark.own_page(names.require("page")?).cloned().ok_or_else(Fault::not_found)?;
        Ok(Self { seen, page })
    }

    fn standing(&self) -> Standing {
        self.seen.standing()
    }
}

#[derive(Template)]
#[template(path = "own-page.html")]
struct HostPage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    own: &'a OwnPage,
}

async fn show(
    page: Page,
    Visible(SeenPage { seen, page: own }): Visible<SeenPage>,
) -> Result<Answer<OwnPage>> {
    page.shows(&HostPage { page: &page, seen: &seen, own: &own }, || own.clone())
}

async fn logo(app: App, Visible(seen): Visible<SeenBenchmark>, headers: HeaderMap) -> Result<Response> {
    let kind = if seen.benchmark.logo_kind == "image/png" { "image/png" } else { "image/jpeg" };
    pictures::send(&app, seen.benchmark.logo_hash.as_ref(), kind, &headers).await
}

/// A style, since pages have none of their own: the policy of the site forbids it.
async fn accent(Visible(seen): Visible<SeenBenchmark>) -> Result<Response> {
    let text = match seen.benchmark.accent.as_str() {
        "" => String::new(),
        colour => format!(
            "main > h1, main > .heading > h1 {{ border-bottom: .25rem solid {colour}; padding-bottom: .35rem; }}\n"
        ),
    };
    let headers =
        [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "private, no-cache")];
    Ok((headers, text).into_response())
}

#[derive(Template)]
#[template(path = "appearance.html")]
struct AppearanceForm<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    given: &'a Look,
    /// The page that is being written, which was refused.
    written: &'a OwnPage,
}

impl AppearanceForm<'_> {
    /// The pages with the one that was refused in its place, and an empty one.
    fn pages(&self) -> Vec<OwnPage> {
        let mut pages = self.seen.benchmark.pages.clone();
        match pages.iter_mut().find(|page| page.slug == self.written.slug) {
            Some(page) => {
                *page = self.written.clone();
                pages.push(OwnPage::default());
            }
            None => pages.push(self.written.clone()),
        }
        pages
    }
}

/// Whom to ask, and the colour.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Look {
    contact: String,
    accent: String,
}

fn look(seen: &SeenBenchmark) -> Look {
    Look { contact: seen.benchmark.contact.clone(), accent: seen.benchmark.accent.clone() }
}

async fn form(page: Page, Hosted(seen): Hosted<SeenBenchmark>) -> Result<Response> {
    show_form(&page, &seen, &look(&seen), &OwnPage::default())
}

fn show_form(page: &Page, seen: &SeenBenchmark, given: &Look, written: &OwnPage) -> Result<Response> {
    page.show(&AppearanceForm { page, seen, given, written })
}

fn place(seen: &SeenBenchmark) -> Response {
    Redirect::to(&seen.benchmark.address("appearance?done=saved")).into_response()
}

async fn change(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
    Body(given): Body<Look>,
) -> Result<Response> {
    let Look { contact, accent } = given.clone();
    let typed = |plan: &mut Plan| (plan.contact, plan.accent) = (contact, accent);
    match records::change(&app, &by, &seen.benchmark.id, "contact, accent", typed).await {
        Ok(()) => Ok(place(&seen)),
        Err(fault) => show_form(&page.refused(fault)?, &seen, &given, &OwnPage::default()),
    }
}

async fn change_logo(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
    request: Request,
) -> Result<Response> {
    upload::limit(&app, &by)?;
    let mut form = Multipart::from_request(request, &app).await.map_err(|_| upload::broken())?;
    let mut row = None;
    while let Some(field) = form.next_field().await.map_err(|_| upload::broken())? {
        match field.name() {
            Some("remove") => row = Some(columns! { logo_hash: None::<String>, logo_kind: "" }),
            Some("file") => {
                let draft = upload::of_field(&app, field).await?;
                if draft.size() == 0 {
                    continue;
                }
                match encode_logo(&app, draft.path().to_owned()).await {
                    Ok(logo) => row = Some(logo.columns()),
                    Err(fault) => {
                        let page = page.refused(fault)?;
                        return show_form(&page, &seen, &look(&seen), &OwnPage::default());
                    }
                }
            }
            _ => {}
        }
    }
    let row = row.ok_or_else(|| fault!(UNPROCESSABLE_ENTITY, "no-file", "Choose a file."))?;
    records::change_logo(&app, &by, &seen.benchmark.id, row).await?;
    Ok(place(&seen))
}

/// A page as the form gives it.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct PageForm {
    slug: String,
    title: String,
    title_zh: String,
    text: String,
    text_zh: String,
    /// True if the page with this slug is to go.
    remove: bool,
}

async fn change_page(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
    Body(written): Body<PageForm>,
) -> Result<Response> {
    let PageForm { slug, title, title_zh, text, text_zh, remove } = written;
    let own = OwnPage { slug, title, title_zh, text, text_zh }.cleaned();
    let written = |plan: &mut Plan| {
        let known = plan.pages.iter().position(|page| page.slug == own.slug);
        match known {
            Some(known) if remove => drop(plan.pages.remove(known)),
            Some(known) => plan.pages[known] = own.clone(),
            None if remove => {}
            None => plan.pages.push(own.clone()),
        }
    };
    match records::change(&app, &by, &seen.benchmark.id, &own.slug, written).await {
        Ok(()) => Ok(place(&seen)),
        Err(fault) => show_form(&page.refused(fault)?, &seen, &look(&seen), &own),
    }
}
