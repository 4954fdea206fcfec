//! Recomputes the golden values in testdata with the reference programs.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Runs the oracle `goldens` with the Python in which the reference programs are installed.
pub fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let python = std::env::var("CAPEVAL_ORACLE")
        .context("set CAPEVAL_ORACLE to a Python with the reference programs; oracle/README.md lists them")?;
    let script = root.join("oracle/run.py");
    let status = Command::new(&python).arg(script).arg("goldens").args(arguments).status().context(python)?;
    if !status.success() {
        bail!("the oracle failed or found differences");
    }
    Ok(())
}
