//! The pages of hosts: the collections that they run, and the form that makes or changes one.

use askama::Template;
use axum::extract::{Form, Json, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::{Value, json};

use super::apply::{self, LANGUAGES, LICENCES, Plan};
use super::records::{self, Collection, Progress, ReleaseAccess, Seen};
use super::rules::states::CollectionState;
use crate::accounts::Visitor;
use crate::app::App;
use crate::args;
use crate::benchmarks::records::Visibility;
use crate::fault;
use crate::fault::Fault;
use crate::web::route::{get, post};
use crate::web::{Access, Field, Page, Person, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/host/collections", Access::Host, "List the collections you host", list),
        get("/host/collections/new", Access::Host, "Show the form for a new collection", new),
        post("/host/collections", Access::Host, "Create a collection", make),
        get("/c/{slug}/settings", Access::Host, "Show a collection's settings", edit),
        post("/c/{slug}/settings", Access::Host, "Change a collection", change),
        get("/api/v1/collections", Access::Public, "List the collections you can see", list_json),
        get("/api/v1/collections/{slug}", Access::Public, "Show a collection and its progress", show_json),
        post("/api/v1/host/collections", Access::Host, "Create or change a collection", apply_json).takes([
            Field::text("slug"),
            Field::text("title"),
            Field::text("summary").optional(),
            Field::text("guide").optional(),
            Field::text("visibility").optional(),
            Field::text("state").optional(),
            Field::list("languages").optional(),
            Field::list("licences").optional(),
            Field::number("captions").optional(),
            Field::number("target").optional(),
            Field::number("approvals").optional(),
            Field::flag("own_pictures").optional(),
            Field::text("releases").optional(),
            Field::list("hosts").optional(),
            Field::list("moderators").optional(),
        ]),
    ]
}

#[derive(Template)]
#[template(path = "collections/host.html")]
struct Hosted<'a> {
    page: &'a Page,
    rows: Vec<(Collection, Progress)>,
}

async fn list(State(app): State<App>, page: Page, Person(visitor): Person) -> Result<Response, Fault> {
    let mut rows = Vec::new();
    for seen in records::visible(&app.store, Some(&visitor)).await?.into_iter().filter(|seen| seen.is_host) {
        let progress = records::progress(&app.store, &seen.collection.id).await?;
        rows.push((seen.collection, progress));
    }
    page.show(&Hosted { page: &page, rows })
}

#[derive(Template)]
#[template(path = "collections/settings.html")]
struct Settings<'a> {
    page: &'a Page,
    action: String,
    is_new: bool,
    plan: &'a Plan,
    hosts: String,
    moderators: String,
    languages: [&'static str; 2],
    licences: Vec<&'static str>,
    visibilities: &'static [Visibility],
    states: &'static [CollectionState],
    accesses: &'static [ReleaseAccess],
    problem: Option<String>,
}

fn form(page: &Page, plan: &Plan, is_new: bool, problem: Option<String>) -> Result<Response, Fault> {
    let status = if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let shown = page.show(&Settings {
        page,
        action: if is_new { "/host/collections".to_owned() } else { format!("/c/{}/settings", plan.slug) },
        is_new,
        plan,
        hosts: plan.hosts.join("\n"),
        moderators: plan.moderators.join("\n"),
        languages: LANGUAGES,
        licences: LICENCES.iter().map(|(name, _)| *name).collect(),
        visibilities: Visibility::ALL,
        states: CollectionState::ALL,
        accesses: ReleaseAccess::ALL,
        problem,
    })?;
    Ok((status, shown).into_response())
}

async fn new(page: Page, Person(visitor): Person) -> Result<Response, Fault> {
    let empty: Plan = serde_json::from_value(json!({ "slug": "", "title": "", "hosts": [visitor.email] }))?;
    form(&page, &empty, true, None)
}

async fn edit(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
) -> Result<Response, Fault> {
    let seen = records::hosted(&app.store, &slug, &visitor).await?;
    form(&page, &plan_of(&app, &seen.collection).await?, false, None)
}

async fn plan_of(app: &App, collection: &Collection) -> Result<Plan, Fault> {
    let mut plan = Plan {
        slug: collection.slug.clone(),
        title: collection.title.clone(),
        summary: collection.summary.clone(),
        guide: collection.guide.clone(),
        visibility: collection.visibility,
        state: collection.state,
        languages: collection.languages.clone(),
        licences: collection.licences.clone(),
        captions: collection.wanted as u32,
        target: collection.target as u32,
        approvals: collection.approvals as u32,
        own_pictures: collection.own_pictures,
        releases: collection.releases,
        hosts: Vec::new(),
        moderators: Vec::new(),
    };
    let rows = app
        .store
        .all(
            "SELECT account.email, collection_staff.duty FROM collection_staff \
             JOIN account ON account.id = collection_staff.account WHERE collection = $1 ORDER BY account.email",
            args![&collection.id],
        )
        .await?;
    for row in &rows {
        let is_host = row.get::<String>("duty")? == "host";
        let list = if is_host { &mut plan.hosts } else { &mut plan.moderators };
        list.push(row.get("email")?);
    }
    Ok(plan)
}

