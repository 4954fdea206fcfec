//! The network that a request comes from, by which attempts are limited.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts, Request};
use axum::http::request::Parts;

use super::signature::Input;
use crate::app::App;
use crate::fault::Fault;

/// The network address of a client: a /24 of IPv4 or a /64 of IPv6.
#[derive(Clone, Debug)]
pub struct Network(pub String);

/// An attempt to sign in, or to do something else that takes a password, which a network may make only so often.
pub struct Attempt;

impl FromRequestParts<App> for Attempt {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        let network = parts.extensions.get::<Network>().ok_or_else(Fault::not_found)?;
        app.limits.take("sign-ins", &network.0, app.settings.sign_ins_per_minute)?;
        Ok(Self)
    }
}

impl Input for Attempt {}

impl Network {
    /// The network of a request. What a proxy says is believed only of listed proxies.
    pub fn of(request: &Request, proxies: &[String]) -> Self {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |ConnectInfo(peer)| peer.ip().to_canonical());
        let is_proxy = |address: &IpAddr| {
            let known =
                |proxy: &String| proxy.parse().is_ok_and(|proxy: IpAddr| proxy.to_canonical() == *address);
            proxies.iter().any(known)
        };
        let mut address = peer;
        if is_proxy(&peer) {
            let values = request.headers().get_all("x-forwarded-for").iter();
            let parts = values.flat_map(|value| value.to_str().unwrap_or("").split(','));
            // Each proxy adds its visitor at the end; what comes before may be anything.
            let told: Vec<Option<IpAddr>> =
                parts.map(|part| part.trim().parse().ok().map(|told: IpAddr| told.to_canonical())).collect();
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
        assert_eq!(of("[::ffff:10.0.0.1]", "::ffff:198.51.100.7"), "198.51.100.0/24");
    }
}
