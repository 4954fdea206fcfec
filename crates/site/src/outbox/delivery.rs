//! Sends signed messages to addresses that hosts have set, and never into the server's own network.

use std::net::IpAddr;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use ureq::Agent;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

use super::Message;
use crate::fault::Result;
use crate::settings::Settings;
use crate::{clock, fault, ids};

/// The longest time for a message.
const PATIENCE: Duration = Duration::from_secs(10);

/// The address of a webhook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// Checks an address.
    pub fn new(text: &str, settings: &Settings) -> Result<Self> {
        let text = text.trim();
        let refuse = || {
            fault! {
                UNPROCESSABLE_ENTITY, "webhook-address",
                "A webhook address must begin with https:// or http:// and must not be in a private network."
            }
        };
        let uri: Uri = text.parse().map_err(|_| refuse())?;
        let host = uri.host().unwrap_or("").trim_matches(['[', ']']);
        let is_web = matches!(uri.scheme_str(), Some("https" | "http"));
        let has_password = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
        // Names are resolved, and their addresses checked, whenever a message is sent.
        let address = host.parse::<IpAddr>().ok();
        let name = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let is_own = name == "localhost" || name.ends_with(".localhost");
        let is_private = address.is_some_and(|address| !is_public(address)) || is_own;
        // Resolvers take 2130706433, 0x7f.1 and 127.1 for addresses.
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
        if address.is_none() && is_number {
            return Err(refuse());
        }
        if host.is_empty() || !is_web || has_password || text.len() > 500 {
            return Err(refuse());
        }
        if is_private && !settings.webhooks_private {
            return Err(refuse());
        }
        Ok(Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns true if an address belongs to the public Internet.
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            !(address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_multicast()
                || address.is_documentation()
                || a == 0
                || a >= 240
                || (a == 100 && (64..128).contains(&b))
                || (a == 192 && b == 0 && c == 0)
                || (a == 198 && (18..20).contains(&b)))
        }
        IpAddr::V6(address) => {
            // Only 2000::/3 is public; within it, these are examples, or wrap an address of IPv4.
            let [a, b, ..] = address.segments();
            (0x2000..0x4000).contains(&a) && a != 0x2002 && !(a == 0x2001 && (b < 0x200 || b == 0xdb8))
        }
    }
}

/// Resolves names to public addresses only, at the moment of the connection, so a name cannot change its mind.
#[derive(Debug)]
struct PublicResolver(DefaultResolver);

impl Resolver for PublicResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let resolved = self.0.resolve(uri, config, timeout)?;
        let mut public = self.empty();
        for address in resolved.iter().filter(|address| is_public(address.ip())) {
            public.push(*address);
        }
        if public.is_empty() {
            return Err(ureq::Error::Other("the address is in a private network".into()));
        }
        Ok(public)
    }
}

/// The signature of a message that is sent at a time in seconds: HMAC-SHA256 of `time.body`.
pub fn signature(secret: &str, time: i64, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("keys have any length");
    mac.update(format!("{time}.{body}").as_bytes());
    ids::hex(&mac.finalize().into_bytes())
}

/// Sends a message. Nothing of the answer but its status is used.
pub(super) fn send(settings: &Settings, message: &Message, url: &str, secret: &str) -> anyhow::Result<()> {
    let config = Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .max_redirects(0)
        .proxy(None)
        .user_agent(concat!("capeval-server/", env!("CARGO_PKG_VERSION")))
        .build();
    let agent = match settings.webhooks_private {
        true => Agent::new_with_config(config),
        false => {
            Agent::with_parts(config, DefaultConnector::default(), PublicResolver(DefaultResolver::default()))
        }
    };
    let time = clock::now() / 1000;
    let signature = format!("t={time},v1={}", signature(secret, time, &message.body));
    let answer = agent
        .post(url)
        .header("content-type", "application/json")
        .header("capeval-delivery", &message.id)
        .header("capeval-signature", &signature)
        .send(&message.body)?;
    anyhow::ensure!(answer.status().is_success(), "the receiver answers {}", answer.status());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_hmac() {
        // python3 -c "import hmac; print(hmac.new(b'key', b'1.body', 'sha256').hexdigest())", and with b'k' * 100
        assert_eq!(
            signature("key", 1, "body"),
            "91b5374b153842ad05b2c4eab9349b8321b14703165bd3fb8b034dfb8be98ae5"
        );
        assert_eq!(
            signature(&"k".repeat(100), 1, "body"),
            "bdb7ea4e322fd7238fe87a2276f762d9ffc4402c07e3b94d0bab8a7eb262ccda"
        );
    }

    #[test]
    fn private_networks_are_not_public() {
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "192.0.0.8",
            "198.18.0.1",
            "::1",
            "::",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2001:4860::8888"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn addresses_are_checked() {
        let settings = Settings::default();
        for wrong in [
            "",
            "example.org",
            "ftp://example.org",
            "https://",
            "file:///etc/passwd",
            "https://a:b@example.org/",
            "http://127.0.0.1/",
            "http://localhost:8080/",
            "https://[::1]/",
            "https://10.0.0.1",
            "https://ex ample.org",
            "http://2130706433/",
            "http://127.1/",
            "http://0x7f.0.0.1/",
            "http://0x7f000001/",
            "http://127.0.0.1./",
            "http://LOCALHOST/",
            "http://a.localhost./",
        ] {
            assert!(Address::new(wrong, &settings).is_err(), "{wrong}");
        }
        assert_eq!(
            Address::new(" https://example.org/x?y=1 ", &settings).unwrap().as_str(),
            "https://example.org/x?y=1"
        );
        let settings = Settings { webhooks_private: true, ..settings };
        assert!(Address::new("http://127.0.0.1:9/", &settings).is_ok());
    }
}
