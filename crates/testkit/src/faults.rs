//! Runs a program again and again, and lets another system call fail in each run.
//!
//! `strace` injects the fault into the program as it is shipped. A library in `LD_PRELOAD` would miss the calls that do
//! not go through libc, and points of failure in the code would miss those that no one thought of.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A run of a program in a folder of its own.
pub struct Trial<'a> {
    pub program: &'a str,
    /// The arguments; files are in the working folder.
    pub args: &'a [&'a str],
    /// The folder of which each run gets a copy.
    pub seed: &'a Path,
    /// The files that a run must have written when it ends with the exit code 0.
    pub outputs: &'a [&'a str],
    /// True if these files are there before, with other content.
    pub has_old: bool,
    /// The exit code of a refusal.
    pub refused: i32,
    /// The beginning of the names of files that may hold any part of what they gain.
    pub state: &'a str,
    /// Finds what is wrong with these files in the folder of the run, which was killed or not; otherwise the next run
    /// must be like one without a fault.
    pub check: Option<Check<'a>>,
}

/// Finds what is wrong in the folder of a run, which was killed or not.
pub type Check<'a> = &'a dyn Fn(&Path, bool) -> Vec<String>;

/// The system calls and their errors. An interrupted read or write must be done again.
const FAULTS: [(&str, &[&str]); 17] = [
    ("openat", &["EACCES", "EMFILE", "EIO", "ENOSPC", "EINTR"]),
    ("read", &["EIO", "EINTR"]),
    ("pread64", &["EIO", "EINTR"]),
    ("write", &["ENOSPC", "EIO", "EINTR", "KILL"]),
    ("writev", &["ENOSPC", "EIO", "EINTR", "KILL"]),
    ("pwrite64", &["ENOSPC", "EIO", "EINTR", "KILL"]),
    ("fsync", &["EIO", "ENOSPC", "KILL"]),
    ("linkat", &["EIO", "ENOSPC", "EACCES", "KILL"]),
    ("rename", &["EIO", "ENOSPC", "EACCES", "KILL"]),
    ("mkdir", &["EACCES", "ENOSPC"]),
    ("unlink", &["EACCES", "EIO"]),
    ("ftruncate", &["EIO"]),
    ("flock", &["ENOLCK"]),
    ("fchmod", &["EPERM"]),
    ("mmap", &["ENOMEM"]),
    ("clone3", &["EAGAIN"]),
    ("close", &["EIO"]),
];

/// The exit code of `timeout` when it has to end a program.
const IS_OVER: i32 = 124;

/// The files of a folder with their content, by their paths in it.
type Snapshot = BTreeMap<String, Vec<u8>>;

/// The state after a run.
struct Outcome {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
    files: Snapshot,
    /// The lines of strace.
    calls: String,
}

/// What became of all runs.
#[derive(Debug, Default)]
pub struct Tally {
    /// The number of runs with a fault.
    pub n_runs: usize,
    /// The number of these that failed with an error.
    pub n_refused: usize,
    /// What is not as it should be.
    pub findings: Vec<String>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_runs, n_refused, findings } = self;
        write!(f, "{n_runs} faults, {n_refused} refused, {} findings", findings.len())
    }
}

/// One of how many faults is tried: `CAPEVAL_FAULTS`, or as many as usual.
pub fn step(usual: usize) -> usize {
    std::env::var("CAPEVAL_FAULTS").ok().and_then(|step| step.parse().ok()).unwrap_or(usual).max(1)
}

