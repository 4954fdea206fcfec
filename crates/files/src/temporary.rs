//! Temporary files and folders, which are removed when the process ends, as far as possible.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All temporary paths of this process.
static PATHS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

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

/// Removes the temporary files and folders of this process before an exit that runs no destructors, such as a signal's.
/// A thread that tries to create another one after this waits until the process has ended.
pub fn remove_temporaries() {
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
