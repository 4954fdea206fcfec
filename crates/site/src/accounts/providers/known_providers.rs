//! Keeps the descriptions of providers and their keys for an hour; keys for less if a token names a new one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::ensure;
use jsonwebtoken::jwk::Jwk;
use serde::Deserialize;
use serde_json::Value;

use super::{Provider, remote};
use crate::clock;

/// The time for which the description of a provider is kept.
const LIFE: Duration = Duration::from_secs(3600);

/// The shortest time between two requests for keys.
const PAUSE: Duration = Duration::from_secs(60);

/// The descriptions of providers, by their ids.
#[derive(Default)]
pub struct KnownProviders(Mutex<HashMap<String, (Instant, Arc<ProviderDescription>)>>);

/// The description that a provider publishes.
pub(super) struct ProviderDescription {
    pub metadata: Metadata,
    pub keys: Vec<Jwk>,
}

#[derive(Deserialize)]
pub(super) struct Metadata {
    pub issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub jwks_uri: String,
    #[serde(default)]
    pub token_endpoint_auth_methods_supported: Vec<String>,
}

#[derive(Deserialize)]
struct Keys {
    keys: Vec<Value>,
}

impl KnownProviders {
    fn get(&self, provider: &Provider, at_most: Duration) -> Option<Arc<ProviderDescription>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, described) = known.get(&provider.id)?;
        (clock::instant().saturating_duration_since(*at) < at_most).then(|| Arc::clone(described))
    }

    /// The description of a provider.
    pub(super) async fn of(&self, provider: &Provider) -> anyhow::Result<Arc<ProviderDescription>> {
        match self.get(provider, LIFE) {
            Some(described) => Ok(described),
            None => self.ask(provider).await,
        }
    }

    /// The same with its newest keys.
    pub(super) async fn renewed(&self, provider: &Provider) -> anyhow::Result<Arc<ProviderDescription>> {
        match self.get(provider, PAUSE) {
            Some(described) => Ok(described),
            None => self.ask(provider).await,
        }
    }

    async fn ask(&self, provider: &Provider) -> anyhow::Result<Arc<ProviderDescription>> {
        let address = format!("{}/.well-known/openid-configuration", provider.base());
        let metadata: Metadata = remote::get(provider, &address, None).await?;
        ensure!(
            metadata.issuer == provider.issuer,
            "the issuer of the provider {} calls itself {}, and not {}",
            provider.id,
            metadata.issuer,
            provider.issuer
        );
        ensure!(
            provider.may_ask(&metadata.authorization_endpoint),
            "the provider {} names an address that is not safe: {}",
            provider.id,
            metadata.authorization_endpoint
        );
        let Keys { keys } = remote::get(provider, &metadata.jwks_uri, None).await?;
        // Keys of a kind that is not known are no reason to refuse the others.
        let keys = keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect();
        let described = Arc::new(ProviderDescription { metadata, keys });
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(provider.id.clone(), (clock::instant(), Arc::clone(&described)));
        Ok(described)
    }
}
