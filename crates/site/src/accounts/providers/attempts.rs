//! Sign-ins that have begun, in the database, each bound to a browser by a cookie.

use serde::Deserialize;

use super::Provider;
use super::exchange::Identity;
use crate::app::App;
use crate::fault::{Fault, Result};
use crate::jobs::queue::Priority;
use crate::jobs::{self, Failure, Job, Lane, Work};
use crate::store::{self, Store, Tx};
use crate::{args, clock, columns, fault, ids};

/// The minutes for which a sign-in may take.
pub(super) const MINUTES: i64 = 10;

/// A request to a provider.
pub(super) struct BegunAttempt {
    /// The value that the browser keeps in a cookie.
    pub cookie: String,
    pub state: String,
    pub nonce: String,
    /// The proof for the provider that who asks for the tokens is who began.
    pub verifier: String,
    /// The page to go to.
    pub destination: String,
}

/// A sign-in whose person is known.
#[derive(Deserialize)]
pub(super) struct AnsweredAttempt {
    #[serde(deserialize_with = "store::json")]
    identity: Option<Identity>,
    pub destination: String,
}

impl BegunAttempt {
    /// Makes a new request to a provider.
    pub fn new(destination: &str) -> std::io::Result<Self> {
        let [cookie, state, nonce, verifier] =
            [ids::secret()?, ids::secret()?, ids::secret()?, ids::secret()?];
        Ok(Self { cookie, state, nonce, verifier, destination: destination.to_owned() })
    }
}

fn ended() -> Fault {
    fault! {
        CONFLICT, "sign-in-ended",
        "This sign-in was begun in another browser, has been used, or is older than {} minutes. Please sign in again.",
        MINUTES
    }
}

/// Begins a sign-in.
pub(super) async fn begin(store: &Store, provider: &Provider, asked: &BegunAttempt) -> Result<()> {
    let mut tx = store.begin().await?;
    let now = clock::now();
    tx.execute("DELETE FROM sign_in_attempt WHERE expires_at <= $1", args![now]).await?;
    let row = columns! {
        hash: ids::digest(&asked.cookie), provider: &provider.id, state_hash: ids::digest(&asked.state),
        nonce: &asked.nonce, verifier: &asked.verifier, destination: &asked.destination,
        expires_at: now + MINUTES * 60_000,
    };
    tx.insert_row("sign_in_attempt", row).await?;
    Ok(tx.commit().await?)
}

/// Takes the request of the provider that sends this browser back with this state, which works once.
pub(super) async fn take(
    store: &Store,
    provider: &Provider,
    cookie: &str,
    state: &str,
) -> Result<BegunAttempt> {
    let mut tx = store.begin().await?;
    let sql = "UPDATE sign_in_attempt SET state_hash = '' WHERE hash = $1 AND provider = $2 AND state_hash = $3 \
               AND expires_at > $4 RETURNING nonce, verifier, destination";
    let taken: Option<(String, String, String)> = tx
        .fetch_optional(sql, args![ids::digest(cookie), &provider.id, ids::digest(state), clock::now()])
        .await?;
    let (nonce, verifier, destination) = taken.ok_or_else(ended)?;
    tx.commit().await?;
    Ok(BegunAttempt { cookie: cookie.to_owned(), state: state.to_owned(), nonce, verifier, destination })
}

/// Keeps who came back, until the sign-in is finished or its time is over.
pub(super) async fn keep(store: &Store, cookie: &str, identity: &Identity) -> Result<()> {
    let hash = ids::digest(cookie);
    let mut tx = store.begin().await?;
    let sql = "UPDATE sign_in_attempt SET identity = $1 WHERE hash = $2 RETURNING expires_at";
    let kept = tx.fetch_optional(sql, args![serde_json::to_string(identity)?, &hash]).await?;
    if let Some(end) = kept {
        jobs::add_at::<ForgetAttempt>(&mut tx, &hash, Priority::Background, end).await?;
    }
    Ok(tx.commit().await?)
}

/// Forgets who came back and did not finish: the name and the address of someone who may have no account.
pub struct ForgetAttempt;

impl Work for ForgetAttempt {
    const KIND: &'static str = "sign-in-end";
    const LANE: Lane = Lane::Errands;
    /// The hash of the cookie.
    type Subject = String;
    type Output = ();

    async fn run(_: &App, _: &Job) -> Result<(), Failure> {
        Ok(())
    }

    async fn finish(_: &App, tx: &mut Tx, job: &Job, _: Result<(), String>) -> Result<()> {
        tx.execute("DELETE FROM sign_in_attempt WHERE hash = $1", args![&job.subject]).await?;
        Ok(())
    }
}

/// The person who came back in this browser, and the page to go to.
pub(super) async fn answered(store: &Store, cookie: &str) -> Result<(Identity, String)> {
    let sql = "SELECT identity, destination FROM sign_in_attempt WHERE hash = $1 AND expires_at > $2";
    let found: Option<AnsweredAttempt> =
        store.fetch_optional(sql, args![ids::digest(cookie), clock::now()]).await?;
    let AnsweredAttempt { identity, destination } = found.ok_or_else(ended)?;
    Ok((identity.ok_or_else(ended)?, destination))
}

/// Ends a sign-in, which cannot be finished a second time.
pub(super) async fn end(tx: &mut Tx, cookie: &str) -> Result<()> {
    let sql = "DELETE FROM sign_in_attempt WHERE hash = $1";
    if tx.execute(sql, args![ids::digest(cookie)]).await? == 0 { Err(ended()) } else { Ok(()) }
}
