//! Closed sets of names: one macro for all of them, and the nearest name to a misspelt one.

use std::fmt;

use crate::Remedy;

/// Names closer than this are offered as what was meant; clap uses the same bound.
const SIMILAR: f64 = 0.7;

/// A name that is not one of the choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// What the name stands for, such as `format`.
    pub what: &'static str,
    /// The name as given.
    pub given: String,
    /// The names that exist.
    pub choices: Vec<&'static str>,
}

impl UnknownName {
    /// The nearest name, or all of them where none is near.
    pub fn remedy(&self) -> Remedy {
        let Self { given, choices, .. } = self;
        match nearest(given, choices.iter().copied()) {
            Some(name) => Remedy::say(format!("did you mean {name}? The choices are {}", choices.join(", "))),
            None => Remedy::say(format!("choose one of {}", choices.join(", "))),
        }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} {:?}", self.what, self.given)
    }
}

impl std::error::Error for UnknownName {}

/// The name that was probably meant: the most similar one, whatever its case and whether it is written with `_` or
/// `-`; `None` if none is similar.
///
/// ```
/// use capeval_choice::nearest;
///
/// assert_eq!(nearest("ROUGE_L", ["bleu", "rouge-l"]), Some("rouge-l"));
/// assert_eq!(nearest("blue", ["bleu", "rouge-l"]), Some("bleu"));
/// assert_eq!(nearest("wer", ["bleu", "rouge-l"]), None);
/// ```
pub fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let plain = |name: &str| name.to_lowercase().replace('_', "-");
    let given = plain(given);
    let similar = names.into_iter().map(|name| (strsim::jaro_winkler(&given, &plain(name)), name));
    let best = similar.filter(|(similarity, _)| *similarity > SIMILAR);
    best.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, name)| name)
}

/// Declares an enum whose variants have a name and a one-line summary, with `ALL`, `name`, `summary`, `Display` and
/// `FromStr`. The name serves parsing, signatures, help and documentation alike.
///
/// ```
/// capeval_choice::named! {
///     /// Which length of several references counts.
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
            /// All choices, in the order in which help lists them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The names of all choices.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name that a user writes.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// What it means, in one line.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary),+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
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
