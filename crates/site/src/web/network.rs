//! The network that a request comes from, by which attempts are limited.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts, Request};
use axum::http::Extensions;
use axum::http::request::Parts;

use super::cookie;
use super::signature::Input;
use crate::app::App;
use crate::fault::Fault;
use crate::ids;
use crate::settings::Settings;

/// The network address of a client: a /24 of IPv4 or a /64 of IPv6.
#[derive(Clone, Debug)]
pub struct Network(pub String);

/// A range of addresses: one, or a network such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    address: IpAddr,
    /// The number of leading bits that count.
    bits: u32,
}

impl Range {
    /// Reads a range; `None` if the text is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse::<u32>().ok()?)),
            None => (text, None),
        };
        let written: IpAddr = address.parse().ok()?;
        let address = written.to_canonical();
        let all = if address.is_ipv4() { 32 } else { 128 };
        // A network of IPv4 that is written as one of IPv6 counts the bits of that.
        let wrapped = if written.is_ipv6() && address.is_ipv4() { 96 } else { 0 };
        let bits = bits.map_or(Some(all), |bits| bits.checked_sub(wrapped))?;
        (bits <= all).then_some(Self { address, bits })
    }

    /// Returns true if an address is in the range.
    pub fn has(&self, address: IpAddr) -> bool {
        let shift = |all: u32| all - self.bits;
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(shift(32)).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(shift(128)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

/// The name of the cookie of a session; over TLS, browsers guard names that begin like the first.
pub fn session_cookie(settings: &Settings) -> &'static str {
    if settings.is_secure() { "__Host-capeval" } else { "capeval" }
}

/// The name of the cookie by which a browser is known from which someone has signed in before.
pub fn device_cookie(settings: &Settings) -> &'static str {
    if settings.is_secure() { "__Host-capeval-device" } else { "capeval-device" }
}

/// An attempt to sign in, or to do something else that takes a password, which a network may make only so often.
pub struct Attempt {
    pub network: Network,
    /// The hash of the cookie of a browser from which someone has signed in before.
    pub device: Option<String>,
    /// The hash of the cookie of the session that the browser has.
    pub session: Option<String>,
}

impl FromRequestParts<App> for Attempt {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        let network = parts.extensions.get::<Network>().cloned().ok_or_else(Fault::not_found)?;
        app.limits.take("sign-ins", &network.0, app.settings.sign_ins_per_minute)?;
        let hash = |name| cookie(&parts.headers, name).map(|cookie| ids::digest(cookie.value()));
        let (device, session) = (hash(device_cookie(&app.settings)), hash(session_cookie(&app.settings)));
        Ok(Self { network, device, session })
    }
}

impl Input for Attempt {}

/// The address that a proxy tells, which some write with a port.
fn told_address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().or_else(|_| text.parse().map(|socket: SocketAddr| socket.ip()));
    address.ok().map(|address| address.to_canonical())
}

/// The address at the other end of the connection.
fn peer(extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |ConnectInfo(peer)| peer.ip().to_canonical())
}

fn is_listed(address: IpAddr, proxies: &[String]) -> bool {
    proxies.iter().any(|proxy| Range::parse(proxy).is_some_and(|range| range.has(address)))
}

/// Returns true if a request comes from a listed proxy.
pub fn is_proxied(request: &Request, proxies: &[String]) -> bool {
    is_listed(peer(request.extensions()), proxies)
}

/// A request from a program on this machine that no proxy has forwarded; to others, there is nothing.
pub struct FromThisMachine;

impl FromRequestParts<App> for FromThisMachine {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Self::Rejection> {
        let is_forwarded = ["forwarded", "x-forwarded-for", "x-real-ip", "via"]
            .iter()
            .any(|name| parts.headers.contains_key(*name));
        match peer(&parts.extensions).is_loopback() && !is_forwarded {
            true => Ok(Self),
            false => Err(Fault::not_found()),
        }
    }
}

impl Input for FromThisMachine {}

