//! Everything that must pass before a change is merged, fastest steps first.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::{browser, docs, python, tidy};

/// The name of each step, and cargo's arguments.
const STEPS: &[(&str, &str)] = &[
    ("format", "fmt --all --check"),
    ("clippy", "clippy --workspace --all-targets --quiet -- -D warnings"),
    ("tests", "test --workspace --quiet"),
    ("tests of features", "test --quiet -p capeval-text --features jieba"),
    // Only the tests that read Parquet: linking each of the others with Arrow takes as long as running these.
    ("tests of Parquet", "test --quiet -p capeval-corpus --features parquet --test parquet --test tables"),
    ("documentation", "doc --workspace --no-deps --quiet"),
];

/// The steps of the server's feature `s3`. They build the server a second time, for minutes, and nothing else of the
/// workspace depends on the feature.
const S3: &[(&str, &str)] = &[
    ("clippy", "clippy --quiet -p capeval-server --features s3 --all-targets -- -D warnings"),
    ("tests", "test --quiet -p capeval-server --features s3 --test main s3"),
];

/// Checks and tests the object store of the server.
pub fn s3(root: &Path) -> Result<()> {
    S3.iter().try_for_each(|(label, arguments)| step(root, label, arguments))
}

/// Runs the steps in order and stops at the first failure.
pub fn run(root: &Path) -> Result<()> {
    let start = Instant::now();
    tidy::run(root)?;
    docs::run(root, docs::Mode::Check)?;
    for (label, arguments) in STEPS {
        step(root, label, arguments)?;
    }
    match browser::obstacle() {
        None => browser::run(root, None)?,
        Some(why) => println!("── browser: skipped: {why}"),
    }
    if python::is_here() {
        python::run(root)?;
    } else {
        println!("── python: skipped: Python 3.10 or later was not found; set PYTHON to its path");
    }
    println!("all checks passed in {:.0?}", start.elapsed());
    Ok(())
}

fn step(root: &Path, label: &str, arguments: &str) -> Result<()> {
    println!("── {label}: cargo {arguments}");
    let step = Instant::now();
    let status = Command::new(env!("CARGO"))
        .args(arguments.split(' '))
        .current_dir(root)
        .env("RUSTDOCFLAGS", "-D warnings")
        // The same random cases in every run, so that a failure belongs to the change; without CI they differ.
        .env("PROPTEST_RNG_SEED", "20261122")
        .status()
        .with_context(|| format!("cargo {arguments}"))?;
    if !status.success() {
        bail!("{label} failed");
    }
    println!("── {label}: {:.0?}", step.elapsed());
    Ok(())
}
