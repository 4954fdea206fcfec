//! Lets tests control what they would wait for: the time, and points at which the work stops.
//!
//! The module exists only in builds with debug assertions, which programs that are shipped never have, and nothing but
//! a call from the process itself sets anything here: no setting, variable or request reaches it. Each test has a clock
//! and each site its own points, so tests do not disturb each other.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

thread_local! {
    static CLOCK: RefCell<Option<Clock>> = const { RefCell::new(None) };
}

/// The time of the threads that have entered it. It passes by a millisecond each time someone looks, and otherwise
/// only when the test moves it, so no test meets midnight, the end of a lease or a limit because it ran slowly.
#[derive(Clone, Debug)]
pub struct Clock {
    start: i64,
    now: Arc<AtomicI64>,
    since: Instant,
}

impl Clock {
    /// A clock that shows this time.
    pub fn starting_at(start: i64) -> Self {
        Self { start, now: Arc::new(AtomicI64::new(start)), since: Instant::now() }
    }

    /// Lets this thread live by the clock from now on.
    pub fn enter(&self) {
        CLOCK.set(Some(self.clone()));
    }

    /// Lets this thread live by the clock of the system again.
    pub fn leave() {
        CLOCK.set(None);
    }

    /// The clock of this thread; `None` if it lives by that of the system.
    pub fn of_thread() -> Option<Self> {
        CLOCK.with_borrow(Clone::clone)
    }

    /// The time; looking takes a millisecond.
    pub fn now(&self) -> i64 {
        self.now.fetch_add(1, Ordering::Relaxed)
    }

    /// The same as a moment.
    pub fn instant(&self) -> Instant {
        self.since + Duration::from_millis((self.now() - self.start).unsigned_abs())
    }

    /// Moves the clock forward to `time`, if it does not show a later one.
    pub fn move_to(&self, time: i64) {
        self.now.fetch_max(time, Ordering::Relaxed);
    }
}

tokio::task_local! {
    static STATEMENTS: Cell<usize>;
}

/// The result of a future, and the number of statements that it has run on the database itself; what it has spawned
/// does not count.
pub async fn counting<T>(work: impl Future<Output = T>) -> (T, usize) {
    let counted = async { (work.await, STATEMENTS.with(Cell::get)) };
    STATEMENTS.scope(Cell::new(0), counted).await
}

/// Counts a statement.
pub fn count_statement() {
    // Nothing counts elsewhere.
    let _ = STATEMENTS.try_with(|statements| statements.set(statements.get() + 1));
}

/// Points of the code that a test has asked to stop at.
#[derive(Debug, Default)]
pub struct Points(Mutex<HashMap<&'static str, Stop>>);

#[derive(Debug)]
struct Stop {
    reached: oneshot::Sender<()>,
    open: watch::Receiver<bool>,
}

/// Work that stops at a point until this is dropped.
#[derive(Debug)]
pub struct StoppedWork {
    reached: oneshot::Receiver<()>,
    _open: watch::Sender<bool>,
}

impl Points {
    /// Stops the first that reaches the point.
    pub fn stop_at(&self, point: &'static str) -> StoppedWork {
        let (reached, hears) = oneshot::channel();
        let (keep, open) = watch::channel(false);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(point, Stop { reached, open });
        StoppedWork { reached: hears, _open: keep }
    }

    /// Marks a point of the code: goes on at once unless a test stops here.
    pub async fn pass(&self, point: &'static str) {
        let stop = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(point);
        let Some(Stop { reached, mut open }) = stop else { return };
        let _ = reached.send(());
        while open.changed().await.is_ok() {}
    }
}

impl StoppedWork {
    /// Waits until the point is reached.
    pub async fn reached(&mut self) {
        let _ = (&mut self.reached).await;
    }
}
