//! Files to which lines are added one by one, by one process at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use capeval_choice::Refusal;

use crate::Error;
use crate::path::expanded;

/// A file to which this process alone adds lines. Each is written in one go, and is in the file once
/// [`add`](Self::add) returns, however the process ends after that.
#[derive(Debug)]
pub struct Lines {
    path: String,
    file: Mutex<File>,
    /// True if the last line has no line break yet.
    is_open: AtomicBool,
}

impl Lines {
    /// Opens the file, or makes it, and reads what it holds. A last line without a line break, which a killed process
    /// may have left, gets one before another line is added, unless it is [cut off](Self::cut_open_line).
    ///
    /// # Errors
    /// When the file cannot be read and written, or another process adds lines to it.
    pub fn open(path: &str) -> Result<(Self, Vec<u8>), Error> {
        let path = expanded(path).into_owned();
        let system = |cause| Error::system("open the file", &path, cause);
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(system)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let refusal = Refusal::new("another run is writing to this file");
                return Err(Error::content(&path, refusal.with_remedy("wait for it, or name another file")));
            }
            // Some file systems have no locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        // A device may never end.
        if !file.metadata().map_err(system)?.is_file() {
            return Err(Error::content(
                &path,
                Refusal::new("this is not a file to which lines can be added"),
            ));
        }
        let mut held = Vec::new();
        file.read_to_end(&mut held).map_err(system)?;
        let is_open = AtomicBool::new(held.last().is_some_and(|last| *last != b'\n'));
        Ok((Self { path, file: Mutex::new(file), is_open }, held))
    }

    /// Adds a line. If it cannot be written whole, nothing of it stays.
    pub fn add(&self, line: &str) -> Result<(), Error> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = self.is_open.swap(false, Ordering::Relaxed);
        let line = format!("{}{line}\n", if is_open { "\n" } else { "" });
        add(&mut file, &line).map_err(|cause| Error::system("write the file", &self.path, cause))
    }

    /// Cuts off a last line that has no line break yet.
    pub fn cut_open_line(&self) -> Result<(), Error> {
        let system = |cause| Error::system("write the file", &self.path, cause);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_open.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        let mut held = Vec::new();
        file.rewind().and_then(|()| file.read_to_end(&mut held)).map_err(system)?;
        let end = held.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(end as u64).map_err(system)
    }

    /// The path of the file.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        // A process that is being started by another thread has the file for a moment, and would hold the lock. Closing
        // the file ends it otherwise.
        let _ = self.file.get_mut().unwrap_or_else(PoisonError::into_inner).unlock();
    }
}

fn add(file: &mut File, line: &str) -> io::Result<()> {
    let end = file.seek(SeekFrom::End(0))?;
    let written = file.write_all(line.as_bytes());
    if written.is_err() {
        let _ = file.set_len(end);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_behind_those_that_are_there_and_by_one_process_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines").to_string_lossy().into_owned();
        let (lines, held) = Lines::open(&path).unwrap();
        assert!(held.is_empty());
        lines.add("one").unwrap();
        lines.add("två").unwrap();
        let busy = Lines::open(&path).unwrap_err();
        assert!(busy.to_string().ends_with("another run is writing to this file"), "{busy}");
        drop(lines);
        let mut half = OpenOptions::new().append(true).open(&path).unwrap();
        half.write_all(b"thr").unwrap();
        let (lines, held) = Lines::open(&path).unwrap();
        assert_eq!(held, "one\ntvå\nthr".as_bytes());
        lines.add("four").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntvå\nthr\nfour\n");
        lines.cut_open_line().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntvå\nthr\nfour\n");
        drop(lines);
        half.write_all(b"fi").unwrap();
        let (lines, _) = Lines::open(&path).unwrap();
        lines.cut_open_line().unwrap();
        lines.add("five").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntvå\nthr\nfour\nfive\n");
        let absent = Lines::open("/nowhere/at/all").unwrap_err();
        assert!(absent.to_string().contains("/nowhere/at/all: cannot open the file"), "{absent}");
    }

    #[test]
    fn another_holder_of_the_file_does_not_hold_its_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines").to_string_lossy().into_owned();
        let (lines, _) = Lines::open(&path).unwrap();
        let copy = lines.file.lock().unwrap().try_clone().unwrap();
        assert!(Lines::open(&path).is_err());
        drop(lines);
        assert!(Lines::open(&path).is_ok());
        drop(copy);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_told() {
        let file = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let lines =
            Lines { path: "/dev/full".to_owned(), file: Mutex::new(file), is_open: AtomicBool::new(false) };
        assert!(lines.add("one").unwrap_err().to_string().contains("/dev/full: cannot write the file"));
    }
}
