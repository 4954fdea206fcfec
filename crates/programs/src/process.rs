//! A running program with all that it has started, which ends with its metric, with an error, and with capeval.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::description::Description;

/// The groups of the processes that run.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// How long a program may take to end after its last answer.
pub const GRACE: Duration = Duration::from_secs(5);

/// Ends all programs at once, since capeval is about to end.
pub fn end_all() {
    for group in std::mem::take(&mut *RUNNING.lock().unwrap_or_else(PoisonError::into_inner)) {
        kill(group);
    }
}

/// A program that runs. It is killed when this is dropped.
pub struct Process {
    child: Child,
}

/// The streams of a process.
pub struct Streams {
    pub input: ChildStdin,
    pub output: ChildStdout,
    pub messages: ChildStderr,
}

impl Process {
    /// Starts the program of a description in the folder of its file.
    pub fn start(description: &Description) -> io::Result<(Self, Streams)> {
        let (name, arguments) = description.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        // A path is one from the folder of the file, and a plain name is looked for as shells do.
        let program = match name.contains(std::path::is_separator) {
            true => description.folder.join(name),
            false => name.into(),
        };
        let mut command = Command::new(program);
        command.args(arguments).envs(&description.environment).current_dir(&description.folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut child = command.spawn()?;
        running.insert(child.id());
        drop(running);
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Self { child };
        match streams {
            (Some(input), Some(output), Some(messages)) => Ok((process, Streams { input, output, messages })),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Waits a while for the end; `None` if it goes on.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        let end = Instant::now() + GRACE;
        loop {
            match self.child.try_wait()? {
                None if Instant::now() < end => thread::sleep(Duration::from_millis(2)),
                ended => return Ok(ended),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let group = self.child.id();
        kill(group);
        // Without process groups, this is what there is.
        let _ = self.child.kill();
        let _ = self.child.wait();
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(&group);
    }
}

/// Kills a group of processes; those that have ended are of no concern.
fn kill(group: u32) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = group;
}
