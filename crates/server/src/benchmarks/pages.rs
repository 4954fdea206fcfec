//! The front page with all benchmarks, and the page of one with its phases and rules.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use capeval_api::SetState;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, html};

use super::records::{self, Phase, ReferenceSet, Seen};
use crate::app::App;
use crate::args;
use crate::clock;
use crate::fault::Fault;
use crate::web::route::get;
use crate::web::{Access, Page, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/", Access::Public, "List all benchmarks", front),
        get("/b/{slug}", Access::Public, "Show a benchmark with its phases", show),
        get("/b/{slug}/rules", Access::Public, "Show the rules of a benchmark", rules),
    ]
}

#[derive(Template)]
#[template(path = "front.html")]
struct Front<'a> {
    page: &'a Page,
    benchmarks: Vec<Seen>,
}

async fn front(State(app): State<App>, page: Page) -> Result<Response, Fault> {
    let benchmarks = records::visible(&app.store, page.visitor.as_ref()).await?;
    page.show(&Front { page: &page, benchmarks })
}

#[derive(Template)]
#[template(path = "benchmark.html")]
struct BenchmarkPage<'a> {
    page: &'a Page,
    seen: &'a Seen,
    phases: Vec<ShownPhase>,
}

struct ShownPhase {
    phase: Phase,
    sets: Vec<ReferenceSet>,
    is_open: bool,
    is_waiting: bool,
    teams: i64,
}

async fn show(State(app): State<App>, page: Page, Path(slug): Path<String>) -> Result<Response, Fault> {
    let seen = records::benchmark(&app.store, &slug, page.visitor.as_ref()).await?;
    let mut phases = Vec::new();
    for phase in records::phases(&app.store, &seen.benchmark.id).await? {
        let teams =
            app.store.first("SELECT COUNT(*) AS n FROM entry WHERE phase = $1", args![&phase.id]).await?;
        phases.push(ShownPhase {
            sets: records::sets(&app.store, &phase.id).await?,
            is_open: phase.is_closed().is_none(),
            is_waiting: phase.opens_at.is_some_and(|opens| opens > clock::now()),
            teams: teams.map_or(Ok(0), |row| row.get("n"))?,
            phase,
        });
    }
    page.show(&BenchmarkPage { page: &page, seen: &seen, phases })
}

#[derive(Template)]
#[template(path = "rules.html")]
struct Rules<'a> {
    page: &'a Page,
    seen: &'a Seen,
    html: String,
}

async fn rules(State(app): State<App>, page: Page, Path(slug): Path<String>) -> Result<Response, Fault> {
    let seen = records::benchmark(&app.store, &slug, page.visitor.as_ref()).await?;
    page.show(&Rules { page: &page, html: as_html(&seen.benchmark.rules), seen: &seen })
}

/// Markdown as HTML: without HTML of its own, pictures, and links to anything but pages.
pub fn as_html(markdown: &str) -> String {
    let is_page = |address: &str| {
        let lower = address.to_ascii_lowercase();
        lower.starts_with("https://")
            || lower.starts_with("http://")
            || lower.starts_with('/')
            || lower.starts_with('#')
    };
    let events = Parser::new_ext(markdown, Options::ENABLE_TABLES).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Image { title, .. }) => Event::Start(Tag::Link {
            link_type: pulldown_cmark::LinkType::Inline,
            dest_url: CowStr::Borrowed("#"),
            title,
            id: CowStr::Borrowed(""),
        }),
        Event::End(pulldown_cmark::TagEnd::Image) => Event::End(pulldown_cmark::TagEnd::Link),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = if is_page(&dest_url) { dest_url } else { CowStr::Borrowed("#") };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        other => other,
    });
    let mut text = String::new();
    html::push_html(&mut text, events);
    text
}

#[cfg(test)]
mod tests {
    use super::as_html;

    #[test]
    fn rules_cannot_hold_scripts() {
        for attack in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt:alert(1))",
            "[x](data:text/html,1)",
            "![x](javascript:alert(1))",
            "<javascript:alert(1)>",
        ] {
            let html = as_html(attack);
            let lower = html.to_lowercase();
            let tags = lower.match_indices('<').map(|(at, _)| &lower[at..]).collect::<Vec<_>>();
            assert!(
                tags.iter().all(|tag| ["<p>", "</p>", "<a ", "</a>"].iter().any(|ok| tag.starts_with(ok))),
                "{html}"
            );
            assert!(!lower.contains("href=\"javascript") && !lower.contains("href=\"data"), "{html}");
        }
        assert_eq!(as_html("*a* [b](https://c.org)"), "<p><em>a</em> <a href=\"https://c.org\">b</a></p>\n");
    }
}
