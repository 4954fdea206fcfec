//! A page that hosts write, in both languages.

use anyhow::ensure;
use capeval_site::prelude::*;
use capeval_site::web::markdown::as_html;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::apply::check_slug;

/// The most pages of a benchmark.
const MOST: usize = 20;

/// The most characters of a title and of a text.
pub const TITLE: usize = 80;
pub const TEXT: usize = 50_000;

/// A page, such as one about prizes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OwnPage {
    /// The part of its address.
    pub slug: String,
    pub title: String,
    /// The title in Chinese; by default the other one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title_zh: String,
    /// The text, in Markdown.
    pub text: String,
    /// The text in Chinese; by default the other one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text_zh: String,
}

impl OwnPage {
    /// The title in the language of a page.
    pub fn title_on(&self, page: &Page) -> &str {
        Self::pick(page, &self.title, &self.title_zh)
    }

    /// The text in the language of a page, as HTML.
    pub fn html_on(&self, page: &Page) -> String {
        as_html(Self::pick(page, &self.text, &self.text_zh))
    }

    fn pick<'a>(page: &Page, english: &'a str, chinese: &'a str) -> &'a str {
        match page.language {
            Language::Chinese if !chinese.is_empty() => chinese,
            _ if english.is_empty() => chinese,
            _ => english,
        }
    }

    /// The page as it is stored.
    pub fn cleaned(&self) -> Self {
        Self {
            slug: self.slug.trim().to_owned(),
            title: clean_text::line(&self.title),
            title_zh: clean_text::line(&self.title_zh),
            text: clean_text::lines(&self.text),
            text_zh: clean_text::lines(&self.text_zh),
        }
    }
}

/// The pages of a plan as they are stored.
///
/// # Errors
/// If two have one address, or one lacks a title or a text, or is too long.
pub fn checked(pages: &[OwnPage]) -> anyhow::Result<Vec<OwnPage>> {
    ensure!(pages.len() <= MOST, reason!("a benchmark has at most {} pages", MOST));
    let pages: Vec<OwnPage> = pages.iter().map(OwnPage::cleaned).collect();
    for (k, page) in pages.iter().enumerate() {
        check_slug(&page.slug)?;
        let slug = page.slug.as_str();
        ensure!(pages[..k].iter().all(|other| other.slug != slug), reason!("two pages are called {}", slug));
        let fits = |text: &str, most: usize| text.chars().count() <= most;
        ensure!(
            !page.title.is_empty() && fits(&page.title, TITLE) && fits(&page.title_zh, TITLE),
            reason!("page {}: a title has 1 to {} characters", slug, TITLE)
        );
        ensure!(
            !(page.text.is_empty() && page.text_zh.is_empty())
                && fits(&page.text, TEXT)
                && fits(&page.text_zh, TEXT),
            reason!("page {}: a text has 1 to {} characters", slug, TEXT)
        );
    }
    Ok(pages)
}
