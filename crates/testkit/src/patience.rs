//! Waiting for what must happen, without a guess how long that takes.

use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The time that a test waits for what must happen. It only bounds a hang: nothing that works takes nearly as long,
/// however busy the machine is.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// The time between two looks.
pub const PAUSE: Duration = Duration::from_millis(20);

/// Looks again and again until there is something, and returns it.
///
/// # Panics
/// If that never happens.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "this does not happen: {what}");
        std::thread::sleep(PAUSE);
    }
}

/// Does work that must end, and returns its result.
///
/// # Panics
/// If it fails, or does not end.
pub fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, done) = mpsc::channel();
    let working = std::thread::spawn(move || drop(send.send(work())));
    match done.recv_timeout(PATIENCE) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("this does not end"),
        Err(mpsc::RecvTimeoutError::Disconnected) => match working.join() {
            Err(panicked) => std::panic::resume_unwind(panicked),
            Ok(()) => unreachable!("a result is sent before the thread ends"),
        },
    }
}
