//! Receives results: a form with a file, or the file as the whole body of the request.

use axum::extract::{FromRequest, Multipart, Query, Request};
use axum::http::{HeaderMap, header};
use serde::Deserialize;

use crate::accounts::people;
use crate::app::App;
use crate::benchmarks::upload;
use crate::blobs::Draft;
use crate::fault;
use crate::fault::Fault;

/// The most characters of a description.
const DESCRIPTION: usize = 2_000;

/// What is said about a submission.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct About {
    pub method: String,
    /// What the team says about it.
    pub description: String,
    /// A link to more.
    pub link: String,
    /// The team, if the person is in several.
    pub team: Option<String>,
}

/// An upload with what is said about it.
pub struct Received {
    pub about: About,
    pub file: Draft,
    /// The name of the file, as far as a form tells it.
    pub name: Option<String>,
}

/// Receives a form with a file, or a file as the whole body with the rest in the query of the address.
pub async fn receive(app: &App, request: Request) -> Result<Received, Fault> {
    let kind =
        request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    if !kind.starts_with("multipart/form-data") {
        let about = Query::<About>::try_from_uri(request.uri());
        let about = about.map_err(|_| upload::broken())?.0;
        return Ok(Received { about, file: upload::of_body(app, request.into_body()).await?, name: None });
    }
    let mut form = Multipart::from_request(request, app).await.map_err(|_| upload::broken())?;
    let (mut about, mut file, mut file_name) = (About::default(), None, None);
    while let Some(field) = form.next_field().await.map_err(|_| upload::broken())? {
        let name = field.name().unwrap_or("").to_owned();
        if name == "file" {
            file_name = field.file_name().and_then(file_name_of);
            file = Some(upload::of_field(app, field).await?);
            continue;
        }
        let text = field.text().await.map_err(|_| upload::broken())?;
        match name.as_str() {
            "method" => about.method = text,
            "description" => about.description = text,
            "link" => about.link = text,
            "team" => about.team = Some(text).filter(|team| !team.is_empty()),
            _ => {}
        }
    }
    let file = file.ok_or_else(|| fault!(UNPROCESSABLE_ENTITY, "no-file", "Choose a file with results."))?;
    Ok(Received { about, file, name: file_name })
}

/// The name of a file without its folders, and without what only confuses.
fn file_name_of(told: &str) -> Option<String> {
    const LONGEST: usize = 100;
    let name = people::visible(told.rsplit(['/', '\\']).next().unwrap_or(told));
    Some(name.chars().take(LONGEST).collect()).filter(|name: &String| !name.is_empty())
}

impl About {
    /// Itself in the form in which it is stored.
    pub fn checked(self) -> Result<Self, Fault> {
        let method = people::name(&self.method).map_err(|_| {
            fault!(UNPROCESSABLE_ENTITY, "method", "Give the method a name of 1 to 80 characters.")
        })?;
        let is_text = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
        let description: String = self.description.chars().filter(is_text).collect();
        if description.chars().count() > DESCRIPTION {
            return Err(fault!(
                UNPROCESSABLE_ENTITY,
                "description",
                "The description can have at most {} characters.",
                DESCRIPTION
            ));
        }
        let link = self.link.trim().to_owned();
        let is_address = link.is_empty() || link.starts_with("https://") || link.starts_with("http://");
        if !is_address || link.len() > 500 || link.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(fault!(
                UNPROCESSABLE_ENTITY,
                "link",
                "The link must begin with https:// or http://."
            ));
        }
        Ok(Self { method, link, description: description.trim().to_owned(), team: self.team })
    }
}

/// The key of a request for which a second one has the same effect.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Fault> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let key = value.to_str().ok().filter(|key| (1..=200).contains(&key.len()));
    key.map(|key| Some(key.to_owned())).ok_or_else(|| {
        fault!(BAD_REQUEST, "key", "An Idempotency-Key must have 1 to 200 printable ASCII characters.")
    })
}
