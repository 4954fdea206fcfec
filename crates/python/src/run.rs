//! Work without the GIL: thread pools, interrupts, progress, and calls back into Python.
//!
//! A call that takes less than waking another thread runs where it was made ([`run_here`]).
//!
//! The pool of threads is created lazily, one per process, and its locks are taken only while the interpreter is held,
//! so a forked worker never finds a lock taken.
//!
//! Ctrl-C ends a long call by unwinding its workers at the next report of progress. A `ControlFlow` returned by every
//! level would run through every loop of the engine for the sake of one front end.
//!
//! A function that is a metric is called on the thread that made the call, which waits and runs what the work sends it.
//! So what belongs to a Python thread is there, such as `torch.no_grad()`, and Ctrl-C interrupts the function itself.
//! The pool's thread that waits for the answer takes other work of the pool: the function may use the package, which
//! would wait for ever in a pool of one thread.

use std::cell::OnceCell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use capeval::evaluate::{Progress, Stage};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The time between two looks of a long call at Ctrl-C and its progress.
const TICK: Duration = Duration::from_millis(50);

/// The time between two looks for other work of a thread of the pool that waits for Python.
const PAUSE: Duration = Duration::from_millis(1);

/// The maximum number of threads of a call.
const MOST_THREADS: usize = 1024;

/// Pools by process and size. A pool does not outlive a fork: the child has none of its threads.
static POOLS: Mutex<Vec<(u32, usize, Arc<ThreadPool>)>> = Mutex::new(Vec::new());

/// The number of threads of calls that do not set it; 0 for the default.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The process and the thread that imported the package.
static FIRST: OnceLock<(u32, ThreadId)> = OnceLock::new();

thread_local! {
    /// The pool whose only thread is this one. It is never dropped, since a thread cannot leave its pool.
    static OWN: OnceCell<Option<ManuallyDrop<ThreadPool>>> = const { OnceCell::new() };
}

/// Remembers the process and the thread; called when the package is imported.
pub fn remember_import() {
    FIRST.get_or_init(|| (std::process::id(), thread::current().id()));
}

/// The number of threads of calls that do not set `threads`.
///
/// The default is one per processor; in a process that was forked after the import it is one, since several such
/// processes usually share the machine.
#[pyfunction]
pub fn get_num_threads() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 if FIRST.get().is_some_and(|(pid, _)| *pid != std::process::id()) => 1,
        0 => thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}

/// Sets the number of threads of calls that do not set `threads`; 0 restores the default.
#[pyfunction]
pub fn set_num_threads(n: usize) -> PyResult<()> {
    if n > MOST_THREADS {
        return Err(PyValueError::new_err(format!(
            "{n} threads; the number must be from 0 to {MOST_THREADS}"
        )));
    }
    THREADS.store(n, Ordering::Relaxed);
    Ok(())
}

/// The pool of `threads` threads of this process.
///
/// Must be called with the interpreter attached, so that a fork cannot happen while the lock is taken.
pub fn pool(_py: Python<'_>, threads: Option<usize>) -> PyResult<Arc<ThreadPool>> {
    let n = match threads {
        Some(n) if (1..=MOST_THREADS).contains(&n) => n,
        Some(n) => {
            return Err(PyValueError::new_err(format!(
                "{n} threads; the number must be from 1 to {MOST_THREADS}"
            )));
        }
        None => get_num_threads(),
    };
    let pid = std::process::id();
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, _, pool)) = pools.iter().find(|(known, size, _)| *known == pid && *size == n) {
        return Ok(Arc::clone(pool));
    }
    // Pools of the parent have no threads in this process; dropping them would wait for these threads for ever.
    for (_, _, pool) in pools.extract_if(.., |(known, _, _)| *known != pid) {
        std::mem::forget(pool);
    }
    let pool = ThreadPoolBuilder::new()
        .num_threads(n)
        .thread_name(|k| format!("capeval-{k}"))
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start {n} threads: {error}")))?;
    let pool = Arc::new(pool);
    pools.push((pid, n, Arc::clone(&pool)));
    Ok(pool)
}

/// Runs `work`, which takes milliseconds at most, without the GIL; on this thread if it is the one that imported the
/// package. Others come and go, and each would leave a pool behind.
pub fn run_here<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let is_first = FIRST.get().is_some_and(|(_, first)| *first == thread::current().id());
    if !is_first {
        return run_on_pool(py, None, None, |_| work());
    }
    OWN.with(|own| {
        let build = || ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
        match own.get_or_init(|| build().ok().map(ManuallyDrop::new)) {
            Some(pool) => Ok(py.detach(|| pool.install(work))),
            None => run_on_pool(py, None, None, |_| work()),
        }
    })
}

