//! Receives results: a form with a file, or the file as the whole body of the request.
//!
//! A list in COCO's format is checked as it streams in. A child process in the sandbox reads any other format, and
//! finds the column of ids by the ids of the phase's images.

use std::convert::Infallible;

use axum::extract::{FromRequest, Multipart, Query, Request};
use axum::http::{HeaderMap, header};
use capeval_site::blobs::Draft;
use capeval_site::prelude::*;
use capeval_site::web::answer::unknown_fields;
use capeval_site::web::is_program;
use capeval_site::web::signature::{Contract, Input};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, json};

use crate::about::About;
use crate::upload;

/// An upload with what is said about it.
pub struct ReceivedUpload {
    pub about: About,
    pub file: Draft,
    /// The name of the file, as far as the request tells it: a form, or `file` in the query of the address.
    pub name: Option<String>,
}

/// A request that brings results, and what is said about them.
pub struct ResultsRequest(pub Request);

impl FromRequest<App> for ResultsRequest {
    type Rejection = Infallible;

    async fn from_request(request: Request, _: &App) -> Result<Self, Infallible> {
        Ok(Self(request))
    }
}

impl Input for ResultsRequest {
    fn describe(contract: &mut Contract) {
        contract.query = Some(parameters);
        contract.is_file = true;
    }
}

/// What may be said in a query.
fn parameters(_: &mut SchemaGenerator) -> Schema {
    let texts = About::FIELDS.into_iter().chain(["file"]);
    let fields: Map<_, _> = texts.map(|name| (name.to_owned(), json!({ "type": "string" }))).collect();
    json_schema!({ "type": "object", "properties": fields })
}

/// Receives a form with a file, or a file as the whole body with the rest in the query of the address.
pub async fn receive(app: &App, request: Request) -> Result<ReceivedUpload> {
    let kind =
        request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    if !kind.starts_with("multipart/form-data") {
        let given = Query::<Vec<(String, String)>>::try_from_uri(request.uri());
        let Query(given) = given.map_err(|_| upload::broken())?;
        let name = given.iter().find(|(name, _)| name == "file").and_then(|(_, name)| file_name_of(name));
        let file = upload::of_body(app, request.into_body()).await?;
        return Ok(ReceivedUpload { about: About::of(given), file, name });
    }
    let is_program = is_program(request.uri().path());
    let mut form = Multipart::from_request(request, app).await.map_err(|_| upload::broken())?;
    let (mut about, mut file, mut file_name, mut unknown) = (About::default(), None, None, Vec::new());
    while let Some(field) = form.next_field().await.map_err(|_| upload::broken())? {
        let name = field.name().unwrap_or("").to_owned();
        if name == "file" {
            file_name = field.file_name().and_then(file_name_of);
            file = Some(upload::of_field(app, field).await?);
            continue;
        }
        if !about.set(&name, field.text().await.map_err(|_| upload::broken())?) {
            unknown.push(name);
        }
    }
    if is_program && !unknown.is_empty() {
        return Err(unknown_fields(unknown));
    }
    let file = file.ok_or_else(|| fault!(UNPROCESSABLE_ENTITY, "no-file", "Choose a file with results."))?;
    Ok(ReceivedUpload { about, file, name: file_name })
}

/// Receives results that no phase counts.
pub async fn receive_to_check(app: &App, by: &Visitor, request: Request) -> Result<ReceivedUpload> {
    upload::limit(app, by)?;
    receive(app, request).await
}

/// The name of a file without its folders, and without what only confuses.
fn file_name_of(told: &str) -> Option<String> {
    const LONGEST: usize = 100;
    let name = clean_text::line(told.rsplit(['/', '\\']).next().unwrap_or(told));
    Some(name.chars().take(LONGEST).collect()).filter(|name: &String| !name.is_empty())
}

/// The key of a request for which a second one has the same effect.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let key = value.to_str().ok().filter(|key| (1..=200).contains(&key.len()));
    key.map(|key| Some(key.to_owned())).ok_or_else(|| {
        fault!(BAD_REQUEST, "key", "An Idempotency-Key must have 1 to 200 printable ASCII characters.")
    })
}
