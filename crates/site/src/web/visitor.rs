//! The visitor who makes a request.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use capeval_api::{Role, Scope};
use serde::Deserialize;

use crate::app::App;
use crate::fault::{Fault, Result};

/// The person who asks, or in whose name a program asks; as the argument of a handler, only of routes that require one.
#[derive(Clone, Debug, Deserialize)]
pub struct Visitor {
    /// The id of the account.
    pub id: String,
    /// The name that others see.
    pub name: String,
    pub email: String,
    pub role: Role,
    /// The rights of the token of a client; all for a person.
    #[serde(skip)]
    pub scopes: Vec<Scope>,
    /// The hash of the session's token, to end it; `None` for programs.
    #[serde(skip)]
    pub session: Option<String>,
}

impl Visitor {
    /// Returns true if all that `scope` allows is allowed.
    pub fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// Returns true if they run benchmarks.
    pub fn is_host(&self) -> bool {
        self.role != Role::Member
    }

    /// Returns true if they administer the site.
    pub fn is_admin(&self) -> bool {
        self.role == Role::Admin
    }
}

impl FromRequestParts<App> for Visitor {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Fault::not_found)
    }
}
