//! Remembers that the disk of SQLite has refused to be written.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::error::DatabaseError;
use sqlx::sqlite::SqliteError;

use super::Error;
use crate::space;

/// SQLite's codes for not writable, an error of the disk, full, and not to be opened; extended codes have more bits.
const REFUSALS: [i64; 4] = [8, 10, 13, 14];

/// The disk below a database, as the statements have found it.
#[derive(Clone, Debug)]
pub struct Disk(Arc<DiskState>);

#[derive(Debug)]
struct DiskState {
    folder: PathBuf,
    is_refusing: AtomicBool,
}

/// Returns true if the error says that the disk of SQLite has refused.
pub fn is_refusal(error: &Error) -> bool {
    let refusal = error.as_database_error().and_then(|refusal| refusal.try_downcast_ref::<SqliteError>());
    let code = refusal.and_then(|refusal| refusal.code()?.parse::<i64>().ok());
    code.is_some_and(|code| REFUSALS.contains(&(code & 0xff)))
}

impl Disk {
    pub(super) fn of(folder: PathBuf) -> Self {
        Self(Arc::new(DiskState { folder, is_refusing: AtomicBool::new(false) }))
    }

    /// Keeps in mind that the disk has refused, if that is what the error says.
    pub(super) fn noted(&self, error: Error) -> Error {
        if is_refusal(&error) {
            self.0.is_refusing.store(true, Ordering::Relaxed);
        }
        error
    }

    /// Returns true if it has refused, and nothing was written since then by [`super::Store::try_write`].
    pub(super) fn is_refusing(&self) -> bool {
        self.0.is_refusing.load(Ordering::Relaxed)
    }

    pub(super) fn works(&self) {
        self.0.is_refusing.store(false, Ordering::Relaxed);
    }

    pub(super) fn is_full(&self) -> bool {
        space::is_full(&self.0.folder)
    }
}
