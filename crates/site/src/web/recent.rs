//! Pages made a moment ago, which visitors who are not signed in share.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use askama::Template;
use axum::body::Bytes;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::{Html, IntoResponse, Response};

use super::Page;
use super::language::Language;
use super::signature::Input;
use crate::app::App;
use crate::clock;
use crate::fault::Result;

/// The time for which a page is shared. Changes made through this process end it at once; those of other processes show
/// this late.
const LIFE: Duration = Duration::from_secs(1);

/// The number of pages and of their bytes above which all are forgotten.
const MANY: usize = 256;
const BYTES: usize = 16 << 20;

/// Pages made a moment ago.
#[derive(Default)]
pub struct Recent(Mutex<Pages>);

/// Pages by path and language, and the number of their bytes.
#[derive(Default)]
struct Pages {
    made: HashMap<(String, Language), (Instant, Bytes)>,
    bytes: usize,
}

impl Recent {
    /// The page that was made a moment ago for a visitor who is not signed in.
    pub fn get(&self, page: &Page) -> Option<Bytes> {
        self.get_at(page, clock::instant())
    }

    fn get_at(&self, page: &Page, now: Instant) -> Option<Bytes> {
        let key = key(page)?;
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (made, body) = pages.made.get(&key)?;
        (now.saturating_duration_since(*made) < LIFE).then(|| body.clone())
    }

    /// Shows a page, and keeps it, unless it is for a person.
    pub fn show(&self, page: &Page, making: Making, template: &impl Template) -> Result<Response> {
        let body = Bytes::from(template.render()?);
        self.keep(page, making, body.clone());
        Ok(Html(body).into_response())
    }

    fn keep(&self, page: &Page, Making(begun): Making, body: Bytes) {
        let Some(key) = key(page) else { return };
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.made.len() >= MANY || pages.bytes + body.len() > BYTES {
            *pages = Pages::default();
        }
        pages.bytes += body.len();
        if let Some((_, before)) = pages.made.insert(key, (begun, body)) {
            pages.bytes -= before.len();
        }
    }

    /// Forgets all pages, for something has changed.
    pub fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Pages::default();
    }
}

/// The time when the making of a page began. A handler whose first argument this is makes only pages that were not made
/// a moment ago; the others are answered at once.
#[derive(Clone, Copy)]
pub struct Making(Instant);

impl FromRequestParts<App> for Making {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let begun = clock::instant();
        let Ok(page) = Page::from_request_parts(parts, app).await;
        match app.recent.get(&page) {
            Some(body) => Err(Html(body).into_response()),
            None => Ok(Self(begun)),
        }
    }
}

impl Input for Making {}

fn key(page: &Page) -> Option<(String, Language)> {
    page.visitor.is_none().then(|| (page.path.clone(), page.language))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn page(path: &str, language: Language) -> Page {
        Page {
            language,
            visitor: None,
            path: path.to_owned(),
            site: Arc::from(""),
            done: None,
            problem: None,
        }
    }

    #[test]
    fn pages_are_shared_for_a_second() {
        let (recent, begun) = (Recent::default(), Instant::now());
        let board = page("/board", Language::English);
        recent.keep(&board, Making(begun), Bytes::from_static(b"rows"));
        let after = |ms| begun + Duration::from_millis(ms);
        assert_eq!(recent.get_at(&board, after(999)).as_deref(), Some(&b"rows"[..]));
        assert_eq!(recent.get_at(&board, after(1000)), None);
        assert_eq!(recent.get_at(&page("/board", Language::Chinese), after(1)), None);
        assert_eq!(recent.get_at(&page("/board?sort=bleu-4", Language::English), after(1)), None);
        recent.forget();
        assert_eq!(recent.get_at(&board, after(1)), None);
    }

    #[test]
    fn addresses_without_end_do_not_fill_the_memory() {
        let (recent, begun) = (Recent::default(), Instant::now());
        for number in 0..10 * MANY {
            recent.keep(
                &page(&format!("/board?sort={number}"), Language::English),
                Making(begun),
                Bytes::new(),
            );
        }
        assert!(recent.0.lock().unwrap().made.len() <= MANY);
        let large = Bytes::from(vec![b' '; BYTES / 4]);
        for number in 0..MANY {
            // Every other page replaces the one before.
            recent.keep(
                &page(&format!("/large?{}", number / 2), Language::English),
                Making(begun),
                large.clone(),
            );
        }
        let pages = recent.0.lock().unwrap();
        let bytes: usize = pages.made.values().map(|(_, body)| body.len()).sum();
        assert!(pages.bytes == bytes && bytes <= BYTES && pages.made.len() > 1, "{bytes} bytes");
    }
}
