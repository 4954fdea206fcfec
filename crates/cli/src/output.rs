//! Where results go: standard output, or a file that is known to be writable before any work is done.

use std::io::{self, BufWriter, IsTerminal, Write};

use anyhow::Result;
use capeval::corpus::Notice;
use capeval_files::{STDIN, Target, is_same_file};

use crate::fault::{Flags, fault};

/// Standard output, or a file, which keeps its content until the whole result is there.
pub struct Output(Option<Target>);

impl Output {
    /// Standard output, or the file `path`.
    ///
    /// # Errors
    /// When the file cannot be written, or is one of `inputs`.
    pub fn open(path: Option<&str>, inputs: &[&str]) -> Result<Self> {
        let Some(path) = path.filter(|path| *path != STDIN) else { return Ok(Self(None)) };
        if inputs.iter().any(|input| is_same_file(path, input)) {
            return Err(fault(format!("{path}: this file is read, so it cannot be written"), "name another"));
        }
        Ok(Self(Some(Target::new(path)?)))
    }

    /// Whether a person sees what is written.
    pub fn is_terminal(&self) -> bool {
        self.0.is_none() && io::stdout().is_terminal()
    }

    /// Lets `write` write the whole result.
    ///
    /// # Errors
    /// When the target does not take it.
    pub fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        if let Some(target) = self.0 {
            return Ok(target.write(write)?);
        }
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        Ok(write(&mut out).and_then(|()| out.flush())?)
    }
}

/// Tells on standard error what a reader left out or made up; for commands without a report that would say so.
pub fn tell(notices: &[Notice], flags: Flags) {
    let mut err = io::stderr().lock();
    for notice in notices {
        let remedy = notice.remedy.as_ref().and_then(|remedy| remedy.in_words(&flags));
        let remedy = remedy.map_or_else(String::new, |remedy| format!("; {remedy}"));
        // A note that cannot be written is not a failure.
        let _ = writeln!(err, "note: {}{remedy}", notice.message);
    }
}

/// Whether an error says that nobody reads any more, which is not a failure.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let system = error.chain().filter_map(|cause| match cause.downcast_ref::<capeval_files::Error>() {
        Some(error) => error.cause().map(|(cause, _)| cause),
        None => cause.downcast_ref::<io::Error>(),
    });
    system.into_iter().any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
