//! Lists that come in parts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The place of a part in a list. What is added or removed during that time makes no other row appear twice or not at
/// all.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Place {
    /// The `next` of the part before; the list begins where it is left out.
    pub after: String,
    /// The id of the first row of the part after, to go back.
    pub before: String,
}
