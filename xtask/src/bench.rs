//! Times capeval, and pycocoevalcap where it is installed, in the same run; counts instructions and memory of fixed
//! runs.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::suite::{Build, Suite};

/// The programs that measure, each with what it compares capeval with.
const FOLDER: &str = "xtask/bench";

/// Builds the program and times it on the leave-one-out files of `data`; `peer` is a Python with pycocoevalcap, and
/// `package` one with capeval.
pub fn run(root: &Path, data: &Path, peer: Option<&str>, package: Option<String>) -> Result<()> {
    let mut bench = Command::new("python3");
    bench.arg(root.join(FOLDER).join("score.py"));
    bench.args([&root.join("target/dist/capeval"), data, &root.join("target/bench")]);
    for (flag, python) in [("--peer", peer), ("--package", package.as_deref())] {
        if let Some(python) = python {
            bench.args([flag, python]);
        }
    }
    build(root)?;
    done(&mut bench)
}

/// Builds the program as tests run it and as it is shipped, and compares the counts of both with those that are kept,
/// or keeps them.
pub fn check(root: &Path, data: &Path, more: &[&str]) -> Result<()> {
    let tested = Build::new(root, Suite::Ci);
    // As CI does.
    done(tested.cargo("build --bin capeval").env("CARGO_INCREMENTAL", "0"))?;
    done(counts(root, &tested.program("capeval"), "test").arg("--quick").args(more))?;
    build(root)?;
    done(counts(root, &root.join("target/dist/capeval"), "dist").arg("--data").arg(data).args(more))
}

/// Builds the program and the example that times stages, and writes what they take into the page on speed.
pub fn ledger(root: &Path, data: &Path, more: &[&str]) -> Result<()> {
    build(root)?;
    let mut example = Command::new(env!("CARGO"));
    done(
        example
            .args(["build", "--profile", "dist", "-p", "capeval", "--example", "ledger"])
            .current_dir(root),
    )?;
    let mut ledger = Command::new("python3");
    ledger.arg(root.join(FOLDER).join("ledger.py"));
    ledger.args([&root.join("target/dist/capeval"), &root.join("target/dist/examples/ledger")]);
    done(ledger.args([&data.join("captions_val2014.json.gz"), &root.join("target/bench")]).args(more))
}

/// Runs one of the programs that measure.
pub fn one(root: &Path, name: &str, rest: &[&str]) -> Result<()> {
    let script = root.join(FOLDER).join(name).with_extension("py");
    if !script.exists() {
        bail!("{FOLDER} has no {name}.py");
    }
    done(Command::new("python3").arg(script).args(rest))
}

/// Counts the instructions and the memory of `program`, whose numbers are kept under the name of its build.
pub fn counts(root: &Path, program: &Path, build: &str) -> Command {
    let mut counts = Command::new("python3");
    counts.arg(root.join(FOLDER).join("counts.py")).arg(program).arg(build).arg(root.join("target/counts"));
    counts
}

fn build(root: &Path) -> Result<()> {
    let mut build = Command::new(env!("CARGO"));
    done(build.args(["build", "--profile", "dist", "--package", "capeval-cli"]).current_dir(root))
}

fn done(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed");
    }
    Ok(())
}
