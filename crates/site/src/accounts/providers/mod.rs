//! Sign-in with an account of another site, a provider: by OpenID Connect, or by the OAuth 2.0 of GitHub.
//!
//! Discovery, state, nonce and PKCE are a few requests, and jsonwebtoken verifies the signed token with ring, which is
//! here for TLS. `openidconnect` would do all of this but adds about sixty crates, among them the crate rsa with its
//! open advisory on timing.

mod attempts;
mod exchange;
mod handlers;
pub mod identities;
mod known_providers;
mod provider;
mod remote;
mod signatures;
mod token;

pub use attempts::ForgetAttempt;
pub(super) use handlers::routes;
pub use known_providers::KnownProviders;
pub use provider::{Provider, check};
