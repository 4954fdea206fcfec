//! The reason why a request was refused.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Report, Submission};

/// A problem in the format of RFC 9457, which requires none of the fields.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    #[serde(default, rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub status: u16,
    /// Its name, such as `day-used`, in all languages.
    pub code: String,
    /// A sentence in a language of Accept-Language.
    #[serde(default)]
    pub detail: String,
    /// The id of the request in the log of the server.
    #[serde(default)]
    pub request_id: String,
    #[serde(flatten)]
    pub more: Details,
    /// Seconds to wait, as in Retry-After.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<i64>,
}

/// Details of some problems, beside the sentence.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Details {
    /// For `invalid`: what is wrong with the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// For `same-file`: the earlier submission of the same captions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submission: Option<Submission>,
    /// For `caption`: which rules it breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problems: Option<Vec<Flaw>>,
}

/// A rule that a caption breaks.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Flaw {
    pub code: String,
    /// A sentence in a language of Accept-Language.
    pub text: String,
}