impl Network {
    /// The network of a request. What a proxy says is believed only of listed proxies.
    pub fn of(request: &Request, proxies: &[String]) -> Self {
        let peer = peer(request.extensions());
        let is_proxy = |address: &IpAddr| is_listed(*address, proxies);
        let mut address = peer;
        if is_proxy(&peer) {
            let values = request.headers().get_all("x-forwarded-for").iter();
            let parts = values.flat_map(|value| value.to_str().unwrap_or("").split(','));
            // Each proxy adds its visitor at the end; what comes before may be anything.
            let told: Vec<Option<IpAddr>> = parts.map(|part| told_address(part.trim())).collect();
            address =
                told.into_iter().rev().map_while(|told| told).find(|told| !is_proxy(told)).unwrap_or(peer);
        }
        Self(match address {
            IpAddr::V4(address) => {
                let [a, b, c, _] = address.octets();
                format!("{a}.{b}.{c}.0/24")
            }
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn only_listed_proxies_are_believed() {
        let request = |peer: &str, told: &str| {
            let mut request = Request::builder().header("x-forwarded-for", told).body(Body::empty()).unwrap();
            let peer: SocketAddr = format!("{peer}:80").parse().unwrap();
            request.extensions_mut().insert(ConnectInfo(peer));
            request
        };
        let proxies = ["10.0.0.1".to_owned(), "10.0.0.2".to_owned()];
        let of = |peer: &str, told: &str| Network::of(&request(peer, told), &proxies).0;
        assert_eq!(of("203.0.113.9", "198.51.100.7"), "203.0.113.0/24");
        assert_eq!(of("10.0.0.1", "198.51.100.7"), "198.51.100.0/24");
        assert_eq!(of("10.0.0.1", "6.6.6.6, 198.51.100.7, 10.0.0.2"), "198.51.100.0/24");
        assert_eq!(of("10.0.0.1", "2001:db8:1:2:3::4"), "2001:db8:1:2::/64");
        assert_eq!(of("10.0.0.1", "nonsense"), "10.0.0.0/24");
        assert_eq!(of("10.0.0.1", "nonsense, 198.51.100.7, 10.0.0.2"), "198.51.100.0/24");
        assert_eq!(of("10.0.0.1", "198.51.100.7, nonsense"), "10.0.0.0/24");
        assert_eq!(of("10.0.0.1", "198.51.100.7:4711"), "198.51.100.0/24");
        assert_eq!(of("10.0.0.1", "[2001:db8:1:2:3::4]:443, 10.0.0.2"), "2001:db8:1:2::/64");
        assert_eq!(of("10.0.0.1", "[2001:db8:1:2:3::4]"), "2001:db8:1:2::/64");
        let proxies = ["2001:db8:ff::/48".to_owned()];
        let of = |peer: &str, told: &str| Network::of(&request(peer, told), &proxies).0;
        assert_eq!(of("[2001:db8:ff:7::1]", "198.51.100.7, 2001:db8:ff::2"), "198.51.100.0/24");
        assert_eq!(of("[2001:db8:fe::1]", "198.51.100.7"), "2001:db8:fe:0::/64");
        let proxies = ["10.0.0.1".to_owned()];
        let of = |peer: &str, told: &str| Network::of(&request(peer, told), &proxies).0;
        assert_eq!(of("[::ffff:10.0.0.1]", "::ffff:198.51.100.7"), "198.51.100.0/24");
    }

    #[test]
    fn ranges_have_their_addresses_and_no_others() {
        let has = |range: &str, address: &str| Range::parse(range).unwrap().has(address.parse().unwrap());
        for (range, inside, outside) in [
            ("10.0.0.1", "10.0.0.1", "10.0.0.2"),
            ("10.0.0.0/8", "10.255.3.4", "11.0.0.0"),
            ("192.168.4.7/22", "192.168.7.255", "192.168.8.0"),
            ("0.0.0.0/0", "203.0.113.9", "2001:db8::1"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"),
            ("::/0", "::1", "10.0.0.1"),
            ("::ffff:10.0.0.0/104", "10.1.2.3", "11.0.0.0"),
        ] {
            assert!(has(range, inside) && !has(range, outside), "{range}");
        }
        assert!(has("10.0.0.0/8", "::ffff:10.1.2.3"));
        for wrong in
            ["", "localhost", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "::/129", "::ffff:10.0.0.0/8"]
        {
            assert!(Range::parse(wrong).is_none(), "{wrong}");
        }
    }
}
