//! Lets hosts list, create and change collections, on pages and over the API.

use askama::Template;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use capeval_api::{Collection as ApiCollection, CollectionState, ReleaseAccess, Visibility};
use capeval_site::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::records::{self, Collection, Progress, SeenCollection};
use super::rules::lint;
use super::settings::{self, LANGUAGES, LICENCES, Plan};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/host/collections", Access::Host, "List the collections you host", list),
        get("/host/collections/new", Access::Host, "Show the form for a new collection", new),
        post("/host/collections", Access::Host, "Create a collection", create),
        get("/c/{slug}/settings", Access::Host, "Show a collection's settings", edit),
        post("/c/{slug}/settings", Access::Host, "Change a collection", change),
        post("/api/v1/host/collections", Access::Host, "Create or change a collection", apply),
    ]
}

#[derive(Template)]
#[template(path = "collections/host.html")]
struct HostPage<'a> {
    page: &'a Page,
    rows: Vec<(Collection, Progress)>,
}

async fn list(app: App, page: Page, visitor: Visitor) -> Result<Response> {
    let mut rows = Vec::new();
    for seen in records::visible(&app.store, Some(&visitor)).await?.into_iter().filter(|seen| seen.is_host) {
        let progress = records::progress(&app.store, &seen.collection).await?;
        rows.push((seen.collection, progress));
    }
    page.show(&HostPage { page: &page, rows })
}

#[derive(Template)]
#[template(path = "collections/settings.html")]
struct Settings<'a> {
    page: &'a Page,
    is_new: bool,
    plan: &'a Plan,
}

async fn new(page: Page, visitor: Visitor) -> Result<Response> {
    let plan = &Plan { hosts: vec![visitor.email], ..Plan::default() };
    page.show(&Settings { page: &page, is_new: true, plan })
}

async fn edit(app: App, page: Page, Hosted(seen): Hosted<SeenCollection>) -> Result<Response> {
    let plan = &Plan::of(&app.store, seen.collection).await?;
    page.show(&Settings { page: &page, is_new: false, plan })
}

/// The form of the settings: the fields of a plan, and for each language its own numbers, such as `captions-zh`.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "Vec<(String, String)>")]
struct SettingsForm(#[schemars(with = "Plan")] Plan);

impl TryFrom<Vec<(String, String)>> for SettingsForm {
    type Error = String;

    fn try_from(fields: Vec<(String, String)>) -> Result<Self, String> {
        let (own, fields): (Vec<_>, Vec<_>) = fields.into_iter().partition(|(name, _)| name.contains('-'));
        let fields = serde_html_form::to_string(fields).map_err(|error| error.to_string())?;
        let plan: Plan = serde_html_form::from_str(&fields).map_err(|error| error.to_string())?;
        let mut plan = plan.typed();
        for (name, value) in own {
            let value = match value.trim() {
                "" => continue,
                value => Some(value.parse().map_err(|error| format!("{name}: {error}"))?),
            };
            let Some((field, language)) = name.split_once('-') else { continue };
            let of = plan.languages.iter_mut().find(|one| one.name() == language);
            // Numbers of a language that is not chosen say nothing.
            if of.is_none() && LANGUAGES.contains(&language) {
                continue;
            }
            if let ("shortest", Some(least)) = (field, value) {
                plan.shortest.insert(language.to_owned(), least);
                continue;
            }
            let Some(of) = of else { continue };
            let own = of.own();
            match field {
                "captions" => own.captions = value,
                "target" => own.target = value,
                _ => return Err(format!("unknown field `{name}`")),
            }
        }
        Ok(Self(plan))
    }
}

async fn create(
    app: App,
    page: Page,
    visitor: Visitor,
    Body(SettingsForm(plan)): Body<SettingsForm>,
) -> Result<Response> {
    save(&app, &page, &visitor, &plan, true).await
}

async fn change(
    app: App,
    page: Page,
    visitor: Visitor,
    Hosted(seen): Hosted<SeenCollection>,
    Body(SettingsForm(plan)): Body<SettingsForm>,
) -> Result<Response> {
    let plan = Plan { slug: seen.collection.slug, ..plan };
    save(&app, &page, &visitor, &plan, false).await
}

async fn save(app: &App, page: &Page, visitor: &Visitor, plan: &Plan, is_new: bool) -> Result<Response> {
    let slug = if is_new { Slug::Unused } else { Slug::UnusedOrOwn };
    match settings::apply(app, plan, slug, Some(&visitor.id)).await {
        Ok(_) => Ok(Redirect::to(&format!("/c/{}?done=saved", plan.slug)).into_response()),
        Err(fault) => {
            let page = &page.refused(fault)?;
            let mut shown = page.show(&Settings { page, is_new, plan })?;
            *shown.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(shown)
        }
    }
}

/// A description that is read by its handler, which says what is wrong with it.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
struct CollectionSettings(#[schemars(with = "Plan")] Value);

async fn apply(
    app: App,
    visitor: Visitor,
    Body(CollectionSettings(given)): Body<CollectionSettings>,
) -> Result<Either<Created<ApiCollection>, Answer<ApiCollection>>> {
    let plan: Plan = serde_path_to_error::deserialize(given).map_err(|error| {
        fault! {
            UNPROCESSABLE_ENTITY, "collection", "The description of the collection is not valid: {}", error
        }
    })?;
    let is_new = settings::apply(&app, &plan, Slug::UnusedOrOwn, Some(&visitor.id)).await?;
    let seen = records::collection(&app.store, &plan.slug, Some(&visitor)).await?;
    let progress = records::progress(&app.store, &seen.collection).await?;
    let shown = records::for_programs(&seen.collection, &progress);
    Ok(match is_new {
        true => Either::One(Created::json(&shown)),
        false => Either::Other(Answer::json(&shown)),
    })
}
