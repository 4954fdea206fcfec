//! Tests the Python package as users install it: a wheel, in a fresh virtual environment.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::machine;
use crate::suite::Build;

/// The packages that the tests need in addition.
const TEST_TOOLS: &[&str] = &[
    "pytest",
    "mypy",
    "datafusion",
    "duckdb",
    "evaluate",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    // A server of Spark Connect without Java, and the newest client that it accepts.
    "pysail==0.7.2",
    "pyspark-client==4.1.1",
];

/// The Python to use: `PYTHON`, or `python3`.
pub fn python() -> String {
    std::env::var("PYTHON").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "python3".to_owned())
}

/// Returns true if a Python version that the package supports is available.
pub fn is_here() -> bool {
    let check = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
    let status = Command::new(python()).args(["-c", check]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Builds the wheel with lints, installs it in a fresh environment, and runs every test of the package there.
pub fn run(root: &Path, build: &Build) -> Result<()> {
    let start = Instant::now();
    let root = root.canonicalize().context("the workspace's root")?;
    let base = root.join("target/python");
    let (tools, fresh, wheels) = (base.join("tools"), base.join("fresh"), base.join("wheels"));
    if !bin(&tools, "maturin").exists() {
        step("tools", Command::new(python()).args(["-m", "venv"]).arg(&tools))?;
        step("maturin", pip(&tools).args(["install", "maturin>=1.9,<2"]))?;
    }
    for old in [&wheels, &fresh] {
        if old.exists() {
            std::fs::remove_dir_all(old).with_context(|| old.display().to_string())?;
        }
    }
    // Without `--release`, which takes three minutes more. So no test of the package runs what is shipped.
    let mut maturin = Command::new(bin(&tools, "maturin"));
    maturin.args(["build", "--quiet", "--locked", "--features", "tests"]);
    maturin.args(["--interpreter", &python(), "--out"]).arg(&wheels);
    build.lint(&mut maturin);
    step("wheel", maturin.current_dir(&root))?;
    let wheel = std::fs::read_dir(&wheels)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .context("maturin built no wheel")?;
    step("fresh environment", Command::new(python()).args(["-m", "venv"]).arg(&fresh))?;
    step("install", pip(&fresh).arg("install").arg(&wheel))?;
    // The state after `pip install`: only numpy in addition to the package.
    step(
        "import",
        inside(&fresh, &root).args(["-c", "import capeval; print('capeval', capeval.__version__)"]),
    )?;
    step("test tools", pip(&fresh).arg("install").args(TEST_TOOLS))?;
    step("pytest", inside(&fresh, &root).args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]))?;
    step(
        "stubs",
        inside(&fresh, &root).args([
            "-m",
            "mypy.stubtest",
            "--mypy-config-file",
            "pyproject.toml",
            "capeval._engine",
        ]),
    )?;
    step("types", inside(&fresh, &root).args(["-m", "mypy", "--no-incremental", "--package", "capeval"]))?;
    println!("── python: {:.0?}", start.elapsed());
    Ok(())
}

/// The path of a program in a virtual environment.
pub fn bin(environment: &Path, name: &str) -> PathBuf {
    if cfg!(windows) {
        environment.join("Scripts").join(name).with_extension("exe")
    } else {
        environment.join("bin").join(name)
    }
}

pub fn pip(environment: &Path) -> Command {
    let mut command = Command::new(bin(environment, "python"));
    command.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]);
    command
}

/// The environment's Python, in a working directory outside the sources so that it cannot import from them by
/// accident.
fn inside(environment: &Path, root: &Path) -> Command {
    let mut command = Command::new(bin(environment, "python"));
    command
        .current_dir(root)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("CAPEVAL_ROOT", root)
        .env_remove("PYTHONPATH");
    if let Some(data) = machine::data() {
        command.env("CAPEVAL_DATA", data);
    }
    command
}

fn step(label: &str, command: &mut Command) -> Result<()> {
    println!("── python: {label}");
    let status = command.status().with_context(|| format!("{label}: {:?}", command.get_program()))?;
    if !status.success() {
        bail!("{label} failed");
    }
    Ok(())
}