/// Returns true if `strace` is there and may trace.
pub fn can_inject() -> bool {
    let mut strace = Command::new("strace");
    let strace = strace.args(["-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=none", "true"]);
    strace.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

impl Trial<'_> {
    /// Runs the program once for every `step`-th fault, in a folder `place` that is made again for each run.
    pub fn run(&self, place: &Path, step: usize) -> Tally {
        let whole = self.outcome(place, None);
        assert_eq!(whole.code, Some(0), "{:?}: {}", self.args, whole.stderr);
        self.fresh(place);
        let before = snapshot(place);
        let clean = Clean { trial: self, place, before, whole };
        let mut tally = Tally::default();
        // The first calls are the same in all programs.
        for (call, error, n) in clean.faults().into_iter().skip(step / 2).step_by(step) {
            let outcome = self.outcome(place, Some((call, error, n)));
            // Threads may share work otherwise than they did before.
            if outcome.injected().is_empty() && outcome.code.is_some() {
                continue;
            }
            tally.n_runs += 1;
            tally.n_refused += usize::from(outcome.code != Some(0));
            let mut findings = clean.findings(error, &outcome);
            if let Some(check) = self.check {
                findings.extend(check(place, error == "KILL"));
            } else if clean.has_other_state(&outcome) {
                let next = self.start(place, &[]);
                if next.status.code() != Some(0) || next.stdout != clean.whole.stdout {
                    findings.push("what a cache keeps makes the next run another one".to_owned());
                }
            }
            for finding in findings {
                let args = self.args.join(" ");
                let injected = outcome.injected().join("; ");
                tally.findings.push(format!(
                    "{args}: {call} {error} {n}: {finding}\n  {injected}\n  {}",
                    outcome.stderr.trim_end()
                ));
            }
        }
        tally
    }

    fn fresh(&self, place: &Path) {
        let _ = fs::remove_dir_all(place);
        copy(self.seed, place);
        for output in self.outputs.iter().filter(|_| self.has_old) {
            let output = place.join(output);
            fs::create_dir_all(output.parent().unwrap()).unwrap();
            fs::write(output, "old\n").unwrap();
        }
    }

    /// Runs the program, as an argument of another if there is one.
    fn start(&self, place: &Path, by: &[String]) -> Output {
        let words: Vec<&str> = by.iter().map(String::as_str).chain([self.program]).collect();
        let mut command = Command::new(words[0]);
        let command = command.args(&words[1..]).args(self.args).current_dir(place).stdin(Stdio::null());
        command
            .env("CAPEVAL_CACHE", place.join("cache"))
            .env("CAPEVAL_DATA", place.join("data"))
            .output()
            .unwrap()
    }

    /// Runs the program under strace, with one fault or none.
    fn outcome(&self, place: &Path, fault: Option<(&str, &str, usize)>) -> Outcome {
        self.fresh(place);
        let log = place.with_extension("strace");
        let flags = match fault {
            // A filter in the kernel would make it faster, but then no signal comes.
            Some((call, "KILL", n)) => format!("-e trace={call} -e inject={call}:signal=KILL:when={n}"),
            Some((call, error, n)) => {
                format!("--seccomp-bpf -e trace={call} -e inject={call}:error={error}:when={n}")
            }
            None => {
                let calls: Vec<&str> = FAULTS.iter().map(|(call, _)| *call).collect();
                format!("--seccomp-bpf -e trace=sigaltstack,execve,{}", calls.join(","))
            }
        };
        let flags = format!("timeout -s KILL 600 strace -f -qq -y -e signal=none {flags} -o");
        let by = flags.split(' ').map(str::to_owned).chain([log.to_str().unwrap().to_owned()]);
        let output = self.start(place, &by.collect::<Vec<_>>());
        Outcome {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            files: snapshot(place),
            calls: String::from_utf8_lossy(&fs::read(&log).unwrap()).into_owned(),
        }
    }
}

impl Outcome {
    /// The calls that failed, or at which the program was killed.
    fn injected(&self) -> Vec<&str> {
        self.calls.lines().filter(|line| line.ends_with("(INJECTED)")).collect()
    }
}

/// What a run without a fault did.
struct Clean<'a> {
    trial: &'a Trial<'a>,
    place: &'a Path,
    before: Snapshot,
    whole: Outcome,
}

