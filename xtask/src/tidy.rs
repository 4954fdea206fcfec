//! What ARCHITECTURE.md promises and a compiler does not check.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Which of our crates each crate may import. ARCHITECTURE.md tells why.
const IMPORTS: &[(&str, &[&str])] = &[
    ("capeval-choice", &[]),
    ("capeval-testkit", &[]),
    ("capeval-text", &["capeval-choice"]),
    ("capeval-stats", &["capeval-choice"]),
    ("capeval-corpus", &["capeval-choice", "capeval-text"]),
    ("capeval-metric", &["capeval-choice", "capeval-stats", "capeval-text"]),
    ("capeval-lexical", &["capeval-choice", "capeval-metric", "capeval-stats", "capeval-text"]),
    ("capeval-meteor", &["capeval-choice", "capeval-metric", "capeval-stats", "capeval-text"]),
    ("capeval-fluency", &["capeval-choice", "capeval-metric", "capeval-stats", "capeval-text"]),
    ("capeval-data", &["capeval-meteor"]),
    (
        "capeval-evaluate",
        &[
            "capeval-choice",
            "capeval-corpus",
            "capeval-fluency",
            "capeval-lexical",
            "capeval-meteor",
            "capeval-metric",
            "capeval-stats",
            "capeval-text",
        ],
    ),
    ("capeval-report", &["capeval-choice", "capeval-corpus", "capeval-metric", "capeval-stats"]),
    ("capeval-pages", &["capeval-metric", "capeval-report", "capeval-stats"]),
    (
        "capeval",
        &[
            "capeval-choice",
            "capeval-corpus",
            "capeval-data",
            "capeval-evaluate",
            "capeval-fluency",
            "capeval-lexical",
            "capeval-meteor",
            "capeval-metric",
            "capeval-pages",
            "capeval-report",
            "capeval-stats",
            "capeval-text",
        ],
    ),
    ("capeval-cli", &["capeval"]),
    ("capeval-python", &["capeval"]),
    ("capeval-engine", &["capeval-python"]),
    ("xtask", &["capeval-evaluate", "capeval-text"]),
];

/// Checks everything and lists every fault.
pub fn run(root: &Path) -> Result<()> {
    let mut faults = imports(root)?;
    module_headers(root, &mut faults)?;
    for fault in &faults {
        eprintln!("tidy: {fault}");
    }
    if !faults.is_empty() {
        bail!("{} faults", faults.len());
    }
    println!("tidy: imports and module headers are in order");
    Ok(())
}

fn imports(root: &Path) -> Result<Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root)
        .output()
        .context("cargo metadata")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata's answer")?;
    let mut faults = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = IMPORTS.iter().find(|(known, _)| *known == name) else {
            faults.push(format!("{name} is not in the import table of xtask/src/tidy.rs"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let imported = dependency["name"].as_str().unwrap_or_default();
            let is_ours = imported.starts_with("capeval");
            let is_for_tests = dependency["kind"] == "dev";
            if is_ours && !is_for_tests && !allowed.contains(&imported) {
                faults.push(format!("{name} must not import {imported}"));
            }
        }
    }
    Ok(faults)
}

fn module_headers(root: &Path, faults: &mut Vec<String>) -> Result<()> {
    let mut folders = vec![root.join("crates"), root.join("python/src"), root.join("xtask")];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = std::fs::read_dir(&folder)
            .with_context(|| folder.display().to_string())?
            .collect::<std::io::Result<_>>()?;
        entries.sort_by_key(std::fs::DirEntry::path);
        for entry in entries {
            let path = entry.path();
            if path.is_dir() && entry.file_name() != "target" {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
                if !text.starts_with("//! ") {
                    let shown = path.strip_prefix(root).unwrap_or(&path).display();
                    faults.push(format!("{shown} does not open with a //! sentence"));
                }
            }
        }
    }
    Ok(())
}
