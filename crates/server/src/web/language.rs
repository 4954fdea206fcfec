//! The languages of the site: sentences are written in English where they are used, and `locales` has the others.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::LazyLock;

use axum::http::{HeaderMap, header};
use serde::Deserialize;

use super::cookie;
pub use crate::reason::fill;

/// The cookie with the chosen language.
pub const COOKIE: &str = "language";

/// The sentences in Chinese, by feature, each with its English sentence as key.
const CHINESE: &str = include_str!("../../locales/zh.toml");

/// The feature whose sentences are reasons: they are stored and passed on in English, with their arguments filled in.
const REASONS: &str = "reasons";

/// The sentences of a file of `locales`, by feature.
type Features = HashMap<String, HashMap<String, String>>;

static FEATURES: LazyLock<Features> =
    LazyLock::new(|| toml::from_str(CHINESE).expect("a test reads this file"));

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum Language {
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
        if let Some(chosen) = cookie(headers, COOKIE).and_then(|cookie| Self::of(cookie.value())) {
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
            FEATURES.values().flatten().map(|(english, told)| (english.as_str(), told.as_str())).collect()
        });
        match self {
            Self::English => english,
            Self::Chinese => TABLE.get(english).copied().unwrap_or(english),
        }
    }

    /// A reason in this language, if [`reason!`](crate::reason!) has made it or what it is made of; what parsers and
    /// the engine say stays as it is.
    pub fn reason(self, english: &str) -> String {
        if self == Self::English {
            return english.to_owned();
        }
        let known = FEATURES.get(REASONS).into_iter().flatten();
        let fitting = known.filter_map(|(pattern, told)| Some((pattern, told, arguments(pattern, english)?)));
        // The sentence that says most itself.
        let best =
            fitting.max_by_key(|(pattern, _, arguments)| (pattern.len() - 2 * arguments.len(), *pattern));
        match best {
            Some((_, told, arguments)) => {
                let told_arguments: Vec<String> = arguments.into_iter().map(|one| self.reason(one)).collect();
                fill(told, &told_arguments)
            }
            None => english.to_owned(),
        }
    }

    /// A sentence in this language, with arguments in the place of each `{}`.
    pub fn fill(self, english: &str, arguments: &[impl Display]) -> String {
        fill(self.t(english), arguments)
    }
}

/// Marks a sentence for translation that is not the literal of a template's `t`, of `fill`, or of a
/// [`fault!`](crate::fault!). The tests find all of these by one pattern.
pub const fn say(english: &'static str) -> &'static str {
    english
}

/// A choice that pages show in words.
pub trait Label {
    /// The meaning of the choice, in English.
    fn words(&self) -> &'static str;
}

impl<T: Label> Label for &T {
    fn words(&self) -> &'static str {
        T::words(self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    use regex_lite::Regex;

    use super::*;

    #[test]
    fn arguments_fill_their_places() {
        assert_eq!(fill("{} of {}", &[1, 2]), "1 of 2");
        assert_eq!(fill("{2} 中的 {1}", &[1, 2]), "2 中的 1");
        assert_eq!(fill("{} {", &[1]), "1 {");
    }

    #[test]
    fn reasons_are_told_by_what_they_are_made_of() {
        assert_eq!(arguments("phase {}: {}", "phase a: b: c"), Some(vec!["a", "b: c"]));
        assert_eq!(arguments("{} of {}", "1 of 2"), Some(vec!["1", "2"]));
        assert_eq!(arguments("a {} b", "a  b"), None);
        assert_eq!(arguments("none", "none"), Some(vec![]));
        assert_eq!(arguments("none", "none left"), None);
        let reason = "phase dev: decimals are at most 12";
        assert_eq!(Language::English.reason(reason), reason);
        assert_eq!(Language::Chinese.reason(reason), "阶段 dev：decimals 不能超过 12");
        assert_eq!(Language::Chinese.reason("phase dev: line 3: no"), "阶段 dev：line 3: no");
        assert_eq!(Language::Chinese.reason("line 3: no"), "line 3: no");
    }

    /// The sentences in the files of a folder, each with the file that says it.
    fn collect_sentences(folder: &Path, found: &mut BTreeMap<String, String>) {
        // A mark, then a literal; the message of a fault follows its status and its code.
        let mark = r#"(?:\b(?:t[123]?|fill|say|reason!)\(|\bfault!\(\s*\w+,\s*"[a-z0-9-]+",)\s*"((?:[^"\\]|\\.|\\\n)*)""#;
        let (mark, break_of_line) = (Regex::new(mark).unwrap(), Regex::new(r"\\\n\s*").unwrap());
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect_sentences(&path, found);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap();
            for sentence in mark.captures_iter(text) {
                let sentence = break_of_line.replace_all(&sentence[1], "").replace("\\\"", "\"");
                found.insert(sentence, path.display().to_string());
            }
        }
    }

    /// The sentences of `locales/zh.toml`: features, English and Chinese.
    fn translations() -> Vec<(String, String, String)> {
        let features: Features = toml::from_str(CHINESE).unwrap();
        let pairs = |(feature, pairs): (String, HashMap<_, _>)| {
            pairs.into_iter().map(move |(english, chinese)| (feature.clone(), english, chinese))
        };
        features.into_iter().flat_map(pairs).collect()
    }

    #[test]
    fn every_sentence_has_one_translation_and_none_is_left_over() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut used = BTreeMap::new();
        collect_sentences(&root.join("src"), &mut used);
        collect_sentences(&root.join("templates"), &mut used);
        used.extend(
            crate::labels::sentences().into_iter().map(|said| (said.to_owned(), "a choice".to_owned())),
        );
        used.extend(crate::reason::ELSEWHERE.iter().map(|said| ((*said).to_owned(), "a reason".to_owned())));
        let mut known = BTreeMap::new();
        for (feature, english, _) in translations() {
            let other = known.insert(english.clone(), feature.clone());
            assert_eq!(
                other, None,
                "“{english}” is in [{feature}], too; [shared] has what several features say"
            );
        }
        let missing: BTreeMap<_, _> = used.iter().filter(|(said, _)| !known.contains_key(*said)).collect();
        assert!(missing.is_empty(), "locales/zh.toml does not have {missing:#?}");
        let surplus: BTreeMap<_, _> = known.iter().filter(|(told, _)| !used.contains_key(*told)).collect();
        assert!(surplus.is_empty(), "locales/zh.toml has sentences that no page says: {surplus:#?}");
    }

    #[test]
    fn translations_have_the_places_of_their_sentences() {
        // The arguments that fill the places of a pattern.
        let places = |pattern: &str| -> BTreeSet<usize> {
            let number =
                |(index, place): (usize, regex_lite::Captures<'_>)| place[1].parse().unwrap_or(index + 1);
            Regex::new(r"\{(\d*)\}").unwrap().captures_iter(pattern).enumerate().map(number).collect()
        };
        assert_eq!(places("{2} 中的 {1}"), places("{} of {}"));
        for (feature, english, chinese) in translations() {
            assert!(!chinese.is_empty(), "[{feature}] “{english}” has no translation");
            assert_eq!(places(&english), places(&chinese), "[{feature}] “{english}”: “{chinese}”");
        }
    }
}
