//! Decides before each handler who asks, whether they may, and whether they ask too often.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use super::{Role, Visitor, sessions, tokens};
use crate::app::App;
use crate::fault;
use crate::fault::{Fault, Result};
use crate::web::network::{Network, session_cookie};
use crate::web::{Access, Scope, WATCHED, cookie, encode, is_program};

/// The layer of each route.
pub async fn guard(
    State((app, access)): State<(App, Access)>,
    mut request: Request,
    next: Next,
) -> Result<Response> {
    let network = Network::of(&request, &app.settings.proxies);
    let is_program = is_program(request.uri().path());
    let visitor = match WATCHED.contains(&request.uri().path()) {
        // They need no visitor, and must answer while the database does not.
        true => None,
        false => visitor(&app, request.headers(), is_program).await?,
    };
    let who = visitor.as_ref().map_or(network.0.as_str(), |visitor| visitor.id.as_str());
    if let Some(visitor) = &visitor {
        tracing::Span::current().record("account", visitor.id.as_str());
    }
    app.limits.take("requests", who, app.settings.requests_per_minute)?;
    if !allows(access, visitor.as_ref()) {
        return match visitor {
            Some(_) if is_program && !is_hidden(access, visitor.as_ref()) => {
                Err(fault!(FORBIDDEN, "scope", "This token lacks the required scope."))
            }
            Some(_) => Err(Fault::not_found()),
            None if is_program => Err(fault! {
                UNAUTHORIZED, "token",
                "A valid token is required (Authorization: Bearer …). Create one on your account page."
            }),
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

/// The person who asks. Programs send a token and never a cookie.
pub async fn visitor(app: &App, headers: &HeaderMap, is_program: bool) -> Result<Option<Visitor>> {
    if is_program {
        let Some(token) = bearer(headers) else { return Ok(None) };
        return tokens::visitor(&app.store, token).await;
    }
    let Some(cookie) = cookie(headers, session_cookie(&app.settings)) else { return Ok(None) };
    Ok(sessions::visitor(&app.store, cookie.value()).await?)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// Returns true if `visitor` may use a route.
fn allows(access: Access, visitor: Option<&Visitor>) -> bool {
    let Some(visitor) = visitor else { return access == Access::Public };
    match access {
        Access::Public => true,
        Access::Person(scope) => visitor.has(scope),
        Access::Host => visitor.has(Scope::Host) && visitor.role != Role::Member,
        Access::Admin => visitor.has(Scope::Host) && visitor.role == Role::Admin,
    }
}

/// Returns true if a visitor must not learn that a route exists, whatever the token.
fn is_hidden(access: Access, visitor: Option<&Visitor>) -> bool {
    let role = visitor.map(|visitor| visitor.role);
    match access {
        Access::Public | Access::Person(_) => false,
        Access::Host => role == Some(Role::Member),
        Access::Admin => role != Some(Role::Admin),
    }
}