/// A message to the thread that made a long call.
enum Message {
    /// Something to do there.
    Job(Box<dyn FnOnce(Python<'_>) + Send>),
    /// The work is over.
    End,
}

/// The thread that made a long call. It waits for the work, and runs Python code in between: objects and settings that
/// belong to this thread are there, and Ctrl-C interrupts the code.
pub struct Caller {
    messages: Sender<Message>,
    raised: Mutex<Option<PyErr>>,
}

impl Caller {
    /// The caller of functions that are described, and not called.
    pub fn no_one() -> Arc<Self> {
        let (messages, _) = mpsc::channel();
        Arc::new(Self { messages, raised: Mutex::default() })
    }

    /// Runs `job` on the thread of the caller; `None` if the call has been interrupted.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce(Python<'_>) -> T + Send + 'static) -> Option<T> {
        let (reply, answer) = mpsc::sync_channel(1);
        let job = move |py: Python<'_>| {
            let _ = reply.send(job(py));
        };
        self.messages.send(Message::Job(Box::new(job))).ok()?;
        loop {
            match answer.recv_timeout(PAUSE) {
                Ok(found) => return Some(found),
                Err(RecvTimeoutError::Disconnected) => return None,
                // The job may be a long call itself, which needs a thread of the pool, maybe this one.
                Err(RecvTimeoutError::Timeout) => drop(rayon::yield_now()),
            }
        }
    }

    /// Keeps what a job has raised.
    pub fn raise(&self, error: PyErr) {
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    /// The exception that a job has raised.
    pub fn take_raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Tells the caller that the work is over, also if it unwinds.
struct Ending<'a>(&'a Caller);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let _ = self.0.messages.send(Message::End);
    }
}

/// The progress of a long call, and whether it should stop.
pub struct Watch {
    stage: AtomicU8,
    done: AtomicUsize,
    total: AtomicUsize,
    cancelled: AtomicBool,
    /// The waiting caller.
    pub caller: Arc<Caller>,
}

/// The payload that a cancelled worker unwinds with.
struct Cancellation;

impl Progress for Watch {
    fn begin(&self, stage: Stage, n: usize) {
        self.stop_if_cancelled();
        let stage = match stage {
            Stage::Reading => 0,
            Stage::Fitting => 1,
            Stage::Measuring => 2,
            Stage::Writing => 3,
            Stage::Resampling => 4,
        };
        self.done.store(0, Ordering::Relaxed);
        self.total.store(n, Ordering::Relaxed);
        self.stage.store(stage, Ordering::Relaxed);
    }

    fn advance(&self, n: usize) {
        self.done.fetch_add(n, Ordering::Relaxed);
        self.stop_if_cancelled();
    }
}

impl Watch {
    fn new(messages: Sender<Message>) -> Self {
        let caller = Caller { messages, raised: Mutex::default() };
        Self {
            stage: AtomicU8::default(),
            done: AtomicUsize::default(),
            total: AtomicUsize::default(),
            cancelled: AtomicBool::default(),
            caller: Arc::new(caller),
        }
    }

    /// Stops by unwinding, which runs all destructors and prints nothing.
    fn stop_if_cancelled(&self) {
        if self.cancelled.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Cancellation));
        }
    }

    fn tell(&self, py: Python<'_>, listener: &Py<PyAny>) -> PyResult<()> {
        let stages = ["reading", "fitting", "measuring", "writing", "resampling"];
        let stage = stages[usize::from(self.stage.load(Ordering::Relaxed)).min(stages.len() - 1)];
        let total = self.total.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed).min(total);
        listener.call1(py, (stage, done, total)).map(drop)
    }
}

/// Runs `work` on a pool of `threads` threads without the GIL. Ctrl-C ends it; `listener` is called with
/// `(stage, done, total)` about every 50 ms and once at the end.
pub fn run_on_pool<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    listener: Option<Py<PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send,
) -> PyResult<T> {
    let pool = pool(py, threads)?;
    let (send, messages) = mpsc::channel();
    let watch = Watch::new(send);
    py.detach(move || {
        let watch = &watch;
        let mut outcome = None;
        let slot = &mut outcome;
        // A thread of its own for each call would take longer than a caption.
        let failure = pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                let _ending = Ending(&watch.caller);
                *slot = Some(catch_unwind(AssertUnwindSafe(|| work(watch))));
            });
            let mut failure = None;
            let mut looked = Instant::now();
            loop {
                match messages.recv_timeout(TICK.saturating_sub(looked.elapsed())) {
                    Ok(Message::Job(job)) if failure.is_none() => Python::attach(job),
                    // A job that is dropped unrun ends the wait for its answer.
                    Ok(Message::Job(_)) | Err(RecvTimeoutError::Timeout) => {}
                    Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => break,
                }
                if looked.elapsed() < TICK {
                    continue;
                }
                looked = Instant::now();
                if failure.is_some() {
                    continue;
                }
                let told = Python::attach(|py| {
                    py.check_signals()?;
                    listener.as_ref().map_or(Ok(()), |listener| watch.tell(py, listener))
                });
                if let Err(error) = told {
                    watch.cancelled.store(true, Ordering::Relaxed);
                    failure = Some(error);
                }
            }
            failure
        });
        match (failure, outcome.expect("the scope ends after the work")) {
            (Some(error), _) => Err(error),
            (None, Ok(value)) => {
                if let Some(listener) = &listener {
                    Python::attach(|py| watch.tell(py, listener))?;
                }
                Ok(value)
            }
            (None, Err(panic)) => resume_unwind(panic),
        }
    })
}
