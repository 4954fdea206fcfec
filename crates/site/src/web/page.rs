//! The frame of a page: who looks at it, in which language, and where.

use std::convert::Infallible;
use std::fmt::Display;
use std::sync::Arc;

use askama::Template;
use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{Html, IntoResponse, Response};
use capeval_api::{Label, Time};

use super::assets;
use super::language::Language;
use super::route::Access;
use super::visitor::Visitor;
use crate::app::App;
use crate::fault::{Fault, Result};
use crate::{clock, feature};

/// The data that the frame of a page needs.
#[derive(Clone)]
pub struct Page {
    pub language: Language,
    /// The person, if they are signed in.
    pub visitor: Option<Visitor>,
    /// The path with its query, to come back to.
    pub path: String,
    /// The name of the site.
    pub site: Arc<str>,
    /// The last action before this page was shown, as a sentence.
    pub done: Option<&'static str>,
    /// What was wrong with what was tried, which stands above the form that is shown again.
    pub problem: Option<Fault>,
}

impl Page {
    /// The most rows of a list: what a person looks through, or what a program gets at once.
    pub fn most_rows(&self) -> usize {
        most_rows(&self.path)
    }

    /// The frame for a request.
    pub fn new(parts: &Parts, app: &App, visitor: Option<Visitor>) -> Self {
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let done =
            parts.uri.query().and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("done=")));
        Self {
            language: Language::of_request(&parts.headers),
            visitor,
            path,
            site: Arc::from(app.settings.title.as_str()),
            done: done.and_then(done_in_words),
            problem: None,
        }
    }

    /// Fills a template; the status is that of the problem, if there is one.
    pub fn show(&self, template: &impl Template) -> Result<Response> {
        let status = self.problem.as_ref().map_or(StatusCode::OK, |fault| fault.status);
        Ok((status, Html(template.render()?)).into_response())
    }

    /// The page with what was wrong, for browsers, which are shown the form again; a failure of the server, and any
    /// fault of a program, is an error.
    pub fn refused(&self, fault: Fault) -> Result<Self> {
        match self.is_program() || fault.status.is_server_error() {
            true => Err(fault),
            false => Ok(Self { problem: Some(fault), ..self.clone() }),
        }
    }

    /// What was wrong, as a sentence.
    pub fn problem(&self) -> Option<String> {
        self.problem.as_ref().map(|fault| self.fault(fault))
    }

    /// A sentence in the language of the page.
    pub fn t<'s>(&self, english: &'s str) -> &'s str {
        self.language.t(english)
    }

    /// A sentence with an argument.
    pub fn t1(&self, english: &str, a: impl Display) -> String {
        self.language.fill(english, &[a.to_string()])
    }

    /// A sentence with two arguments.
    pub fn t2(&self, english: &str, a: impl Display, b: impl Display) -> String {
        self.language.fill(english, &[a.to_string(), b.to_string()])
    }

    /// A sentence with three arguments.
    pub fn t3(&self, english: &str, a: impl Display, b: impl Display, c: impl Display) -> String {
        self.language.fill(english, &[a.to_string(), b.to_string(), c.to_string()])
    }

    /// Names after each other.
    pub fn list(&self, names: &[&str]) -> String {
        names.join(self.t(", "))
    }

    /// The meaning of a choice.
    pub fn choice(&self, choice: &impl Label) -> &'static str {
        self.language.t(choice.words())
    }

    /// A refusal as a sentence.
    pub fn fault(&self, fault: &Fault) -> String {
        fault.sentence(self.language)
    }

    /// The reason why something was refused or failed.
    pub fn reason(&self, reason: impl AsRef<str>) -> String {
        self.language.reason(reason.as_ref())
    }

    /// The tag of the language.
    pub fn tag(&self) -> &'static str {
        self.language.tag()
    }

    /// The other languages: the address that chooses each, its tag and its name.
    pub fn others(&self) -> Vec<(String, &'static str, &'static str)> {
        let others = Language::ALL.into_iter().filter(|other| *other != self.language);
        others
            .map(|other| (format!("/language/{}?to={}", other.tag(), self.here()), other.tag(), other.name()))
            .collect()
    }

    /// The path of this page as a part of an address.
    pub fn here(&self) -> String {
        super::encode(&self.path)
    }

    /// The links at the top: those of everyone first, and those of administrators last.
    pub fn menu(&self) -> Vec<&'static MenuItem> {
        let items = feature::joined().iter().flat_map(|feature| feature.menu);
        let mut seen: Vec<&MenuItem> = items.filter(|item| self.sees(item.access)).collect();
        seen.sort_by_key(|item| match item.access {
            Access::Public => 0,
            Access::Person(_) => 1,
            Access::Host => 2,
            Access::Admin => 3,
        });
        seen
    }

    /// Returns true if this is the page that an item of the menu leads to, or one below it.
    pub fn is_in(&self, item: &MenuItem) -> bool {
        let path = self.path.split('?').next().unwrap_or_default();
        item.below.is_some_and(|below| path.starts_with(below)) || is_at(path, item.address)
    }

    /// Returns true if this is the page at an address, or one below it.
    pub fn is_at(&self, address: &str) -> bool {
        is_at(self.path.split('?').next().unwrap_or_default(), address)
    }

    fn sees(&self, access: Access) -> bool {
        match access {
            Access::Public => true,
            Access::Person(_) => self.visitor.is_some(),
            Access::Host => self.is_host(),
            Access::Admin => self.is_admin(),
        }
    }

    /// The address of an asset.
    pub fn asset(&self, name: &str) -> String {
        assets::address(name)
    }

    /// A time in words.
    pub fn time(&self, time: &i64) -> String {
        clock::readable(*time)
    }

    /// A time of the API in words.
    pub fn written(&self, time: &Time) -> String {
        clock::parse(&time.0).map_or_else(|| time.0.clone(), clock::readable)
    }

    /// The day of a time.
    pub fn day(&self, time: &i64) -> String {
        clock::day(*time)
    }

    /// Returns true if the person runs benchmarks.
    pub fn is_host(&self) -> bool {
        self.visitor.as_ref().is_some_and(Visitor::is_host)
    }

    /// Returns true if the person administers the site.
    pub fn is_admin(&self) -> bool {
        self.visitor.as_ref().is_some_and(Visitor::is_admin)
    }
}

/// As [`Page::most_rows`], by the path of a request.
pub(super) fn most_rows(path: &str) -> usize {
    if super::is_program(path) { 500 } else { 100 }
}

/// The sentence for `?done=` in an address; other texts have none.
fn done_in_words(done: &str) -> Option<&'static str> {
    let mut known = feature::joined().iter().flat_map(|feature| feature.done);
    known.find(|(name, _)| *name == done).map(|(_, sentence)| *sentence)
}

fn is_at(path: &str, address: &str) -> bool {
    path == address || address != "/" && path.strip_prefix(address).is_some_and(|rest| rest.starts_with('/'))
}

/// A link at the top of pages.
pub struct MenuItem {
    pub address: &'static str,
    /// Its name, marked by [`say`](super::language::say).
    pub name: &'static str,
    /// The people who see it.
    pub access: Access,
    /// The beginning of the other addresses that it leads to.
    pub below: Option<&'static str>,
}

impl FromRequestParts<App> for Page {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        let visitor = parts.extensions.get::<Visitor>().cloned();
        Ok(Self::new(parts, app, visitor))
    }
}
