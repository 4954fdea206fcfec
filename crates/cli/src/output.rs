//! Where results go: standard output, or a file that is opened before any work is done.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use capeval::corpus::Notice;

use crate::fault::{Flags, fault};
use crate::input::plain;

/// A target that is ready to be written.
///
/// An existing file keeps its content until the result is there; a new one is removed if it never comes.
pub struct Output {
    target: Target,
    written: bool,
}

enum Target {
    Stdout,
    File { path: PathBuf, file: File, is_new: bool },
}

impl Output {
    /// Standard output, or the file `path`.
    ///
    /// # Errors
    /// When the file cannot be written, or is one of `inputs`.
    pub fn open(path: Option<&str>, inputs: &[&str]) -> Result<Self> {
        let target = match path {
            None | Some("-") => Target::Stdout,
            Some(path) => {
                let is_input = |input: &&str| match (fs::canonicalize(path), fs::canonicalize(input)) {
                    (Ok(target), Ok(input)) => target == input,
                    _ => false,
                };
                if inputs.iter().any(is_input) {
                    return Err(fault(
                        format!("{path}: this file is read, so it cannot be written"),
                        "name another file",
                    ));
                }
                let is_new = !std::path::Path::new(path).exists();
                let file = OpenOptions::new()
                    .write(true)
                    .create(true)
                    .truncate(false)
                    .open(path)
                    .map_err(|error| anyhow!("{path}: cannot write the file: {}", plain(&error)))?;
                Target::File { path: path.into(), file, is_new }
            }
        };
        Ok(Self { target, written: false })
    }

    /// Whether a person sees what is written.
    pub fn is_terminal(&self) -> bool {
        matches!(self.target, Target::Stdout) && io::stdout().is_terminal()
    }

    /// Lets `write` write the whole result.
    ///
    /// # Errors
    /// When the target does not take it.
    pub fn write(mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        match &mut self.target {
            Target::Stdout => {
                let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
                write(&mut out).and_then(|()| out.flush())?;
            }
            Target::File { path, file, .. } => {
                if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
                    file.set_len(0).with_context(|| format!("{}: cannot write", path.display()))?;
                }
                let mut out = BufWriter::with_capacity(1 << 16, file);
                write(&mut out)
                    .and_then(|()| out.flush())
                    .with_context(|| format!("{}: cannot write", path.display()))?;
            }
        }
        self.written = true;
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let (Target::File { path, is_new: true, .. }, false) = (&self.target, self.written) {
            // The command has failed already; an empty file left behind is not worth a second error.
            let _ = fs::remove_file(path);
        }
    }
}

/// Tells on standard error what a reader left out or made up; for commands without a report that would say so.
pub fn tell(notices: &[Notice], flags: Flags) {
    let mut err = io::stderr().lock();
    for notice in notices {
        let remedy = notice.remedy.as_ref().and_then(|remedy| remedy.in_words(&flags));
        let remedy = remedy.map_or_else(String::new, |remedy| format!("; {remedy}"));
        // That nobody hears a note is no failure.
        let _ = writeln!(err, "note: {}{remedy}", notice.message);
    }
}

/// Whether two paths lead to the same file. Devices such as /dev/null take anything.
pub fn is_same_file(a: &str, b: &str) -> bool {
    let found = (fs::canonicalize(a), fs::canonicalize(b));
    let is_one = a == b || matches!(&found, (Ok(a), Ok(b)) if a == b);
    is_one && found.0.is_ok_and(|path| path.is_file())
}

/// Whether an error says that nobody reads any more, which is no failure.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
