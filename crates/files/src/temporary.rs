//! Temporary files and folders, which are removed when the process ends, as far as possible, and work to do before it
//! ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All temporary paths of this process.
static PATHS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Work to do before an exit that runs no destructors, with a number to find it by.
static LAST_WORK: Mutex<Vec<(u64, Work)>> = Mutex::new(Vec::new());

type Work = Box<dyn Fn() + Send>;

/// Work that is done before a signal ends the process, until this is dropped.
#[derive(Debug)]
pub(crate) struct LastWork(u64);

impl LastWork {
    pub(crate) fn new(work: impl Fn() + Send + 'static) -> Self {
        let mut all = LAST_WORK.lock().unwrap_or_else(PoisonError::into_inner);
        let number = all.last().map_or(0, |(number, _)| number + 1);
        all.push((number, Box::new(work)));
        Self(number)
    }
}

impl Drop for LastWork {
    fn drop(&mut self) {
        LAST_WORK.lock().unwrap_or_else(PoisonError::into_inner).retain(|(number, _)| *number != self.0);
    }
}

/// Does what is to be done before an exit that runs no destructors, such as a signal's: keeps what caches have gained,
/// and then removes temporary files.
pub fn end_early() {
    for (_, work) in LAST_WORK.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        work();
    }
    remove_temporaries();
}

/// A file, or a folder with its content, which is removed on drop.
#[derive(Debug)]
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    /// Registers `path` for removal; it need not exist yet.
    pub(crate) fn new(path: PathBuf) -> Self {
        with_paths(|paths| paths.push(path.clone()));
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Cancels the removal, if the path belongs to another owner.
    pub(crate) fn release(self) {
        with_paths(|paths| paths.retain(|path| *path != self.0));
        std::mem::forget(self);
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        remove(&self.0);
        with_paths(|paths| paths.retain(|path| *path != self.0));
    }
}

/// Removes the temporary files and folders of this process. A thread that tries to create another one after this waits
/// until the process has ended.
fn remove_temporaries() {
    let paths = lock();
    paths.iter().for_each(|path| remove(path));
    std::mem::forget(paths);
}

pub(crate) fn remove(path: &Path) {
    // Failures are ignored, since there is no way to report them.
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

fn with_paths(change: impl FnOnce(&mut Vec<PathBuf>)) {
    change(&mut lock());
}

fn lock() -> MutexGuard<'static, Vec<PathBuf>> {
    // The list is valid even after a panic.
    PATHS.lock().unwrap_or_else(PoisonError::into_inner)
}
