//! Checks a commit before it is tagged as a release, and sets the version in its one place.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::profiles;
use crate::python::{bin, pip, python};
use crate::suite::step;

/// Crates that are not published: the package of Python, and what serves development.
const UNPUBLISHED: [&str; 5] = ["capeval-checks", "capeval-python", "capeval-testkit", "xtask", "xtask-docs"];

/// The largest wheel, in bytes: what it has, 10.97 million, and a little more.
const WHEEL: u64 = 11_200_000;

/// Sets the version where it is told: in the workspace's manifest, from which every crate, the wheel and the programs
/// take it.
pub fn set_version(root: &Path, version: &str) -> Result<()> {
    let parts: Vec<&str> = version.split('.').collect();
    if parts.len() != 3 || parts.iter().any(|part| part.parse::<u32>().is_err()) {
        bail!("a version is three numbers, such as 0.2.0");
    }
    let path = root.join("Cargo.toml");
    let text = std::fs::read_to_string(&path)?;
    let old = version_of(&text)?.to_owned();
    let told = |line: &str| line.starts_with("version = ") || line.starts_with("capeval");
    let lines: Vec<String> = text
        .lines()
        .map(|line| {
            if told(line) {
                line.replace(&format!("\"{old}\""), &format!("\"{version}\""))
            } else {
                line.to_owned()
            }
        })
        .collect();
    std::fs::write(&path, lines.join("\n") + "\n")?;
    step(
        "lock file",
        Command::new(env!("CARGO")).args(["update", "--workspace", "--offline"]).current_dir(root),
    )?;
    println!(
        "{old} is {version} now; run `scripts/pages.py --update`, since pages show signatures, and `cargo xtask pictures`"
    );
    Ok(())
}

/// The version of the workspace.
fn version_of(manifest: &str) -> Result<&str> {
    let section =
        manifest.split("[workspace.package]").nth(1).context("Cargo.toml has no [workspace.package]")?;
    let line =
        section.lines().find_map(|line| line.strip_prefix("version = \"")).context("it has no version")?;
    Ok(line.trim_end_matches('"'))
}

/// Goes through the checklist. What this machine lacks is said at the end; anything else that is wrong is an error.
pub fn check(root: &Path) -> Result<()> {
    let root = root.canonicalize().context("the workspace's root")?;
    let mut left_out: Vec<String> = Vec::new();
    let manifest = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let version = version_of(&manifest)?;
    println!("── the checklist of {version}");
    let mut told = manifest.lines().filter(|line| line.starts_with("capeval") && line.contains("version = "));
    if let Some(line) = told.find(|line| !line.contains(&format!("version = \"{version}\""))) {
        bail!("another version than {version}: {line}; run `cargo xtask version {version}`");
    }
    let changes = std::fs::read_to_string(root.join("CHANGELOG.md"))?;
    if !changes.contains(&format!("## {version}")) {
        left_out.push(format!(
            "CHANGELOG.md has no heading `## {version}`: name what is new in the commit to tag"
        ));
    }
    let changed =
        Command::new("git").args(["status", "--porcelain"]).current_dir(&root).output().context("git")?;
    if !changed.stdout.is_empty() {
        left_out.push("the tree has changes that are not committed".to_owned());
    }
    dependencies(&root, &mut left_out)?;
    let mut publish = Command::new(env!("CARGO"));
    publish.args(["publish", "--workspace", "--dry-run", "--allow-dirty", "--quiet"]).current_dir(&root);
    publish.args(UNPUBLISHED.iter().flat_map(|name| ["--exclude", name]));
    step("crates as they would be published", &mut publish)?;
    wheel(&root, version)?;
    for what in &left_out {
        println!("── not checked, or to do: {what}");
    }
    println!("── {version} can be tagged{}", if left_out.is_empty() { "" } else { " once this is done" });
    Ok(())
}

