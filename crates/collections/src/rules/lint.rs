//! The rules for captions as data, which the server and the page of captioners share.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::OnceLock;

use capeval_site::web::language::Language;
use serde::{Deserialize, Serialize};

use super::text::{Counts, counts, is_han};

capeval_choice::named! {
    /// The effect of a rule.
    pub enum Level ("level") {
        Refuse = "refuse", "the caption is rejected";
        Warn = "warn", "the caption is accepted with a warning";
    }
}

capeval_choice::named! {
    /// The thing to count.
    pub enum Count ("count") {
        Characters = "characters", "characters other than space";
        Han = "han", "Chinese characters";
        Words = "words", "words between spaces";
    }
}

capeval_choice::named! {
    /// The thing that a rule looks for.
    pub enum Find ("thing to find") {
        NoLetters = "no-letters", "no letter at all";
        Repetition = "repetition", "hardly any different characters";
        Han = "han", "Chinese characters";
        Address = "address", "web or email addresses";
        Telephone = "telephone", "seven digits or more";
        Quotes = "quotes", "quotation marks";
    }
}

/// A rule for captions.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// A name for programs.
    pub code: String,
    /// Its effect.
    pub level: Level,
    /// The languages of captions that it is for; none for all.
    #[serde(default)]
    pub languages: Vec<String>,
    /// The thing to count.
    pub count: Option<Count>,
    /// Fewer break the rule.
    pub below: Option<usize>,
    /// More break the rule.
    pub above: Option<usize>,
    /// Beginnings that break the rule, in small letters.
    #[serde(default)]
    pub openings: Vec<String>,
    /// The thing that breaks the rule wherever it is.
    pub finds: Option<Find>,
    /// True if collections can choose another number for the count, which is `{}` in the texts.
    #[serde(default)]
    pub is_chosen: bool,
    /// The rule in English.
    pub en: String,
    /// The rule in Chinese.
    pub zh: String,
}

/// The fewest words, or Chinese characters, of a caption, by language, where a collection has a number of its own.
pub type Shortest = BTreeMap<String, u32>;

/// All rules.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Endings of addresses.
    pub domains: Vec<String>,
    /// The rules in the order in which they are shown.
    pub rule: Vec<Rule>,
}

impl Rule {
    /// The rule in the language of a page.
    pub fn text(&self, language: Language) -> &str {
        match language {
            Language::English => &self.en,
            Language::Chinese => &self.zh,
        }
    }

    fn is_for(&self, language: &str) -> bool {
        self.languages.is_empty() || self.languages.iter().any(|known| known == language)
    }

    /// The rule with the number that a collection has chosen, also in its texts.
    fn with(&self, shortest: &Shortest) -> Self {
        let chosen = self.languages.iter().find_map(|language| shortest.get(language));
        let below = chosen.map(|chosen| *chosen as usize).or(self.below);
        let number = below.unwrap_or_default().to_string();
        let fill = |text: &str| text.replace("{}", &number);
        Self { below, en: fill(&self.en), zh: fill(&self.zh), ..self.clone() }
    }

    fn is_broken(&self, text: &str, counts: &Counts) -> bool {
        let counted = self.count.map(|count| match count {
            Count::Characters => counts.characters,
            Count::Han => counts.han,
            Count::Words => counts.words,
        });
        if let Some(n) = counted {
            return self.below.is_some_and(|least| n < least) || self.above.is_some_and(|most| n > most);
        }
        match self.finds {
            Some(find) => finds(find, text, counts),
            None => {
                let lower = text.to_lowercase();
                self.openings.iter().any(|opening| lower.starts_with(opening.as_str()))
            }
        }
    }
}

/// The rules as they are written, read once.
fn written() -> &'static Rules {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(|| toml::from_str(include_str!("lint.toml")).expect("a test reads the file"))
}

/// Endings of addresses that break a rule.
pub fn domains() -> &'static [String] {
    &written().domains
}

/// The rules of a collection.
pub fn rules(shortest: &Shortest) -> impl Iterator<Item = Cow<'static, Rule>> {
    written()
        .rule
        .iter()
        .map(|rule| if rule.is_chosen { Cow::Owned(rule.with(shortest)) } else { Cow::Borrowed(rule) })
}

/// The fewest words, or Chinese characters, in a language, unless a collection has a number of its own.
pub fn usual_shortest(language: &str) -> Option<usize> {
    let of = |rule: &&Rule| rule.is_chosen && rule.is_for(language);
    written().rule.iter().find(of).and_then(|rule| rule.below)
}

/// The rules of a collection for captions in a language.
pub fn rules_for(language: &str, shortest: &Shortest) -> impl Iterator<Item = Cow<'static, Rule>> {
    rules(shortest).filter(move |rule| rule.is_for(language))
}

