//! The languages of the site: sentences are written in English where they are used, and one table has the others.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::OnceLock;

use axum::http::{HeaderMap, header};

use super::chinese::CHINESE;
use super::chinese_collections::COLLECTIONS;
use super::chinese_hosts::HOSTS;
use super::cookie;

/// The cookie with the chosen language.
pub const COOKIE: &str = "language";

/// The sentences in Chinese.
const TABLES: &[&[(&str, &str)]] = &[CHINESE, COLLECTIONS, HOSTS];

/// A language of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    English,
    /// Simplified Chinese.
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
        if let Some(chosen) = cookie(headers, COOKIE).and_then(Self::of) {
            return chosen;
        }
        let accepted =
            headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or("");
        let tags = accepted.split(',').filter_map(|part| part.trim().get(..2));
        tags.filter_map(|tag| Self::of(&tag.to_ascii_lowercase())).next().unwrap_or(Self::English)
    }

    /// A sentence in this language.
    pub fn t(self, english: &str) -> &str {
        static TABLE: OnceLock<HashMap<&str, &str>> = OnceLock::new();
        match self {
            Self::English => english,
            Self::Chinese => TABLE
                .get_or_init(|| TABLES.iter().copied().flatten().copied().collect())
                .get(english)
                .copied()
                .unwrap_or(english),
        }
    }

    /// A sentence in this language, with arguments in the place of each `{}`.
    pub fn fill(self, english: &str, arguments: &[impl Display]) -> String {
        fill(self.t(english), arguments)
    }
}

/// Puts the arguments in the place of each `{}`; `{1}` is the first argument wherever it stands.
pub fn fill(pattern: &str, arguments: &[impl Display]) -> String {
    let mut next = 0;
    let mut filled = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let Some((place, after)) = after.split_once('}') else {
            filled.push('{');
            rest = after;
            continue;
        };
        let index = place.parse::<usize>().map_or(next, |place| place.saturating_sub(1));
        next += 1;
        if let Some(argument) = arguments.get(index) {
            filled.push_str(&argument.to_string());
        }
        rest = after;
    }
    filled.push_str(rest);
    filled
}

/// Marks a sentence for translation that is not written in a template or a [`fault!`](crate::fault!).
pub const fn say(english: &'static str) -> &'static str {
    english
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn arguments_fill_their_places() {
        assert_eq!(fill("{} of {}", &[1, 2]), "1 of 2");
        assert_eq!(fill("{2} 中的 {1}", &[1, 2]), "2 中的 1");
        assert_eq!(fill("{} {", &[1]), "1 {");
    }

    fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { files(&path, found) } else { found.push(path) }
        }
    }

    /// The first string literal after each of `marks`, before the next statement.
    fn literals(text: &str, mark: &str, found: &mut BTreeSet<String>) {
        for (start, _) in text.match_indices(mark) {
            let rest = &text[start + mark.len()..];
            let Some(open) = rest.find('"').filter(|open| rest[..*open].trim().is_empty()) else { continue };
            let rest = &rest[open + 1..];
            let mut literal = String::new();
            let mut characters = rest.chars();
            while let Some(c) = characters.next() {
                match c {
                    '"' => break,
                    '\\' => match characters.next() {
                        Some('\n') => {
                            let left = characters.as_str().trim_start();
                            characters = left.chars();
                        }
                        Some(escaped) => literal.push(escaped),
                        None => break,
                    },
                    c => literal.push(c),
                }
            }
            found.insert(literal);
        }
    }

    #[test]
    fn every_sentence_has_a_translation_and_no_translation_is_left_over() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut paths = Vec::new();
        files(&root.join("src"), &mut paths);
        files(&root.join("templates"), &mut paths);
        let mut used = BTreeSet::new();
        for path in paths {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap();
            for mark in
                ["page.t(", "page.t1(", "page.t2(", "page.t3(", "language.t(", "language.fill(", "say("]
            {
                literals(text, mark, &mut used);
            }
            // The message of a fault follows its status and its code.
            for (start, _) in text.match_indices("fault!(") {
                let after = text[start..].splitn(3, ',').nth(2).unwrap_or("");
                literals(&format!("fault!({after}"), "fault!(", &mut used);
            }
        }
        let sentences: Vec<(&str, &str)> = TABLES.iter().copied().flatten().copied().collect();
        let known: BTreeSet<String> = sentences.iter().map(|(english, _)| (*english).to_owned()).collect();
        assert_eq!(known.len(), sentences.len(), "a sentence is twice in the tables");
        let missing: Vec<&String> = used.difference(&known).collect();
        assert!(missing.is_empty(), "no translation of {missing:#?}");
        let surplus: Vec<&String> = known.difference(&used).collect();
        assert!(surplus.is_empty(), "nobody says {surplus:#?}");
        for (english, chinese) in sentences {
            let places = |text: &str| text.matches('{').count();
            assert_eq!(places(english), places(chinese), "{english}");
        }
    }
}
