//! Notices: what a reader of a result should know.

use capeval_choice::{Dialect, Remedy};
use capeval_corpus::SegmentId;
use serde::{Serialize, Serializer};

/// Something that a reader of a result should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// A short stable code, such as `missing:skip`.
    pub code: String,
    /// The message: a sentence in lower case, without a full stop.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "plain")]
    pub remedy: Option<Remedy>,
    /// The system that the notice is about; `None` if it is about several or all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// The number of items that the notice counts, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    /// The first few ids that the notice is about; may be empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<SegmentId>,
}

fn plain<S: Serializer>(remedy: &Option<Remedy>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&remedy.as_ref().map_or_else(String::new, ToString::to_string))
}

impl Notice {
    /// A notice about all systems.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            remedy: None,
            system: None,
            count: None,
            ids: Vec::new(),
        }
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

    /// Sets the first few ids that the notice is about.
    pub fn ids(self, ids: Vec<SegmentId>) -> Self {
        Self { ids, ..self }
    }

    /// Whether the notice is about this system or about all systems.
    pub fn concerns(&self, system: &str) -> bool {
        self.system.as_deref().is_none_or(|name| name == system)
    }

    /// The message, followed by the remedy as the front end words it.
    pub fn in_words(&self, dialect: &dyn Dialect) -> String {
        match self.remedy.as_ref().and_then(|remedy| remedy.in_words(dialect)) {
            None => self.message.clone(),
            Some(remedy) => format!("{}; {remedy}", self.message),
        }
    }
}