/// The rules of a collection that a cleaned text breaks.
pub fn broken(text: &str, language: &str, shortest: &Shortest) -> Vec<Cow<'static, Rule>> {
    let counts = counts(text);
    let mut all: Vec<_> =
        rules_for(language, shortest).filter(|rule| rule.is_broken(text, &counts)).collect();
    // An author who wrote too little need not read that a little more would be better.
    let refused: Vec<_> =
        all.iter().filter(|rule| rule.level == Level::Refuse).filter_map(|rule| rule.count).collect();
    all.retain(|rule| {
        rule.level == Level::Refuse || !rule.count.is_some_and(|count| refused.contains(&count))
    });
    all
}

fn finds(find: Find, text: &str, counts: &Counts) -> bool {
    match find {
        Find::NoLetters => !text.chars().any(char::is_alphabetic),
        Find::Repetition => {
            let letters = text.chars().filter(|c| c.is_alphabetic());
            let different: HashSet<char> = letters.flat_map(char::to_lowercase).collect();
            counts.characters >= 10 && different.len() < 5
        }
        Find::Han => counts.han > 0,
        Find::Address => text.split(|c: char| !c.is_ascii_graphic()).any(is_address),
        Find::Telephone => has_telephone(text),
        Find::Quotes => text.contains(['"', '“', '”', '「', '」', '『', '』']),
    }
}

fn is_address(part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    let bytes = part.as_bytes();
    let is_plain = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    if part.contains("://") || part.starts_with("www.") {
        return true;
    }
    if part.match_indices('@').any(|(at, _)| is_plain(at.checked_sub(1)) && is_plain(Some(at + 1))) {
        return true;
    }
    domains().iter().any(|domain| {
        part.match_indices(&format!(".{domain}"))
            .any(|(at, found)| is_plain(at.checked_sub(1)) && !is_plain(Some(at + found.len())))
    })
}

fn has_telephone(text: &str) -> bool {
    let mut digits = 0;
    text.chars().any(|c| {
        match c {
            '0'..='9' | '０'..='９' => digits += 1,
            ' ' | '-' | '.' | '(' | ')' | '+' => {}
            _ => digits = 0,
        }
        digits >= 7
    })
}

/// Returns true if a text contains Chinese characters.
pub fn has_han(text: &str) -> bool {
    text.chars().any(is_han)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Captions with the codes of the rules that they break; the browser test reads the same file.
    const CASES: &str = include_str!("../../tests/data/lint.json");

    #[test]
    fn captions_break_the_rules_that_the_table_says() {
        let cases: Vec<(String, String, Vec<String>)> = serde_json::from_str(CASES).unwrap();
        assert!(cases.len() > 30);
        let mut met = HashSet::new();
        for (language, text, codes) in &cases {
            let found: Vec<String> =
                broken(text, language, &Shortest::new()).iter().map(|rule| rule.code.clone()).collect();
            assert_eq!(&found, codes, "{language} {text}");
            met.extend(codes.clone());
        }
        for rule in &written().rule {
            assert!(met.contains(&rule.code), "no caption breaks {}", rule.code);
        }
    }

    #[test]
    fn each_rule_has_one_check_and_both_languages() {
        let mut codes = HashSet::new();
        for rule in &written().rule {
            assert!(codes.insert(&rule.code), "{} is there twice", rule.code);
            let counts = rule.count.is_some() && (rule.below.is_some() != rule.above.is_some());
            let checks = [counts, !rule.openings.is_empty(), rule.finds.is_some()];
            assert_eq!(checks.iter().filter(|check| **check).count(), 1, "{}", rule.code);
            assert!(!rule.en.is_empty() && has_han(&rule.zh), "{}", rule.code);
            for text in [&rule.en, &rule.zh] {
                assert_eq!(text.contains("{}"), rule.is_chosen, "{}", rule.code);
            }
            assert!(!rule.is_chosen || rule.below.is_some(), "{}", rule.code);
            assert!(rule.openings.iter().all(|opening| *opening == opening.to_lowercase()), "{}", rule.code);
        }
    }

    #[test]
    fn a_collection_has_a_shortest_caption_of_its_own() {
        let shortest = Shortest::from([("en".to_owned(), 3), ("zh".to_owned(), 20)]);
        let codes = |text: &str, language: &str, shortest: &Shortest| -> Vec<String> {
            broken(text, language, shortest).iter().map(|rule| rule.code.clone()).collect()
        };
        assert_eq!(codes("two dogs run", "en", &Shortest::new()), ["few-words"]);
        assert!(codes("two dogs run", "en", &shortest).is_empty());
        assert_eq!(codes("two dogs", "en", &shortest), ["few-words"]);
        assert!(codes("两只狗在草地上追着一个红色的球跑", "zh", &Shortest::new()).is_empty());
        assert_eq!(codes("两只狗在草地上追着一个红色的球跑", "zh", &shortest), ["few-han"]);
        let text = |shortest| rules_for("en", shortest).map(|rule| rule.en.clone()).collect::<Vec<_>>();
        assert!(text(&shortest).contains(&"Write at least 3 words.".to_owned()));
        assert!(text(&Shortest::new()).contains(&"Write at least 8 words.".to_owned()));
    }
}
