//! Closed sets of names: one macro to declare them, a trait to list them, and a search for the name most similar to a
//! misspelt one.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::Remedy;

/// The least similarity of names that are suggested; clap uses the same threshold.
const SIMILAR: f64 = 0.7;

/// A closed set of names that [`named!`](crate::named) declares, for what lists them: help, forms, documentation.
///
/// ```
/// use capeval_choice::{Choice, named};
///
/// named! {
///     pub enum Order ("order") {
///         Up = "up", "smallest first";
///         Down = "down", "largest first";
///     }
/// }
///
/// fn help<T: Choice>() -> Vec<String> {
///     T::ALL.iter().map(|choice| format!("{}: {}", choice.name(), choice.summary())).collect()
/// }
/// assert_eq!(help::<Order>(), ["up: smallest first", "down: largest first"]);
/// ```
pub trait Choice:
    Copy + PartialEq + fmt::Display + FromStr<Err = UnknownName> + Send + Sync + 'static
{
    /// All choices, in the order in which they are listed.
    const ALL: &'static [Self];

    /// The name that users write.
    fn name(self) -> &'static str;

    /// A one-line description, in lower case and without a full stop.
    fn summary(self) -> &'static str;
}

/// A name that is not one of the choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// The kind of name, such as `format`.
    pub what: &'static str,
    /// The name as given.
    pub given: String,
    /// The names that exist.
    pub choices: Vec<&'static str>,
}

impl UnknownName {
    /// The most similar name, or all names if none is similar.
    pub fn remedy(&self) -> Remedy {
        suggest(&self.given, self.choices.iter().copied())
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} {:?}", self.what, self.given)
    }
}

impl std::error::Error for UnknownName {}

/// Suggests the name most similar to `given`, and lists all names.
pub fn suggest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Remedy {
    let names: Vec<&str> = names.into_iter().collect();
    let all = names.join(", ");
    Remedy::say(match nearest(given, names) {
        Some(name) => format!("did you mean {name}? The choices are {all}"),
        None => format!("choose from {all}"),
    })
}

/// The most similar name, ignoring case, `_`, `-` and spaces; `None` if none is similar.
///
/// ```
/// use capeval_choice::nearest;
///
/// assert_eq!(nearest("ROUGE_L", ["bleu", "rouge-l"]), Some("rouge-l"));
/// assert_eq!(nearest("BERTScore", ["rouge-score", "bert-score"]), Some("bert-score"));
/// assert_eq!(nearest("blue", ["bleu", "rouge-l"]), Some("bleu"));
/// assert_eq!(nearest("pbt", ["none", "ptb"]), Some("ptb"), "two neighbours changed places");
/// assert_eq!(nearest("wer", ["bleu", "rouge-l"]), None);
/// ```
pub fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let plain = |name: &str| name.to_lowercase().replace(['_', '-', ' '], "");
    let given = plain(given);
    let similarity = |name: &str| {
        // Two letters that changed places: in short names, they leave too little for Jaro and Winkler to go by.
        let is_swap = strsim::osa_distance(&given, name) == 1 && strsim::levenshtein(&given, name) == 2;
        if is_swap { 1.0 } else { strsim::jaro_winkler(&given, name) }
    };
    let similar = names.into_iter().map(|name| (similarity(&plain(name)), name));
    let best = similar.filter(|(similarity, _)| *similarity > SIMILAR);
    best.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, name)| name)
}

/// Reads the name of a choice; the error lists the choices.
#[doc(hidden)]
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err = UnknownName>,
    D: Deserializer<'de>,
{
    let name = String::deserialize(deserializer)?;
    name.parse().map_err(|error: UnknownName| D::Error::custom(format_args!("{error}; {}", error.remedy())))
}

/// Declares an enum whose variants have a name and a one-line summary, with `ALL`, `name`, `summary`, [`Choice`],
/// `Display`, `FromStr` and serde's traits. The name is used for parsing, in requests and in signatures; help, forms
/// and documentation list names with summaries.
///
/// ```
/// capeval_choice::named! {
///     /// The reference length if there are several references.
///     pub enum Length ("reference length") {
///         Closest = "closest", "that of the reference closest in length";
///         Shortest = "shortest", "that of the shortest reference";
///     }
/// }
///
/// assert_eq!("shortest".parse(), Ok(Length::Shortest));
/// assert_eq!("long".parse::<Length>().unwrap_err().to_string(), "unknown reference length \"long\"");
/// ```
#[macro_export]
macro_rules! named {
    (
        $(#[$meta:meta])*
        $vis:vis enum $type:ident ($what:literal) {
            $( $(#[$variant_meta:meta])* $variant:ident = $name:literal, $summary:literal; )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        $vis enum $type {
            $( $(#[$variant_meta])* #[doc = concat!("`", $name, "`\n\n```text\n", $summary, "\n```")] $variant, )+
        }

        impl $type {
            /// All choices, in the order of the help text.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The names of all choices.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name that users write.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// A one-line description.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary),+ }
            }
        }

        impl $crate::Choice for $type {
            const ALL: &'static [Self] = Self::ALL;

            fn name(self) -> &'static str {
                self.name()
            }

            fn summary(self) -> &'static str {
                self.summary()
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl $crate::serde::Serialize for $type {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::deserialize(deserializer)
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|choice| choice.name() == text).ok_or_else(|| {
                    $crate::UnknownName { what: $what, given: text.into(), choices: Self::NAMES.to_vec() }
                })
            }
        }
    };
}
