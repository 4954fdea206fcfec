//! The requests of a sign-in: where the browser goes, and who a provider says came back.

use data_encoding::{BASE64, BASE64URL_NOPAD};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::attempts::BegunAttempt;
use super::provider::ProviderKind;
use super::remote::{self, RemoteAnswer};
use super::token::{self, TokenRefusal};
use super::{KnownProviders, Provider};
use crate::accounts::people;
use crate::app::App;
use crate::fault::{Fault, Result};
use crate::web::encode;
use crate::{clean_text, fault};

/// A person, according to a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    pub issuer: String,
    /// The id by which the issuer knows them, for ever.
    pub subject: String,
    /// Their email address, in the form of accounts.
    pub email: Option<String>,
    /// True if the provider says that it is theirs.
    pub is_verified: bool,
    pub name: String,
}

/// A provider that cannot be reached.
fn away(provider: &Provider, error: &anyhow::Error) -> Fault {
    tracing::warn!(provider = provider.id, error = format!("{error:#}"), "a provider cannot be used");
    fault! {
        BAD_GATEWAY, "provider-away",
        "{} does not answer as it should. Try again later, or sign in with your password.",
        provider.name.clone()
    }
}

/// A provider that does not confirm who someone is.
fn unconfirmed(provider: &Provider, reason: &str) -> Fault {
    tracing::warn!(provider = provider.id, reason, "a sign-in is refused");
    fault! {
        FORBIDDEN, "provider-refuses",
        "{} did not confirm who you are. Please try again.", provider.name.clone()
    }
}

/// The address to which a provider sends browsers back.
pub(super) fn return_address(app: &App, provider: &Provider) -> String {
    app.settings.url(&format!("/sign-in/with/{}/done", provider.id))
}

/// The address at which someone signs in to a provider.
pub(super) async fn address(
    app: &App,
    known: &KnownProviders,
    provider: &Provider,
    asked: &BegunAttempt,
) -> Result<String> {
    let (endpoint, scope) = match provider.kind {
        ProviderKind::OpenidConnect => {
            let described = known.of(provider).await.map_err(|error| away(provider, &error))?;
            (described.metadata.authorization_endpoint.clone(), "openid email profile")
        }
        ProviderKind::Github => {
            (format!("{}/login/oauth/authorize", provider.base()), "read:user user:email")
        }
    };
    let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(&asked.verifier));
    let back = return_address(app, provider);
    let mut pairs = vec![
        ("response_type", "code"),
        ("client_id", &provider.client_id),
        ("redirect_uri", &back),
        ("scope", scope),
        ("state", &asked.state),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ];
    if provider.kind == ProviderKind::OpenidConnect {
        pairs.push(("nonce", &asked.nonce));
    }
    let query: Vec<String> = pairs
        .into_iter()
        .map(|(name, value)| format!("{name}={}", encode(value).replace('/', "%2F")))
        .collect();
    let separator = if endpoint.contains('?') { '&' } else { '?' };
    Ok(format!("{endpoint}{separator}{}", query.join("&")))
}

/// The tokens that a provider returns for a code.
#[derive(Deserialize)]
struct Tokens {
    id_token: Option<String>,
    access_token: Option<String>,
    error: Option<String>,
}

/// Identifies who came back with a code, and from which provider, according to the address.
pub(super) async fn identity(
    app: &App,
    provider: &Provider,
    asked: &BegunAttempt,
    code: &str,
    issuer: Option<&str>,
) -> Result<Identity> {
    match provider.kind {
        ProviderKind::OpenidConnect => of_token(app, provider, asked, code, issuer).await,
        ProviderKind::Github => of_github(app, provider, asked, code).await,
    }
}

