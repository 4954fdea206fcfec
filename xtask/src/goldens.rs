//! Recomputes the golden values in testdata with the reference programs.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Runs `scripts/oracle/goldens.py` with the Python in which the reference programs are installed.
pub fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    let python = std::env::var("CAPEVAL_ORACLE")
        .context("set CAPEVAL_ORACLE to a Python with the reference programs; CONTRIBUTING.md lists them")?;
    let script = root.join("scripts/oracle/goldens.py");
    let status = Command::new(&python).arg(script).args(arguments).status().context(python)?;
    if !status.success() {
        bail!("goldens.py failed or found differences");
    }
    Ok(())
}
