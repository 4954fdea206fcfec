//! Builds the documentation as a site, and draws the pictures in it.
//!
//! Zensical builds it: the successor of Material for MkDocs by the same authors reads plain Markdown that GitHub shows
//! as well, checks links and builds 175 pages in two seconds. MkDocs has had no release since 2024, and mdBook has no
//! navigation in several levels beside a table of contents.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::python::{bin, pip, python};
use crate::suite::{Build, step};
use crate::{browser, machine};

/// The packages that build the site, with their versions.
const TOOLS: &str = "docs/requirements.txt";

/// Builds the programs whose pages and pictures the site shows, and the site.
pub fn run(root: &Path, build: &Build) -> Result<()> {
    step("program", &mut build.cargo_of("build", &["--package", "capeval-cli"]))?;
    make(root, build)
}

/// Builds the site into `target/site`, with a program that was built before, and checks it. Nothing is fetched where
/// the tools are installed.
pub fn make(root: &Path, build: &Build) -> Result<()> {
    let root = root.canonicalize().context("the workspace's root")?;
    let tools = tools(&root)?;
    let program = build.program("capeval");
    let script = |name: &str| {
        let mut command = Command::new(bin(&tools, "python"));
        command.arg(root.join("scripts").join(name)).current_dir(&root);
        command
    };
    step("drawing of the terminal", script("pictures.py").arg(&program).arg("--check"))?;
    step("gallery", script("gallery.py").arg(&program).arg(machine::test_data().join("data")))?;
    let site = root.join("target/site");
    if site.exists() {
        std::fs::remove_dir_all(&site).context("target/site")?;
    }
    let mut zensical = Command::new(bin(&tools, "zensical"));
    step("site", zensical.args(["build", "--strict", "--clean"]).current_dir(&root))?;
    step("links and weights", script("site_check.py").arg(&site))
}

/// Draws the pictures of the documentation again.
pub fn pictures(root: &Path, build: &Build) -> Result<()> {
    let root = root.canonicalize().context("the workspace's root")?;
    step("program", &mut build.cargo("build --bin capeval"))?;
    let mut drawing = Command::new(bin(&tools(&root)?, "python"));
    step("terminal", drawing.arg(root.join("scripts/pictures.py")).arg(build.program("capeval")))?;
    browser::pictures(&root, build)
}

/// The environment with the tools, which is made once.
fn tools(root: &Path) -> Result<PathBuf> {
    let tools = root.join("target/site-tools");
    let made = tools.join("made-from.txt");
    let wanted = std::fs::read_to_string(root.join(TOOLS)).context(TOOLS)?;
    if std::fs::read_to_string(&made).is_ok_and(|had| had == wanted) {
        return Ok(tools);
    }
    step("environment of the site", Command::new(python()).args(["-m", "venv"]).arg(&tools))?;
    step("tools of the site", pip(&tools).args(["install", "--requirement"]).arg(root.join(TOOLS)))?;
    std::fs::write(&made, wanted)?;
    Ok(tools)
}
