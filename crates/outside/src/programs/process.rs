//! A running program with all that it has started, which ends with its metric, with an error, and with capeval.
//!
//! A program and the processes that it has started form a process group, which is killed as a whole. A daemon leaves
//! the group but inherits variables: on Linux, processes with the program's variable are found in `/proc` and also
//! killed. A namespace or a control group would need rights that a user may lack.

use std::collections::BTreeMap;
use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::programs::description::Description;

/// All programs of this process.
static RUNNING: RunningPrograms = RunningPrograms::new();

/// The programs that run, so that they can be ended at once.
struct RunningPrograms(Mutex<Groups>);

/// The groups of the processes that run, and their marks.
struct Groups {
    marks: BTreeMap<u32, String>,
    /// No program is started any more.
    is_ending: bool,
}

/// The variable that marks a process, which all that it starts inherits.
const MARK: &str = "CAPEVAL_METRIC_PROCESS";

/// The number of processes that were started.
static STARTED: AtomicUsize = AtomicUsize::new(0);

/// The longest time for a program to end after its last answer.
pub const GRACE: Duration = Duration::from_secs(5);

/// Ends all programs at once, since capeval is about to end; none is started from now on.
pub fn end_all() {
    RUNNING.end_all();
}

/// Waits for the end of capeval if it is about to end, of which no one should hear as a failure of a program.
pub fn await_end() {
    while RUNNING.groups().is_ending {
        thread::park();
    }
}

impl RunningPrograms {
    const fn new() -> Self {
        Self(Mutex::new(Groups { marks: BTreeMap::new(), is_ending: false }))
    }

    fn groups(&self) -> MutexGuard<'_, Groups> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a program, unless all are being ended: the call that ends them knows of every one.
    fn start(&self, command: &mut Command, mark: &str) -> io::Result<Child> {
        let mut groups = self.groups();
        if groups.is_ending {
            return Err(io::Error::other("capeval is about to end"));
        }
        let child = command.spawn()?;
        groups.marks.insert(child.id(), mark.to_owned());
        Ok(child)
    }

    fn end_all(&self) {
        let mut groups = self.groups();
        groups.is_ending = true;
        let marks = std::mem::take(&mut groups.marks);
        drop(groups);
        for (group, mark) in marks {
            kill(group, &mark);
        }
    }

    fn forget(&self, group: u32) {
        self.groups().marks.remove(&group);
    }
}

/// A program that runs. It is killed with all that it has started when this is dropped.
pub struct Process {
    child: Child,
    mark: String,
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
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mark = format!("{}-{number}-{}", std::process::id(), since.as_nanos());
        let launcher = description.sandbox.as_ref().and_then(|sandbox| sandbox.launcher.split_first());
        let mut command = match launcher {
            Some((launcher, words)) => {
                let variables = description.environment.iter().map(|(name, value)| format!("{name}={value}"));
                let mut command = Command::new(launcher);
                command.args(words).arg(description.environment.len().to_string());
                command.args(variables).arg(program);
                command
            }
            None => {
                let mut command = Command::new(program);
                command.envs(&description.environment);
                command
            }
        };
        command.args(arguments).env(MARK, &mark).current_dir(&description.folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = RUNNING.start(&mut command, &mark)?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let process = Self { child, mark };
        match streams {
            (Some(input), Some(output), Some(messages)) => Ok((process, Streams { input, output, messages })),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Returns true if it has ended, whatever else it has started.
    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Waits for the end, but no longer than `patience`; `None` if it goes on.
    pub fn ended(&mut self, patience: Duration) -> io::Result<Option<ExitStatus>> {
        let end = Instant::now() + patience;
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
        kill(group, &self.mark);
        // Without process groups, this is what there is.
        let _ = self.child.kill();
        let _ = self.child.wait();
        RUNNING.forget(group);
    }
}

/// Kills a group of processes, and those with the mark that have left it; those that have ended are of no concern.
fn kill(group: u32, mark: &str) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    #[cfg(target_os = "linux")]
    marked::kill(mark);
    #[cfg(not(unix))]
    let _ = group;
    #[cfg(not(target_os = "linux"))]
    let _ = mark;
}

/// Processes that have left their group, as daemons do, but keep the variables that they were started with.
#[cfg(target_os = "linux")]
mod marked {
    use std::fs;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use super::MARK;

    /// The number of times that processes are looked for, since one may start another while it is killed.
    const LOOKS: usize = 10;

    pub fn kill(mark: &str) {
        let variable = format!("{MARK}={mark}");
        for _ in 0..LOOKS {
            if kill_once(variable.as_bytes()) == 0 {
                return;
            }
        }
    }

    /// Kills the processes with a variable; how many there were.
    fn kill_once(variable: &[u8]) -> usize {
        let ids = fs::read_dir("/proc").into_iter().flatten().flatten();
        let ids = ids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let kill = |id: i32| -> Option<()> {
            // Opened first, so that the signal reaches the process whose variables are read, and no later one.
            let process = pidfd_open(Pid::from_raw(id)?, PidfdFlags::empty()).ok()?;
            let variables = fs::read(format!("/proc/{id}/environ")).ok()?;
            variables.split(|byte| *byte == 0).find(|one| *one == variable)?;
            pidfd_send_signal(process, Signal::KILL).ok()
        };
        ids.filter_map(kill).count()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn no_program_is_started_once_all_are_ended() {
        let running = RunningPrograms::new();
        let mut command = Command::new("sleep");
        std::os::unix::process::CommandExt::process_group(command.arg("600"), 0);
        let mut child = running.start(&mut command, "first").unwrap();
        running.end_all();
        assert!(!child.wait().unwrap().success(), "what runs is killed");
        let refused = running.start(&mut command, "second").unwrap_err();
        assert_eq!(refused.to_string(), "capeval is about to end");
        assert!(running.groups().marks.is_empty());
    }
}
