//! All benchmarks for programs, and the page of one with its phases and rules; and the same for programs.

use askama::Template;
use axum::response::Response;
use capeval_api::{Benchmarks, BoardKind, SetState};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, html};

use super::announcements::{self, Announcement};
use super::records::{self, Phase, PhaseState, ReferenceSet, SeenBenchmark, SeenPhase};
use crate::app::App;
use crate::fault::Fault;
use crate::web::route::get;
use crate::web::{Access, Answer, Page, Route, Visible};

/// The number of announcements on the page of a benchmark.
const ANNOUNCED: i64 = 3;

pub(super) fn routes() -> Vec<Route> {
    let public = Access::Public;
    vec![
        get("/api/v1/benchmarks", public, "List all benchmarks with their phases", benchmarks),
        get("/b/{slug}", public, "Show a benchmark with its phases", show),
        get("/b/{slug}/rules", public, "Show the rules of a benchmark", rules),
        get("/api/v1/phases/{id}", public, "Show a phase with its reference sets", phase),
    ]
}

async fn benchmarks(app: App, page: Page) -> Result<Answer<Benchmarks>, Fault> {
    let mut phases = records::phases_with_sets(&app.store, None).await?;
    let benchmarks = records::visible(&app.store, page.visitor.as_ref()).await?.into_iter().map(|seen| {
        let phases = phases.remove(&seen.benchmark.id).unwrap_or_default();
        records::for_programs(&seen, &phases)
    });
    Ok(Answer::json(&Benchmarks { benchmarks: benchmarks.collect() }))
}

async fn phase(app: App, Visible(of): Visible<SeenPhase>) -> Result<Answer<capeval_api::Phase>, Fault> {
    let sets = records::sets(&app.store, &of.phase.id).await?;
    Ok(Answer::json(&records::phase_for_programs(&of.seen, &of.phase, &sets)))
}

#[derive(Template)]
#[template(path = "benchmark.html")]
struct BenchmarkPage<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    phases: Vec<ShownPhase>,
    /// The newest ones.
    announcements: Vec<Announcement>,
}

struct ShownPhase {
    phase: Phase,
    sets: Vec<ReferenceSet>,
    state: PhaseState,
    teams: i64,
}

async fn show(app: App, page: Page, Visible(seen): Visible<SeenBenchmark>) -> Result<Response, Fault> {
    let id = seen.benchmark.id.as_str();
    let teams = records::teams_by_phase(&app.store, id).await?;
    let phases = records::phases_with_sets(&app.store, Some(id)).await?.remove(id).unwrap_or_default();
    let phases = phases.into_iter().map(|(phase, sets)| ShownPhase {
        state: phase.state(&sets),
        teams: teams.get(&phase.id).copied().unwrap_or_default(),
        sets,
        phase,
    });
    let announcements = announcements::newest(&app.store, id, false, ANNOUNCED).await?;
    page.show(&BenchmarkPage { page: &page, seen: &seen, phases: phases.collect(), announcements })
}

#[derive(Template)]
#[template(path = "rules.html")]
struct Rules<'a> {
    page: &'a Page,
    seen: &'a SeenBenchmark,
    html: String,
}

async fn rules(page: Page, Visible(seen): Visible<SeenBenchmark>) -> Result<Response, Fault> {
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

    /// In Markdown, two stars between punctuation and a letter end nothing, as in `**注意：**划分`.
    #[test]
    fn no_sentence_shows_the_stars_of_bold_text() {
        let sentences: toml::Table = include_str!("../../locales/zh.toml").parse().unwrap();
        let mut strings = Vec::new();
        let mut tables = vec![&sentences];
        while let Some(table) = tables.pop() {
            for (english, value) in table {
                match value {
                    toml::Value::String(chinese) => strings.extend([english.as_str(), chinese.as_str()]),
                    toml::Value::Table(inner) => tables.push(inner),
                    _ => {}
                }
            }
        }
        let bold: Vec<&str> = strings.into_iter().filter(|text| text.contains("**")).collect();
        assert!(bold.len() >= 4, "{bold:?}");
        for text in bold {
            for argument in ["val", "划分", "“x”", "3"] {
                let html = as_html(&text.replace("{}", argument));
                assert!(!html.contains("**") && html.contains("<strong>"), "{html}");
            }
        }
    }

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