impl Clean<'_> {
    /// Every fault: the call, its error, and its number in its thread. Calls of the loader and of Rust's runtime, whose
    /// last one before `main` is `sigaltstack`, are left out.
    fn faults(&self) -> Vec<(&'static str, &'static str, usize)> {
        let mut faults = Vec::new();
        for (call, errors) in FAULTS {
            let (of_loader, most) = self.counts(call);
            for error in errors {
                faults.extend((of_loader + 1..=most).map(|n| (call, *error, n)));
            }
        }
        faults
    }

    /// The number of times that the loader makes a call, and the most that a thread does.
    fn counts(&self, call: &str) -> (usize, usize) {
        let (mut of_loader, mut is_loaded) = (0, false);
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut others: BTreeSet<&str> = BTreeSet::new();
        for line in self.whole.calls.lines() {
            let Some((thread, rest)) = line.split_once(' ') else { continue };
            let rest = rest.trim_start();
            // Another program that this one starts is not what is tried.
            if is_loaded && rest.starts_with("execve(") {
                counts.remove(thread);
                others.insert(thread);
            }
            if others.contains(thread) {
                continue;
            }
            is_loaded |= rest.starts_with("sigaltstack({");
            if rest.strip_prefix(call).is_some_and(|rest| rest.starts_with('(')) {
                *counts.entry(thread).or_default() += 1;
                of_loader += usize::from(!is_loaded);
            }
        }
        (of_loader, counts.into_values().max().unwrap_or(0))
    }

    /// Returns true if caches hold something else than after a run without a fault.
    fn has_other_state(&self, outcome: &Outcome) -> bool {
        let mut files = outcome.files.iter();
        files.any(|(name, file)| self.is_state(name) && self.whole.files.get(name) != Some(file))
    }

    fn is_state(&self, name: &str) -> bool {
        name.starts_with(self.trial.state)
    }

    fn findings(&self, error: &str, outcome: &Outcome) -> Vec<String> {
        let mut findings = Vec::new();
        let mut find = |finding: String| findings.push(finding);
        let is_whole = outcome.code == Some(0);
        let injected = outcome.injected();
        // No program can say in words that it has no memory for words.
        let may_abort = injected.iter().any(|call| {
            call.contains("mmap resumed>") || call.contains("mmap(") && call.contains("MAP_ANONYMOUS")
        });
        // Rust's library asserts that a folder can be closed.
        let is_of_folder = outcome.stderr.contains("during closedir");
        match outcome.code {
            Some(code) if code == 0 || code == self.trial.refused => {}
            Some(IS_OVER) => find("it does not end".to_owned()),
            _ if error == "KILL" || may_abort || is_of_folder => {}
            code => find(format!("the exit code is {code:?}")),
        }
        if outcome.stderr.contains("panicked") && !is_of_folder {
            find("it panics".to_owned());
        }
        if error == "EINTR"
            && !is_whole
            && injected.iter().any(|call| call.contains(" read(") || call.contains(" write("))
        {
            find("an interrupted call is not repeated".to_owned());
        }
        if is_whole && outcome.stdout != self.whole.stdout {
            find("the exit code is 0, but standard output differs".to_owned());
        }
        let names: BTreeSet<&String> = self.before.keys().chain(self.whole.files.keys()).collect();
        // Only a file that is whole has a name before it takes the place of another, and a kill may come between.
        let is_whole_part = |name: &str| {
            error == "KILL" && name.ends_with(".part") && {
                let part = outcome.files.get(name);
                self.is_state(name) || self.whole.files.values().any(|file| Some(file) == part)
            }
        };
        for name in outcome.files.keys().filter(|name| !names.contains(name) && !is_whole_part(name)) {
            if self.trial.check.is_some() && self.is_state(name) {
                continue;
            }
            find(format!("{name} is left behind"));
        }
        for name in names {
            let found = outcome.files.get(name);
            let is_new = found == self.whole.files.get(name);
            if is_whole && self.trial.outputs.contains(&name.as_str()) && !is_new {
                find(format!("the exit code is 0, but {name} is not what a clean run writes"));
            } else if self.is_state(name) {
                // A cache may keep any part of what it gains.
            } else if !is_new && found != self.before.get(name) {
                find(format!("{name} is neither old nor new"));
            }
        }
        if outcome.code == Some(self.trial.refused) {
            let unnamed = injected.iter().map(|call| self.unnamed(call, &outcome.stderr));
            // The fault is in each thread that makes so many calls, and one error is told.
            findings.extend(unnamed.collect::<Option<Vec<String>>>().and_then(|all| all.into_iter().next()));
        }
        findings
    }

    /// What is missing in the words about a failed call on a file of the folder: its name.
    fn unnamed(&self, call: &str, said: &str) -> Option<String> {
        // Of a call that another thread interrupted, only the beginning has the path.
        if call.contains(" resumed>") {
            return None;
        }
        let in_folder = |path: &str| -> Option<String> {
            let path = path.trim_end_matches("(deleted)").trim_end();
            let path = if path.starts_with('/') { path.strip_prefix(self.place.to_str()?)? } else { path };
            Some(path.trim_start_matches('/').to_owned())
                .filter(|path| !path.is_empty() && !path.contains(":["))
        };
        // The paths of open files stand between < and >, those of arguments between quotes.
        let has_data = call.contains("read") || call.contains("write");
        let mut paths = call.split(['<', '>', '"']).skip(1).step_by(2).take(if has_data { 1 } else { 4 });
        let path = paths.find_map(in_folder)?;
        let name = path.rsplit('/').next()?;
        // What SQLite keeps beside a database belongs to it.
        let name = name.trim_end_matches("-wal").trim_end_matches("-shm").trim_end_matches("-journal");
        let is_temporary = name.starts_with('#') || name.ends_with(".part");
        let mut outputs = self.trial.outputs.iter();
        let is_named =
            if is_temporary { outputs.any(|name| said.contains(name)) } else { said.contains(name) };
        (!is_named).then(|| format!("the error does not name {path}"))
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, to) = entry.map(|entry| (entry.path(), to.join(entry.file_name()))).unwrap();
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
            // What was made from a file knows its time.
            let modified = fs::metadata(&path).unwrap().modified().unwrap();
            fs::File::options().append(true).open(to).unwrap().set_modified(modified).unwrap();
        }
    }
}

/// The files in a folder, and in those in it.
fn snapshot(folder: &Path) -> Snapshot {
    let (mut files, mut folders) = (Snapshot::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                files.insert(name, without_dates(fs::read(&path).unwrap_or_default()));
            }
        }
    }
    files
}

/// A file without the figures of dates such as 2026-11-29T09:13:28Z, in which two runs differ.
fn without_dates(mut bytes: Vec<u8>) -> Vec<u8> {
    const FORM: &[u8] = b"0000-00-00T00:00:00Z";
    let is_date = |found: &[u8]| {
        FORM.iter().zip(found).all(|(form, byte)| match form {
            b'0' => byte.is_ascii_digit(),
            form => form == byte,
        })
    };
    for at in 0..bytes.len().saturating_sub(FORM.len() - 1) {
        if is_date(&bytes[at..at + FORM.len()]) {
            bytes[at..at + FORM.len()].copy_from_slice(FORM);
        }
    }
    bytes
}
