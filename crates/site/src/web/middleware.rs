//! The outermost layer: writes faults as pages or as problem JSON, sets the headers of every answer, and logs.

use std::sync::Arc;
use std::time::Instant;

use askama::Template;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use capeval_api::Problem;
use tower_http::csrf::ProtectionError;
use tracing::Instrument;
use tracing::field::Empty;

use super::language::Language;
use super::page::Page;
use super::{Visitor, WATCHED, asks_for_json, network};
use crate::app::App;
use crate::fault::Fault;
use crate::{fault, request_id, traces};

/// The content security policy of the pages: browsers run nothing but the script of the site.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; object-src 'none'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// A mark of an answer that pages of other sites may frame. It shows nothing of a person and has no form.
#[derive(Clone, Copy)]
struct Embeddable;

/// Lets pages of all sites frame an answer.
pub fn embeddable(mut response: Response) -> Response {
    let policy = POLICY.replace("frame-ancestors 'none'", "frame-ancestors *");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        response.extensions_mut().insert(Embeddable);
    }
    response
}

/// The policy of a page that shows pictures of another site, too.
pub fn policy_with_pictures(origin: &str) -> String {
    POLICY.replace("img-src 'self'", &format!("img-src 'self' {origin}"))
}

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

#[derive(Template)]
#[template(path = "fault.html")]
struct FaultPage<'a> {
    page: &'a Page,
    status: u16,
    message: String,
    /// The id of the request, if the server is at fault.
    id: Option<&'a str>,
}

/// The layer around all routes.
pub async fn finish_response(State(app): State<App>, request: Request, next: Next) -> Response {
    let id = request_id::of_request(&request, &app.settings.proxies);
    let route = request.extensions().get::<MatchedPath>().map_or("-", MatchedPath::as_str).to_owned();
    // The route and not the path, which may hold a secret. A span below the level of the log would not be in it.
    let span = tracing::error_span!("request", id, method = %request.method(), route, account = Empty);
    let proxied = network::is_proxied(&request, &app.settings.proxies).then_some(request.headers());
    traces::of_request(&span, &id, request.method(), &route, proxied);
    let answer = answer(app, request, next, &id, &route);
    let response = request_id::within(Some(id.clone()), answer).instrument(span.clone()).await;
    traces::answered(&span, response.status().as_u16());
    response
}

async fn answer(app: App, request: Request, next: Next, id: &str, route: &str) -> Response {
    let start = Instant::now();
    let (parts, body) = request.into_parts();
    let method = parts.method.clone();
    let kept = Request::from_parts(parts.clone(), Body::empty()).into_parts().0;
    let mut response = tokio::select! {
        biased;
        response = next.run(Request::from_parts(parts, body)) => response,
        // What watches the server answers in its own words.
        () = app.store.away(), if !WATCHED.contains(&route) => {
            tracing::error!("the database is away");
            Fault::unavailable().into_response()
        }
    };
    if let Some(fault) = fault_of(&response) {
        let visitor = response.extensions().get::<Visitor>().cloned();
        response = match asks_for_json(&kept) {
            true => problem(&fault, Language::of_request(&kept.headers), id),
            false => fault_page(&fault, &Page::new(&kept, &app, visitor), id),
        };
    }
    if !method.is_safe() {
        app.recent.forget();
    }
    let is_embeddable = response.extensions().get::<Embeddable>().is_some();
    let headers = response.headers_mut();
    let kept = HEADERS.into_iter().filter(|(name, _)| !(is_embeddable && *name == header::X_FRAME_OPTIONS));
    for (name, value) in kept {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if app.settings.is_secure() {
        let policy = HeaderValue::from_static("max-age=31536000; includeSubDomains");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, policy);
    }
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert("x-request-id", id);
    }
    let status = response.status().as_u16();
    let took = start.elapsed();
    app.counts.request(&method, route, status, took);
    tracing::info!(status, ms = took.as_millis() as u64, "a request was answered");
    response
}

/// The fault of a response that has no body of its own.
fn fault_of(response: &Response) -> Option<Fault> {
    if let Some(fault) = response.extensions().get::<Arc<Fault>>() {
        return Some(Fault::clone(fault));
    }
    if response.extensions().get::<ProtectionError>().is_some() {
        return Some(fault! {
            FORBIDDEN, "cross-site", "This request came from another site and was rejected."
        });
    }
    match response.status() {
        StatusCode::NOT_FOUND => Some(Fault::not_found()),
        StatusCode::METHOD_NOT_ALLOWED => {
            Some(fault!(METHOD_NOT_ALLOWED, "method", "This address does not support this method."))
        }
        StatusCode::PAYLOAD_TOO_LARGE if !has_body(response) => {
            Some(fault!(PAYLOAD_TOO_LARGE, "too-large", "The request is too large."))
        }
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY | StatusCode::UNSUPPORTED_MEDIA_TYPE
            if !has_body(response) =>
        {
            Some(Fault::bad_request())
        }
        StatusCode::REQUEST_TIMEOUT => Some(fault!(REQUEST_TIMEOUT, "timeout", "The request took too long.")),
        StatusCode::INTERNAL_SERVER_ERROR => Some(Fault::internal(&"a handler failed")),
        _ => None,
    }
}

/// Returns true if a handler has written a body.
fn has_body(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.contains("json") || kind.contains("html"))
}

fn fault_page(fault: &Fault, page: &Page, id: &str) -> Response {
    let id = fault.status.is_server_error().then_some(id);
    let template = FaultPage { page, status: fault.status.as_u16(), message: page.fault(fault), id };
    let body = template.render().unwrap_or_else(|_| fault.to_string());
    with_wait(fault, (fault.status, Html(body)).into_response())
}

/// A problem as RFC 9457 has it, with a code, which stays as it is in all languages.
fn problem(fault: &Fault, language: Language, id: &str) -> Response {
    let problem = Problem {
        kind: "about:blank".to_owned(),
        title: fault.status.canonical_reason().unwrap_or("error").to_owned(),
        status: fault.status.as_u16(),
        code: fault.code.to_owned(),
        detail: fault.sentence(language),
        request_id: id.to_owned(),
        more: fault.more.as_deref().cloned().unwrap_or_default(),
        retry_after: fault.retry_after,
    };
    let headers = [(header::CONTENT_TYPE, "application/problem+json")];
    let body = serde_json::to_string(&problem).unwrap_or_default();
    with_wait(fault, (fault.status, headers, body).into_response())
}

fn with_wait(fault: &Fault, mut response: Response) -> Response {
    if let Some(value) =
        fault.retry_after.and_then(|seconds| HeaderValue::from_str(&seconds.to_string()).ok())
    {
        response.headers_mut().insert(header::RETRY_AFTER, value);
    }
    if fault.status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}
