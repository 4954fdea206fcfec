//! Jobs: what takes longer than a request, done once, whatever process is killed meanwhile.
//!
//! A job is a row, claimed for the time of a lease that its worker keeps extending. Each claim counts an attempt, and
//! only the attempt that is current may write results (the fence): a worker that was thought dead cannot write twice.

pub mod child;
pub mod queue;
pub mod runner;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::watch;

use crate::app::App;
use crate::fault::Fault;
use crate::store::Tx;

/// A claimed job.
#[derive(Clone, Debug)]
pub struct Job {
    /// The id.
    pub id: String,
    /// What kind of work it is.
    pub kind: String,
    /// What it works on, such as a submission.
    pub subject: String,
    /// How often it was claimed, with this time.
    pub attempt: i64,
    /// Whether somebody waits for it.
    pub is_awaited: bool,
}

/// Wakes the workers of this process. Each of them looks for a job of its own kind, so all are woken.
#[derive(Debug, Default)]
pub struct Wake(watch::Sender<()>);

impl Wake {
    /// Wakes those that sleep, and keeps the others from falling asleep before they have looked once more.
    pub fn notify(&self) {
        self.0.send_replace(());
    }

    /// Notices every call of [`Self::notify`] from now on.
    pub fn listen(&self) -> watch::Receiver<()> {
        self.0.subscribe()
    }
}

/// Why a run of a job failed.
#[derive(Clone, Debug)]
pub enum Failure {
    /// It may succeed another time.
    Passing(String),
    /// It would fail every time; the text is for its owner.
    Lasting(String),
}

impl<E: std::fmt::Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Passing(format!("{error:#}"))
    }
}

/// A kind of work.
#[derive(Clone, Copy)]
pub struct Work {
    /// The name in rows.
    pub kind: &'static str,
    /// Does it, without writing results.
    pub run: fn(App, Job) -> BoxFuture<'static, Result<Value, Failure>>,
    /// Writes the result, or why there is none, in the transaction that ends the job.
    pub finish: Finish,
}

/// A function that ends a job of some kind.
pub type Finish =
    for<'a> fn(&'a App, &'a mut Tx, &'a Job, Result<Value, String>) -> BoxFuture<'a, Result<(), Fault>>;
