//! The two suites: what a contributor runs before a commit, and what must pass before a change is merged.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::machine::{self, Need};
use crate::{bench, browser, python, site, tidy};

/// The suite to run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// Rules, format, lints, and Rust tests.
    Test,
    /// The same with optional features, examples and doc tests; then documentation, a browser, and the Python package.
    Ci,
}

/// A feature that is off by default and has tests.
const FEATURES: &str = "capeval-corpus/parquet,capeval-meta/parquet";

/// Python's crate, which compiles Arrow and has no Rust tests.
const PYTHON: [&str; 2] = ["--exclude", "capeval-python"];

/// The server's crates, which no one else calls, and what depends on them: rustdoc would need most of the lock file
/// compiled once more.
const SERVER: [&str; 12] = [
    "--exclude",
    "capeval-checks",
    "--exclude",
    "capeval-site",
    "--exclude",
    "capeval-benchmarks",
    "--exclude",
    "capeval-collections",
    "--exclude",
    "capeval-server",
    "--exclude",
    "xtask-docs",
];

/// The steps of the server's features. They build the server a second time, for minutes, and nothing else of the
/// workspace depends on the features.
const OF_SERVER: &[(&str, &str)] = &[
    (
        "clippy",
        "clippy --quiet -p capeval-site -p capeval-server --features otel,s3 --all-targets -- -D warnings",
    ),
    ("tests", "test --quiet -p capeval-server --features otel,s3 --test main -- s3:: traces::"),
];

/// Checks and tests the features of the server.
pub fn features(root: &Path) -> Result<()> {
    OF_SERVER.iter().try_for_each(|(label, arguments)| {
        step(label, Command::new(env!("CARGO")).args(arguments.split(' ')).current_dir(root))
    })
}

/// Writes the generated pages, or checks them with `--check`.
pub fn docs(build: &Build, arguments: &[&str]) -> Result<()> {
    step("build of generated pages", &mut build.cargo("build --bin xtask-docs"))?;
    step("generated pages", Command::new(build.program("xtask-docs")).args(arguments))
}

impl Suite {
    /// Runs the steps in order and stops at the first failure.
    pub fn run(self, root: &Path) -> Result<()> {
        let start = Instant::now();
        let root = root.canonicalize().context("the workspace's root")?;
        let lacking = self.announce()?;
        let build = Build::new(&root, self);
        let record = root.join("target/skipped.txt");
        std::fs::create_dir_all(root.join("target"))?;
        std::fs::write(&record, "")?;
        tidy::run(&root)?;
        step("format", Command::new(env!("CARGO")).args(["fmt", "--all", "--check"]).current_dir(&root))?;
        step("build with lints", &mut build.tests(&["--no-run"]))?;
        if machine::is_ci() {
            machine::install_data(&root, &build.program("capeval"))?;
        }
        let mut tests = build.tests(&[]);
        // Tests of the server wait for databases and for programs.
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        tests.env("RUST_TEST_THREADS", (2 * processors).to_string());
        tests.env(machine::SKIPPED, &record);
        tests.env(machine::TEST_DATA, machine::test_data());
        if let Some(data) = machine::data() {
            tests.env("CAPEVAL_DATA", data);
        }
        if machine::is_ci() {
            tests.env(machine::REQUIRED, machine::names());
        }
        step("tests", &mut tests)?;
        if self == Self::Ci {
            // In a build of its own, since generated pages and lists of tokenizers are those of the default features;
            // of the whole workspace, whose dependencies are compiled already.
            let jieba = ["--features", "capeval-text/jieba", "--test", "jieba"];
            step("tests of jieba", build.cargo("test").args(jieba))?;
            // A browser waits for pages, and a package for downloads, so they share the processors.
            let [in_browser, package, counter] = machine::OF_OTHERS else {
                bail!("three needs of other tests")
            };
            let pages = || {
                if counter.is_here() {
                    let mut counts = bench::counts(&root, &build.program("capeval"), "test");
                    step("counts of instructions and memory", counts.arg("--quick"))?;
                }
                site::make(&root, &build)?;
                if in_browser.is_here() { browser::test(&root, &build, None) } else { Ok(()) }
            };
            // What cargo builds stands on one side, since it builds one thing at a time.
            let package = || {
                if package.is_here() {
                    python::run(&root, &build)?;
                }
                let mut doc = Command::new(env!("CARGO"));
                doc.args(["doc", "--workspace", "--no-deps", "--quiet"]).args(PYTHON).args(SERVER);
                step("documentation", doc.env("RUSTDOCFLAGS", "-D warnings").current_dir(&root))
            };
            side_by_side(pages, package)?;
        }
        println!("all checks passed in {:.0?}", start.elapsed());
        for line in machine::left_out(&std::fs::read_to_string(&record)?, &lacking) {
            println!("{line}");
        }
        Ok(())
    }

