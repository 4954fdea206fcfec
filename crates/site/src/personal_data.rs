//! The data that features keep about people: each exports it, and forgets a person.

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::app::App;
use crate::fault::Result;
use crate::store::Tx;

/// The data that a feature keeps about people.
pub trait PersonalData: Sync {
    /// What it keeps, as a sentence that [`say`](crate::web::language::say) marks; `None` if the page on privacy says
    /// it.
    fn kept(&self) -> Option<&'static str> {
        None
    }

    /// The contributions of a person.
    fn export<'a>(&'a self, app: &'a App, account: &'a str) -> BoxFuture<'a, Result<Export>> {
        let _ = (app, account);
        Box::pin(async { Ok(Export::default()) })
    }

    /// Withdraws what a person has contributed, each thing in a transaction of its own, so others need not wait.
    /// If the process is killed, it is asked again.
    fn withdraw<'a>(&'a self, app: &'a App, account: &'a str) -> BoxFuture<'a, Result<()>> {
        let _ = (app, account);
        Box::pin(async { Ok(()) })
    }

    /// Deletes what is left of the contributions, or says that something was contributed since they were withdrawn.
    fn clear<'a>(&'a self, tx: &'a mut Tx, account: &'a str) -> BoxFuture<'a, Result<()>> {
        let _ = (tx, account);
        Box::pin(async { Ok(()) })
    }

    /// Returns true if the addresses of a person who leaves must be known, should they come back.
    fn is_remembered<'a>(&'a self, tx: &'a mut Tx, account: &'a str) -> BoxFuture<'a, Result<bool>> {
        let _ = (tx, account);
        Box::pin(async { Ok(false) })
    }

    /// Forgets a person whose account is deleted by the same transaction.
    fn forget<'a>(&'a self, tx: &'a mut Tx, person: &'a Leaving) -> BoxFuture<'a, Result<()>>;
}

/// A part of an export.
#[derive(Default)]
pub struct Export {
    /// Rows, by what they are.
    pub data: Map<String, Value>,
    /// Files: the name in the archive, and the hash among the blobs.
    pub files: Vec<(String, String)>,
}

/// A person whose account is being deleted.
#[derive(Deserialize)]
pub struct Leaving {
    /// The id of the account.
    pub id: String,
    pub email: String,
    pub name: String,
}
