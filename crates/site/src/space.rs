//! The free space of the disk of a folder.

use std::path::Path;

/// The free bytes under which a disk counts as full: a small write may find a place where a large one does not.
const LEAST: u64 = 8 << 20;

/// The space of a disk, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// The space that this program may still use.
    pub free: u64,
    pub size: u64,
}

/// Returns true if the disk that a folder is on counts as full.
pub fn is_full(folder: &Path) -> bool {
    of(folder).is_some_and(|space| space.free < LEAST)
}

/// The space of the disk that a folder is on, where the system tells.
#[cfg(target_os = "linux")]
pub fn of(folder: &Path) -> Option<Space> {
    let system = rustix::fs::statvfs(folder).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(system.f_frsize);
    Some(Space { free: bytes(system.f_bavail), size: bytes(system.f_blocks) })
}

/// The same where it does not.
#[cfg(not(target_os = "linux"))]
pub fn of(_: &Path) -> Option<Space> {
    None
}