    /// Says what will be done, how long that takes, and what this machine cannot test. Returns what is not run at all.
    fn announce(self) -> Result<Vec<&'static Need>> {
        let (what, minutes) = match self {
            Self::Test => ("rules, format, lints and Rust tests", "15 minutes on two cores the first time"),
            Self::Ci => (
                "rules, format, lints, Rust tests, documentation, pages in a browser, the Python package",
                "25 minutes on two cores the first time",
            ),
        };
        println!("── {what}; about {minutes}, less afterwards");
        let is_lacking = |need: &&Need| !need.is_here();
        let of_rust: Vec<&Need> = machine::OF_RUST.iter().filter(is_lacking).collect();
        let others: Vec<&Need> = match self {
            Self::Test => Vec::new(),
            Self::Ci => machine::OF_OTHERS.iter().filter(is_lacking).collect(),
        };
        // A build server is set up for all tests. Data come once there is a program that installs them.
        let lacking = of_rust.iter().chain(&others);
        if machine::is_ci() {
            let unmet = lacking.filter(|need| need.from == machine::From::Machine);
            let unmet: Vec<String> = unmet.map(|need| need.skip()).collect();
            if !unmet.is_empty() {
                bail!("CI must not skip tests that it could run: {}", unmet.join("; "));
            }
        } else if !of_rust.is_empty() || !others.is_empty() {
            let names: Vec<&str> = lacking.map(|need| need.tests).collect();
            println!("── left out here: tests of {} (the end says how to run them)", names.join(", "));
        }
        Ok(others)
    }
}

/// The build of the workspace for tests: once, with Clippy as the compiler, which saves a build for the lints.
pub struct Build {
    root: PathBuf,
    clippy: Option<PathBuf>,
    suite: Suite,
}

impl Build {
    /// The build of a suite.
    pub fn new(root: &Path, suite: Suite) -> Self {
        let clippy =
            Path::new(env!("CARGO")).with_file_name(format!("clippy-driver{}", std::env::consts::EXE_SUFFIX));
        Self { root: root.to_owned(), clippy: clippy.exists().then_some(clippy), suite }
    }

    /// The tests of the suite.
    fn tests(&self, arguments: &[&str]) -> Command {
        let mut command = self.cargo("test");
        if self.suite == Suite::Test {
            command.args(["--lib", "--bins", "--tests"]);
        }
        command.args(arguments);
        command
    }

    /// A command of cargo on the whole workspace.
    pub fn cargo(&self, arguments: &str) -> Command {
        let mut command = self.cargo_of(arguments, &["--workspace"]);
        match self.suite {
            Suite::Test => command.args(PYTHON),
            Suite::Ci => command.args(["--features", FEATURES]),
        };
        command
    }

    /// A command of cargo on some packages.
    pub fn cargo_of(&self, arguments: &str, packages: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO"));
        command.args(arguments.split(' ')).args(packages).arg("--quiet").current_dir(&self.root);
        self.lint(&mut command);
        // The same random cases in every run, so that a failure belongs to the change; without this they differ.
        command.env("PROPTEST_RNG_SEED", "20261122");
        command
    }

    /// Makes a command that calls cargo compile with lints.
    pub fn lint(&self, command: &mut Command) {
        if let Some(clippy) = &self.clippy {
            // What `cargo clippy -- -D warnings` sets, for a build instead of a check.
            command.env("RUSTC_WORKSPACE_WRAPPER", clippy);
            command.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
        }
    }

    /// The path of a program after the build.
    pub fn program(&self, name: &str) -> PathBuf {
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.root.join("target"), PathBuf::from);
        target.join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }
}

/// Does two things at the same time, each to its end.
pub fn side_by_side(
    one: impl FnOnce() -> Result<()> + Send,
    other: impl FnOnce() -> Result<()>,
) -> Result<()> {
    std::thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).and(other)
    })
}

/// Runs a command, and says how long it took.
pub fn step(label: &str, command: &mut Command) -> Result<()> {
    println!("── {label}");
    let start = Instant::now();
    let status = command.status().with_context(|| format!("{label}: {:?}", command.get_program()))?;
    if !status.success() {
        bail!("{label} failed: {command:?}");
    }
    println!("── {label}: {:.0?}", start.elapsed());
    Ok(())
}
