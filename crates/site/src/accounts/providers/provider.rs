//! Providers as the settings name them.

use std::fmt;

use anyhow::{bail, ensure};
use serde::Deserialize;

use crate::clean_text;

/// A site whose accounts people sign in with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The part of addresses, such as `google`.
    pub id: String,
    /// The name by which people know it.
    pub name: String,
    #[serde(default)]
    pub kind: ProviderKind,
    /// The address that it describes itself at, such as `https://accounts.google.com`.
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Secret,
    /// The longest time for a request to it.
    #[serde(default = "patience")]
    pub seconds: u64,
}

/// The protocol of a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderKind {
    /// OpenID Connect, with discovery and signed tokens.
    #[default]
    OpenidConnect,
    /// OAuth 2.0 and the API of GitHub, which describes itself nowhere and signs nothing.
    Github,
}

/// A text that is not shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(set)")
    }
}

fn patience() -> u64 {
    10
}

impl Provider {
    /// The issuer without a slash at its end.
    pub(super) fn base(&self) -> &str {
        self.issuer.trim_end_matches('/')
    }

    /// Returns true if an address may be queried: over TLS; without, only on the machine of the issuer itself.
    pub(super) fn may_ask(&self, address: &str) -> bool {
        let origin = |address: &str| address.split('/').take(3).collect::<Vec<_>>().join("/");
        match self.issuer.starts_with("https://") {
            true => address.starts_with("https://"),
            false => origin(address) == origin(&self.issuer),
        }
    }
}

/// Checks the providers of the settings.
pub fn check(providers: &[Provider]) -> anyhow::Result<()> {
    for (k, Provider { id, name, issuer, client_id, client_secret, seconds, kind: _ }) in
        providers.iter().enumerate()
    {
        ensure!(
            clean_text::is_key(id, 30),
            "the id of a provider has 1 to 30 of a-z, 0-9 and -, unlike `{id}`"
        );
        if providers[..k].iter().any(|other| other.id == *id) {
            bail!("two providers have the id `{id}`");
        }
        let rest = issuer.strip_prefix("https://").or_else(|| issuer.strip_prefix("http://"));
        let host = rest.unwrap_or("").split(['/', ':']).next().unwrap_or("");
        let is_odd = |c: char| c.is_whitespace() || "?#@".contains(c);
        ensure!(
            !host.is_empty() && !issuer.contains(is_odd),
            "the issuer of the provider `{id}` is an address such as https://accounts.example.org, not `{issuer}`"
        );
        let is_here = ["localhost", "127.0.0.1", "[::1]"].contains(&host)
            || rest.is_some_and(|rest| rest.starts_with("[::1]"));
        ensure!(
            issuer.starts_with("https://") || is_here,
            "the issuer of the provider `{id}` begins with https://"
        );
        ensure!(
            !name.trim().is_empty() && !client_id.is_empty() && !client_secret.0.is_empty(),
            "the provider `{id}` needs a name, client_id and client_secret"
        );
        ensure!(
            (1..=60).contains(seconds),
            "the provider `{id}` has 1 to 60 seconds for a request, not {seconds}"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_checked_and_keep_their_secrets() {
        let provider = |more: &str| -> anyhow::Result<()> {
            let base = "name = 'Google'\nclient_id = 'me'\nclient_secret = 'hush'\n";
            let provider: Provider = toml::from_str(&format!("{base}{more}"))?;
            assert!(!format!("{provider:?}").contains("hush"));
            check(&[provider])
        };
        provider("id = 'google'\nissuer = 'https://accounts.google.com'").unwrap();
        provider("id = 'here'\nissuer = 'http://127.0.0.1:8000'").unwrap();
        provider("id = 'git'\nissuer = 'https://github.com'\nkind = 'github'").unwrap();
        for (wrong, words) in [
            ("id = 'Google'\nissuer = 'https://a.org'", "unlike `Google`"),
            ("id = 'a'\nissuer = 'http://a.org'", "begins with https://"),
            ("id = 'a'\nissuer = 'https://'", "not `https://`"),
            ("id = 'a'\nissuer = 'accounts.google.com'", "not `accounts.google.com`"),
            ("id = 'a'\nissuer = 'https://me@a.org'", "not `https://me@a.org`"),
            ("id = 'a'\nissuer = 'https://a.org'\nseconds = 0", "1 to 60 seconds"),
            ("id = 'a'\nissuer = 'https://a.org'\nkind = 'saml'", "saml"),
            ("id = 'a'\nissuer = 'https://a.org'\nscope = 'all'", "scope"),
        ] {
            let error = format!("{:#}", provider(wrong).unwrap_err());
            assert!(error.contains(words), "{wrong}: {error}");
        }
        let one: Provider = toml::from_str(
            "id = 'a'\nname = 'A'\nissuer = 'https://a.org'\nclient_id = 'c'\nclient_secret = 's'",
        )
        .unwrap();
        assert!(check(&[one.clone(), one.clone()]).unwrap_err().to_string().contains("two providers"));
        assert!(one.may_ask("https://b.org/token") && !one.may_ask("http://a.org/token"));
        let here = Provider { issuer: "http://127.0.0.1:80".to_owned(), ..one };
        assert!(here.may_ask("http://127.0.0.1:80/token"));
        assert!(!here.may_ask("http://127.0.0.1:8080/token") && !here.may_ask("http://127.0.0.1:80@b.org/"));
    }
}
