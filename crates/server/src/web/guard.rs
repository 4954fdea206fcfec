//! Decides before each handler who asks, whether they may, and whether they ask too often.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use super::route::{Access, Scope};
use super::{cookie, encode};
use crate::accounts::{Role, Visitor, sessions, tokens};
use crate::app::App;
use crate::fault;
use crate::fault::Fault;

/// The network address of a client: a /24 of IPv4 or a /64 of IPv6.
#[derive(Clone, Debug)]
struct Network(String);

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

/// The layer of each route.
pub async fn guard(
    State((app, access)): State<(App, Access)>,
    mut request: Request,
    next: Next,
) -> Result<Response, Fault> {
    let network = network(&request, &app.settings.proxies);
    let is_program = is_program(request.uri().path());
    let token = token(&app, request.headers(), is_program).map(str::to_owned);
    let visitor = match &token {
        Some(token) if is_program => tokens::visitor(&app.store, token).await?,
        Some(token) => sessions::visitor(&app.store, token).await?,
        None => None,
    };
    let who = visitor.as_ref().map_or(network.0.as_str(), |visitor| visitor.id.as_str());
    app.limits.take("requests", who, app.settings.requests_per_minute)?;
    if !allows(access, visitor.as_ref()) {
        return match visitor {
            Some(_) if is_program && !is_hidden(access, visitor.as_ref()) => {
                Err(fault!(FORBIDDEN, "scope", "This token lacks the required scope."))
            }
            Some(_) => Err(Fault::not_found()),
            None if is_program => Err(fault!(
                UNAUTHORIZED,
                "token",
                "A valid token is required (Authorization: Bearer …). Create one on your account page."
            )),
            None => {
                let to = request.uri().path_and_query().map_or("/", |path| path.as_str());
                Ok(Redirect::to(&format!("/sign-in?to={}", encode(to))).into_response())
            }
        };
    }
    request.extensions_mut().insert(network);
    let shown = visitor.clone();
    if let Some(visitor) = visitor {
        request.extensions_mut().insert(visitor);
    }
    let mut response = next.run(request).await;
    // The page of a fault greets the person, too.
    if let Some(visitor) = shown {
        response.extensions_mut().insert(visitor);
    }
    Ok(response)
}

/// Whether a path is for programs, which send a token and never a cookie.
pub fn is_program(path: &str) -> bool {
    path.starts_with("/api/")
}

fn token<'h>(app: &App, headers: &'h HeaderMap, is_program: bool) -> Option<&'h str> {
    if is_program { bearer(headers) } else { cookie(headers, sessions::cookie_name(&app.settings)) }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// Whether `visitor` may use a route.
pub fn allows(access: Access, visitor: Option<&Visitor>) -> bool {
    let Some(visitor) = visitor else { return access == Access::Public };
    match access {
        Access::Public => true,
        Access::Person(scope) => visitor.has(scope),
        Access::Host => visitor.has(Scope::Host) && visitor.role != Role::Member,
        Access::Admin => visitor.has(Scope::Host) && visitor.role == Role::Admin,
    }
}

/// Whether a visitor must not learn that a route exists, whatever the token.
fn is_hidden(access: Access, visitor: Option<&Visitor>) -> bool {
    let role = visitor.map(|visitor| visitor.role);
    match access {
        Access::Public | Access::Person(_) => false,
        Access::Host => role == Some(Role::Member),
        Access::Admin => role != Some(Role::Admin),
    }
}

/// The network that a request comes from. What a proxy says is believed only of listed proxies.
fn network(request: &Request, proxies: &[String]) -> Network {
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
        address = told.into_iter().rev().map_while(|told| told).find(|told| !is_proxy(told)).unwrap_or(peer);
    }
    Network(match address {
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
        let of = |peer: &str, told: &str| network(&request(peer, told), &proxies).0;
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
