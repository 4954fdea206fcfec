//! The languages that METEOR supports, with METEOR's own names.

use std::fmt;
use std::str::FromStr;

use capeval_choice::UnknownName;
use rust_stemmers::Algorithm;

/// A language of METEOR 1.5, displayed as in METEOR's `-l` option (`en`, `cz`, `ar-bw-red`, …).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Language {
    English,
    Czech,
    French,
    Spanish,
    German,
    /// Arabic in reduced Buckwalter transliteration.
    Arabic,
    Portuguese,
    Russian,
    Danish,
    Romanian,
    Hungarian,
    Turkish,
    Finnish,
    Dutch,
    Italian,
    Norwegian,
    Swedish,
    /// Any other language: exact matches only.
    Other,
}

/// Each language with METEOR's short name, its long name (as in the jar's file names), and other spellings.
const NAMES: [(Language, &str, &str, &[&str]); 18] = [
    (Language::English, "en", "english", &[]),
    (Language::Czech, "cz", "czech", &["cs"]),
    (Language::French, "fr", "french", &[]),
    (Language::Spanish, "es", "spanish", &[]),
    (Language::German, "de", "german", &[]),
    (Language::Arabic, "ar-bw-red", "arabic-buckwalter-reduced", &[]),
    (Language::Portuguese, "pt", "portuguese", &[]),
    (Language::Russian, "ru", "russian", &[]),
    (Language::Danish, "da", "danish", &[]),
    (Language::Romanian, "ro", "romanian", &[]),
    (Language::Hungarian, "hu", "hungarian", &[]),
    (Language::Turkish, "tr", "turkish", &[]),
    (Language::Finnish, "fi", "finnish", &[]),
    (Language::Dutch, "nl", "dutch", &[]),
    (Language::Italian, "it", "italian", &[]),
    (Language::Norwegian, "no", "norwegian", &[]),
    (Language::Swedish, "se", "swedish", &["sv"]),
    (Language::Other, "other", "other", &["xx"]),
];

impl Language {
    /// Every language, in METEOR's order.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|entry| entry.0)
    }

    fn names(self) -> (&'static str, &'static str) {
        NAMES.iter().find(|entry| entry.0 == self).map_or(("other", "other"), |entry| (entry.1, entry.2))
    }

    /// METEOR's short name, as in `paraphrase-en.gz`.
    pub fn code(self) -> &'static str {
        self.names().0
    }

    /// METEOR's long name, as in `function/english.words`.
    pub fn name(self) -> &'static str {
        self.names().1
    }

    /// Returns true if METEOR has tuned parameters and a normaliser for the language.
    pub fn is_fully_supported(self) -> bool {
        matches!(
            self,
            Self::English | Self::Czech | Self::French | Self::Spanish | Self::German | Self::Russian
        )
    }

    /// The Snowball stemmer that METEOR uses; `None` for Arabic, which has a table instead, and for Czech and
    /// "other", which have no stemmer.
    pub(crate) fn stemmer(self) -> Option<Algorithm> {
        Some(match self {
            Self::English => Algorithm::English,
            Self::French => Algorithm::French,
            Self::Spanish => Algorithm::Spanish,
            Self::German => Algorithm::German,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Russian => Algorithm::Russian,
            Self::Danish => Algorithm::Danish,
            Self::Romanian => Algorithm::Romanian,
            Self::Hungarian => Algorithm::Hungarian,
            Self::Turkish => Algorithm::Turkish,
            Self::Finnish => Algorithm::Finnish,
            Self::Dutch => Algorithm::Dutch,
            Self::Italian => Algorithm::Italian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Swedish => Algorithm::Swedish,
            Self::Czech | Self::Arabic | Self::Other => return None,
        })
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for Language {
    type Err = UnknownName;

    /// Accepts METEOR's short and long names, in upper or lower case.
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let wanted = text.to_lowercase();
        NAMES
            .iter()
            .find(|(_, short, long, more)| *short == wanted || *long == wanted || more.contains(&&*wanted))
            .map(|entry| entry.0)
            .ok_or_else(|| {
                let choices = NAMES.iter().map(|entry| entry.1).collect();
                UnknownName { what: "language", given: text.to_owned(), choices }
            })
    }
}
