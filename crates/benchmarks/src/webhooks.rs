//! The webhooks of a benchmark, on a page for its hosts and by the API.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use capeval_api::{CreatedWebhook, NewWebhook, Webhook, Webhooks};
use capeval_site::prelude::*;
use capeval_site::web::route::delete;

use super::records::SeenBenchmark;
use super::webhook_records;

pub(super) fn routes() -> Vec<Route> {
    let host = Access::Host;
    vec![
        get("/b/{slug}/webhooks", host, "List a benchmark's webhooks with their latest deliveries", show)
            .and("/api/v1/host/benchmarks/{slug}/webhooks"),
        post("/b/{slug}/webhooks", host, "Add a webhook", add_on_page),
        post(
            "/api/v1/host/benchmarks/{slug}/webhooks",
            host,
            "Add a webhook; the signing secret is returned only once",
            add,
        ),
        post("/b/{slug}/webhooks/{id}/remove", host, "Remove a webhook", remove),
        delete("/api/v1/host/benchmarks/{slug}/webhooks/{id}", host, "Remove a webhook", remove),
    ]
}

#[derive(Template)]
#[template(path = "webhooks.html")]
struct WebhooksPage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    webhooks: &'a [Webhook],
    secret: Option<String>,
    url: &'a str,
}

async fn show(app: App, page: Page, Hosted(seen): Hosted<SeenBenchmark>) -> Result<Answer<Webhooks>> {
    let webhooks = webhook_records::of_benchmark(&app.store, &seen.benchmark.id).await?;
    let template = WebhooksPage { page: &page, seen: &seen, webhooks: &webhooks, secret: None, url: "" };
    page.shows(&template, || Webhooks { webhooks: webhooks.clone() })
}

async fn add(
    app: App,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
    Body(new): Body<NewWebhook>,
) -> Result<Created<CreatedWebhook>> {
    Ok(Created::json(&webhook_records::add(&app, &by.id, &seen.benchmark.id, &new.url).await?))
}

async fn add_on_page(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
    Body(new): Body<NewWebhook>,
) -> Result<Response> {
    let (secret, url, page) = match webhook_records::add(&app, &by.id, &seen.benchmark.id, &new.url).await {
        Ok(added) => (Some(added.secret), "", page),
        Err(fault) => (None, new.url.as_str(), page.refused(fault)?),
    };
    let webhooks = webhook_records::of_benchmark(&app.store, &seen.benchmark.id).await?;
    page.show(&WebhooksPage { page: &page, seen: &seen, webhooks: &webhooks, secret, url })
}

async fn remove(
    app: App,
    page: Page,
    by: Visitor,
    Hosted(seen): Hosted<SeenBenchmark>,
    Path((slug, id)): Path<(String, String)>,
) -> Result<NoContent> {
    webhook_records::remove(&app, &by.id, &seen.benchmark.id, &id).await?;
    Ok(page.then(&format!("/b/{}/webhooks?done=removed", encode(&slug)), &()))
}
