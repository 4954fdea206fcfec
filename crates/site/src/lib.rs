//! The base of the server: accounts, a database, files, jobs, mail, pages, backups. It knows nothing about captions.
//!
//! What a site is for comes as [features](feature::Feature), which this crate goes through and does not name.
#![allow(missing_docs, reason = "no users outside of the workspace")]

pub mod accounts;
pub mod app;
pub mod audit;
pub mod backup;
pub mod blobs;
#[cfg_attr(not(feature = "s3"), path = "bucket_disabled.rs")]
pub mod bucket;
#[cfg(feature = "s3")]
mod bucket_client;
pub mod clean_text;
pub mod clock;
mod connections;
pub mod counts;
pub mod fault;
pub mod feature;
pub mod health;
pub mod ids;
pub mod invariants;
pub mod jobs;
pub mod named_files;
pub mod outbox;
pub mod paging;
pub mod personal_data;
pub mod pictures;
pub mod prelude;
pub mod reason;
pub mod request_id;
pub mod retryable;
pub mod serve;
pub mod settings;
pub mod space;
pub mod store;
#[cfg(debug_assertions)]
pub mod testing;
#[cfg_attr(not(feature = "otel"), path = "traces_disabled.rs")]
pub mod traces;
pub mod web;

use feature::Feature;
use jobs::AnyWork;
use web::language::say;
use web::{Access, MenuItem, Route};

/// The base: accounts, jobs, messages, backups and what all pages share.
pub static BASE: Feature = Feature {
    migrations: migrations!("site": "accounts" "audit" "jobs" "outbox"),
    invariants: invariants::OF_BASE,
    routes: base_routes,
    works: &[
        AnyWork::of::<accounts::deletion::FinishDeletion>(),
        AnyWork::of::<accounts::providers::ForgetAttempt>(),
        AnyWork::of::<accounts::links::SendPasswordLink>(),
        AnyWork::of::<backup::nightly::NightlyBackup>(),
        AnyWork::of::<outbox::SendMessage>(),
    ],
    personal_data: &[&outbox::OwnData],
    sentences: include_str!("../locales/zh.toml"),
    menu: &[MenuItem {
        address: "/admin/accounts",
        name: say("Accounts"),
        access: Access::Admin,
        below: None,
    }],
    done: &[
        ("saved", say("Saved.")),
        ("password", say("Your password is changed. Sign in with it.")),
        ("removed", say("Removed.")),
        ("account-deleted", say("Your account has been deleted.")),
        ("signed-out", say("You have signed out.")),
        ("welcome", say("Your account is ready.")),
    ],
    assets: web::assets::ASSETS,
    ..Feature::NONE
};

fn base_routes() -> Vec<Route> {
    [web::assets::routes(), web::openapi::routes(), health::routes(), accounts::routes()].concat()
}
