//! Writes results to standard output, or to a file that is known to be writable before any work is done.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use capeval_files::{STDIN, Target, is_same_file};
use indicatif::DecimalBytes;

use crate::fault::fault;
use crate::messages;

/// The width of terminals that do not tell it.
const DEFAULT_WIDTH: usize = 80;

/// Standard output, or a file, which keeps its content until the whole result is there.
pub struct Output(Option<(String, Target)>);

impl Output {
    /// Standard output, or the file `path`.
    pub fn open(path: Option<&str>, inputs: &[&str]) -> Result<Self> {
        let Some(path) = path.filter(|path| *path != STDIN) else {
            check_standard_output()?;
            return Ok(Self(None));
        };
        if inputs.iter().any(|input| is_same_file(path, input)) {
            return Err(fault(
                format!("{path}: an input file cannot also be the output"),
                "name another file",
            ));
        }
        Ok(Self(Some((path.to_owned(), Target::new(path)?))))
    }

    /// Returns true if a person sees what is written.
    pub fn is_terminal(&self) -> bool {
        self.0.is_none() && io::stdout().is_terminal()
    }

    /// The width of the terminal that shows what is written; `None` if there is none.
    pub fn width(&self) -> Option<usize> {
        let size = self.is_terminal().then(|| console::Term::stdout().size_checked())?;
        Some(size.map_or(DEFAULT_WIDTH, |(_, columns)| usize::from(columns)))
    }

    /// Lets `write` write the whole result, and says on standard error which file was written.
    pub fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        self.write_described("", write)
    }

    /// As [`Output::write`]; `what` describes the content of the file.
    pub fn write_described(
        self,
        what: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let Some((path, target)) = self.0 else {
            let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
            return Ok(write(&mut out).and_then(|()| out.flush())?);
        };
        if let Some(size) = target.write(write)? {
            let what = if what.is_empty() { String::new() } else { format!(": {what}") };
            messages::say(&format!("wrote {path}, {}{what}", DecimalBytes(size)));
        }
        Ok(())
    }
}

/// Standard output as the process got it. If it is closed, Rust and Python open other files in its place before they
/// run any of our code, so only the program that was started can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardOutput {
    /// It takes what is written.
    Open,
    /// The caller closed it.
    Closed,
}

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

impl StandardOutput {
    /// Has results refused that would be lost.
    pub(crate) fn adopt(self) {
        IS_CLOSED.store(self == Self::Closed, Ordering::Relaxed);
    }
}

fn check_standard_output() -> Result<()> {
    if IS_CLOSED.load(Ordering::Relaxed) {
        return Err(fault(
            "standard output is closed, so the result cannot be written",
            "pass --output FILE",
        ));
    }
    Ok(())
}

/// Returns true if an error says that the reader has gone, which is not a failure.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let system = error.chain().filter_map(|cause| match cause.downcast_ref::<capeval_files::Error>() {
        Some(error) => error.cause().map(|(cause, _)| cause),
        None => cause.downcast_ref::<io::Error>(),
    });
    system.into_iter().any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
