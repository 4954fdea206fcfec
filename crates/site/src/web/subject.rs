//! The subject that an address names, and the standing that the visitor must have. A handler that takes
//! `Hosted<SeenPhase>` cannot forget to check whose phase it is.

use std::ops::Deref;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;

use super::Visitor;
use super::signature::{Contract, Input};
use crate::app::App;
use crate::fault::{Fault, Result};

/// The standing of a visitor with a thing; each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// They may see it.
    Sees,
    /// It is theirs, or their team's.
    Owns,
    /// They moderate the collection that it is in.
    Moderates,
    /// They run the benchmark or the collection that it is in.
    Hosts,
}

/// A thing that the variable parts of a path name.
pub trait Subject: Sized + Send {
    /// Its name in the table of routes.
    const KIND: &'static str;

    /// The thing, if the visitor may see it.
    fn find(app: &App, names: &Names, visitor: Option<&Visitor>)
    -> impl Future<Output = Result<Self>> + Send;

    /// The standing of the visitor with it.
    fn standing(&self) -> Standing;
}

/// The variable parts of a path.
pub struct Names(RawPathParams);

impl Names {
    /// The part that the route calls `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The same where the route must have it.
    pub fn require(&self, name: &str) -> Result<&str> {
        self.get(name).ok_or_else(Fault::not_found)
    }

    /// The same for a number; a refusal says which part of the path is none.
    pub fn number(&self, name: &str) -> Result<i64> {
        self.require(name)?.parse().map_err(|error| Fault::malformed(&format_args!("{name}: {error}")))
    }
}

async fn find<T: Subject>(parts: &mut Parts, app: &App, needed: Standing) -> Result<T> {
    let names = RawPathParams::from_request_parts(parts, app).await.map_err(|_| Fault::not_found())?;
    let found = T::find(app, &Names(names), parts.extensions.get::<Visitor>()).await?;
    if found.standing() >= needed { Ok(found) } else { Err(Fault::not_found()) }
}

macro_rules! families {
    ($($(#[$doc:meta])* $name:ident: $standing:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name<T>(pub T);

        impl<T> Deref for $name<T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.0
            }
        }

        impl<T: Subject> FromRequestParts<App> for $name<T> {
            type Rejection = Fault;

            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
                find(parts, app, Standing::$standing).await.map(Self)
            }
        }

        impl<T: Subject> Input for $name<T> {
            fn describe(contract: &mut Contract) {
                contract.subjects.push((T::KIND, Standing::$standing));
            }
        }
    )*};
}

families! {
    /// A thing that the visitor may see.
    Visible: Sees;
    /// A thing that is the visitor's, their team's, or in what they run.
    Own: Owns;
    /// A thing in a collection that the visitor moderates.
    Moderated: Moderates;
    /// A thing that the visitor runs, or that is in what they run.
    Hosted: Hosts;
}
