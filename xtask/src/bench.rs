//! Times capeval, and pycocoevalcap where it is installed, in the same run.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Builds the program and times it on the leave-one-out files of `data`; `peer` is a Python with pycocoevalcap, and
/// `package` one with capeval.
pub fn run(root: &Path, data: &Path, peer: Option<&str>, package: Option<String>) -> Result<()> {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--profile", "dist", "--package", "capeval-cli"]).current_dir(root);
    let mut bench = Command::new("python3");
    bench.arg(root.join("scripts/bench.py"));
    bench.args([&root.join("target/dist/capeval"), data, &root.join("target/bench")]);
    for (flag, python) in [("--peer", peer), ("--package", package.as_deref())] {
        if let Some(python) = python {
            bench.args([flag, python]);
        }
    }
    for command in [&mut build, &mut bench] {
        let status = command.status().with_context(|| format!("{command:?}"))?;
        if !status.success() {
            bail!("{command:?} failed");
        }
    }
    Ok(())
}
