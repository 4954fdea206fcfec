//! Checks an ID token: who signed it, for whom it is, when, and in answer to what.

use std::fmt;

use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::Value;

use super::known_providers::ProviderDescription;
use super::{Provider, signatures};
use crate::clock;

/// The seconds by which the clocks of two machines may differ.
const DRIFT: i64 = 60;

/// The claims of a token.
#[derive(Debug, Deserialize)]
pub(super) struct Claims {
    pub sub: String,
    pub email: Option<String>,
    /// A truth value; some write it as text.
    email_verified: Option<Value>,
    pub name: Option<String>,
    nonce: Option<String>,
    aud: Value,
    azp: Option<String>,
    exp: f64,
    nbf: Option<f64>,
    iat: Option<f64>,
}

impl Claims {
    /// Returns true if the provider says that the email address is that of the person.
    pub fn is_verified(&self) -> bool {
        matches!(&self.email_verified, Some(Value::Bool(true)))
            || self.email_verified.as_ref().and_then(Value::as_str) == Some("true")
    }
}

/// The reason why a token is refused.
#[derive(Debug)]
pub(super) enum TokenRefusal {
    /// No known key may have signed it; the provider may have a new one.
    UnknownKey,
    Wrong(String),
}

impl fmt::Display for TokenRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKey => f.write_str("no key of the provider has signed the token"),
            Self::Wrong(reason) => f.write_str(reason),
        }
    }
}

impl From<jsonwebtoken::errors::Error> for TokenRefusal {
    fn from(error: jsonwebtoken::errors::Error) -> Self {
        Self::Wrong(error.to_string())
    }
}

/// Returns true if a key can be that of signatures by an algorithm.
fn is_of(key: &Jwk, algorithm: Algorithm) -> bool {
    use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
    let is_for_signatures = !matches!(key.common.public_key_use, Some(PublicKeyUse::Encryption));
    is_for_signatures
        && match &key.algorithm {
            AlgorithmParameters::RSA(_) => matches!(algorithm, RS256 | RS384 | RS512 | PS256 | PS384 | PS512),
            AlgorithmParameters::EllipticCurve(_) => matches!(algorithm, ES256 | ES384),
            AlgorithmParameters::OctetKeyPair(_) => matches!(algorithm, EdDSA),
            _ => false,
        }
}

/// The claims of a token that a provider has signed for this server, in answer to a request with this nonce.
pub(super) fn checked(
    provider: &Provider,
    described: &ProviderDescription,
    token: &str,
    nonce: &str,
) -> Result<Claims, TokenRefusal> {
    signatures::install()?;
    let header = decode_header(token)?;
    let fits =
        |key: &&Jwk| is_of(key, header.alg) && (header.kid.is_none() || header.kid == key.common.key_id);
    let keys: Vec<&Jwk> = described.keys.iter().filter(fits).collect();
    let [key] = keys[..] else { return Err(TokenRefusal::UnknownKey) };
    let mut validation = Validation::new(header.alg);
    validation.set_required_spec_claims(&["aud", "exp", "iss", "sub"]);
    validation.set_audience(&[&provider.client_id]);
    validation.set_issuer(&[&described.metadata.issuer]);
    // Times are compared below, with the clock of the server.
    validation.validate_exp = false;
    let claims: Claims = decode(token, &DecodingKey::from_jwk(key)?, &validation)?.claims;
    let wrong = |what: &str| Err(TokenRefusal::Wrong(what.to_owned()));
    let (now, drift) = (clock::now() as f64 / 1000.0, DRIFT as f64);
    if claims.exp < now - drift {
        return wrong("the token has expired");
    }
    if claims.nbf.is_some_and(|time| time > now + drift) || claims.iat.is_some_and(|time| time > now + drift)
    {
        return wrong("the token is of the future");
    }
    if claims.nonce.as_deref() != Some(nonce) {
        return wrong("the nonce is not that of the request");
    }
    let is_for_several = claims.aud.as_array().is_some_and(|all| all.len() > 1);
    if claims.azp.as_ref().map_or(is_for_several, |azp| *azp != provider.client_id) {
        return wrong("the token is for another program");
    }
    if claims.sub.is_empty() || claims.sub.len() > 255 {
        return wrong("the subject has 1 to 255 characters");
    }
    Ok(claims)
}
