//! Jobs: what takes longer than a request, done once, whichever process is killed.
//!
//! A job is a row, claimed for the time of a lease that its worker keeps extending. Each claim counts an attempt, and
//! only the attempt that is current may write results (the fence): a worker that was thought dead cannot write twice.
//!
//! The server only serves; a child of the same program does the work, with limits of memory and time, a cleared
//! environment and, on Linux, Landlock and seccomp: it reads the references and one submission, and opens no socket. A
//! job ends in one transaction with what it wrote. An end that cannot be written becomes a failure with a reason; if
//! that cannot be written either, the job ends alone and the log says why, so no job stays claimed for ever.
//!
//! Jobs stand in lanes, each of which has workers of its own, so none waits for the jobs of another: a link to a new
//! password is sent while thousands of submissions are scored, and comparisons and the backup go on. Children of
//! background jobs run at lower priority: comparing the neighbours on a board of 40,504 captions takes seconds of
//! processor time, during which submissions used to take up to three times as long. A process claims only kinds that it
//! knows, so that the jobs of a newer version wait for it during an upgrade.

pub mod child;
mod failure;
pub mod queue;
pub mod runner;

use std::fmt::Display;
use std::str::FromStr;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Deserializer};
use tokio::sync::watch;

use self::queue::Priority;
use crate::app::App;
use crate::clock;
use crate::fault::Result;
use crate::store::{Error, Tx};

pub use failure::Failure;

/// A claimed job.
#[derive(Clone, Debug, Deserialize)]
pub struct Job<S = String> {
    pub id: String,
    /// The kind of work.
    pub kind: String,
    /// Its subject, such as a submission.
    pub subject: S,
    /// The number of times that it was claimed, with this time.
    pub attempt: i64,
    /// True if a person waits for it.
    #[serde(rename = "priority", deserialize_with = "is_awaited")]
    pub is_awaited: bool,
    /// The reason why the last attempt failed that was not killed.
    pub error: Option<String>,
    /// The request that caused it, if there was one.
    pub cause: Option<String>,
}

fn is_awaited<'de, D: Deserializer<'de>>(priority: D) -> Result<bool, D::Error> {
    Ok(i64::deserialize(priority)? == Priority::Awaited as i64)
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

capeval_choice::named! {
    /// The queue that jobs of a kind stand in.
    pub enum Lane ("lane") {
        Errands = "errands", "email, uploads, deletions: done in a moment";
        Checks = "checks", "references, dry runs, pages and files that someone waits for";
        Scoring = "scoring", "submissions";
        Comparisons = "comparisons", "marks of boards, agreement of measures";
        Upkeep = "upkeep", "the nightly backup, removals of imports";
    }
}

/// A kind of work.
pub trait Work: 'static {
    /// The name in rows.
    const KIND: &'static str;

    /// The lane of its jobs.
    const LANE: Lane;

    /// The subject of a job; rows hold it as text.
    type Subject: FromStr + Display + Send + Sync;

    /// The result of a run.
    type Output: Send;

    /// Does the work, without writing results.
    fn run(app: &App, job: &Job<Self::Subject>)
    -> impl Future<Output = Result<Self::Output, Failure>> + Send;

    /// Writes the result, or why there is none, in the transaction that ends the job.
    fn finish(
        app: &App,
        tx: &mut Tx,
        job: &Job<Self::Subject>,
        outcome: Result<Self::Output, String>,
    ) -> impl Future<Output = Result<()>> + Send;
}

/// Has rows hold the subject of a job, which has two fields, as `one/other`.
#[macro_export]
macro_rules! two_part_subject {
    ($subject:ident: $one:ident / $other:ident) => {
        impl std::fmt::Display for $subject {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}/{}", self.$one, self.$other)
            }
        }

        impl std::str::FromStr for $subject {
            type Err = ();

            fn from_str(text: &str) -> Result<Self, ()> {
                let (one, other) = text.split_once('/').ok_or(())?;
                Ok(Self { $one: one.to_owned(), $other: other.to_owned() })
            }
        }
    };
}

/// A kind of work for lists of them.
#[derive(Clone, Copy)]
pub struct AnyWork {
    kind: &'static str,
    lane: Lane,
    perform: Perform,
}

/// Performs a claimed job until it ends, is lost to another worker, or the process stops.
type Perform = for<'a> fn(&'a App, &'a Job, &'a mut watch::Receiver<bool>) -> BoxFuture<'a, Result<Outcome>>;

capeval_choice::named! {
    /// The end of a run of a job.
    pub enum Outcome ("outcome of a run") {
        Done = "done", "with a result";
        Failed = "failed", "without one, and it is not tried again";
        Again = "again", "without one, and it is tried again";
        Lost = "lost", "another worker has the job, or it was cancelled";
        Stopped = "stopped", "the process stops, and the job goes on later";
    }
}

impl AnyWork {
    /// The name in rows.
    pub fn kind(self) -> &'static str {
        self.kind
    }

    /// The lane of its jobs.
    pub fn lane(self) -> Lane {
        self.lane
    }

    /// Work of the kind `W`.
    pub const fn of<W: Work>() -> Self {
        Self {
            kind: W::KIND,
            lane: W::LANE,
            perform: |app, job, stop| Box::pin(runner::perform::<W>(app, job, stop)),
        }
    }
}

/// Adds a job. Wake the runner once the transaction is committed.
pub async fn add<W: Work>(tx: &mut Tx, subject: &W::Subject, priority: Priority) -> Result<(), Error> {
    add_at::<W>(tx, subject, priority, clock::now()).await
}

/// Adds a job, unless one of its kind is to be done, or being done, for its subject.
pub async fn add_once<W: Work>(tx: &mut Tx, subject: &W::Subject, priority: Priority) -> Result<(), Error> {
    match queue::is_waiting(tx, W::KIND, &subject.to_string()).await? {
        true => Ok(()),
        false => add::<W>(tx, subject, priority).await,
    }
}

/// Returns whether a job is to be done, or being done, for a subject, and otherwise why the last one failed, if so.
pub async fn progress<W: Work>(tx: &mut Tx, subject: &W::Subject) -> Result<(bool, Option<String>), Error> {
    let subject = subject.to_string();
    match queue::is_waiting(tx, W::KIND, &subject).await? {
        true => Ok((true, None)),
        false => Ok((false, queue::failure(tx, W::KIND, &subject).await?)),
    }
}

/// Adds a job that begins no earlier than `run_after`.
pub async fn add_at<W: Work>(
    tx: &mut Tx,
    subject: &W::Subject,
    priority: Priority,
    run_after: i64,
) -> Result<(), Error> {
    queue::add_at(tx, (W::LANE, W::KIND), &subject.to_string(), priority, run_after).await
}
