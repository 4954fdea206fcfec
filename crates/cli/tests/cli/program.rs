//! Runs the program.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

/// The program under test: `CAPEVAL_PROGRAM`, such as one that is about to be shipped, or else the one built for tests.
pub fn path() -> &'static str {
    static PATH: LazyLock<String> = LazyLock::new(|| {
        std::env::var("CAPEVAL_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_capeval").to_owned())
    });
    &PATH
}

/// The result of running the program.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `capeval` with data and caches in a folder of its own: the exit code, standard output and standard error.
///
/// What a refusal tells to do is followed, see [`crate::remedies`].
pub fn capeval_in(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let run = run_in(folder, args);
    crate::remedies::follow(args, &run, &|args| run_in(folder, args));
    (run.code, run.stdout, run.stderr)
}

/// Starts the program, for a test that kills it.
pub fn start(folder: &Path, args: &[impl AsRef<OsStr>]) -> Child {
    let mut command = Command::new(path());
    command.args(args).env("CAPEVAL_CACHE", folder.join("cache"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn run_in(folder: &Path, args: &[&str]) -> Run {
    let output = Command::new(path())
        .args(args)
        .env("CAPEVAL_CACHE", folder.join("cache"))
        .env("CAPEVAL_DATA", folder.join("data"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Runs `capeval` among the fixtures.
pub fn capeval(args: &[&str]) -> Run {
    capeval_with(args, "")
}

/// Runs `capeval` among the fixtures, with a text on standard input.
///
/// No data are installed, whatever the machine has. Where no metric is named, those of the COCO suite that
/// need none are. What a refusal tells to do is followed, see [`crate::remedies`].
pub fn capeval_with(args: &[&str], stdin: &str) -> Run {
    let run = run_with(args, stdin);
    crate::remedies::follow(args, &run, &|args| run_with(args, stdin));
    run
}

fn run_with(args: &[&str], stdin: &str) -> Run {
    let of_metrics = ["-m", "--metrics", "-s", "--suite", "--scores", "--reports"];
    let names_metrics = args.iter().any(|arg| of_metrics.contains(arg));
    let default: &[&str] = match args.first() {
        Some(&("score" | "compare" | "correlate" | "prefer" | "prepare")) if !names_metrics => {
            &["-m", "bleu,rouge-l,cider-d"]
        }
        _ => &[],
    };
    let mut child = Command::new(path())
        .args(args)
        .args(default)
        .env("CAPEVAL_DATA", fixtures().join("no-data"))
        .env("CAPEVAL_CACHE", fixtures().join("no-data"))
        .current_dir(fixtures())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that does not read its input closes the pipe; that is not a failure of the test.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The output of a run that must succeed, and say nothing on standard error but which files it wrote.
pub fn stdout(args: &[&str]) -> String {
    let run = capeval(args);
    let said: Vec<&str> = run.stderr.lines().filter(|line| !line.starts_with("wrote ")).collect();
    assert_eq!((run.code, said.as_slice()), (0, [].as_slice()), "capeval {}", args.join(" "));
    run.stdout
}

/// The standard error of a run that must succeed.
pub fn said(args: &[&str]) -> String {
    let run = capeval(args);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "capeval {}: {}", args.join(" "), run.stderr);
    run.stderr
}

/// The report of a run as JSON, without the run that made it.
pub fn json(args: &[&str]) -> serde_json::Value {
    without_run(&stdout(&[args, &["--format", "json"]].concat()))
}

/// A report without the run that made it, which differs from one run to the next.
pub fn without_run(text: &str) -> serde_json::Value {
    let mut report: serde_json::Value = serde_json::from_str(text).unwrap();
    assert!(report.as_object_mut().unwrap().remove("run").is_some(), "{text}");
    report
}

/// Compares `text` with a file of `tests/expected`; with `CAPEVAL_BLESS` set, writes the file instead.
pub fn expect(name: &str, text: &str) {
    let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(name);
    if std::env::var_os("CAPEVAL_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, expected, "differs from {}; look at it, then set CAPEVAL_BLESS=1", path.display());
}

pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// A file of the quick start.
pub fn quickstart(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/quickstart");
    root.join(name).to_str().unwrap().to_owned()
}

/// A file of real data; `None`, and the test is skipped, where it is missing.
pub fn real(name: &str) -> Option<String> {
    Some(capeval_testkit::real(name)?.to_str().unwrap().to_owned())
}

/// A path in a folder of the test's own.
pub fn scratch(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}
