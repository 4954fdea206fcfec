//! The languages of the site: sentences are written in English where they are used, and `locales` has the others.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::LazyLock;

use axum::http::{HeaderMap, header};
use serde::Deserialize;

use super::cookie;
use crate::feature;
pub use crate::reason::fill;

/// The names of the cookie with the chosen language: over TLS, where browsers guard it, and without.
pub const COOKIES: [&str; 2] = ["__Host-language", "language"];

/// The table whose sentences are reasons: they are stored and passed on in English, with their arguments filled in.
const REASONS: &str = "reasons";

/// The sentences of files of `locales`, by table.
type Tables = HashMap<String, HashMap<String, String>>;

/// The Chinese sentences of each feature, with the English sentences as keys.
static CHINESE: LazyLock<Vec<Tables>> = LazyLock::new(|| {
    let features = feature::joined().iter();
    features.map(|feature| toml::from_str(feature.sentences).expect("a test reads this file")).collect()
});

/// The arguments with which a pattern gives a text; `None` if no arguments do. A place ends where what follows it in
/// the pattern first stands, and the last one ends as late as it can.
fn arguments<'t>(pattern: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let mut parts = pattern.split("{}");
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut arguments = Vec::new();
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let end = match parts.peek() {
            None => rest.len() - rest.strip_suffix(part).map(|_| part.len())?,
            Some(_) => rest.find(part)?,
        };
        arguments.push(rest.get(..end).filter(|argument| !argument.is_empty())?);
        rest = &rest[end + part.len()..];
    }
    rest.is_empty().then_some(arguments)
}

/// A language of the site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
pub enum Language {
    #[default]
    #[serde(rename = "en")]
    English,
    /// Simplified Chinese.
    #[serde(rename = "zh")]
    Chinese,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// The tag in HTML and cookies.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// The name in the language itself.
    pub fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "中文",
        }
    }

    /// The language with this tag.
    pub fn of(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.tag() == tag)
    }

    /// The language that a request asks for: by its cookie, or else by the first of its accepted languages that the
    /// site has.
    pub fn of_request(headers: &HeaderMap) -> Self {
        let cookie = COOKIES.iter().find_map(|name| cookie(headers, name));
        if let Some(chosen) = cookie.and_then(|cookie| Self::of(cookie.value())) {
            return chosen;
        }
        let accepted =
            headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or("");
        let tags = accepted.split(',').filter_map(|part| part.trim().get(..2));
        tags.filter_map(|tag| Self::of(&tag.to_ascii_lowercase())).next().unwrap_or(Self::English)
    }

    /// A sentence in this language.
    pub fn t(self, english: &str) -> &str {
        static TABLE: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
            CHINESE
                .iter()
                .flat_map(HashMap::values)
                .flatten()
                .map(|(english, told)| (english.as_str(), told.as_str()))
                .collect()
        });
        match self {
            Self::English => english,
            Self::Chinese => TABLE.get(english).copied().unwrap_or(english),
        }
    }

    /// A reason in this language, if [`reason!`](crate::reason!) has made it or what it is made of; what parsers and
    /// the engine say stays as it is.
    pub fn reason(self, english: &str) -> String {
        match self {
            Self::English => english.to_owned(),
            Self::Chinese => chinese_reason(english, DEEPEST),
        }
    }

    /// A sentence in this language, with arguments in the place of each `{}`.
    pub fn fill(self, english: &str, arguments: &[impl Display]) -> String {
        fill(self.t(english), arguments)
    }
}

/// The most reasons that are made of one another; names that people choose could seem to be more.
const DEEPEST: usize = 8;

fn chinese_reason(english: &str, deepest: usize) -> String {
    let known = CHINESE.iter().filter_map(|tables| tables.get(REASONS)).flatten();
    let fitting = known.filter_map(|(pattern, told)| Some((pattern, told, arguments(pattern, english)?)));
    // The sentence that says most itself.
    let best = fitting.max_by_key(|(pattern, _, arguments)| (pattern.len() - 2 * arguments.len(), *pattern));
    match best {
        Some((_, told, arguments)) if deepest > 0 => {
            let told_arguments: Vec<String> =
                arguments.into_iter().map(|one| chinese_reason(one, deepest - 1)).collect();
            fill(told, &told_arguments)
        }
        _ => english.to_owned(),
    }
}

/// Marks a sentence for translation that is not the literal of a template's `t`, of `fill`, or of a
/// [`fault!`](crate::fault!). The tests find all of these by one pattern.
pub const fn say(english: &'static str) -> &'static str {
    english
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_fill_their_places() {
        assert_eq!(fill("{} of {}", &[1, 2]), "1 of 2");
        assert_eq!(fill("{2} 中的 {1}", &[1, 2]), "2 中的 1");
        assert_eq!(fill("{} {", &[1]), "1 {");
    }

    #[test]
    fn arguments_are_found_in_their_places() {
        assert_eq!(arguments("phase {}: {}", "phase a: b: c"), Some(vec!["a", "b: c"]));
        assert_eq!(arguments("{} of {}", "1 of 2"), Some(vec!["1", "2"]));
        assert_eq!(arguments("a {} b", "a  b"), None);
        assert_eq!(arguments("none", "none"), Some(vec![]));
        assert_eq!(arguments("none", "none left"), None);
    }
}
