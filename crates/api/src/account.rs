//! Accounts, and the tokens of programs.

use capeval_choice::named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Open, Time, describe_choices};

named! {
    /// The rights of a person: take part; also run benchmarks; also manage accounts, and see everything.
    pub enum Role ("role") {
        Member = "member", "member";
        Host = "host", "host";
        Admin = "admin", "administrator";
    }
}

named! {
    /// The rights of a token.
    pub enum Scope ("scope") {
        Read = "read", "read what its owner can see";
        Submit = "submit", "also submit results and contribute to collections";
        Host = "host", "also manage the owner's benchmarks";
    }
}

describe_choices!(Role: "Role", Scope: "Scope");

/// The owner of a token.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    pub id: String,
    pub name: String,
    pub email: String,
    pub role: Open<Role>,
    /// The rights of the token.
    pub scopes: Vec<Open<Scope>>,
}

/// Accounts, as administrators see them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Accounts {
    pub accounts: Vec<ManagedAccount>,
    /// The value of `after` for the next part of the list; `null` at its end.
    pub next: Option<String>,
}

/// An account, as administrators see it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ManagedAccount {
    pub id: String,
    pub name: String,
    pub email: String,
    pub role: Open<Role>,
    pub created_at: Time,
    /// Since when the account cannot be used.
    pub disabled_at: Option<Time>,
}

/// A link to set a new password, which works once and for a day.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AccountLink {
    pub url: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    pub tokens: Vec<Token>,
}

/// A token without its secret.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Token {
    pub id: String,
    pub name: String,
    /// The first characters, to recognise it by.
    pub prefix: String,
    /// The widest of its scopes.
    pub scopes: Open<Scope>,
    /// In milliseconds since 1970.
    pub created_at: i64,
    /// In milliseconds since 1970, to the hour; `null` if it has never been used.
    pub used_at: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NewToken {
    /// The scope if it is empty.
    #[serde(default)]
    pub name: String,
    pub scope: Scope,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedToken {
    /// The token itself, which is shown only once.
    pub token: String,
}

/// The name and the email address of a person, and lists of all that they have contributed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Contributions(pub Map<String, Value>);
