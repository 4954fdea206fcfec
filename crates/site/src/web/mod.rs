//! The parts that all pages and answers share: the frame of a page, languages, limits, headers, errors.
//!
//! Pages are forms and tables that work without a script or a framework; 60 lines of script filter lists, follow states
//! and enlarge pictures. Irreversible actions ask for confirmation in a `<details>`, which needs no script.

pub mod answer;
pub mod assets;
pub mod download;
pub mod language;
pub mod limits;
pub mod markdown;
pub mod middleware;
pub mod network;
pub mod openapi;
pub mod page;
pub mod query;
pub mod recent;
pub mod route;
pub mod signature;
mod slug;
pub mod subject;
mod visitor;

use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use cookie::Cookie;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

pub use answer::{Answer, Body, Created, Either, NoContent, UrlQuery};
pub use assets::Asset;
pub use capeval_api::Label;
pub use network::Attempt;
pub use page::{MenuItem, Page};
pub use route::{Access, Field, Route, Scope};
pub use slug::Slug;
pub use subject::{Hosted, Moderated, Names, Own, Standing, Subject, Visible};
pub use visitor::Visitor;

/// The cookie with this name.
pub fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<Cookie<'h>> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(Cookie::split_parse).flatten().find(|cookie| cookie.name() == name)
}

/// Returns true if a path is one of the API.
pub fn is_program(path: &str) -> bool {
    path.starts_with("/api/")
}

/// The addresses of what watches the server: they answer in their own words, also without a database.
pub const WATCHED: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// Returns true if a request is one of the API, or asks for JSON by its query or its headers.
pub fn asks_for_json(parts: &Parts) -> bool {
    let format = parts.uri.query().unwrap_or("").split('&').find_map(|pair| pair.strip_prefix("format="));
    let accepted = parts.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("");
    let first = accepted.split([',', ';']).next().unwrap_or("").trim();
    let is_json = ["application/json", "application/problem+json"].contains(&first);
    is_program(parts.uri.path()) || format == Some("json") || is_json
}

/// The characters that an address encodes: all but letters, digits, `-_.~`, and `/`, which keeps paths readable.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// `text` as part of an address.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// The path of this site that `to` names; the front page for everything else, such as an address of another site.
pub fn local(to: &str) -> &str {
    // Browsers drop tabs and line breaks before they look at the address.
    let is_odd = |c: char| c == '\\' || c.is_control();
    let is_local = to.starts_with('/') && !to.starts_with("//") && !to.contains(is_odd);
    if is_local { to } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_not_sent_to_other_sites() {
        let others =
            ["https://example.org", "//example.org", "/\\example.org", "/\t/example.org", "/\0/example.org"];
        for other in others.into_iter().chain(["javascript:alert(1)", ""]) {
            assert_eq!(local(other), "/", "{other}");
        }
        assert_eq!(local("/b/coco?sort=cider-d"), "/b/coco?sort=cider-d");
        assert_eq!(encode("/b/é?x=1"), "/b/%C3%A9%3Fx%3D1");
    }
}
