//! Accounts: people, how they sign in, what programs may do in their name, and who may invite whom.

mod admin;
pub mod deletion;
mod devices;
pub mod guard;
pub mod invitations;
pub mod links;
mod mail;
pub mod own_data;
pub mod password;
pub mod people;
mod privacy;
mod profile;
pub mod providers;
mod recovery;
mod registration;
pub mod sessions;
mod sign_in;
pub mod tokens;
pub mod totp;

pub use capeval_api::Role;

use crate::web::Route;
pub use crate::web::Visitor;

pub fn routes() -> Vec<Route> {
    let features = [
        sign_in::routes(),
        registration::routes(),
        recovery::routes(),
        profile::routes(),
        mail::routes(),
        providers::routes(),
        own_data::routes(),
        privacy::routes(),
        admin::routes(),
    ];
    features.into_iter().flatten().collect()
}