/// Licences, duplicates and sources, and the promises of the public crates, where the programs that check
/// them are installed.
pub fn dependencies(root: &Path, left_out: &mut Vec<String>) -> Result<()> {
    let mut run = |name: &str, arguments: &[&str]| -> Result<()> {
        let is_here =
            Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
        if !is_here {
            left_out.push(format!("{name} is not installed (`cargo install --locked {name}`)"));
            return Ok(());
        }
        step(name, Command::new(name).args(arguments).current_dir(root))
    };
    run("cargo-deny", &["check", "licenses", "bans", "sources"])?;
    let describe = ["describe", "--tags", "--abbrev=0", "--match", "v*"];
    let last = Command::new("git").args(describe).current_dir(root).output().context("git")?;
    if !last.status.success() {
        left_out.push("cargo-semver-checks has no release to compare with yet".to_owned());
        return Ok(());
    }
    let last = String::from_utf8_lossy(&last.stdout);
    run("cargo-semver-checks", &["semver-checks", "--workspace", "--baseline-rev", last.trim()])
}

/// Builds the wheel and the source distribution as they are shipped, and tries the wheel in a fresh environment.
fn wheel(root: &Path, version: &str) -> Result<()> {
    let base = root.join("target/release-check");
    let (tools, fresh, out) = (base.join("tools"), base.join("fresh"), base.join("dist"));
    for old in [&fresh, &out] {
        if old.exists() {
            std::fs::remove_dir_all(old)?;
        }
    }
    if !bin(&tools, "maturin").exists() {
        step("environment", Command::new(python()).args(["-m", "venv"]).arg(&tools))?;
        step("maturin and twine", pip(&tools).args(["install", "maturin[zig]>=1.11,<2", "twine"]))?;
    }
    let maturin = |arguments: &[&str]| {
        let mut command = Command::new(bin(&tools, "maturin"));
        command.args(arguments).arg("--out").arg(&out).current_dir(root);
        // maturin finds zig in its own environment.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(bin(&tools, "maturin").parent().map(Path::to_owned).unwrap_or_default());
        command.env("PATH", std::env::join_paths(paths.chain(std::env::split_paths(&path))).unwrap_or(path));
        command
    };
    let portable: &[&str] =
        if cfg!(target_os = "linux") { &["--zig", "--compatibility", "manylinux2014"] } else { &[] };
    step(
        "wheel",
        maturin(&["build", "--profile", "wheel", "--locked", "--quiet", "--compression-level", "9"])
            .args(portable),
    )?;
    step("source distribution", &mut maturin(&["sdist"]))?;
    let made = |ending: &str| -> Result<PathBuf> {
        let files = std::fs::read_dir(&out)?.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        files.into_iter().find(|path| path.to_string_lossy().ends_with(ending)).context("a file is missing")
    };
    let (wheel, source) = (made(".whl")?, made(".tar.gz")?);
    step("twine", Command::new(bin(&tools, "twine")).arg("check").arg("--strict").args([&wheel, &source]))?;
    let size = std::fs::metadata(&wheel)?.len();
    println!("── {}: {:.1} MB", wheel.display(), size as f64 / 1e6);
    if size > WHEEL {
        bail!("the wheel is larger than {:.1} MB", WHEEL as f64 / 1e6);
    }
    step("fresh environment", Command::new(python()).args(["-m", "venv"]).arg(&fresh))?;
    step("install", pip(&fresh).arg("install").arg(&wheel))?;
    let engine = ["-c", "import capeval._engine as engine; print(engine.__file__, end='')"];
    let engine = Command::new(bin(&fresh, "python")).args(engine).output().context("the wheel's engine")?;
    profiles::check_stripped(Path::new(&*String::from_utf8_lossy(&engine.stdout)))?;
    let quick = root.join("examples/quickstart");
    let files = ["references.json", "good.json"].map(|name| quick.join(name));
    let mut score = Command::new(bin(&fresh, "capeval"));
    step("first table", score.args(["score", "-m", "bleu,rouge-l,cider-d", "-r"]).args(files))?;
    let check = format!("import capeval; assert capeval.__version__ == {version:?}");
    step("version", Command::new(bin(&fresh, "python")).args(["-c", &check]))
}
