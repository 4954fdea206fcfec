//! The files of a plan: by name, as bytes, or already stored.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The content of a file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Source {
    /// A file by its name, among those that came with the plan.
    Named(String),
    /// The bytes themselves.
    Bytes { name: String, bytes: Arc<[u8]> },
    /// A file that is stored already.
    Kept { name: String, hash: String },
}

impl From<String> for Source {
    fn from(name: String) -> Self {
        Self::Named(name)
    }
}

impl From<Source> for String {
    fn from(source: Source) -> Self {
        source.name().to_owned()
    }
}

impl Source {
    /// The name of the file.
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) | Self::Bytes { name, .. } | Self::Kept { name, .. } => name,
        }
    }

    /// The hash of a file that is stored.
    pub fn hash(&self) -> Option<&str> {
        match self {
            Self::Kept { hash, .. } => Some(hash),
            Self::Named(_) | Self::Bytes { .. } => None,
        }
    }
}
