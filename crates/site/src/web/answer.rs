//! Lets a page and its JSON share a handler: a body that is a form or JSON, and an answer that is a redirect, a page or
//! JSON. Paths below `/api/` are for clients of the API, all others for browsers.

use std::marker::PhantomData;

use askama::Template;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Json, RawForm, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::is_program;
use super::page::{Page, most_rows};
use super::signature::{Contract, Input, Output, Reply, describe};
use crate::app::App;
use crate::fault;
use crate::fault::{Fault, Result};
use crate::paging::{At, ListPlace, Place, Places};

/// The most unknown fields that a refusal names.
const FIELDS: usize = 10;

/// The body of a request: the form of a page, or JSON of a program.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        if is_program(request.uri().path()) {
            if !is_json(request.headers()) {
                let expected = "Expected request with `Content-Type: application/json`";
                return Err(Fault::malformed(&expected).into_response());
            }
            let bytes = Bytes::from_request(request, app).await.map_err(IntoResponse::into_response)?;
            return from_json(&bytes).map(Self).map_err(IntoResponse::into_response);
        }
        let RawForm(form) = RawForm::from_request(request, app).await.map_err(IntoResponse::into_response)?;
        from_form(&form).map(Self).map_err(IntoResponse::into_response)
    }
}

impl<T: JsonSchema> Input for Body<T> {
    fn describe(contract: &mut Contract) {
        contract.body = Some(describe::<T>);
    }
}

/// The query of an address.
pub struct UrlQuery<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<App> for UrlQuery<T> {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self> {
        from_form(parts.uri.query().unwrap_or("").as_bytes()).map(Self)
    }
}

impl<T: JsonSchema> Input for UrlQuery<T> {
    fn describe(contract: &mut Contract) {
        contract.query = Some(describe::<T>);
    }
}

impl FromRequestParts<App> for At {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let UrlQuery(place) = UrlQuery::from_request_parts(parts, app).await?;
        Ok(Self { place, most: most_rows(parts.uri.path()) })
    }
}

impl Input for At {
    fn describe(contract: &mut Contract) {
        UrlQuery::<Place>::describe(contract);
    }
}

impl FromRequestParts<App> for Places {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let UrlQuery(known) = UrlQuery::from_request_parts(parts, app).await?;
        Ok(Self { known, most: most_rows(parts.uri.path()) })
    }
}

impl Input for Places {
    fn describe(contract: &mut Contract) {
        UrlQuery::<ListPlace>::describe(contract);
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    kind == "application/json" || kind.starts_with("application/") && kind.ends_with("+json")
}

/// Reads JSON, and refuses fields that are not read, such as misspelt ones, which would be ignored in silence.
fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let mut unknown = Vec::new();
    let mut note = |path: serde_ignored::Path<'_>| unknown.push(path.to_string());
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let noticing = serde_ignored::Deserializer::new(&mut json, &mut note);
    let value =
        serde_path_to_error::deserialize(noticing).map_err(|error| match error.inner().is_data() {
            true => Fault::malformed(&format_args!(
                "Failed to deserialize the JSON body into the target type: {error}"
            )),
            false => Fault::malformed(&error),
        })?;
    json.end().map_err(|error| Fault::malformed(&error))?;
    if unknown.is_empty() { Ok(value) } else { Err(unknown_fields(unknown)) }
}

/// The fault of a request of a program with fields that are not read.
pub fn unknown_fields(mut unknown: Vec<String>) -> Fault {
    unknown.truncate(FIELDS);
    fault!(BAD_REQUEST, "unknown-fields", "The request has fields that do not exist: {}", unknown.join(", "))
}

fn from_form<T: DeserializeOwned>(form: &[u8]) -> Result<T> {
    serde_html_form::from_bytes(form).map_err(|error| Fault::malformed(&error))
}