/// The fields of a form, in which a name may be there several times.
type Fields = [(String, String)];

/// The plan that a form describes; fields that are not numbers keep the value of `before`.
fn plan_from(fields: &Fields, before: Plan) -> Plan {
    let one = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str());
    let many = |name: &str| -> Vec<String> {
        fields.iter().filter(|(field, _)| field == name).map(|(_, value)| value.clone()).collect()
    };
    let text =
        |name: &str, before: String| one(name).map_or(before, |text| text.trim().replace("\r\n", "\n"));
    let number =
        |name: &str, before: u32| one(name).and_then(|text| text.trim().parse().ok()).unwrap_or(before);
    let lines = |name: &str| -> Vec<String> {
        let text = one(name).unwrap_or("");
        text.split_whitespace().map(str::to_owned).collect()
    };
    Plan {
        slug: text("slug", before.slug),
        title: text("title", before.title),
        summary: text("summary", before.summary),
        guide: text("guide", before.guide),
        visibility: one("visibility").and_then(|name| name.parse().ok()).unwrap_or(before.visibility),
        state: one("state").and_then(|name| name.parse().ok()).unwrap_or(before.state),
        languages: many("language"),
        licences: many("licence"),
        captions: number("captions", before.captions),
        target: number("target", before.target),
        approvals: number("approvals", before.approvals),
        own_pictures: one("own_pictures").is_some(),
        releases: one("releases").and_then(|name| name.parse().ok()).unwrap_or(before.releases),
        hosts: lines("hosts"),
        moderators: lines("moderators"),
    }
}

async fn make(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Fault> {
    let empty: Plan = serde_json::from_value(json!({ "slug": "", "title": "" }))?;
    let plan = plan_from(&fields, empty);
    if is_taken(&app, &plan.slug).await? {
        let problem = page.t1("A collection with the address {} already exists.", &plan.slug);
        return form(&page, &plan, true, Some(problem));
    }
    save(&app, &page, &visitor, &plan, true).await
}

async fn is_taken(app: &App, slug: &str) -> Result<bool, Fault> {
    let row = app.store.first("SELECT 1 AS one FROM collection WHERE slug = $1", args![slug]).await?;
    Ok(row.is_some())
}

async fn change(
    State(app): State<App>,
    page: Page,
    Person(visitor): Person,
    Path(slug): Path<String>,
    Form(fields): Form<Vec<(String, String)>>,
) -> Result<Response, Fault> {
    let seen = records::hosted(&app.store, &slug, &visitor).await?;
    let before = plan_of(&app, &seen.collection).await?;
    let plan = Plan { slug, ..plan_from(&fields, before) };
    save(&app, &page, &visitor, &plan, false).await
}

async fn save(
    app: &App,
    page: &Page,
    visitor: &Visitor,
    plan: &Plan,
    is_new: bool,
) -> Result<Response, Fault> {
    match apply::apply(app, plan, Some(&visitor.id)).await {
        Ok(_) => Ok(Redirect::to(&format!("/c/{}?done=saved", plan.slug)).into_response()),
        Err(fault) if fault.status.is_server_error() => Err(fault),
        Err(fault) => form(page, plan, is_new, Some(page.fault(&fault))),
    }
}

async fn list_json(State(app): State<App>, page: Page) -> Result<Response, Fault> {
    let mut list = Vec::new();
    for Seen { collection, .. } in records::visible(&app.store, page.visitor.as_ref()).await? {
        let progress = records::progress(&app.store, &collection.id).await?;
        list.push(records::as_json(&collection, &progress));
    }
    Ok(Json(json!({ "collections": list })).into_response())
}

async fn show_json(State(app): State<App>, page: Page, Path(slug): Path<String>) -> Result<Response, Fault> {
    let seen = records::collection(&app.store, &slug, page.visitor.as_ref()).await?;
    let progress = records::progress(&app.store, &seen.collection.id).await?;
    Ok(Json(records::as_json(&seen.collection, &progress)).into_response())
}

async fn apply_json(
    State(app): State<App>,
    Person(visitor): Person,
    Json(given): Json<Value>,
) -> Result<Response, Fault> {
    let plan: Plan = serde_json::from_value(given).map_err(|error| {
        fault!(
            UNPROCESSABLE_ENTITY,
            "collection",
            "The description of the collection is not valid: {}",
            error
        )
    })?;
    if is_taken(&app, &plan.slug).await? {
        records::hosted(&app.store, &plan.slug, &visitor).await?;
    }
    let is_new = apply::apply(&app, &plan, Some(&visitor.id)).await?;
    let seen = records::collection(&app.store, &plan.slug, Some(&visitor)).await?;
    let progress = records::progress(&app.store, &seen.collection.id).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(records::as_json(&seen.collection, &progress))).into_response())
}
