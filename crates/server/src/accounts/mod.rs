//! Accounts: people, how they sign in, what programs may do in their name, and who may invite whom.

pub mod admin;
mod api;
pub mod deletion;
pub mod invitations;
pub mod own_data;
mod pages;
pub mod password;
pub mod people;
pub mod sessions;
pub mod tokens;
pub mod totp;

use serde::Serialize;

use crate::web::{Route, Scope};

capeval_choice::named! {
    /// What a person may do: take part; also run benchmarks; also manage accounts, and see everything.
    pub enum Role ("role") {
        Member = "member", "member";
        Host = "host", "host";
        Admin = "admin", "administrator";
    }
}

/// The person who asks, or in whose name a program asks.
#[derive(Clone, Debug, Serialize)]
pub struct Visitor {
    /// The id of the account.
    pub id: String,
    /// The name that others see.
    pub name: String,
    /// The mail address.
    pub email: String,
    /// The role.
    pub role: Role,
    /// What the token of a program allows; all for a person.
    #[serde(skip)]
    pub scopes: Vec<Scope>,
    /// The hash of the session's token, to end it; `None` for programs.
    #[serde(skip)]
    pub session: Option<String>,
}

impl Visitor {
    /// Whether all that `scope` allows is allowed.
    pub fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// Whether they run benchmarks.
    pub fn is_host(&self) -> bool {
        self.role != Role::Member
    }

    /// Whether they administer the site.
    pub fn is_admin(&self) -> bool {
        self.role == Role::Admin
    }
}

/// The routes of accounts.
pub fn routes() -> Vec<Route> {
    let mut routes = pages::routes();
    routes.extend(api::routes());
    routes.extend(deletion::routes());
    routes.extend(own_data::routes());
    routes.extend(admin::routes());
    routes
}
