//! Webhooks of benchmarks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Time;

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Webhooks {
    pub webhooks: Vec<Webhook>,
}

/// A webhook without its secret.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Webhook {
    pub id: String,
    pub url: String,
    pub created_at: Time,
    /// Its newest deliveries, newest first.
    pub deliveries: Vec<Delivery>,
}

/// A message to a webhook.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Delivery {
    pub id: String,
    /// The number of attempts.
    pub attempts: i64,
    pub created_at: Time,
    /// The time when the receiver accepted it.
    pub sent_at: Option<Time>,
    /// The reason why the last attempt failed.
    pub error: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NewWebhook {
    /// Begins with `https://` or `http://`, and is not in a private network.
    pub url: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedWebhook {
    pub id: String,
    /// The secret of its signatures, which is shown only once.
    pub secret: String,
}
