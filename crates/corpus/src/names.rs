//! Which words may be said? Closed choices with a name each.

use std::fmt;

/// A word that is not among the choices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// What the word should have named, such as `format`.
    pub what: &'static str,
    /// The word.
    pub given: String,
    /// The words that would have been understood.
    pub choices: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, given, choices } = self;
        write!(f, "unknown {what} {given:?}; choose one of {}", choices.join(", "))
    }
}

impl std::error::Error for UnknownName {}

/// Declares an enum whose variants have a name and a one-line summary, with `ALL`, `name`, `summary`,
/// `Display` and `FromStr`.
macro_rules! named {
    (
        $(#[$meta:meta])*
        pub enum $type:ident ($what:literal) {
            $( $(#[$variant_meta:meta])* $variant:ident = $name:literal, $summary:literal; )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type {
            $( $(#[$variant_meta])* #[doc = concat!("`", $name, "`\n\n```text\n", $summary, "\n```")] $variant, )+
        }

        impl $type {
            /// Every choice, in the order in which help should list them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word that a user writes.
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
                    $crate::UnknownName {
                        what: $what,
                        given: text.into(),
                        choices: Self::ALL.iter().map(|choice| choice.name()).collect(),
                    }
                })
            }
        }
    };
}
pub(crate) use named;
