//! Notices for readers of results, as data.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Argument, Code, Dialect, Remedy, SegmentId};

/// The prefix of the code of a notice about a metric that is left out.
const WITHOUT: &str = "no-";

/// A notice for readers of a result: a warning that is returned with the result instead of being printed.
///
/// ```
/// use capeval_choice::{Argument, Notice};
///
/// let notice = Notice::applied(Argument::Missing, "skip", "2 images have no candidate and are left out").count(2);
/// assert_eq!(notice.code.to_string(), "missing:skip");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The kind of notice.
    pub code: NoticeCode,
    /// The message: a sentence in lower case, without a full stop.
    pub message: String,
    /// The remedy, if any.
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
pub enum NoticeCode {
    /// A fixed code, such as `few-images`.
    Code(Code),
    /// A choice of the user took effect, such as `missing:skip`: the argument and its value.
    Applied(Argument, &'static str),
    /// A metric that is asked for with others is left out, such as `no-meteor`: its name.
    Without(Cow<'static, str>),
    /// A code that capeval does not define: that of a metric outside of it, or of a file of another version.
    Other(String),
}

impl fmt::Display for NoticeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => f.write_str(code.name()),
            Self::Applied(argument, value) => write!(f, "{}:{value}", argument.name().replace('_', "-")),
            Self::Without(metric) => write!(f, "{WITHOUT}{metric}"),
            Self::Other(code) => f.write_str(code),
        }
    }
}

impl Serialize for NoticeCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A choice that took effect is read as [`NoticeCode::Other`].
impl<'de> Deserialize<'de> for NoticeCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(match (name.parse(), name.strip_prefix(WITHOUT)) {
            (Ok(code), _) => Self::Code(code),
            (_, Some(metric)) => Self::Without(metric.to_owned().into()),
            _ => Self::Other(name),
        })
    }
}

impl From<Code> for NoticeCode {
    fn from(code: Code) -> Self {
        Self::Code(code)
    }
}

impl PartialEq<Code> for NoticeCode {
    fn eq(&self, other: &Code) -> bool {
        matches!(self, Self::Code(code) if code == other)
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
    pub fn new(code: impl Into<NoticeCode>, message: impl Into<String>) -> Self {
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
        Self::new(NoticeCode::Applied(argument, value), message)
    }

    /// A notice that the metric of this name, one of several that are asked for together, is left out.
    pub fn without(metric: &'static str, message: impl Into<String>) -> Self {
        Self::new(NoticeCode::Without(metric.into()), message)
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

    /// Returns true if the notice is about this system or about all systems.
    pub fn concerns(&self, system: &str) -> bool {
        self.system.as_deref().is_none_or(|name| name == system)
    }

    /// Returns true if scores mean little or nothing: a person insisted on them, or captions do not fit the references.
    pub fn makes_meaningless(&self) -> bool {
        use Code::{
            OneText, OtherScript, OtherSegmentation, OtherWords, Pairing, PromptInCaptions, StartEndWords,
            Swapped,
        };
        match &self.code {
            NoticeCode::Applied(argument, _) => *argument == Argument::Accept,
            NoticeCode::Code(code) => matches!(
                code,
                OneText
                    | OtherScript
                    | OtherSegmentation
                    | OtherWords
                    | Pairing
                    | PromptInCaptions
                    | StartEndWords
                    | Swapped
            ),
            NoticeCode::Without(_) | NoticeCode::Other(_) => false,
        }
    }

    /// The message, followed by the remedy in the terms of the front end.
    pub fn in_words(&self, dialect: &dyn Dialect) -> String {
        match self.remedy.as_ref().and_then(|remedy| remedy.in_words(dialect)) {
            None => self.message.clone(),
            Some(remedy) => format!("{}; {remedy}", self.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_what_they_were_when_they_are_read() {
        let notices =
            Code::ALL.iter().map(|code| Notice::new(*code, "")).chain([Notice::without("meteor", "")]);
        for notice in notices {
            let read: Notice = serde_json::from_str(&serde_json::to_string(&notice).unwrap()).unwrap();
            assert_eq!(read, notice);
        }
        let read: NoticeCode = serde_json::from_str("\"of-tomorrow\"").unwrap();
        assert_eq!(read, NoticeCode::Other("of-tomorrow".to_owned()));
    }

    #[test]
    fn codes_are_in_the_order_of_the_alphabet() {
        assert!(Code::NAMES.is_sorted());
    }
}
