//! Pages that say whom to ask, under which terms people take part, and which data of theirs are kept.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;

use crate::app::App;
use crate::fault::{Fault, Result};
use crate::feature::{self, Guide};
use crate::personal_data::PersonalData;
use crate::web::language::Language;
use crate::web::route::get;
use crate::web::{Access, Page, Route, markdown};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/help", Access::Public, "Show whom to ask, and the terms of use", help),
        get("/help/{guide}", Access::Public, "Show a page of documentation", guide),
        get("/privacy", Access::Public, "Show which data the site keeps about people", privacy),
    ]
}

#[derive(Template)]
#[template(path = "help.html")]
struct HelpPage<'a> {
    page: &'a Page,
    contact: Contact<'a>,
    documentation: &'a str,
    guides: Vec<&'static Guide>,
    /// The terms of use as HTML; empty for none.
    terms: String,
}

#[derive(Template)]
#[template(path = "guide.html")]
struct GuidePage<'a> {
    page: &'a Page,
    title: &'a str,
    html: String,
}

#[derive(Template)]
#[template(path = "privacy.html")]
struct PrivacyPage<'a> {
    page: &'a Page,
    contact: Contact<'a>,
    session_days: i64,
    /// The sites whose accounts people can sign in with.
    providers: Vec<&'a str>,
    sends_email: bool,
    has_backups: bool,
    sends_traces: bool,
    /// The data of each feature, as sentences.
    kept: Vec<&'static str>,
}

/// An address that people write to.
struct Contact<'a> {
    text: &'a str,
    /// Where a link leads; `None` if the text is no address.
    link: Option<String>,
}

impl<'a> Contact<'a> {
    fn new(text: &'a str) -> Self {
        let is_email = text.contains('@') && !text.contains(char::is_whitespace) && !text.contains("://");
        let link = match is_email {
            true => Some(format!("mailto:{text}")),
            false => text.starts_with("https://").then(|| text.to_owned()),
        };
        Self { text, link }
    }
}

async fn help(app: App, page: Page) -> Result<Response> {
    let settings = &app.settings;
    let terms = markdown::as_html(&settings.terms);
    let contact = Contact::new(&settings.contact);
    let guides = guides().collect();
    page.show(&HelpPage { page: &page, contact, documentation: &settings.documentation, guides, terms })
}

fn guides() -> impl Iterator<Item = &'static Guide> {
    feature::joined().iter().flat_map(|feature| feature.guides)
}

async fn guide(page: Page, Path(name): Path<String>) -> Result<Response> {
    let guide = guides().find(|guide| guide.name == name).ok_or_else(Fault::not_found)?;
    let [english, chinese] = guide.texts;
    let text = if page.language == Language::Chinese { chinese } else { english };
    // Notes for those who build the documentation.
    let is_note =
        |line: &&str| ["<!--", "<div", "</div"].iter().any(|tag| line.trim_start().starts_with(tag));
    let lines: Vec<&str> = text.lines().filter(|line| !is_note(line)).collect();
    let html = markdown::as_html(&lines.join("\n"));
    page.show(&GuidePage { page: &page, title: page.t(guide.title), html })
}

async fn privacy(app: App, page: Page) -> Result<Response> {
    let settings = &app.settings;
    page.show(&PrivacyPage {
        page: &page,
        contact: Contact::new(&settings.contact),
        session_days: settings.session_days,
        providers: settings.providers.iter().map(|provider| provider.name.as_str()).collect(),
        sends_email: !settings.smtp.is_empty(),
        has_backups: settings.backup_hour >= 0,
        sends_traces: !settings.traces.is_empty(),
        kept: app.personal_data().filter_map(PersonalData::kept).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::Contact;

    #[test]
    fn only_addresses_become_links() {
        for (text, link) in [
            ("help@example.org", Some("mailto:help@example.org")),
            ("https://example.org/@help", Some("https://example.org/@help")),
            ("javascript:alert(1)", None),
            ("room 3, ask @ the desk", None),
            ("", None),
        ] {
            assert_eq!(Contact::new(text).link.as_deref(), link, "{text}");
        }
    }
}
