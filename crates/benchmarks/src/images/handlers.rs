//! The pages and files of results image by image, and their API.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use capeval_api::{ImageResults, ImageResultsFiles};
use capeval_site::prelude::*;
use capeval_site::web::download;
use schemars::JsonSchema;
use serde::Deserialize;

use super::records::{self, SeenImages, SetResults, State};
use crate::submissions::SeenSubmission;

/// The media type of a page.
const HTML: &str = "text/html; charset=utf-8";

/// The media type of JSON Lines.
const LINES: &str = "application/jsonl";

pub(crate) fn routes() -> Vec<Route> {
    let read = Access::Person(Scope::Read);
    vec![
        get("/submissions/{id}/images", read, "Show results image by image", page).sends(200, "text/html"),
        get("/api/v1/submissions/{id}/images", read, "Show how far results image by image are", state),
        post("/submissions/{id}/images", read, "Have results image by image built", build)
            .and("/api/v1/submissions/{id}/images"),
        get(
            "/submissions/{id}/images.jsonl",
            read,
            "Download the scores of each image, as `capeval score --segments` writes them",
            lines,
        )
        .and("/api/v1/submissions/{id}/images.jsonl")
        .sends(200, LINES),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct Set {
    /// The name of the reference set; the first by default.
    #[serde(default, rename = "ref")]
    set: String,
}

async fn built(app: &App, SeenImages(of): &SeenImages, set: &str) -> Result<SetResults> {
    let built = records::built(&app.store, of, set).await?;
    built.ok_or_else(|| {
        fault! {
            NOT_FOUND, "not-built",
            "These results have not been built. Have them built on the page of the submission."
        }
    })
}

/// The page, which is made of what people wrote: it can run its own script, and do nothing to this site.
async fn page(
    app: App,
    Own(of): Own<SeenImages>,
    UrlQuery(Set { set }): UrlQuery<Set>,
    headers: HeaderMap,
) -> Result<Response> {
    let built = built(&app, &of, &set).await?;
    let file = app.blobs.ready(&built.page).await?;
    let mut sent = download::send(&file, &built.page, None, HTML, &headers).await?;
    let policy = format!("{}; sandbox allow-scripts; frame-ancestors 'none'", built.policy);
    let policy = HeaderValue::from_str(&policy).map_err(|error| Fault::internal(&error))?;
    sent.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    protect(&mut sent);
    Ok(sent)
}

/// Keeps other sites from reading a file.
fn protect(sent: &mut Response) {
    let name = HeaderName::from_static("cross-origin-resource-policy");
    sent.headers_mut().insert(name, HeaderValue::from_static("same-origin"));
}

async fn lines(
    app: App,
    Own(of): Own<SeenImages>,
    UrlQuery(Set { set }): UrlQuery<Set>,
    headers: HeaderMap,
) -> Result<Response> {
    let built = built(&app, &of, &set).await?;
    let file = app.blobs.ready(&built.lines).await?;
    let name = format!("{}-{}.jsonl", of.0.submission.method, built.set);
    let mut sent = download::send(&file, &built.lines, Some(&name), LINES, &headers).await?;
    protect(&mut sent);
    Ok(sent)
}

/// The progress of the results, for clients of the API.
async fn image_results(app: &App, of: &SeenSubmission) -> Result<ImageResults> {
    let State { state, reason, wait, built } = records::state(app, of).await?.ok_or_else(Fault::not_found)?;
    let address = |path: &str, set: &str| {
        app.settings.url(&format!("/submissions/{}/{path}?ref={}", of.submission.id, encode(set)))
    };
    let files = built.into_iter().map(|built| ImageResultsFiles {
        page: address("images", &built.set),
        page_size: built.page_size,
        lines: address("images.jsonl", &built.set),
        lines_size: built.lines_size,
        reference_set: built.set,
    });
    Ok(ImageResults {
        shows: of.phase.per_image.into(),
        state: state.into(),
        reason,
        ahead: wait.map(|wait| wait.ahead),
        seconds: wait.map(|wait| wait.seconds),
        files: files.collect(),
    })
}

async fn state(app: App, Own(SeenImages(of)): Own<SeenImages>) -> Result<Answer<ImageResults>> {
    Ok(Answer::json(&image_results(&app, &of).await?))
}

async fn build(app: App, page: Page, by: Visitor, Own(of): Own<SeenImages>) -> Result<Answer<ImageResults>> {
    records::build(&app, &by, &of).await?;
    let place = format!("/submissions/{}#images", of.0.submission.id);
    Ok(page.then(&place, &image_results(&app, &of.0).await?))
}
