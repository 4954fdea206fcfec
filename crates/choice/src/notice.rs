//! Notices for readers of results, as data.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Argument, Dialect, Remedy, SegmentId};

/// A notice for readers of a result: a warning that is returned with the result instead of being printed.
///
/// ```
/// use capeval_choice::{Argument, Notice};
///
/// let notice = Notice::applied(Argument::Missing, "skip", "2 images have no candidate and are left out").count(2);
/// assert_eq!(notice.code, "missing:skip");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The kind of notice.
    pub code: Code,
    /// The message: a sentence in lower case, without a full stop.
    pub message: String,
    /// What to do about it, if anything.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "plain",
        deserialize_with = "in_words"
    )]
    pub remedy: Option<Remedy>,
    /// The system concerned; `None` for several systems or all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The number of items that the notice counts, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// The first few ids concerned; may be empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<SegmentId>,
}

/// The kind of a [`Notice`], for programs: a short stable name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// A fixed name, such as `row-numbers`.
    Kind(Cow<'static, str>),
    /// A choice of the user took effect, such as `missing:skip`: the argument and its value.
    Applied(Argument, &'static str),
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(name) => f.write_str(name),
            Self::Applied(argument, value) => write!(f, "{}:{value}", argument.name().replace('_', "-")),
        }
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A code that is read is a [`Code::Kind`], whatever it was.
impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, other: &&str) -> bool {
        let name = self.to_string();
        name == *other
    }
}

impl From<&'static str> for Code {
    fn from(name: &'static str) -> Self {
        Self::Kind(name.into())
    }
}

impl From<String> for Code {
    fn from(name: String) -> Self {
        Self::Kind(name.into())
    }
}

fn plain<S: Serializer>(remedy: &Option<Remedy>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&remedy.as_ref().map_or_else(String::new, ToString::to_string))
}

fn in_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Remedy>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(Remedy::say))
}

impl Notice {
    /// The maximum number of ids in a notice or an error.
    pub const MAX_IDS: usize = 5;

    /// A notice about all systems.
    pub fn new(code: impl Into<Code>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            remedy: None,
            system: None,
            count: None,
            ids: Vec::new(),
        }
    }

    /// A notice that the `value` that the user chose for `argument` took effect.
    pub fn applied(argument: Argument, value: &'static str, message: impl Into<String>) -> Self {
        Self::new(Code::Applied(argument, value), message)
    }

    /// Adds the remedy.
    pub fn remedy(self, remedy: impl Into<Remedy>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// Restricts the notice to one system.
    pub fn system(self, name: impl Into<String>) -> Self {
        Self { system: Some(name.into()), ..self }
    }

    /// Sets the number of items that the notice counts.
    pub fn count(self, count: usize) -> Self {
        Self { count: Some(count), ..self }
    }

    /// Sets the first few ids concerned.
    pub fn ids(self, ids: Vec<SegmentId>) -> Self {
        Self { ids, ..self }
    }

    /// Whether the notice is about this system or about all systems.
    pub fn concerns(&self, system: &str) -> bool {
        self.system.as_deref().is_none_or(|name| name == system)
    }

    /// The message, followed by the remedy in the terms of the front end.
    pub fn in_words(&self, dialect: &dyn Dialect) -> String {
        match self.remedy.as_ref().and_then(|remedy| remedy.in_words(dialect)) {
            None => self.message.clone(),
            Some(remedy) => format!("{}; {remedy}", self.message),
        }
    }
}