/// Exchanges a code for tokens.
async fn tokens(
    app: &App,
    provider: &Provider,
    asked: &BegunAttempt,
    code: &str,
    endpoint: &str,
    in_form: bool,
) -> Result<Tokens> {
    let (id, secret) = (provider.client_id.clone(), provider.client_secret.reveal().to_owned());
    let mut form = vec![
        ("grant_type", "authorization_code".to_owned()),
        ("code", code.to_owned()),
        ("redirect_uri", return_address(app, provider)),
        ("code_verifier", asked.verifier.clone()),
    ];
    let credentials = match in_form {
        true => {
            form.extend([("client_id", id), ("client_secret", secret)]);
            None
        }
        false => {
            let part = |text: &str| encode(text).replace('/', "%2F");
            Some(BASE64.encode(format!("{}:{}", part(&id), part(&secret)).as_bytes()))
        }
    };
    let told = remote::post(provider, endpoint, credentials, form).await;
    let RemoteAnswer { is_success, value } = told.map_err(|error| away(provider, &error))?;
    let Tokens { error, .. } = &value;
    if !is_success || error.is_some() {
        return Err(unconfirmed(provider, error.as_deref().unwrap_or("the code is refused")));
    }
    Ok(value)
}

async fn of_token(
    app: &App,
    provider: &Provider,
    asked: &BegunAttempt,
    code: &str,
    issuer: Option<&str>,
) -> Result<Identity> {
    let mut described = app.providers.of(provider).await.map_err(|error| away(provider, &error))?;
    // RFC 9207: the answer of another provider is not taken for one of this.
    if issuer.is_some_and(|issuer| issuer != described.metadata.issuer) {
        return Err(unconfirmed(provider, "the answer is of another issuer"));
    }
    let methods = &described.metadata.token_endpoint_auth_methods_supported;
    let has = |method: &str| methods.iter().any(|known| known == method);
    let in_form = has("client_secret_post") && !has("client_secret_basic");
    let endpoint = &described.metadata.token_endpoint;
    let told = tokens(app, provider, asked, code, endpoint, in_form).await?;
    let token = told.id_token.ok_or_else(|| unconfirmed(provider, "there is no ID token"))?;
    let mut checked = token::checked(provider, &described, &token, &asked.nonce);
    if let Err(TokenRefusal::UnknownKey) = checked {
        described = app.providers.renewed(provider).await.map_err(|error| away(provider, &error))?;
        checked = token::checked(provider, &described, &token, &asked.nonce);
    }
    let claims = checked.map_err(|refused| unconfirmed(provider, &refused.to_string()))?;
    let is_verified = claims.is_verified();
    Ok(Identity {
        issuer: provider.issuer.clone(),
        email: claims.email.and_then(|email| people::address(&email).ok()),
        is_verified,
        name: clean_text::line(&claims.name.unwrap_or_default()),
        subject: claims.sub,
    })
}

#[derive(Deserialize)]
struct User {
    id: i64,
    login: String,
    name: Option<String>,
}

#[derive(Deserialize)]
struct Email {
    email: String,
    primary: bool,
    verified: bool,
}

/// GitHub signs no tokens: it is asked over TLS, with the token that it gave to this server for this code.
async fn of_github(app: &App, provider: &Provider, asked: &BegunAttempt, code: &str) -> Result<Identity> {
    let base = provider.base();
    let endpoint = format!("{base}/login/oauth/access_token");
    let told = tokens(app, provider, asked, code, &endpoint, true).await?;
    let token = told.access_token.ok_or_else(|| unconfirmed(provider, "there is no token"))?;
    // The API of github.com has a host of its own; that of GitHub Enterprise is below it.
    let api = if base == "https://github.com" {
        "https://api.github.com".to_owned()
    } else {
        format!("{base}/api/v3")
    };
    let user: User = remote::get(provider, &format!("{api}/user"), Some(&token))
        .await
        .map_err(|error| away(provider, &error))?;
    let emails: Vec<Email> = remote::get(provider, &format!("{api}/user/emails"), Some(&token))
        .await
        .map_err(|error| away(provider, &error))?;
    let email = emails.into_iter().find(|email| email.primary);
    let is_verified = email.as_ref().is_some_and(|email| email.verified);
    Ok(Identity {
        issuer: provider.issuer.clone(),
        subject: user.id.to_string(),
        email: email.and_then(|email| people::address(&email.email).ok()),
        is_verified,
        name: clean_text::line(&user.name.unwrap_or(user.login)),
    })
}
