//! Requests to providers: over TLS, without redirects, in limited time and size.

use std::time::Duration;

use anyhow::{Context, ensure};
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::{Response, header};

use super::Provider;

/// The most bytes of an answer.
const LARGEST: u64 = 1 << 20;

/// An answer, with its status: success or not.
pub(super) struct RemoteAnswer<T> {
    pub is_success: bool,
    pub value: T,
}

fn agent(provider: &Provider) -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(provider.seconds)))
        .max_redirects(0)
        .proxy(None)
        .http_status_as_error(false)
        .user_agent(concat!("capeval-server/", env!("CARGO_PKG_VERSION")))
        .build();
    Agent::new_with_config(config)
}

fn require(provider: &Provider, address: &str) -> anyhow::Result<()> {
    ensure!(
        provider.may_ask(address),
        "the provider {} names an address that is not safe: {address}",
        provider.id
    );
    Ok(())
}

/// Gets an address, with a token of the person if there is one.
pub(super) async fn get<T: DeserializeOwned + Send + 'static>(
    provider: &Provider,
    address: &str,
    token: Option<&str>,
) -> anyhow::Result<T> {
    require(provider, address)?;
    let mut request = agent(provider).get(address).header(header::ACCEPT, "application/json");
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let address = address.to_owned();
    let ask = move || -> anyhow::Result<T> {
        let RemoteAnswer { is_success, value } = read(request.call()?)?;
        ensure!(is_success, "{address} refuses");
        Ok(value)
    };
    tokio::task::spawn_blocking(ask).await?
}

/// Posts a form to an address. `credentials` are the name and the password of the server.
pub(super) async fn post<T: DeserializeOwned + Send + 'static>(
    provider: &Provider,
    address: &str,
    credentials: Option<String>,
    form: Vec<(&'static str, String)>,
) -> anyhow::Result<RemoteAnswer<T>> {
    require(provider, address)?;
    let mut request = agent(provider).post(address).header(header::ACCEPT, "application/json");
    if let Some(credentials) = credentials {
        request = request.header(header::AUTHORIZATION, format!("Basic {credentials}"));
    }
    tokio::task::spawn_blocking(move || read(request.send_form(form)?)).await?
}

fn read<T: DeserializeOwned>(answer: Response<ureq::Body>) -> anyhow::Result<RemoteAnswer<T>> {
    let is_success = answer.status().is_success();
    let status = answer.status();
    let bytes = answer.into_body().into_with_config().limit(LARGEST).read_to_vec()?;
    let value =
        serde_json::from_slice(&bytes).with_context(|| format!("an answer with the status {status}"))?;
    Ok(RemoteAnswer { is_success, value })
}