/// An answer with a `T` for programs; for browsers, it is a redirect or a page.
pub struct Answer<T, const STATUS: u16 = 200> {
    response: Response,
    value: PhantomData<fn() -> T>,
}

/// An answer that something was made.
pub type Created<T> = Answer<T, 201>;

/// An answer that has nothing to say but that it was done.
pub type NoContent = Answer<(), 204>;

impl<T: Serialize, const STATUS: u16> Answer<T, STATUS> {
    /// The value as JSON.
    pub fn json(value: &T) -> Self {
        let status = StatusCode::from_u16(STATUS).unwrap_or(StatusCode::OK);
        let response = match status {
            StatusCode::NO_CONTENT => status.into_response(),
            _ => (status, Json(value)).into_response(),
        };
        response.into()
    }

    /// Says where the thing is that was made.
    pub fn at(mut self, place: &str) -> Self {
        if let Ok(place) = HeaderValue::from_str(place) {
            self.response.headers_mut().insert(header::LOCATION, place);
        }
        self
    }
}

/// What a browser is answered, such as a page.
impl<T, const STATUS: u16> From<Response> for Answer<T, STATUS> {
    fn from(response: Response) -> Self {
        Self { response, value: PhantomData }
    }
}

impl Page {
    /// Sends browsers on to the page `to`, and gives programs the value.
    pub fn then<T: Serialize, const STATUS: u16>(&self, to: &str, value: &T) -> Answer<T, STATUS> {
        if self.is_program() { Answer::json(value) } else { Redirect::to(to).into_response().into() }
    }

    /// Shows browsers a page, and gives programs the value.
    pub fn shows<T: Serialize>(
        &self,
        template: &impl Template,
        value: impl FnOnce() -> T,
    ) -> Result<Answer<T>> {
        match self.is_program() {
            true => Ok(Answer::json(&value())),
            false => self.show(template).map(Answer::from),
        }
    }

    /// Returns true if the request is one of the API.
    pub fn is_program(&self) -> bool {
        is_program(&self.path)
    }
}

impl<T, const STATUS: u16> IntoResponse for Answer<T, STATUS> {
    fn into_response(self) -> Response {
        self.response
    }
}

impl<T: JsonSchema, const STATUS: u16> Output for Answer<T, STATUS> {
    fn describe(contract: &mut Contract) {
        let schema = (STATUS != 204).then_some(describe::<T> as _);
        contract.replies.push(Reply { status: STATUS, kind: "application/json", schema });
    }
}

/// One of two answers.
pub enum Either<A, B> {
    /// The first.
    One(A),
    /// The second.
    Other(B),
}

impl<A: IntoResponse, B: IntoResponse> IntoResponse for Either<A, B> {
    fn into_response(self) -> Response {
        match self {
            Self::One(answer) => answer.into_response(),
            Self::Other(answer) => answer.into_response(),
        }
    }
}

impl<A: Output, B: Output> Output for Either<A, B> {
    fn describe(contract: &mut Contract) {
        A::describe(contract);
        B::describe(contract);
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[test]
    fn fields_that_do_not_exist_are_named() {
        #[derive(Debug, Deserialize, PartialEq)]
        struct Inner {
            a: u8,
        }
        #[derive(Debug, Deserialize, PartialEq)]
        struct Outer {
            #[serde(default)]
            list: Vec<Inner>,
            name: String,
        }
        let read = |text: &str| from_json::<Outer>(text.as_bytes()).map_err(|fault| fault.to_string());
        assert!(read(r#"{"name": "x", "list": [{"a": 1}]}"#).is_ok());
        assert_eq!(
            read(r#"{"name": "x", "list": [{"a": 1, "b": 2}], "nmae": 1}"#).unwrap_err(),
            "The request has fields that do not exist: list.0.b, nmae"
        );
        assert!(read(r#"{"name": "x", "list": [{"a": -1}]}"#).unwrap_err().contains("list[0].a"));
        assert!(read(r#"{"name": "x"} and more"#).is_err());
    }
}
