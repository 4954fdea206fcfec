//! Lets tests control what they would wait for: the time, points at which the work stops, and kills.
//!
//! The module exists only in builds with debug assertions, which programs that are shipped never have, and nothing but
//! a call from the process itself sets anything here: no setting, variable or request reaches it. Each test has a clock
//! and each site its own points, so tests do not disturb each other.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, oneshot, watch};

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

thread_local! {
    static FUSE: RefCell<Option<Fuse>> = const { RefCell::new(None) };
}

/// Kills the work of the threads that have entered it between two writes: from one of them on, no statement that writes
/// and no commit returns, as in a process that was killed, until the test drops the runtime.
#[derive(Clone, Debug)]
pub struct Fuse(Arc<FuseState>);

#[derive(Debug)]
struct FuseState {
    passed: AtomicUsize,
    blows_at: AtomicUsize,
    blown: Notify,
    touched: AtomicUsize,
    fails_at: AtomicUsize,
}

impl Fuse {
    /// One that does not blow yet.
    #[expect(clippy::new_without_default, reason = "no one needs a usual one")]
    pub fn new() -> Self {
        let never = || AtomicUsize::new(usize::MAX);
        let [passed, touched] = [0, 0].map(AtomicUsize::new);
        Self(Arc::new(FuseState {
            passed,
            blows_at: never(),
            blown: Notify::new(),
            touched,
            fails_at: never(),
        }))
    }

    /// Lets this thread depend on the fuse, or on none.
    pub fn enter(fuse: Option<&Self>) {
        FUSE.set(fuse.cloned());
    }

    /// Counts from 0 again, and blows when so many points were passed.
    pub fn blow_at(&self, n: usize) {
        self.0.passed.store(0, Ordering::Relaxed);
        self.0.blows_at.store(n, Ordering::Relaxed);
    }

    /// The number of points that were passed.
    pub fn passed(&self) -> usize {
        self.0.passed.load(Ordering::Relaxed)
    }

    /// Counts from 0 again, and lets a file fail once when so many points at which files are used were passed.
    pub fn fail_at(&self, n: usize) {
        self.0.touched.store(0, Ordering::Relaxed);
        self.0.fails_at.store(n, Ordering::Relaxed);
    }

    /// The number of points at which files were used.
    pub fn touched(&self) -> usize {
        self.0.touched.load(Ordering::Relaxed)
    }

    /// Waits until it has blown.
    pub async fn blown(&self) {
        self.0.blown.notified().await;
    }
}

/// A point between two writes.
pub async fn between_writes() {
    let Some(Fuse(fuse)) = FUSE.with_borrow(Clone::clone) else { return };
    if fuse.passed.fetch_add(1, Ordering::Relaxed) >= fuse.blows_at.load(Ordering::Relaxed) {
        fuse.blown.notify_one();
        std::future::pending::<()>().await;
    }
}

/// A point at which a file is used.
///
/// # Errors
/// Of a full disk and of a broken one in turn, if a test wants one here.
pub fn use_file() -> std::io::Result<()> {
    let Some(Fuse(fuse)) = FUSE.with_borrow(Clone::clone) else { return Ok(()) };
    let n = fuse.touched.fetch_add(1, Ordering::Relaxed);
    if n != fuse.fails_at.load(Ordering::Relaxed) {
        return Ok(());
    }
    Err(if n % 2 == 0 { std::io::ErrorKind::StorageFull.into() } else { std::io::Error::other("broken") })
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
